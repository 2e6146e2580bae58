"""The scatter of data too large for any square array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skml_kalda._moments import Moments, label_gram, label_moments
from skml_kalda._rows import Array, CentredRows

# What to say where a method cannot do without.
NO_SPECTRUM = (
    "needs the whole spectrum of S_t, which is not formed for sparse X with this many rows and "
    "features (skml_kalda.scatter_form can force it)"
)


@dataclass(frozen=True)
class ImplicitScatter(Moments):
    """The scatter of many sparse rows of many features: products with S_t, no square array."""

    rows: CentredRows
    """T = Ω^½ X̃, shape (n, p)."""
    labels: Any
    """b_i, shape (n, K), sparse."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> ImplicitScatter:
        """Keep sparse X as it is; parameters as in :meth:`Scatter.of`."""
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        return cls(*head, rows.cross(labels), label_gram(labels, weight), rows, labels)

    def targets(self, L: Array) -> Array:
        """Ω^½ (b − b̄) L, shape (n, q): `cross` L is Tᵀ of it."""
        label_mean = self.label_weight / self.weight
        centred: Array = self.labels @ L - label_mean @ L
        return np.sqrt(self.rows.weight)[:, None] * centred

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        return self.rows.squared_norms()

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(self.diagonal.sum())

    def matmul(self, V: Array) -> Array:
        """S_t V."""
        product: Array = self.rows.T @ (self.rows @ V)
        return product
