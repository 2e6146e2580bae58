"""The base of all forms of the scatter: what each one stores and must compute.

Rows x_i carry weights w_i and label vectors b_i. In the paper's setting w_i = ρ_i, the number
of labels of row i (Ω = diag(ρ)), and b_i = y_i / ρ_i, so that Σ w_i b_i = n_k. Methods that
resemble regression take w_i = 1 and b_i = y_i.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter.density import Density

# Eigenvalues of (A, B) below this fraction of the largest are rounding errors.
RANK_RTOL = 1e-12
# Default accuracy of iterative solutions.
TOL = 1e-4
# Features whose spreads differ by less than this factor count as having the same unit.
_EVEN = 100.0
# Products with S_t + γI of a size beyond this, or below its inverse, may be no floats.
_ORDINARY = 1e20
# If no feature correlates with labels by more than this, all that is left is rounding.
_UNCORRELATED = 1e-12
# The variance of the label sums is a rounding error below this fraction of their squares.
_SAME_SUM = 1e-12


class Spectrum(NamedTuple):
    """S_t on its range: S_t = U diag(values) Uᵀ, values descending and positive."""

    values: Array
    basis: Any
    """U, of shape (p, r): an array, or an operator where U would be as large as dense X."""


@dataclass(frozen=True)
class Scatter(metaclass=ABCMeta):
    """The moments of rows and labels; each form stores S_t in its own way."""

    n_samples: int
    weight: float
    """Σ w_i."""
    mean: Array
    """m = Σ w_i x_i / Σ w_i, shape (p,)."""
    label_weight: Array
    """n_k = Σ w_i b_ik, shape (K,)."""
    cross: Array
    """C = Σ w_i (x_i − m) b_iᵀ, shape (p, K)."""
    gram: Array
    """Σ w_i b_i b_iᵀ, shape (K, K)."""

    rows_once: bool = field(default=False, kw_only=True)
    """Whether S_b is that of regression: labels centred, and all on the same scale."""

    tol: float = field(default=TOL, kw_only=True)
    """Approximate largest angle between an iterative solution and the exact one."""

    @cached_property
    @abstractmethod
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""

    @cached_property
    @abstractmethod
    def density(self) -> Density:
        """The distribution of the eigenvalues of S_t."""

    @abstractmethod
    def matmul(self, V: Array) -> Array:
        """Return S_t V."""

    @abstractmethod
    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L, shape (p, q): one solve with q right-hand sides."""

    @abstractmethod
    def rescaled(self, units: Array) -> Self:
        """Return the scatter of the rows x_i times `units`, feature by feature."""

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(self.diagonal.sum())

    @cached_property
    def varying(self) -> NDArray[np.bool_]:
        """Which features vary by more than the rounding error of their mean, shape (p,)."""
        return exceeds_rounding(self.diagonal, self.weight, self.mean)

    @property
    def is_constant(self) -> bool:
        """Whether no feature varies."""
        return not self.varying.any()

    @property
    def has_class_means(self) -> bool:
        """Whether C is more than rounding, as its product with a random vector shows.

        If it is not, a direction of the largest entries of C would mean nothing.
        """
        probe = np.random.default_rng(0).standard_normal(self.n_classes)
        bound = np.sqrt(self.diagonal) * np.sqrt(probe @ (self.gram @ probe))  # Cauchy-Schwarz
        return bool(np.any(np.abs(self.cross @ probe) > _UNCORRELATED * bound))

    @property
    def units(self) -> Array:
        """Factors that scale features to equal variance; zero for constant features."""
        spread = np.sqrt(np.where(self.varying, self.diagonal, 1))
        return np.where(self.varying, 1 / spread, 0)

    @property
    def is_even(self) -> bool:
        """Whether all features that vary have about the same unit.

        If not, the smallest eigenvalues of S_t may be lost in the rounding errors of the largest.
        Results that do not depend on units are then computed from features of equal variance.
        """
        diagonal = self.diagonal[self.varying]
        return bool(diagonal.max(initial=0.0) <= _EVEN**2 * diagonal.min(initial=np.inf))

    def of_ordinary_size(self, ridge: float = 0.0) -> tuple[Self, float]:
        """Return the scatter of X times a factor that gives S_t + γI an ordinary size; the factor.

        The factor is one for nearly all data. Elsewhere single precision, or a product of
        variances in double precision, would overflow or vanish. It is one too for uneven units
        without a ridge, because features are then scaled one by one.
        """
        size = self.trace + ridge
        if 1 / _ORDINARY < size < _ORDINARY or (ridge == 0 and not self.is_even):
            return self, 1.0
        if size == 0:  # no feature varies, as callers find out
            return self, 1.0
        factor = 2.0 ** -np.round(np.log2(size) / 2)  # a power of two rounds nothing
        return self.rescaled(np.full(self.n_features, factor)), float(factor)

    def cleaned(self) -> Self:
        """Return the scatter with the rounding errors of constant features set to zero."""
        noise = ~self.varying & (self.diagonal > 0)
        return self.rescaled(np.where(noise, 0.0, 1.0)) if noise.any() else self

    @property
    def mean_eigenvalue(self) -> float:
        """Tr(S_t) / p, the unit of ridges."""
        return self.trace / self.n_features

    @property
    def n_features(self) -> int:
        """Dimension p of the data."""
        return self.mean.shape[0]

    @property
    def n_classes(self) -> int:
        """Number K of label columns."""
        return self.label_weight.shape[0]

    @property
    def class_scale(self) -> Array:
        """n_k^(-½), shape (K,); zero for a class without weight."""
        occupied = self.label_weight > 0
        return np.where(occupied, 1 / np.sqrt(np.where(occupied, self.label_weight, 1)), 0)

    @property
    def label_scale(self) -> Array:
        """The diagonal of L in S_b = (CL)(CL)ᵀ, shape (K,): n_k^(-½).

        If every row counts once it is (Σ w_i)^(-½), so that S_b has the unit of S_t.
        """
        if self.rows_once:
            return np.full(self.n_classes, 1 / np.sqrt(self.weight))
        return self.class_scale

    @property
    def between(self) -> Array:
        """F with S_b = F Fᵀ, shape (p, K): column k is √n_k (m_k − m)."""
        return self.cross * self.label_scale

    @property
    def label_scatter(self) -> Array:
        """Σ w_i (b_i − b̄)(b_i − b̄)ᵀ, shape (K, K)."""
        share = self.label_weight / self.weight
        return np.asarray(self.gram - np.outer(share, self.label_weight))

    @property
    def label_variance(self) -> Array:
        """Diagonal of `label_scatter`, shape (K,)."""
        share = self.label_weight / self.weight  # a square of weights may overflow
        return np.asarray(self.gram.diagonal() - self.label_weight * share)

    @property
    def label_norm(self) -> float:
        """Frobenius norm of the label kernel, L Σ w_i b_i b_iᵀ L; centred if rows count once."""
        kernel = self.label_scatter if self.rows_once else self.gram
        return float(np.linalg.norm(self.label_scale[:, None] * kernel * self.label_scale))

    @property
    def label_dimensions(self) -> int:
        """Number of dimensions in which the labels vary, if they are linearly independent.

        It is K, or K − 1 if the entries of every b_i have the same sum: with one class per row,
        or if a row counts once for each of its labels.
        """
        total, sums = float(self.gram.sum()), float(self.label_weight.sum())
        varying = total - sums / self.weight * sums
        return self.n_classes - (varying <= _SAME_SUM * total)


