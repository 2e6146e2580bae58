"""Products with sparse rows and with their transpose, in single precision and on all threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from skml_kalda._core.arrays import Array

# A second thread does not pay for fewer multiplications.
_SHARED = 2**22
# Columns from which on it does not pay to fill up the last four.
_MANY = 32


class StoredProducts:
    """Products with A and Aᵀ, both stored by rows.

    SciPy multiplies by a transpose column by column, which takes two to four times as long as
    row by row. It releases the GIL, so blocks of rows run in parallel, on as many threads as
    scikit-learn would use.
    """

    def __init__(self, A: Any) -> None:
        threads = _openmp_effective_n_threads()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._forward = list(_row_blocks(A, threads))
        self._backward = list(_row_blocks(_transposed(A), threads))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pool": None}  # threads stay with their process

    def forward(self, V: Array) -> Array:
        """Return A V."""
        return self._product(self._forward, V)

    def backward(self, U: Array) -> Array:
        """Return AᵀU."""
        return self._product(self._backward, U)

    def _product(self, blocks: list[tuple[slice, Any]], V: Array) -> Array:
        work = V.shape[1] * sum(block.nnz for _, block in blocks)
        if self._pool is None or work < _SHARED:
            run: Callable[..., Any] = map
        else:
            run = self._pool.map
        if len(blocks) == 1:
            return np.asarray(blocks[0][1] @ V)
        product = np.empty((blocks[-1][0].stop, V.shape[1]), dtype=V.dtype)

        def fill(part: tuple[slice, Any]) -> None:
            product[part[0]] = part[1] @ V

        list(run(fill, blocks))
        return product


def in_fours(V: Array) -> Array:
    """Return V with columns of zeros up to a multiple of four, if that pays.

    Sparse products take four numbers at a time: twenty columns are faster than nineteen. Four are
    slower than one. With many columns the rest counts little, and the copy would need memory.
    """
    q = V.shape[1]
    missing = -q % 4
    return np.pad(V, ((0, 0), (0, missing))) if 0 < 4 * missing <= q < _MANY else V


def _transposed(A: Any) -> Any:
    """Return Aᵀ by rows, with indices of 32 bits where they suffice."""
    width = np.int32 if max(A.nnz, *A.shape) <= np.iinfo(np.int32).max else np.int64
    indices, indptr = (part.astype(width, copy=False) for part in (A.indices, A.indptr))
    return sparse.csr_array(sparse.csr_array((A.data, indices, indptr), shape=A.shape).T)


def _row_blocks(A: Any, n: int) -> Iterator[tuple[slice, Any]]:
    """Yield n blocks of rows with about equally many entries, as views of A."""
    if n == 1:
        yield slice(0, A.shape[0]), A
        return
    edges = np.searchsorted(A.indptr, np.linspace(0, A.nnz, n + 1)[1:-1])
    for start, stop in pairwise([0, *map(int, edges), A.shape[0]]):
        first, last = A.indptr[start], A.indptr[stop]
        entries = A.data[first:last], A.indices[first:last], A.indptr[start : stop + 1] - first
        yield slice(start, stop), sparse.csr_array(entries, shape=(stop - start, A.shape[1]))
