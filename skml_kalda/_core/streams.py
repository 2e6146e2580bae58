"""Statistics of batches of rows, which can be added, and the results of a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.arrays import Array, stacked
from skml_kalda._core.labels import listed, occupied_columns
from skml_kalda._core.scatter import MomentScatter

Results: TypeAlias = Mapping[str, Any]
"""The fitted attributes by name."""
B = TypeVar("B")


@dataclass(frozen=True)
class Batch:
    """The statistic of some rows; ``a + b`` is the statistic of the rows of both."""

    scatter: Any
    """A dataclass of sums with ``+`` and `widen`, such as `MomentScatter`. If labels are unknown
    and every row counts once, it has the columns of `Indicator.with_unknown`."""
    classes: NDArray[Any]
    """The classes or names of the label columns, including those without rows."""
    columns: int | None
    """Number of columns of the indicator matrix; None if y was one-dimensional."""
    dtype: np.dtype[Any]
    """Type of the data, and so of the results."""

    def __add__(self, other: Batch) -> Batch:
        check_same_columns(self.columns, other.columns)
        dtype = np.result_type(self.dtype, other.dtype)
        if self.columns is not None:
            classes = same_names(self.classes, other.classes)
            return Batch(added(self.scatter, other.scatter), classes, self.columns, dtype)
        classes = np.union1d(self.classes, other.classes)
        scatter = self._over(classes) + other._over(classes)
        return Batch(scatter, classes, None, dtype)

    def _over(self, classes: NDArray[Any]) -> Any:
        """Return the statistic with one label column for each of `classes`."""
        return self.scatter.widen(len(classes), np.searchsorted(classes, self.classes))

    def __sizeof__(self) -> int:
        # Dask's scheduler uses this to estimate the cost of moving a batch.
        arrays = (getattr(self.scatter, field.name) for field in fields(self.scatter))
        return sum(np.asarray(array).nbytes for array in arrays)

    def occupied(self) -> tuple[MomentScatter, NDArray[Any]]:
        """Return the scatter and the classes that have rows; raise if there are fewer than two."""
        scatter = self.scatter.filled(len(self.classes))
        columns = occupied_columns(scatter.label_weight, self.classes)
        return scatter.select(columns), self.classes[columns]


def added(a: Any, b: Any) -> Any:
    """Add statistics of the same labels, of which either may have columns for unknown ones."""
    width = max(a.n_classes, b.n_classes)
    parts = (
        each if each.n_classes == width else each.widen(width, np.arange(each.n_classes))
        for each in (a, b)
    )
    return reduce(add, parts)


class Rows(NamedTuple):
    """Validated rows."""

    X: Any
    Y: Any
    """Their labels, an `Indicator`; None if there are none."""
    weight: Array


@dataclass(frozen=True)
class FirstRows:
    """The rows of the first batches, copied; ``a + b`` are the rows of both."""

    parts: tuple[Rows, ...]

    @classmethod
    def of(cls, rows: Rows) -> FirstRows:
        """Copy rows, because the caller may overwrite them."""
        return cls((rows._replace(X=rows.X.copy()),))

    def __add__(self, other: FirstRows) -> FirstRows:
        parts = self.parts + other.parts
        labels = [part.Y for part in parts if part.Y is not None]
        for Y in labels[1:]:
            check_same_columns(labels[0].columns, Y.columns)
        if labels and labels[0].is_matrix:
            reduce(same_names, (Y.classes for Y in labels))
        return FirstRows(parts)

    @property
    def n_weighted(self) -> int:
        """Number of rows of positive weight."""
        return sum(int(np.count_nonzero(part.weight)) for part in self.parts)

    def together(self) -> tuple[Any, Array]:
        """Return all rows as one array or CSR, and their weights."""
        return stacked([part.X for part in self.parts]), np.concatenate(
            [part.weight for part in self.parts]
        )


class Stream(Generic[B]):
    """The sum of all batches so far, and its results, computed on first access.

    A reducer replaces its stream with a new one for every batch. So the results of one stream
    always belong together, even if another thread adds a batch.
    """

    def __init__(self, batch: B) -> None:
        self.batch = batch
        self._results: Results | None = None
        self._lock = Lock()

    def results(self, solve: Callable[[B], Results]) -> Results:
        """Return the results. The first caller computes them; other threads wait."""
        with self._lock:
            if self._results is None:
                self._results = solve(self.batch)
            return self._results

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())


def check_same_columns(before: int | None, now: int | None) -> None:
    """Raise if y has another form than in the batches before; None is one dimension."""
    if before == now:
        return
    forms = [f"{n} label columns" if n is not None else "one dimension" for n in (now, before)]
    raise ValueError(f"y has {forms[0]} in this batch, but had {forms[1]} in the batches before.")


def same_names(before: NDArray[Any], now: NDArray[Any]) -> NDArray[Any]:
    """Return the names of the label columns of all batches; plain numbers match any names."""
    numbers = np.arange(len(before))
    for names, others in ((before, now), (now, before)):
        if np.array_equal(names, others) or np.array_equal(names, numbers):
            return others
    first = next(i for i in numbers if before[i] != now[i])
    raise ValueError(
        f"y has the columns {listed(now)} in this batch, but had {listed(before)} in the batches "
        f"before; they differ from column {first} on. Pass the same columns in the same order."
    )