def label_moments(labels: Any, weight: Array, mean: Array) -> tuple[int, float, Array, Array]:
    """Return the first fields of `Scatter`."""
    return len(weight), float(weight.sum()), mean, labels.T @ weight


def exceeds_rounding(squares: Array, weight: float, mean: Array) -> NDArray[np.bool_]:
    """Whether Σ w_i (x_i − m)² is more than the rounding of the mean of a feature makes it."""
    return squares > 1e-28 * weight * mean**2


def widened(sums: Array, n_classes: int, positions: NDArray[Any]) -> Array:
    """Put column j of sums by label at ``positions[j]`` among `n_classes`; the others are zero."""
    wide = np.zeros((*sums.shape[:-1], n_classes))
    wide[..., positions] = sums
    return wide


class Merged(NamedTuple):
    """The first moments of the rows of two statistics (Chan, Golub & LeVeque 1983)."""

    moments: dict[str, Any]
    """The fields `weight`, `mean`, `label_weight` and `cross` of the sum."""
    factor: float
    apart: Array
    """Second moments about the mean grow by `factor` times `apart` `apart`ᵀ."""


def merged(a: Any, b: Any) -> Merged:
    """Merge the first moments of two statistics of the same features and labels."""
    weight = a.weight + b.weight
    share = b.weight / weight if weight else 0.0
    apart = b.mean - a.mean
    cross = a.cross + b.cross
    cross -= np.outer(share * apart, a.label_weight)
    cross += np.outer((1 - share) * apart, b.label_weight)
    moments = {
        "weight": weight,
        "mean": a.mean + share * apart,
        "label_weight": a.label_weight + b.label_weight,
        "cross": cross,
    }
    return Merged(moments, a.weight * share, apart)


def label_gram(labels: Any, weight: Array) -> Array:
    """Return Σ w_i b_i b_iᵀ, shape (K, K)."""
    return np.asarray(sparse_label_gram(labels, weight).toarray())


def sparse_label_gram(labels: Any, weight: Array) -> Any:
    """Return Σ w_i b_i b_iᵀ as CSR."""
    return sparse.csr_array(labels.T @ labels.multiply(weight[:, None]))


def filling(weight: float, label_weight: Array) -> Array:
    """Return A, shape (2K, K), for which [Y, U] A = Y + U diag(ȳ).

    Parameters
    ----------
    weight : float
        Σ w_i.
    label_weight : array of shape (2K,)
        Weights of the rows that have each label, then of the rows in which it is unknown.
    """
    found, unknown = np.split(label_weight, 2)
    known = weight - unknown
    mean = np.divide(found, known, out=np.zeros_like(found), where=known > 0)
    return np.vstack([np.eye(len(mean)), np.diag(mean)])
