"""Batches of labelled rows, which add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._labels import occupied_columns
from skml_kalda._scatter import Scatter


@dataclass(frozen=True)
class Batch:
    """What is kept of some rows; ``a + b`` is what is kept of the rows of both."""

    scatter: Scatter
    classes: NDArray[Any]
    """The classes of the label columns, those without rows included."""
    columns: int | None
    """Number of columns of the indicator matrix; None where y was one-dimensional."""
    dtype: np.dtype[Any]
    """Of the data, and so of the results."""

    def __add__(self, other: Batch) -> Batch:
        _check_same_columns(self.columns, other.columns)
        classes = np.union1d(self.classes, other.classes)
        scatter = self._over(classes) + other._over(classes)
        dtype = np.result_type(self.dtype, other.dtype)
        return Batch(scatter, classes, self.columns, dtype)

    def _over(self, classes: NDArray[Any]) -> Scatter:
        """Put the label columns at their places among those of all `classes`."""
        return self.scatter.widen(len(classes), np.searchsorted(classes, self.classes))

    def __sizeof__(self) -> int:
        # A scheduler that did not count the arrays would move them about as if they cost nothing.
        return sum(np.asarray(field).nbytes for field in vars(self.scatter).values())

    def occupied(self) -> tuple[Scatter, NDArray[Any]]:
        """Leave out the classes without rows; refuse fewer than two others."""
        columns = occupied_columns(self.scatter.label_weight, self.classes)
        return self.scatter.select(columns), self.classes[columns]


def _check_same_columns(before: int | None, now: int | None) -> None:
    if before == now:
        return
    forms = [f"{n} label columns" if n is not None else "one dimension" for n in (now, before)]
    raise ValueError(f"y has {forms[0]} in this batch, but had {forms[1]} in the batches before.")
