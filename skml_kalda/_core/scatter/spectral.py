"""The base of the forms that store a square array, and so have the spectrum of S_t."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter.base import Scatter, Spectrum
from skml_kalda._core.scatter.density import Density

# A solve loses as many digits as the condition number of B has. If that is larger than the
# inverse of this, S_t is restricted to its range first.
_RCOND = 1e-6
# Divide and conquer loses singular values below this fraction of the largest to rounding.
_GRADED = 1e-8


@dataclass(frozen=True)
class SpectralScatter(Scatter):
    """A scatter whose S_t can be decomposed."""

    has_spectrum: ClassVar[Literal[True]] = True

    @cached_property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""

    @cached_property
    def density(self) -> Density:
        """Every eigenvalue of S_t."""
        return Density.exact(*self.spectrum, self.between)

    @abstractmethod
    def _solve(self, L: Array, ridge: float) -> Array | None:
        """Solve without a spectrum; None if S_t + γI is too close to singular."""

    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L, shape (p, q): one solve with q right-hand sides.

        Without a ridge, features with different units are scaled to equal variance first,
        because the rank of S_t must not depend on units. If S_t is singular, W has least norm
        after that scaling.
        """
        if ridge == 0 and not self.is_even:
            units = self.units
            return units[:, None] * self.rescaled(units).ridge_weights(L, ridge)
        W = None if "spectrum" in vars(self) else self._solve(L, ridge)
        return self._solve_on_range(L, ridge) if W is None else W

    def _solve_on_range(self, L: Array, ridge: float) -> Array:
        values, basis = self.spectrum
        return np.asarray(basis @ ((basis.T @ self.cross @ L) / (values + ridge)[:, None]))


def spectrum_of_square(A: Array, rank: int) -> Spectrum:
    """Return the spectrum of S_t = A Aᵀ, for A of shape (p, r), in any units of the features."""
    left, singular, _ = graded_svd(A, rank)
    return Spectrum(singular**2, left)


def graded_svd(A: Array, rank: int) -> tuple[Array, Array, Array]:
    """Return `rank` singular values of A and their vectors, for rows of any size.

    QR of A with its rows sorted by size and its columns pivoted keeps the digits of every row,
    however small (Cox & Higham 1998). What is left is graded from large to small, and its singular
    values are all right to full precision if those of A in even units are.
    """
    order = np.argsort(-np.abs(A).max(axis=1, initial=0.0), kind="stable")
    Q, R, pivots = linalg.qr(A[order], mode="economic", pivoting=True, check_finite=False)
    size = np.abs(R.diagonal())[:rank]
    driver = "gesdd" if size[-1] > _GRADED * size[0] else "gesvd"
    inner, singular, turned = linalg.svd(
        R, full_matrices=False, check_finite=False, lapack_driver=driver
    )
    left, right = np.empty((len(A), rank)), np.empty((rank, A.shape[1]))
    left[order] = Q @ inner[:, :rank]
    right[:, pivots] = turned[:rank]
    return left, singular[:rank], right


def cholesky_solve(S: Array, ridge: float, right: Array) -> Array | None:
    """Solve (S + γI) W = right; None if the matrix is too close to singular."""
    B = S.copy()
    B.flat[:: len(B) + 1] += ridge
    size = linalg.norm(B, 1)
    try:
        factor, lower = linalg.cho_factor(B, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(factor, size, uplo="L" if lower else "U")
    if reciprocal_condition < _RCOND:
        return None
    solution: Array = linalg.cho_solve((factor, lower), right, check_finite=False)
    return solution
