"""Data in blocks on a Dask cluster.

This is the only module that uses dask. It imports dask only when it is given dask data.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property, partial, wraps
from itertools import accumulate
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._core.kernels.samples import RowSample
from skml_kalda._core.labels import indicator
from skml_kalda._core.streams import Batch, Stream

C = TypeVar("C", bound=type[Any])
Key = tuple[str, int]


def is_dask(data: Any) -> bool:
    """Whether `data` is a dask collection, decided without importing dask."""
    return any(cls.__module__.partition(".")[0] == "dask" for cls in type(data).__mro__)


def gathered(data: Any) -> Any:
    """Load a dask collection into memory; return anything else unchanged."""
    return data.compute() if is_dask(data) else data


def batch_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, **given: Any
) -> Batch:
    """Return the sum of the batches of all blocks, each computed where its rows are.

    The workers call `_batch` of the reducer, with the further arguments `given`.
    """
    if not is_dask(y):
        indicator(
            y, allow_unknown=True
        )  # Validate y here, so that errors surface before any task runs.
    worker = _worker(reducer, X, reset=reset)
    of = partial(worker._batch, reset=False, **given)
    return _tree_sum(of, _block_arguments(X, y, sample_weight))


def sample_of_blocks(
    reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, size: int, seed: int
) -> RowSample:
    """Return a sample of the rows of all blocks, each drawn where its rows are.

    The workers call `_sample` of the reducer, with a seed of its own for every block.
    """
    of = partial(_worker(reducer, X, reset=reset)._sample, size=size)
    blocks = _block_arguments(X, y, sample_weight)
    return _tree_sum(of, [(*each, (seed, i)) for i, each in enumerate(blocks)])


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
    meta = np.empty((0, X.shape[1])) if _is_array(X) else X._meta
    validate_data(reducer, meta, skip_check_array=True, reset=reset)


def _block_arguments(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Cut y and the weights as X is cut: what belongs to each block."""
    rows = _RowBlocks(X)
    labels, weights = _along(rows, "y", y), _along(rows, "sample_weight", sample_weight)
    return list(zip(rows.blocks, labels, weights, strict=True))


