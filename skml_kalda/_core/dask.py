"""The one door to dask: statistics, samples and projections of data in blocks.

Reducers import this module only once they are given dask data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask import array, delayed
from dask._task_spec import DataNode, Task, TaskRef
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._core.arrays import Array, is_dask
from skml_kalda._core.labels import indicator
from skml_kalda._core.messages import format_names
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.streams import Batch, RandomSample


def is_array(data: Any) -> bool:
    """Whether a dask collection is an array, not a data frame."""
    return hasattr(data, "chunks")


class RowBlocks:
    """Delayed blocks of whole samples. Unknown lengths are counted on first access."""

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
        """Number of samples of each block."""
        if self.known:
            return tuple(self._lengths)
        graph = Graph()
        shapes = graph.compute_all([graph.add(np.shape, block) for block in self.blocks])
        return tuple(shape[0] for shape in shapes)


class LabelledBlocks:
    """Blocks of samples with labels and weights: y and the weights are cut as X is."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._y, self._rows = y, RowBlocks(X)
        labels = _along(self._rows, "y", y)
        weights = _along(self._rows, "sample_weight", sample_weight)
        self._blocks = list(zip(self._rows.blocks, labels, weights, strict=True))

    def classes(self) -> Any:
        """Return the distinct values of a 1-D y; None for a matrix."""
        if np.ndim(self._y) != 1:
            return None
        if not is_dask(self._y):
            return np.unique(self._y)
        return (array.unique(self._y) if is_array(self._y) else self._y.unique()).compute()

    def drawn(self, size: int, rng: np.random.RandomState) -> tuple[Any, Any, Any]:
        """Return at most so many samples of all blocks, in their order, with labels and weights."""
        ends = np.cumsum(self._rows.lengths)
        rows = np.sort(rng.choice(ends[-1], min(ends[-1], size), replace=False))
        own = np.split(rows, np.searchsorted(rows, ends[:-1]))
        starts = ends - self._rows.lengths
        graph, parts = Graph(), []
        for block, chosen, start in zip(self._blocks, own, starts, strict=True):
            parts.append(graph.add(_rows_of_block, chosen - start, *block))
        X, y, weight = zip(*graph.compute_all(parts), strict=True)
        return _stacked(X), _stacked(y), _stacked(weight)

    def total(self, of: Callable[..., Any], seed: int | None = None) -> Any:
        """Return the sum of of(X, y, sample_weight) over all blocks, or with seeds of their own."""
        graph = Graph()
        function, parts = graph.put(of), []
        for i, block in enumerate(self._blocks):
            more = () if seed is None else ((seed, i),)
            parts.append(graph.add(_of_block, function, *block, *more))
        (total,) = graph.compute_all([graph.add_sum(parts)])
        if total is None:
            raise _no_rows()
        return total


def _rows_of_block(rows: Any, *block: Any) -> list[Any]:
    return [_safe_indexing(each, rows) if has_rows(each) else each for each in block]


def _stacked(parts: Sequence[Any]) -> Any:
    """Return rows of several blocks in one container of the same kind."""
    if not has_rows(parts[0]):
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if not hasattr(parts[0], "index"):
        return np.concatenate(parts)
    from dask.dataframe.dispatch import concat  # slow to import

    return concat(list(parts))


def has_rows(data: Any) -> bool:
    """Whether `data` has one entry per sample, unlike None or a number."""
    return sparse.issparse(data) or np.ndim(data) > 0


def _along(rows: RowBlocks, name: str, data: Any) -> list[Any]:
    """Split labels or weights into the same blocks of samples as X."""
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
        raise ValueError(f"{name} has {n} samples, but X has {sum(rows.lengths)}.")


Key = tuple[str, int]


