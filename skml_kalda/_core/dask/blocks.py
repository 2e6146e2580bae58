"""Dask collections as blocks of whole rows."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from skml_kalda._core.dask.graph import Graph


def is_dask(data: Any) -> bool:
    """Whether `data` is a dask collection, decided without importing dask."""
    return any(cls.__module__.partition(".")[0] == "dask" for cls in type(data).__mro__)


def is_array(data: Any) -> bool:
    """Whether a dask collection is an array, not a data frame."""
    return hasattr(data, "chunks")


def gathered(data: Any) -> Any:
    """Load a dask collection into memory; return anything else unchanged."""
    return data.compute() if is_dask(data) else data


class RowBlocks:
    """Delayed blocks of whole rows. Unknown lengths are counted on first access."""

    def __init__(self, data: Any) -> None:
        if is_array(data):
            data = data.rechunk(dict.fromkeys(range(1, data.ndim), -1))
            self.blocks = list(data.to_delayed().ravel())
            self._lengths = data.chunks[0]
        else:
            self.blocks = data.to_delayed()
            self._lengths = (np.nan,) * len(self.blocks)
        self.known = not np.isnan(self._lengths).any()

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Number of rows of each block."""
        if self.known:
            return tuple(self._lengths)
        graph = Graph()
        shapes = graph.compute_all([graph.add(np.shape, block) for block in self.blocks])
        return tuple(shape[0] for shape in shapes)


def block_arguments(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Return the rows, labels and weights of each block: y and the weights are cut as X is."""
    rows = RowBlocks(X)
    labels, weights = _along(rows, "y", y), _along(rows, "sample_weight", sample_weight)
    return list(zip(rows.blocks, labels, weights, strict=True))


def has_rows(data: Any) -> bool:
    """Whether `data` has one entry per row, unlike None or a number."""
    return sparse.issparse(data) or np.ndim(data) > 0


def _along(rows: RowBlocks, name: str, data: Any) -> list[Any]:
    """Split labels or weights into the same blocks of rows as X."""
    if is_dask(data):
        return _rechunked(rows, name, data)
    if not has_rows(data):
        return [data] * len(rows.blocks)
    if not hasattr(data, "columns"):  # a data frame keeps the names of the labels
        data = sparse.csr_array(data) if sparse.issparse(data) else np.asarray(data)
    _check_total(rows, name, data.shape[0])
    ends = zip(rows.lengths, accumulate(rows.lengths), strict=True)
    return [_safe_indexing(data, slice(end - length, end)) for length, end in ends]


def _rechunked(rows: RowBlocks, name: str, data: Any) -> list[Any]:
    own = RowBlocks(data)
    if own.known and rows.known:
        _check_total(rows, name, sum(own.lengths))
        own = RowBlocks(data.rechunk({0: rows.lengths}))
    if len(own.blocks) != len(rows.blocks):
        raise ValueError(
            f"{name} has {len(own.blocks)} blocks and X has {len(rows.blocks)}, some of unknown "
            "length: pass both with the same partitions, or call compute_chunk_sizes() on arrays."
        )
    return own.blocks


def _check_total(rows: RowBlocks, name: str, n: int) -> None:
    if n != sum(rows.lengths):
        raise ValueError(f"{name} has {n} rows, but X has {sum(rows.lengths)}.")
