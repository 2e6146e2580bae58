"""Moments of rows and labels: what every scatter knows besides S_t itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skml_kalda._rows import Array

# Eigenvalues of S_t below this fraction of the largest are rounding, not data.
RANGE_RTOL = 1e-10


class Spectrum(NamedTuple):
    """S_t on its range: S_t = U diag(values) Uᵀ, values descending and positive."""

    values: Array
    basis: Any
    """U, of shape (p, r): an array, or an operator where U would be as large as dense X."""


@dataclass(frozen=True)
class Moments:
    """What all scatters know besides S_t itself."""

    n_samples: int
    weight: float
    """Σ w_i."""
    mean: Array
    """m = Σ w_i x_i / Σ w_i, shape (p,)."""
    label_weight: Array
    """n_k = Σ w_i b_ik, shape (K,)."""
    cross: Array
    """Σ w_i (x_i − m) b_iᵀ, shape (p, K)."""
    gram: Array
    """Σ w_i b_i b_iᵀ, shape (K, K)."""

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        raise NotImplementedError

    @cached_property
    def squared_norm(self) -> float:
        """‖S_t‖_F², the sum of its squared eigenvalues."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """Dimension p of the data."""
        return self.mean.shape[0]

    @property
    def n_classes(self) -> int:
        """Number K of label columns."""
        return self.label_weight.shape[0]

    @property
    def is_constant(self) -> bool:
        """Whether the rows differ by no more than the rounding of their mean."""
        return bool(self.trace <= 1e-28 * self.weight * (self.mean @ self.mean))

    @property
    def class_scale(self) -> Array:
        """n_k^(-½), shape (K,); zero for a class that no weight was left to."""
        occupied = self.label_weight > 0
        return np.where(occupied, 1 / np.sqrt(np.where(occupied, self.label_weight, 1)), 0)

    @property
    def between(self) -> Array:
        """F with S_b = F Fᵀ, shape (p, K): column k is √n_k (m_k − m)."""
        return self.cross * self.class_scale

    @property
    def label_scatter(self) -> Array:
        """Σ w_i (b_i − b̄)(b_i − b̄)ᵀ, shape (K, K)."""
        scatter: Array = self.gram - np.outer(self.label_weight, self.label_weight) / self.weight
        return scatter


def label_moments(labels: Any, weight: Array, mean: Array) -> tuple[int, float, Array, Array]:
    """Put the first fields of `Moments` together."""
    return len(weight), float(weight.sum()), mean, labels.T @ weight


def label_gram(labels: Any, weight: Array) -> Array:
    """Σ w_i b_i b_iᵀ, shape (K, K)."""
    gram: Array = (labels.T @ labels.multiply(weight[:, None])).toarray()
    return gram


def positive(values: Array, rtol: float = RANGE_RTOL) -> NDArray[np.bool_]:
    """Mark the eigenvalues that are more than rounding."""
    positive: NDArray[np.bool_] = values > rtol * max(values.max(initial=0.0), 0.0)
    return positive
