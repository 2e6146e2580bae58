"""Reducers: one method, one file."""

from skml_kalda.reducers.kalda import MultiLabelKaLDA

__all__ = ["MultiLabelKaLDA"]
