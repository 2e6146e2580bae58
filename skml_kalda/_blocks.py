"""Dense rows block by block, so that data mapped from a file are read once and never copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._rows import Array

# Numbers in a block, 64 MB as doubles.
BLOCK = 2**23


def row_blocks(X: Array, at_least: int = 1) -> Iterator[tuple[slice, Array]]:
    """Give dense X block by block, each row read once, checked to be finite.

    A block has `BLOCK` numbers, or the rows `at_least` asked for.
    """
    n, p = X.shape
    rows = max(BLOCK // p, at_least)
    for start in range(0, n, rows):
        block = np.asarray(X[start : start + rows])
        assert_all_finite(block, input_name="X")
        yield slice(start, start + rows), block


def projected(X: Any, components: Array, offset: Array) -> Array:
    """X componentsᵀ − offset, shape (n, k); X is neither copied whole nor made dense."""
    if sparse.issparse(X):
        product: Array = safe_sparse_dot(X, components.T, dense_output=True)
    else:
        product = np.empty((X.shape[0], len(components)), dtype=components.dtype)
        for rows, block in row_blocks(X):
            np.matmul(block.astype(components.dtype, copy=False), components.T, out=product[rows])
    product -= offset
    return product


def in_blocks(X: Any) -> bool:
    """Whether X can be read, checked and turned into floats block by block."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.dtype.itemsize <= 8


def whole_checks(in_blocks: bool) -> dict[str, Any]:
    """What validation does to the whole of X: neither a pass over it nor a copy, if in blocks."""
    if in_blocks:
        return {"dtype": None, "ensure_all_finite": False}
    return {"dtype": [np.float64, np.float32]}


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that data of `dtype` are computed and returned in."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
