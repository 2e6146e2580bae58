"""Reducers: one method, one file."""

from skml_kalda.reducers.cca import CCA
from skml_kalda.reducers.kalda import MultiLabelKaLDA
from skml_kalda.reducers.lda import LDA
from skml_kalda.reducers.mddm import MDDM
from skml_kalda.reducers.mlda import MLDA
from skml_kalda.reducers.mlls import MLLS
from skml_kalda.reducers.mlr import MLR
from skml_kalda.reducers.mlsi import MLSI
from skml_kalda.reducers.mmc import MMC
from skml_kalda.reducers.ocm import OCM
from skml_kalda.reducers.olda import OLDA
from skml_kalda.reducers.opls import OPLS
from skml_kalda.reducers.rlda import RLDA
from skml_kalda.reducers.sdp_lda import SDPLDA
from skml_kalda.reducers.trace_ratio import TraceRatio
from skml_kalda.reducers.ulda import ULDA

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
    "MultiLabelKaLDA",
    "TraceRatio",
]
