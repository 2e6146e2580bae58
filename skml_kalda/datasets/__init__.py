"""Multi-label data sets: ARFF files, manifests, downloads."""

from ._errors import ArffError, FetchError
from .arff import load_arff
from .home import get_data_home
from .load import list_datasets, load_dataset
from .stream import iter_arff
from .write import save_arff

__all__ = [
    "ArffError",
    "FetchError",
    "get_data_home",
    "iter_arff",
    "list_datasets",
    "load_arff",
    "load_dataset",
    "save_arff",
]
