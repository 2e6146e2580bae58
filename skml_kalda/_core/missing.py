"""Missing values of any library: NaN, None and pandas.NA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._missing import is_pandas_na, is_scalar_nan


def missing_values(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of an array are missing."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype == object:
        return np.frompyfunc(_is_missing, 1, 1)(array).astype(bool)
    return np.zeros(array.shape, dtype=bool)


def numbers(table: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Return the floats of a table that NumPy reads as `array`, of objects; NaN where missing.

    If the table has anything but numbers, `array` is returned unchanged.
    """
    try:  # pandas, whose nullable columns are objects otherwise
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    except (AttributeError, TypeError, ValueError):
        pass
    try:
        return np.where(missing_values(array), np.nan, array).astype(np.float64)
    except (TypeError, ValueError):
        return array


def _is_missing(value: Any) -> bool:
    return value is None or bool(is_pandas_na(value)) or bool(is_scalar_nan(value))
