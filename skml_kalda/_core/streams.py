"""Batches of samples: their statistics, which can be added; the first of them; a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.arrays import Array, stacked
from skml_kalda._core.labels import LabelledSamples, occupied_columns
from skml_kalda._core.messages import format_names
from skml_kalda._core.scatter import PrimalScatter


@dataclass(frozen=True)
class Batch:
    """The statistic of some samples; ``a + b`` is the statistic of the samples of both."""

    # A dataclass of sums with ``+`` and `widen`, such as `PrimalScatter`. If labels are unknown and
    # every sample counts once, it has the columns of `Indicator.with_unknown`.
    scatter: Any
    # The classes or names of the label columns, including those without samples.
    classes: NDArray[Any]
    # Number of columns of the indicator matrix; None if y was one-dimensional.
    columns: int | None
    # Type of the data, and so of the results.
    dtype: np.dtype[Any]

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

    def occupied(self) -> tuple[PrimalScatter, NDArray[Any]]:
        """Return the scatter and the classes that have samples; raise if fewer than two do."""
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


@dataclass(frozen=True)
class FirstSamples:
    """The samples of the first batches, copied; ``a + b`` are the samples of both."""

    parts: tuple[LabelledSamples, ...]

    @classmethod
    def of(cls, samples: LabelledSamples) -> FirstSamples:
        """Copy samples, because the caller may overwrite them."""
        return cls((samples._replace(X=samples.X.copy()),))

    def __add__(self, other: FirstSamples) -> FirstSamples:
        parts = self.parts + other.parts
        labels = [part.Y for part in parts if part.Y is not None]
        for Y in labels[1:]:
            check_same_columns(labels[0].columns, Y.columns)
        if labels and labels[0].is_matrix:
            reduce(same_names, (Y.classes for Y in labels))
        return FirstSamples(parts)

    @property
    def n_weighted(self) -> int:
        """Number of samples of positive weight."""
        return sum(int(np.count_nonzero(part.weight)) for part in self.parts)

    def together(self) -> tuple[Any, Array]:
        """Return all samples as one array or CSR, and their weights."""
        return stacked([part.X for part in self.parts]), np.concatenate(
            [part.weight for part in self.parts]
        )


@dataclass(frozen=True)
class RandomSample:
    """Some samples, drawn without replacement; ``a + b`` is a sample of the samples of both.

    Every sample gets a random number, and the samples with the smallest numbers are kept, in their
    order. So the sample does not depend on how its parts are combined.
    """

    # Number of samples at most.
    size: int
    # The random numbers.
    keys: Array
    # The data of the samples, such as X and y: arrays or CSR with one sample for each key.
    columns: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        size: int,
        columns: Sequence[Any],
        rng: np.random.Generator | np.random.RandomState,
    ) -> RandomSample:
        """Draw from some samples."""
        return cls(size, rng.random(columns[0].shape[0]), tuple(columns))._smallest()

    def __add__(self, other: RandomSample) -> RandomSample:
        pairs = zip(self.columns, other.columns, strict=True)
        keys = np.concatenate([self.keys, other.keys])
        return RandomSample(self.size, keys, tuple(stacked(pair) for pair in pairs))._smallest()

    def _smallest(self) -> RandomSample:
        if len(self.keys) <= self.size:
            return self
        stay = np.sort(np.argpartition(self.keys, self.size)[: self.size])
        return RandomSample(self.size, self.keys[stay], tuple(each[stay] for each in self.columns))


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
        f"y has the columns {format_names(now)} in this batch, but had {format_names(before)} in "
        f"the batches before; they differ from column {first} on. Pass the same columns in the "
        "same order."
    )
