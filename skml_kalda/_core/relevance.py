"""How well each single feature is aligned with the labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import inplace_column_scale

from skml_kalda._core.arrays import Array, row_blocks, weighted_mean
from skml_kalda._core.centred import CentredSamples
from skml_kalda._core.scatter import PrimalScatter, exceeds_rounding, filling, merged, widened

# Relevance of a feature that is no better than chance, as a fraction of what chance gives.
_FLOOR = 0.02


@dataclass(frozen=True)
class FeatureMoments:
    """Moments of every feature with the labels; ``a + b`` are those of the samples of both."""

    # Σ w_i.
    weight: float
    # m = Σ w_i x_i / Σ w_i, shape (p,).
    mean: Array
    # Σ w_i (x_i − m)², shape (p,).
    squares: Array
    # n_k = Σ w_i y_ik, shape (K,).
    label_weight: Array
    # Σ w_i y_ik², shape (K,).
    label_squares: Array
    # Σ w_i (x_i − m) y_iᵀ, shape (p, K).
    cross: Array

    @classmethod
    def of(cls, X: Any, Y: Any, weight: Array) -> FeatureMoments:
        """Add up the samples of X in one pass; sparse X stays sparse.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            The data.
        Y : CSR of shape (n, K)
            Labels 0 and 1.
        weight : array of shape (n,)
            w_i ≥ 0.
        """
        if sparse.issparse(X):
            T = CentredSamples(X, weight)
            head = float(weight.sum()), T.mean, T.diagonal()
            return cls(*head, Y.T @ weight, Y.power(2).T @ weight, T.cross(Y))
        return reduce(add, (cls._of_block(x, Y[i], weight[i]) for i, x in row_blocks(X)))

    @classmethod
    def _of_block(cls, X: Array, Y: Any, weight: Array) -> FeatureMoments:
        mean = weighted_mean(X, weight)
        centred = X - mean
        cross = (Y.multiply(weight[:, None]).T @ centred).T
        labels = Y.T @ weight, Y.power(2).T @ weight
        return cls(float(weight.sum()), mean, weight @ centred**2, *labels, cross)

    @classmethod
    def within(cls, scatter: PrimalScatter) -> FeatureMoments:
        """Return the moments contained in a scatter whose samples count once, with b_i = y_i."""
        head = scatter.weight, scatter.mean, scatter.diagonal
        return cls(*head, scatter.label_weight, scatter.gram.diagonal(), scatter.cross)

    def __add__(self, other: FeatureMoments) -> FeatureMoments:
        moments, factor, apart = merged(self, other)
        return FeatureMoments(
            **moments,
            squares=self.squares + other.squares + factor * apart**2,
            label_squares=self.label_squares + other.label_squares,
        )

    def widen(self, n_classes: int, positions: NDArray[Any]) -> FeatureMoments:
        """Put label column j at ``positions[j]`` among `n_classes`; the others are empty."""
        return replace(
            self,
            label_weight=widened(self.label_weight, n_classes, positions),
            label_squares=widened(self.label_squares, n_classes, positions),
            cross=widened(self.cross, n_classes, positions),
        )

    @property
    def n_classes(self) -> int:
        """Number K of label columns."""
        return len(self.label_weight)

    def filled(self, n_labels: int) -> FeatureMoments:
        """Put the known mean in place of unknown labels: see `PrimalScatter.filled`."""
        if self.n_classes == n_labels:
            return self
        A = filling(self.weight, self.label_weight)
        return replace(
            self,
            label_weight=self.label_weight @ A,
            label_squares=self.label_squares @ A**2,  # Y and U are never one at once
            cross=self.cross @ A,
        )

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which features differ by more than the rounding of their mean, shape (p,)."""
        return exceeds_rounding(self.squares, self.weight, self.mean)

    @property
    def std(self) -> Array:
        """Standard deviation of each feature; one where it does not vary."""
        return np.sqrt(np.where(self.varying, self.squares / self.weight, 1))

    def relevance(self) -> Array:
        """Return the mean squared correlation of each feature with the labels, above chance.

        This is the alignment of the centred kernel of one feature with that of labels in unit
        variance, minus 1/n, its mean for a feature that is independent of them.
        """
        chance = 1 / self.weight
        share = self.label_weight / self.weight  # a square of weights may overflow
        label_squares = self.label_squares - self.label_weight * share
        labels = np.flatnonzero(label_squares > 1e-12 * self.weight)
        spread = np.sqrt(np.where(self.varying, self.squares, np.inf))
        correlation = self.cross[:, labels] / spread[:, None] / np.sqrt(label_squares[labels])
        alignment = np.sum(correlation**2, axis=1) / max(len(labels), 1)
        return np.maximum(alignment - chance, _FLOOR * chance)

    def scale(self, power: float, *, with_std: bool) -> Array:
        """Return the factor for each feature: its relevance to the power of `power` / 2.

        The factors have a mean square of one. `with_std` then divides them by the standard
        deviations of the features.
        """
        factors = self.relevance() ** (power / 2)
        factors /= np.sqrt(np.mean(factors**2))
        return factors / self.std if with_std else factors


def times(X: Any, factors: Array) -> Any:
    """Return X with every column multiplied by its factor, in the form and type of X."""
    factors = factors.astype(X.dtype, copy=False)
    if not sparse.issparse(X):
        return X * factors
    X = X.copy()
    inplace_column_scale(X, factors)
    return X
