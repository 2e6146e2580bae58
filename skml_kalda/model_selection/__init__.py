"""Stratified splits and tuned thresholds for multi-label data."""

from skml_kalda.model_selection.splits import (
    MultiLabelStratifiedKFold,
    MultiLabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
from skml_kalda.model_selection.thresholds import TunedThresholdsCV

__all__ = [
    "MultiLabelStratifiedKFold",
    "MultiLabelStratifiedShuffleSplit",
    "TunedThresholdsCV",
    "multilabel_train_test_split",
]
