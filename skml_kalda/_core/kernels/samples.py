"""A random sample of rows that come in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skml_kalda._core.arrays import Array, stacked


@dataclass(frozen=True)
class RowSample:
    """Some rows, drawn without replacement; ``a + b`` is a sample of the rows of both.

    Every row gets a random number, and the rows with the smallest numbers are kept, in their
    order. So the sample does not depend on how its parts are combined.
    """

    size: int
    """Number of rows at most."""
    keys: Array
    """The random numbers."""
    columns: tuple[Any, ...]
    """The data of the rows, such as X and y: arrays or CSR with one row for each key."""

    @classmethod
    def of(
        cls,
        size: int,
        columns: Sequence[Any],
        rng: np.random.Generator | np.random.RandomState,
    ) -> RowSample:
        """Draw from some rows."""
        return cls(size, rng.random(columns[0].shape[0]), tuple(columns))._smallest()

    def __add__(self, other: RowSample) -> RowSample:
        pairs = zip(self.columns, other.columns, strict=True)
        keys = np.concatenate([self.keys, other.keys])
        return RowSample(self.size, keys, tuple(stacked(pair) for pair in pairs))._smallest()

    def _smallest(self) -> RowSample:
        if len(self.keys) <= self.size:
            return self
        stay = np.sort(np.argpartition(self.keys, self.size)[: self.size])
        return RowSample(self.size, self.keys[stay], tuple(each[stay] for each in self.columns))
