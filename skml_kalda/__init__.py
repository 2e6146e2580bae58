"""Supervised dimension reduction for multi-label data, with kernel-alignment LDA at its heart."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skml_kalda import framework
from skml_kalda._scatter import scatter_form
from skml_kalda.reducers import (
    CCA,
    LDA,
    MDDM,
    MLDA,
    MLLS,
    MLR,
    MLSI,
    MMC,
    OCM,
    OLDA,
    OPLS,
    RLDA,
    SDPLDA,
    ULDA,
    MultiLabelKaLDA,
    TraceRatio,
)

if TYPE_CHECKING:
    from skml_kalda.neighbors import BinaryRelevanceKNN, MLkNN
    from skml_kalda.reducers.kalda_cv import MultiLabelKaLDACV
    from skml_kalda.reducers.kernel_kalda import KernelKaLDA
    from skml_kalda.reducers.kernel_kalda_cv import KernelKaLDACV

__version__ = "0.1.0.dev0"

__all__ = [
    "CCA",
    "LDA",
    "MDDM",
    "MLDA",
    "MLLS",
    "MLR",
    "MLSI",
    "MMC",
    "OCM",
    "OLDA",
    "OPLS",
    "RLDA",
    "SDPLDA",
    "ULDA",
    "BinaryRelevanceKNN",
    "KernelKaLDA",
    "KernelKaLDACV",
    "MLkNN",
    "MultiLabelKaLDA",
    "MultiLabelKaLDACV",
    "TraceRatio",
    "framework",
    "scatter_form",
]


# scikit-learn's neighbour search and its kernels take a good part of its whole import: only
# who asks for what needs them, waits.
_LATE = {
    "BinaryRelevanceKNN": "skml_kalda.neighbors",
    "KernelKaLDA": "skml_kalda.reducers.kernel_kalda",
    "KernelKaLDACV": "skml_kalda.reducers.kernel_kalda_cv",
    "MLkNN": "skml_kalda.neighbors",
    "MultiLabelKaLDACV": "skml_kalda.reducers.kalda_cv",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