class Graph:
    """Tasks in one layer. With dask.delayed each would be a layer, and planning quadratic."""

    def __init__(self) -> None:
        self._name = f"skml_kalda-{uuid4().hex}"
        self._tasks: dict[Key, Any] = {}
        self._inputs: list[Any] = []

    def put(self, value: Any) -> Any:
        """Add a value that many calls share, so that it is sent once."""
        key = self._name, len(self._tasks)
        self._tasks[key] = DataNode(key, value)
        return TaskRef(key)

    def add(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add a call, whose arguments may be delayed blocks; return a reference to its result."""
        # Explicit tasks rather than tuples: inside tuples dask does not find blocks that are
        # kept on the workers of a cluster.
        key = self._name, len(self._tasks)
        blocks = {id(each): each for each in arguments if hasattr(each, "__dask_graph__")}
        self._inputs += blocks.values()
        given = (TaskRef(each.key) if id(each) in blocks else each for each in arguments)
        self._tasks[key] = Task(key, function, *given)
        return TaskRef(key)

    def add_sum(self, parts: Sequence[Any]) -> Any:
        """Add the sums of neighbouring parts, pairwise until one is left; None counts as zero.

        The order of the sums, and so the last digit, depends only on the parts and not on which
        worker finishes first.
        """
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [self.add(_sum, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return parts[0]

    def compute_all(self, references: Sequence[Any]) -> list[Any]:
        """Run calls and everything they depend on; return their results."""
        with _large_arguments():
            return list(dask.compute(*self._delayed(references)))

    def persist(self, references: Sequence[Any]) -> list[Any]:
        """Run calls and leave their results where they are; return these, delayed."""
        with _large_arguments():
            return list(dask.persist(*self._delayed(references)))

    def _delayed(self, references: Sequence[Any]) -> list[Any]:
        graph = HighLevelGraph.from_collections(self._name, self._tasks, self._inputs)
        return [Delayed(each.key, graph, layer=self._name) for each in references]


@contextmanager
def _large_arguments() -> Iterator[None]:
    """Silence the warning of a large graph: here it is few tasks with some large arrays."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


def _sum(a: Any, b: Any) -> Any:
    return a if b is None else b if a is None else a + b


class KeptBlocks:
    """Blocks in the memory of the workers: see `operator.Blocks`.

    Without a cluster, they are in the memory of this process.
    """

    local = None

    def __init__(self, blocks: Sequence[Any]) -> None:
        # Delayed and persisted.
        self._blocks = blocks

    def keep(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> KeptBlocks:
        """Return the blocks function(block, *shared), or with one argument of `each` more."""
        graph, calls = self._calls(function, shared, each)
        return KeptBlocks(graph.persist(calls))

    def gather(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return function(block, *shared) for every block."""
        graph, calls = self._calls(function, shared, None)
        return graph.compute_all(calls)

    def total(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Any:
        """Return the sum of function(block, *shared) over all blocks."""
        graph, calls = self._calls(function, shared, each)
        return graph.compute_all([graph.add_sum(calls)])[0]

    def _calls(self, function: Any, shared: Any, each: Any) -> tuple[Graph, list[Any]]:
        graph = Graph()
        # Arguments are part of the graph, not scattered beforehand: what is lost with a worker
        # can then be computed again.
        arguments = [graph.put(value) for value in shared]
        own = [()] * len(self._blocks) if each is None else [(value,) for value in each]
        pairs = zip(self._blocks, own, strict=True)
        return graph, [graph.add(function, block, *arguments, *more) for block, more in pairs]


def batch_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, **given: Any
) -> Batch:
    """Return the sum of the batches of all blocks, each computed where its samples are.

    The workers call `_batch` of the reducer, with the further arguments `given`.
    """
    if not is_dask(y):
        # Validate y here, so that errors surface before any task runs.
        indicator(y, allow_unknown=True)
    worker = _worker(reducer, X, reset=reset)
    of = partial(worker._batch, reset=False, **given)
    total: Batch = LabelledBlocks(X, y, sample_weight).total(of)
    return total


def sample_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, size: int, seed: int
) -> RandomSample:
    """Return a random sample of all blocks, each drawn where its samples are.

    The workers call `_sample` of the reducer, with a different seed for every block.
    """
    of = partial(_worker(reducer, X, reset=reset)._sample, size=size)
    sample: RandomSample = LabelledBlocks(X, y, sample_weight).total(of, seed)
    return sample


class SamplesOnWorkers(NamedTuple):
    """Validated sparse X, each block a CSR on some worker."""

    blocks: KeptBlocks
    # Number of samples of each block.
    lengths: tuple[int, ...]
    shape: tuple[int, int]
    nnz: int
    dtype: np.dtype[Any]

    def cut(self, rows: Any) -> list[Any]:
        """Cut labels, weights or other arrays of n samples into those of each block."""
        ends = np.cumsum(self.lengths)
        return [rows[end - n : end] for n, end in zip(self.lengths, ends, strict=True)]

    def primal(self, labels: Any, weight: Array) -> PrimalScatter:
        """Return the p × p form of the scatter, summed over the blocks."""
        each = list(zip(self.cut(labels), self.cut(weight), strict=True))
        found: PrimalScatter = self.blocks.total(_primal, each=each)
        return found


def samples_on_workers(reducer: Any, X: Any) -> SamplesOnWorkers | None:
    """Validate sparse samples and keep them on the workers; None if they are dense."""
    worker = _worker(reducer, X, reset=True)
    blocks = RowBlocks(X).blocks
    graph = Graph()
    # The metadata of dask need not be true: look at a block.
    if not graph.compute_all([graph.add(sparse.issparse, blocks[0])])[0]:
        return None
    kept = KeptBlocks(blocks).keep(_checked_rows, worker)
    shapes, stored, dtypes = zip(*kept.gather(_size), strict=True)
    n = sum(shape[0] for shape in shapes)
    if not n:
        raise _no_rows()
    return SamplesOnWorkers(
        kept,
        lengths=tuple(shape[0] for shape in shapes),
        shape=(n, X.shape[1]),
        nnz=sum(stored),
        dtype=np.result_type(*dtypes),
    )


def _worker(reducer: Any, X: Any, *, reset: bool) -> Any:
    """Return what workers receive: the parameters and the expected features, no fitted state."""
    if reason := reducer._needs_all_samples():
        name = type(reducer).__name__
        advice = (
            "Fit on samples in memory, for example from compute(); transform accepts dask data."
        )
        raise ValueError(f"{name} cannot add up the blocks of a dask X: {reason} {advice}")
    check_features(reducer, X, reset=reset)
    worker = clone(reducer)
    check_features(worker, X, reset=True)
    return worker


def check_features(reducer: Any, X: Any, *, reset: bool) -> None:
    """Set (or compare) the number and names of the features without reading any sample."""
    if getattr(type(X), "ndim", None) is None or X.ndim != 2:
        raise ValueError(
            f"X is a dask {type(X).__name__}: pass a dask array of shape (n_samples, "
            "n_features) or a dask dataframe."
        )
    meta = np.empty((0, X.shape[1])) if is_array(X) else X._meta
    validate_data(reducer, meta, skip_check_array=True, reset=reset)


def _no_rows() -> ValueError:
    return ValueError("X has 0 samples in all of its blocks, while a minimum of 2 is required.")


def _of_block(of: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *more: Any) -> Any | None:
    for name, rows in (("y", y), ("sample_weight", sample_weight)):
        if has_rows(rows) and rows.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} has {rows.shape[0]} samples in a block in which X has {X.shape[0]}: "
                "pass both with the same chunks or partitions."
            )
    return of(X, y, sample_weight, *more) if X.shape[0] else None


def _checked_rows(X: Any, worker: Any) -> sparse.csr_array:
    return sparse.csr_array(worker._validate_samples(X, reset=False, min_samples=0))


def _primal(X: Any, own: Any) -> PrimalScatter | None:
    return PrimalScatter.of(X, *own) if X.shape[0] else None


def _size(X: sparse.csr_array) -> tuple[tuple[int, int], int, np.dtype[Any]]:
    return X.shape, X.nnz, X.dtype


def transform_blocks(reducer: Any, X: Any) -> Any:
    """Return what `transform` of a dask X will be: a lazy dask array or data frame."""
    check_is_fitted(reducer)
    check_features(reducer, X, reset=False)
    names = reducer.get_feature_names_out()
    rows = X
    if not is_array(X):
        in_order = X.map_partitions(_in_order, X.columns, meta=X._meta, enforce_metadata=False)
        rows = in_order.to_dask_array()
    rows = rows.rechunk({1: -1})
    meta = np.empty((0, len(names)), np.float32 if rows.dtype == np.float32 else np.float64)
    projected = array.map_blocks(
        _project,
        rows,
        reducer=delayed(_bare(reducer)),
        empty=meta,
        chunks=(rows.chunks[0], (len(names),)),
        dtype=meta.dtype,
        meta=meta,
    )
    return _in_container(reducer, projected, X, names)


def _in_order(part: Any, names: Sequence[Any]) -> Any:
    """Return a partition; its names are lost in an array, so their order is checked here."""
    if list(part.columns) != list(names):
        raise ValueError(
            f"X has a partition with the columns {format_names(part.columns)}, not as expected "
            f"{format_names(names)}: X = X.map_partitions(lambda part: part[X.columns])"
        )
    return part


def _project(rows: Any, reducer: Any, empty: NDArray[Any]) -> Any:
    return reducer.transform(rows) if rows.shape[0] else empty


def _bare(reducer: Any) -> Any:
    """Return a copy for the workers: no stream of batches, no feature names, array output."""
    bare = copy(reducer)
    for name in ("feature_names_in_", "_sklearn_output_config", "_stream"):
        vars(bare).pop(name, None)
    return bare.set_output(transform="default")


def _in_container(reducer: Any, projected: Any, X: Any, names: NDArray[Any]) -> Any:
    """Return the container that `set_output` asks for; dask has no polars collection."""
    container = _get_output_config("transform", reducer)["dense"]
    if container == "default":
        return projected
    if container != "pandas":
        raise ValueError(
            f"set_output(transform={container!r}) has no counterpart for dask data: use "
            '"default" for a dask array or "pandas" for a dask dataframe.'
        )
    from dask import dataframe  # slow to import

    index = None if is_array(X) else X.index
    return dataframe.from_dask_array(projected, columns=list(names), index=index)