def _tree_sum(of: Callable[..., Any], blocks: list[tuple[Any, ...]]) -> Any:
    """Add neighbouring parts pairwise until one is left.

    The order of the sums, and so the last digit, depends only on the blocks and not on which
    worker finishes first.
    """
    graph = _Graph()
    function = graph.put(of)
    parts = [graph.add(_of_block, function, *block) for block in blocks]
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [graph.add(_sum, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    total = graph.compute(parts[0])
    if total is None:
        raise ValueError("X has 0 samples in all of its blocks, while a minimum of 2 is required.")
    return total


class _Graph:
    """Tasks in one layer. With dask.delayed each would be a layer, and planning quadratic."""

    def __init__(self) -> None:
        self._name = f"skml_kalda-{uuid4().hex}"
        self._tasks: dict[Key, Any] = {}
        self._inputs: list[Any] = []

    def put(self, value: Any) -> Any:
        """Add a value that many calls share, so that it travels once."""
        from dask._task_spec import DataNode, TaskRef

        key = self._name, len(self._tasks)
        self._tasks[key] = DataNode(key, value)
        return TaskRef(key)

    def add(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add a call, whose arguments may be delayed blocks; return a reference to its result."""
        # Explicit tasks rather than tuples: inside tuples dask does not find blocks that are
        # kept on the workers of a cluster.
        from dask._task_spec import Task, TaskRef

        key = self._name, len(self._tasks)
        blocks = {id(each): each for each in arguments if hasattr(each, "__dask_graph__")}
        self._inputs += blocks.values()
        given = (TaskRef(each.key) if id(each) in blocks else each for each in arguments)
        self._tasks[key] = Task(key, function, *given)
        return TaskRef(key)

    def compute(self, reference: Any) -> Any:
        """Run a call and everything it depends on; return its result."""
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        graph = HighLevelGraph.from_collections(self._name, self._tasks, self._inputs)
        return Delayed(reference.key, graph, layer=self._name).compute()


def _of_block(of: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *more: Any) -> Any | None:
    for name, rows in (("y", y), ("sample_weight", sample_weight)):
        if _has_rows(rows) and rows.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} has {rows.shape[0]} rows in a block in which X has {X.shape[0]}: "
                "pass both with the same chunks or partitions."
            )
    return of(X, y, sample_weight, *more) if X.shape[0] else None


def _sum(a: Any, b: Any) -> Any:
    return a if b is None else b if a is None else a + b


def _listed(*each: Any) -> list[Any]:
    return list(each)


def _is_array(data: Any) -> bool:
    return hasattr(data, "chunks")


class _RowBlocks:
    """Delayed blocks of whole rows. Unknown lengths are counted on first access."""

    def __init__(self, data: Any) -> None:
        if _is_array(data):
            data = data.rechunk(dict.fromkeys(range(1, data.ndim), -1))
            self.blocks = list(data.to_delayed().ravel())
            self._lengths = data.chunks[0]
        else:
            self.blocks = data.to_delayed()
            self._lengths = (np.nan,) * len(self.blocks)
        self.known = not np.isnan(self._lengths).any()

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        if self.known:
            return tuple(self._lengths)
        graph = _Graph()
        shapes = graph.add(_listed, *(graph.add(np.shape, block) for block in self.blocks))
        return tuple(shape[0] for shape in graph.compute(shapes))


def _along(rows: _RowBlocks, name: str, data: Any) -> list[Any]:
    """Split labels or weights into the same blocks of rows as X."""
    if is_dask(data):
        return _rechunked(rows, name, data)
    if not _has_rows(data):
        return [data] * len(rows.blocks)
    if not hasattr(data, "columns"):  # a data frame keeps the names of the labels
        data = sparse.csr_array(data) if sparse.issparse(data) else np.asarray(data)
    _check_total(rows, name, data.shape[0])
    ends = zip(rows.lengths, accumulate(rows.lengths), strict=True)
    return [_safe_indexing(data, slice(end - length, end)) for length, end in ends]


def _rechunked(rows: _RowBlocks, name: str, data: Any) -> list[Any]:
    own = _RowBlocks(data)
    if own.known and rows.known:
        _check_total(rows, name, sum(own.lengths))
        own = _RowBlocks(data.rechunk({0: rows.lengths}))
    if len(own.blocks) != len(rows.blocks):
        raise ValueError(
            f"{name} has {len(own.blocks)} blocks and X has {len(rows.blocks)}, some of unknown "
            "length: pass both with the same partitions, or call compute_chunk_sizes() on arrays."
        )
    return own.blocks


def _has_rows(data: Any) -> bool:
    return sparse.issparse(data) or np.ndim(data) > 0


def _check_total(rows: _RowBlocks, name: str, n: int) -> None:
    if n != sum(rows.lengths):
        raise ValueError(f"{name} has {n} rows, but X has {sum(rows.lengths)}.")


def lazy_on_dask(cls: C) -> C:
    """Make `transform` of a class lazy on dask data: it maps the blocks and computes nothing.

    This decorates the class and not its methods, because scikit-learn wraps the methods (for
    `set_output`) when the class is created, and its wrapper would compute the result.
    """
    transform, fit_transform = cls.transform, cls.fit_transform

    @wraps(transform)
    def transform_any(self: Any, X: Any) -> Any:
        return _transform_blocks(self, X) if is_dask(X) else transform(self, X)

    @wraps(fit_transform)
    def fit_transform_any(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if is_dask(X):
            return self.fit(X, y, **fit_params).transform(X)
        return fit_transform(self, X, y, **fit_params)

    cls.transform, cls.fit_transform = transform_any, fit_transform_any
    return cls


def _transform_blocks(reducer: Any, X: Any) -> Any:
    from dask import array, delayed

    check_is_fitted(reducer)
    check_features(reducer, X, reset=False)
    names = reducer.get_feature_names_out()
    rows = X if _is_array(X) else X.to_dask_array()
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


def _project(rows: Any, reducer: Any, empty: NDArray[Any]) -> Any:
    return reducer.transform(rows) if rows.shape[0] else empty


def _bare(reducer: Any) -> Any:
    """Return a copy for the workers: no stream of batches, no feature names, array output."""
    bare = copy(reducer)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(bare).pop(name, None)
    if isinstance(vars(bare).get("_state"), Stream):
        bare._state = reducer._results()
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
    from dask import dataframe

    index = None if _is_array(X) else X.index
    return dataframe.from_dask_array(projected, columns=list(names), index=index)
