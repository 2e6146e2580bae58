"""Data in blocks on a Dask cluster.

The only module that knows dask, which it imports when it is given something of dask's.
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
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._batch import Batch
from skml_kalda._labels import indicator

C = TypeVar("C", bound=type[Any])
Key = tuple[str, int]


def is_dask(data: Any) -> bool:
    """Tell a collection of dask without importing dask."""
    return any(cls.__module__.partition(".")[0] == "dask" for cls in type(data).__mro__)


def gathered(data: Any) -> Any:
    """Bring a collection of dask into memory; leave anything else as it is."""
    return data.compute() if is_dask(data) else data


def refuse_dask(reducer: Any, X: Any, reason: str) -> None:
    """Say why a reducer that does not add blocks up cannot be fitted on them."""
    if is_dask(X):
        name = type(reducer).__name__
        raise ValueError(
            f"{name} cannot add up the blocks of a dask X: {reason} Fit on rows in memory, as "
            "compute() brings them; transform takes dask data as they are."
        )


def batch_of_blocks(reducer: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
    """Add up what a reducer keeps of the blocks, each where its rows are."""
    if reason := reducer._why_no_stream():
        refuse_dask(reducer, X, reason)
    if not is_dask(y):
        indicator(y)  # What can be said at once need not come from a worker.
    _check_features(reducer, X, reset=reset)
    # To the workers travel the parameters, and the features to expect.
    worker = clone(reducer)
    _check_features(worker, X, reset=True)
    total = _tree_sum(partial(worker._batch, reset=False), X, y, sample_weight)
    if total is None:
        raise ValueError("X has 0 samples in all of its blocks, while a minimum of 2 is required.")
    return total


def _check_features(reducer: Any, X: Any, *, reset: bool) -> None:
    """Settle, or compare, the number and the names of the features, from no row at all."""
    if getattr(type(X), "ndim", None) is None or X.ndim != 2:
        raise ValueError(
            f"X is a {type(X).__name__} of dask: pass a dask array of shape (n_samples, "
            "n_features) or a dask dataframe."
        )
    meta = np.empty((0, X.shape[1])) if _is_array(X) else X._meta
    validate_data(reducer, meta, skip_check_array=True, reset=reset)


def _tree_sum(of: Callable[..., Batch], X: Any, y: Any, sample_weight: Any) -> Batch | None:
    """Add neighbours pairwise until one is left.

    The order of the sums, and with it the last digit, depends on the blocks alone and not on
    who is done first.
    """
    rows = _RowBlocks(X)
    labels, weights = _along(rows, "y", y), _along(rows, "sample_weight", sample_weight)
    graph = _Graph()
    each = zip(rows.blocks, labels, weights, strict=True)
    parts = [graph.add(_of_block, of, *block) for block in each]
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [graph.add(_sum, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    total: Batch | None = graph.compute(parts[0])
    return total


class _Graph:
    """Tasks in one layer: dask.delayed makes one of each, and plans in quadratic time."""

    def __init__(self) -> None:
        self._name = f"skml_kalda-{uuid4().hex}"
        self._tasks: dict[Key, Any] = {}
        self._inputs: list[Any] = []

    def add(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add a call, whose arguments may be delayed blocks; gives a reference to its result."""
        # Written out, not as tuples: in those dask does not find the blocks that are kept on
        # the workers of a cluster.
        from dask._task_spec import Task, TaskRef

        key = self._name, len(self._tasks)
        blocks = {id(each): each for each in arguments if hasattr(each, "__dask_graph__")}
        self._inputs += blocks.values()
        given = (TaskRef(each.key) if id(each) in blocks else each for each in arguments)
        self._tasks[key] = Task(key, function, *given)
        return TaskRef(key)

    def compute(self, reference: Any) -> Any:
        """Run what a call needs, and the call."""
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        graph = HighLevelGraph.from_collections(self._name, self._tasks, self._inputs)
        return Delayed(reference.key, graph, layer=self._name).compute()


def _of_block(of: Callable[..., Batch], X: Any, y: Any, sample_weight: Any) -> Batch | None:
    for name, rows in (("y", y), ("sample_weight", sample_weight)):
        if _has_rows(rows) and rows.shape[0] != X.shape[0]:
            raise ValueError(
                f"{name} has {rows.shape[0]} rows in a block in which X has {X.shape[0]}: "
                "give both the same rows in the same chunks or partitions."
            )
    return of(X, y, sample_weight) if X.shape[0] else None


def _sum(a: Batch | None, b: Batch | None) -> Batch | None:
    return a if b is None else b if a is None else a + b


def _listed(*each: Any) -> list[Any]:
    return list(each)


def _is_array(data: Any) -> bool:
    return hasattr(data, "chunks")


class _RowBlocks:
    """Blocks of whole rows, to be computed; their lengths are counted if they are needed."""

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
    """Cut what goes with the rows of X as X is cut."""
    if is_dask(data):
        return _rechunked(rows, name, data)
    if not _has_rows(data):
        return [data] * len(rows.blocks)
    data = sparse.csr_array(data) if sparse.issparse(data) else np.asarray(data)
    _check_total(rows, name, data.shape[0])
    ends = zip(rows.lengths, accumulate(rows.lengths), strict=True)
    return [data[end - length : end] for length, end in ends]


def _rechunked(rows: _RowBlocks, name: str, data: Any) -> list[Any]:
    own = _RowBlocks(data)
    if own.known and rows.known:
        _check_total(rows, name, sum(own.lengths))
        own = _RowBlocks(data.rechunk({0: rows.lengths}))
    if len(own.blocks) != len(rows.blocks):
        raise ValueError(
            f"{name} has {len(own.blocks)} blocks and X has {len(rows.blocks)}, some of unknown "
            "length: give both the same partitions, or call compute_chunk_sizes() on dask arrays."
        )
    return own.blocks


def _has_rows(data: Any) -> bool:
    return sparse.issparse(data) or np.ndim(data) > 0


def _check_total(rows: _RowBlocks, name: str, n: int) -> None:
    if n != sum(rows.lengths):
        raise ValueError(f"{name} has {n} rows, but X has {sum(rows.lengths)}.")


def lazy_on_dask(cls: C) -> C:
    """Let the transform of a class map the blocks of dask data, nothing being computed.

    To be applied to the class: scikit-learn wraps the methods in it to give data frames on
    demand, and would compute what it wraps.
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
    _check_features(reducer, X, reset=False)
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
    """Copy what a transform takes: no stream of batches, and arrays in and out."""
    bare = copy(reducer)
    for name in ("_stream", "feature_names_in_", "_sklearn_output_config"):
        vars(bare).pop(name, None)
    return bare.set_output(transform="default")


def _in_container(reducer: Any, projected: Any, X: Any, names: NDArray[Any]) -> Any:
    """Give what `set_output` asks for; polars has no collection of dask."""
    container = _get_output_config("transform", reducer)["dense"]
    if container == "default":
        return projected
    if container != "pandas":
        raise ValueError(
            f"set_output(transform={container!r}) has no counterpart for dask data: take "
            '"default" for a dask array or "pandas" for a dask dataframe.'
        )
    from dask import dataframe

    index = None if _is_array(X) else X.index
    return dataframe.from_dask_array(projected, columns=list(names), index=index)
