"""Stratified splits, tuned thresholds and calibrated probabilities for multi-label data."""

from skml_kalda.model_selection.calibration import LabelCalibratedClassifier
from skml_kalda.model_selection.splits import (
    MultiLabelStratifiedKFold,
    MultiLabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
from skml_kalda.model_selection.thresholds import TunedThresholdsCV

__all__ = [
    "LabelCalibratedClassifier",
    "MultiLabelStratifiedKFold",
    "MultiLabelStratifiedShuffleSplit",
    "TunedThresholdsCV",
    "multilabel_train_test_split",
]
