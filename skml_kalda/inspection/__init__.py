"""Pictures and tables that show what a fitted reducer has found, and how labels are distributed.

The pictures need matplotlib and the tables pandas: both come with the extra "inspection".
"""

from skml_kalda.inspection.displays import LabelProfileDisplay, LoadingsDisplay, ProjectionDisplay
from skml_kalda.inspection.tables import label_imbalance, label_profile, loadings

__all__ = [
    "LabelProfileDisplay",
    "LoadingsDisplay",
    "ProjectionDisplay",
    "label_imbalance",
    "label_profile",
    "loadings",
]
