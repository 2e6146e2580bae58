"""Load, save and download multi-label datasets."""

from skml_kalda.datasets.arff.read import load_arff
from skml_kalda.datasets.arff.write import save_arff
from skml_kalda.datasets.errors import ArffError, DatasetError, FetchError, TableError
from skml_kalda.datasets.load import list_datasets, load_dataset
from skml_kalda.datasets.manifest import get_data_home
from skml_kalda.datasets.tables import load_table

__all__ = [
    "ArffError",
    "DatasetError",
    "FetchError",
    "TableError",
    "get_data_home",
    "list_datasets",
    "load_arff",
    "load_dataset",
    "load_table",
    "save_arff",
]
