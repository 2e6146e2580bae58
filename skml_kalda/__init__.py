"""Supervised dimension reduction for multi-label data, with kernel-alignment LDA at its heart."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers see; a test compares it with the table below
    from skml_kalda import framework as framework
    from skml_kalda.classifiers.kalda import KaLDAClassifier as KaLDAClassifier
    from skml_kalda.classifiers.neighbors import BinaryRelevanceKNN as BinaryRelevanceKNN
    from skml_kalda.classifiers.neighbors import MLkNN as MLkNN
    from skml_kalda.reducers.cca import CCA as CCA
    from skml_kalda.reducers.checks import check_reducer as check_reducer
    from skml_kalda.reducers.kalda.kernel import KernelKaLDA as KernelKaLDA
    from skml_kalda.reducers.kalda.kernel import LandmarkFeatures as LandmarkFeatures
    from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA as MultiLabelKaLDA
    from skml_kalda.reducers.kalda.scaler import AlignmentScaler as AlignmentScaler
    from skml_kalda.reducers.lda import LDA as LDA
    from skml_kalda.reducers.lda import OLDA as OLDA
    from skml_kalda.reducers.lda import RLDA as RLDA
    from skml_kalda.reducers.lda import ULDA as ULDA
    from skml_kalda.reducers.mddm import MDDM as MDDM
    from skml_kalda.reducers.mlda import MLDA as MLDA
    from skml_kalda.reducers.mlls import MLLS as MLLS
    from skml_kalda.reducers.mlr import MLR as MLR
    from skml_kalda.reducers.mlsi import MLSI as MLSI
    from skml_kalda.reducers.opls import OPLS as OPLS
    from skml_kalda.reducers.trace import MMC as MMC
    from skml_kalda.reducers.trace import OCM as OCM
    from skml_kalda.reducers.trace import SDPLDA as SDPLDA
    from skml_kalda.reducers.trace import TraceRatio as TraceRatio

__version__ = "0.1.0"

# Where each public name lives. It is imported on first access: scikit-learn's neighbour search
# and kernels alone take a good part of its whole import time.
_PUBLIC = {
    "AlignmentScaler": "reducers.kalda.scaler",
    "BinaryRelevanceKNN": "classifiers.neighbors",
    "CCA": "reducers.cca",
    "KaLDAClassifier": "classifiers.kalda",
    "KernelKaLDA": "reducers.kalda.kernel",
    "LDA": "reducers.lda",
    "LandmarkFeatures": "reducers.kalda.kernel",
    "MDDM": "reducers.mddm",
    "MLDA": "reducers.mlda",
    "MLLS": "reducers.mlls",
    "MLR": "reducers.mlr",
    "MLSI": "reducers.mlsi",
    "MLkNN": "classifiers.neighbors",
    "MMC": "reducers.trace",
    "MultiLabelKaLDA": "reducers.kalda.linear",
    "OCM": "reducers.trace",
    "OLDA": "reducers.lda",
    "OPLS": "reducers.opls",
    "RLDA": "reducers.lda",
    "SDPLDA": "reducers.trace",
    "TraceRatio": "reducers.trace",
    "ULDA": "reducers.lda",
    "check_reducer": "reducers.checks",
}
_MODULES = {"framework"}

__all__ = sorted(_PUBLIC.keys() | _MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
