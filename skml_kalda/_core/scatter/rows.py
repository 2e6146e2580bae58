"""The scatter that stores the n × n array of inner products of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.utils import assert_all_finite

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter.base import Spectrum, label_gram, label_moments
from skml_kalda._core.scatter.centred import CentredRows, weighted_mean
from skml_kalda._core.scatter.density import Density
from skml_kalda._core.scatter.memory import check_labels, check_memory
from skml_kalda._core.scatter.spectral import SpectralScatter, cholesky_solve, spectrum_of_square
from skml_kalda._core.symmetric import positive, positive_eigenpairs

# Numbers of a basis of sparse rows that is formed where inner products lose digits: 256 MB.
_LARGEST_BASIS = 2**25


@dataclass(frozen=True)
class RowScatter(SpectralScatter):
    """The scatter for fewer rows than features: through an n × n array, none of p × p."""

    rows: Any
    """T = Ω^½ X̃, shape (n, p): an array, or an operator over sparse X."""
    kernel: Array
    """T Tᵀ, shape (n, n)."""
    targets: Array
    """Ω^½ (b − b̄), shape (n, K): C is Tᵀ of it."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> RowScatter:
        """Keep the centred rows of X; parameters as in :meth:`MomentScatter.of`."""
        check_memory(X.shape[0])
        check_labels(X.shape[1], labels.shape[1])
        rows: Any
        root = np.sqrt(weight)[:, None]
        label_mean = np.asarray(labels.T @ weight) / weight.sum()
        targets = root * (labels.toarray() - label_mean)
        if sparse.issparse(X):
            rows = CentredRows(X, weight)
            mean, kernel = rows.mean, rows.kernel()
        else:
            rows = np.array(X, dtype=np.float64)
            assert_all_finite(rows, input_name="X")
            mean = weighted_mean(rows, weight)
            rows -= mean
            rows *= root
            kernel = rows @ rows.T
        head = label_moments(labels, weight, mean)
        return cls(*head, rows.T @ targets, label_gram(labels, weight), rows, kernel, targets)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        if isinstance(self.rows, np.ndarray):
            return np.einsum("ij,ij->j", self.rows, self.rows)
        return np.asarray(self.rows.squared_norms())

    def rescaled(self, units: Array) -> RowScatter:
        """Return the scatter of the rows x_i times `units`, feature by feature."""
        if isinstance(self.rows, np.ndarray):
            rows: Any = self.rows * units
            kernel = rows @ rows.T
        else:
            rows = self.rows.rescaled(units)
            kernel = rows.kernel()
        cross = self.cross * units[:, None]
        return replace(self, mean=self.mean * units, cross=cross, rows=rows, kernel=kernel)

    @cached_property
    def _rank(self) -> int:
        """Rank of S_t, which does not depend on the units of the features."""
        scaled = self if self.is_even else self.rescaled(self.units)
        return len(positive_eigenpairs(scaled.kernel)[0])

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        return np.asarray(self.rows.T @ (self.rows @ V))

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        if isinstance(self.rows, np.ndarray):
            if not self.is_even:
                return spectrum_of_square(self.rows.T, self._rank)
            # Through QR, so that the basis is orthonormal even where eigenvalues are tiny.
            Q, R = linalg.qr(self.rows.T, mode="economic", check_finite=False)
            left, singular, _ = linalg.svd(R, full_matrices=False, check_finite=False)
            keep = positive(singular**2)
            return Spectrum(singular[keep] ** 2, Q @ left[:, keep])
        found = len(self._resolved.values)
        if self.is_even or found == self._rank:
            return self._resolved
        if self._rank * self.n_features > _LARGEST_BASIS:
            raise _lost(self._rank - found, self._rank)
        return spectrum_of_square(self._scaled_basis(), self._rank)

    @cached_property
    def _resolved(self) -> Spectrum:
        """The part of the spectrum that the inner products of sparse rows resolve."""
        values, vectors = positive_eigenpairs(self.kernel)
        if not self.is_even:
            values, vectors = values[: self._rank], vectors[:, : self._rank]
        return Spectrum(values, self.rows.T @ aslinearoperator(vectors / np.sqrt(values)))

    def _scaled_basis(self) -> Array:
        """Return A of shape (p, rank) with S_t = A Aᵀ, through rows in even units."""
        units = self.units
        scaled = self.rescaled(units)
        _, vectors = positive_eigenpairs(scaled.kernel)
        spread = np.divide(1, units, out=np.zeros_like(units), where=units > 0)
        return np.asarray(spread[:, None] * (scaled.rows.T @ vectors))

    @cached_property
    def density(self) -> Density:
        """Every eigenvalue of S_t that is not far below any ridge."""
        if isinstance(self.rows, np.ndarray):
            return Density.exact(*self.spectrum, self.between)
        return Density.exact(*self._resolved, self.between)

    def _solve(self, L: Array, ridge: float) -> Array | None:
        # (TᵀT + γI)⁻¹Tᵀ = Tᵀ(TTᵀ + γI)⁻¹
        dual = cholesky_solve(self.kernel, ridge, self.targets @ L)
        return None if dual is None else np.asarray(self.rows.T @ dual)


def _lost(lost: int, rank: int) -> ValueError:
    return ValueError(
        f"The units of the columns of X differ so much that {lost} of {rank} directions are lost "
        "to rounding: scale X first, for example with a MaxAbsScaler."
    )
