"""Supervised dimension reduction for multi-label data, with kernel-alignment LDA at its heart."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skml_kalda import framework
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
    "MLkNN",
    "MultiLabelKaLDA",
    "TraceRatio",
    "framework",
]


def __getattr__(name: str) -> Any:
    # scikit-learn's neighbour search takes a tenth of its whole import: only who asks, waits.
    if name in ("BinaryRelevanceKNN", "MLkNN"):
        return getattr(import_module("skml_kalda.neighbors"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
