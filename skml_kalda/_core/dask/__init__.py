"""Data in blocks on a Dask cluster.

This is the only package that uses dask. It imports dask only when it is given dask data.
"""

from skml_kalda._core.dask.blocks import gathered, is_dask
from skml_kalda._core.dask.fitting import (
    batch_of_blocks,
    check_features,
    rows_on_workers,
    sample_of_blocks,
)
from skml_kalda._core.dask.transforming import lazy_on_dask

__all__ = [
    "batch_of_blocks",
    "check_features",
    "gathered",
    "is_dask",
    "lazy_on_dask",
    "rows_on_workers",
    "sample_of_blocks",
]
