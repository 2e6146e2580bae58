"""Supervised dimension reduction for multi-label data, with kernel-alignment LDA at its heart."""

from skml_kalda.reducers import MultiLabelKaLDA

__version__ = "0.1.0.dev0"

__all__ = ["MultiLabelKaLDA"]
