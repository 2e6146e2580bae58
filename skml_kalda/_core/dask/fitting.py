"""Statistics, samples and rows of dask data, computed where the blocks are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from skml_kalda._core.dask.blocks import RowBlocks, block_arguments, has_rows, is_array, is_dask
from skml_kalda._core.dask.graph import Graph
from skml_kalda._core.dask.kept import KeptBlocks
from skml_kalda._core.kernels.samples import RowSample
from skml_kalda._core.labels import indicator
from skml_kalda._core.scatter import RemoteRows
from skml_kalda._core.streams import Batch


def batch_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, **given: Any
) -> Batch:
    """Return the sum of the batches of all blocks, each computed where its rows are.

    The workers call `_batch` of the reducer, with the further arguments `given`.
    """
    if not is_dask(y):
        # Validate y here, so that errors surface before any task runs.
        indicator(y, allow_unknown=True)
    worker = _worker(reducer, X, reset=reset)
    of = partial(worker._batch, reset=False, **given)
    return _total(of, block_arguments(X, y, sample_weight))


def sample_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, size: int, seed: int
) -> RowSample:
    """Return a sample of the rows of all blocks, each drawn where its rows are.

    The workers call `_sample` of the reducer, with a different seed for every block.
    """
    of = partial(_worker(reducer, X, reset=reset)._sample, size=size)
    blocks = block_arguments(X, y, sample_weight)
    return _total(of, [(*each, (seed, i)) for i, each in enumerate(blocks)])


def rows_on_workers(reducer: Any, X: Any) -> RemoteRows | None:
    """Validate sparse rows and keep them on the workers; None if the rows are dense."""
    worker = _worker(reducer, X, reset=True)
    blocks = RowBlocks(X).blocks
    graph = Graph()
    # The metadata of dask need not be true: look at a block.
    if not graph.compute(graph.add(sparse.issparse, blocks[0])):
        return None
    kept = KeptBlocks(blocks).keep(_checked_rows, worker)
    shapes, stored, dtypes = zip(*kept.gather(_size), strict=True)
    n = sum(shape[0] for shape in shapes)
    if not n:
        raise _no_rows()
    return RemoteRows(
        kept,
        lengths=tuple(shape[0] for shape in shapes),
        shape=(n, X.shape[1]),
        nnz=sum(stored),
        dtype=np.result_type(*dtypes),
    )


def _worker(reducer: Any, X: Any, *, reset: bool) -> Any:
    """Return what workers receive: the parameters and the expected features, no fitted state."""
    if reason := reducer._needs_all_rows():
        name = type(reducer).__name__
        advice = "Fit on rows in memory, for example from compute(); transform accepts dask data."
        raise ValueError(f"{name} cannot add up the blocks of a dask X: {reason} {advice}")
    check_features(reducer, X, reset=reset)
    worker = clone(reducer)
    check_features(worker, X, reset=True)
    return worker


def check_features(reducer: Any, X: Any, *, reset: bool) -> None:
    """Set (or compare) the number and names of the features without reading any row."""
    if getattr(type(X), "ndim", None) is None or X.ndim != 2:
        raise ValueError(
            f"X is a dask {type(X).__name__}: pass a dask array of shape (n_samples, "
            "n_features) or a dask dataframe."
        )
    meta = np.empty((0, X.shape[1])) if is_array(X) else X._meta
    validate_data(reducer, meta, skip_check_array=True, reset=reset)


def _total(of: Callable[..., Any], blocks: list[tuple[Any, ...]]) -> Any:
    graph = Graph()
    function = graph.put(of)
    total = graph.compute(graph.add_sum([graph.add(_of_block, function, *each) for each in blocks]))
    if total is None:
        raise _no_rows()
    return total


def _no_rows() -> ValueError:
    return ValueError("X has 0 samples in all of its blocks, while a minimum of 2 is required.")


def _of_block(of: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *more: Any) -> Any | None:
    for name, rows in (("y", y), ("sample_weight", sample_weight)):
        if has_rows(rows) and rows.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} has {rows.shape[0]} rows in a block in which X has {X.shape[0]}: "
                "pass both with the same chunks or partitions."
            )
    return of(X, y, sample_weight, *more) if X.shape[0] else None


def _checked_rows(X: Any, worker: Any) -> sparse.csr_array:
    return sparse.csr_array(worker._validate_rows(X, reset=False, min_samples=0))


def _size(X: sparse.csr_array) -> tuple[tuple[int, int], int, np.dtype[Any]]:
    return X.shape, X.nnz, X.dtype
