"""Ridge regression of the labels, and its leave-one-out scores, for every ridge at once.

With the scatter of the features S = U diag(Λ) Uᵀ and z_i = Uᵀ(x_i − m), the scores of a ridge λ
are f_i = ȳ + z_iᵀ diag(1/(Λ + λ)) UᵀC, where C = Σ w_i (x_i − m) y_iᵀ. A row pulls its own score
towards its labels with the leverage h_i = w_i (1/Σw + Σ_j z_ij² / (Λ_j + λ)), and a fit without
it would have given y_i − (y_i − f_i) / (1 − h_i). One eigendecomposition serves all ridges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import positive_eigenpairs
from skml_kalda._core.scatter import PrimalScatter


@dataclass(frozen=True)
class RidgePath:
    """Ridge regressions of the labels on the features; the mean is not shrunk."""

    weight: float
    """Σ w_i."""
    mean: Array
    """m, shape (p,)."""
    label_mean: Array
    """ȳ, shape (K,)."""
    values: Array
    """Λ > 0, shape (r,)."""
    basis: Array
    """U, shape (p, r)."""
    loadings: Array
    """UᵀC, shape (r, K)."""

    @classmethod
    def of(cls, scatter: PrimalScatter) -> RidgePath:
        """Decompose the scatter of rows that count once each, with labels b_i = y_i."""
        # With a ridge, rounding errors in the smallest eigenvalues make no difference.
        values, basis = positive_eigenpairs(scatter.total, eigh=np.linalg.eigh)
        return cls(
            scatter.weight,
            scatter.mean,
            scatter.label_weight / scatter.weight,
            values,
            basis,
            basis.T @ scatter.cross,
        )

    def ridge(self, shrinkage: float) -> float:
        """Return the λ of a shrinkage a: a / (1 − a) times the mean eigenvalue of S on its range.

        It is infinite for a = 1. The eigenvalues on the range are those of the kernel of the
        rows, so that λ does not depend on which of the two was decomposed.
        """
        if shrinkage == 1 or not len(self.values):
            return np.inf
        return float(shrinkage / (1 - shrinkage) * self.values.mean())

    def weights(self, ridge: float) -> Array:
        """Return W with scores ȳ + (x − m)ᵀW, shape (p, K)."""
        return self.basis @ (self.loadings / (self.values + ridge)[:, None])

    def without_each(
        self, X: Any, Y: Array, weight: Array, unknown: Array | None = None
    ) -> LeaveOneOut:
        """Prepare the leave-one-out scores of some of the rows that the scatter was made of.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            Rows.
        Y : array of shape (n, K)
            Their labels.
        weight : array of shape (n,)
            Their weights. A row of weight zero is not part of the fit.
        unknown : array of shape (n, K) or None, default=None
            One where a label is unknown: the fit took its mean, and errors there do not count.
        """
        Z = safe_sparse_dot(X, self.basis, dense_output=True) - self.mean @ self.basis
        if unknown is None:
            return LeaveOneOut(self, Z, Y, weight)
        return LeaveOneOut(self, Z, Y + unknown * self.label_mean, weight, 1 - unknown)


@dataclass(frozen=True)
class LeaveOneOut:
    """Scores of rows by the fit to all other rows."""

    path: RidgePath
    Z: Array
    """Coordinates z_i of the rows, shape (n, r)."""
    Y: Array
    """Their labels, shape (n, K)."""
    weight: Array
    """Their weights, shape (n,)."""
    known: Array | float = 1.0
    """One where a label is known, zero elsewhere."""

    def scores(self, ridge: float) -> Array:
        """Return the scores of a fit with the same λ, shape (n, K)."""
        path = self.path
        inverse = 1 / (path.values + ridge)
        fitted = path.label_mean + self.Z @ (inverse[:, None] * path.loadings)
        leverage = self.weight * (1 / path.weight + self.Z**2 @ inverse)
        # With a ridge, leverages are below one. Without, a row that alone spans a direction has
        # leverage one, and any score fits it.
        kept = np.maximum(1 - leverage, np.finfo(np.float64).eps)
        return self.Y - (self.Y - fitted) / kept[:, None]

    def squared_error(self, ridge: float) -> float:
        """Return Σ w_i ‖y_i − f_i‖² over the leave-one-out scores of known labels."""
        errors = self.known * (self.Y - self.scores(ridge)) ** 2
        return float(self.weight @ np.sum(errors, axis=1))
