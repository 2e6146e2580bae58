"""The scatter that stores the p × p array S_t; scatters of this form can be added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array, row_blocks
from skml_kalda._core.scatter.base import (
    Spectrum,
    filling,
    label_gram,
    label_moments,
    merged,
    widened,
)
from skml_kalda._core.scatter.centred import CentredRows, weighted_mean
from skml_kalda._core.scatter.memory import check_labels, check_memory
from skml_kalda._core.scatter.spectral import SpectralScatter, cholesky_solve, spectrum_of_square
from skml_kalda._core.symmetric import positive_eigenpairs


def _is_central(squares: Array, n: int, mean: Array) -> bool:
    """Whether Σ (x_i − m)² keeps its digits when it is Σ x_i² − n m²; false if not finite."""
    return bool(np.all(n * mean**2 <= 0.9 * squares) and np.isfinite(squares).all())


@dataclass(frozen=True)
class MomentScatter(SpectralScatter):
    """Moments about the weighted mean; ``a + b`` is the scatter of the rows of both."""

    total: Array
    """S_t = Σ w_i (x_i − m)(x_i − m)ᵀ, shape (p, p)."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> MomentScatter:
        """Add up the rows of X; dense ones as a whole, or block by block about their own means.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            Sparse X stays sparse.
        labels : CSR of shape (n, K)
            b_i.
        weight : array of shape (n,)
            w_i ≥ 0.
        """
        check_memory(X.shape[1])
        check_labels(X.shape[1], labels.shape[1])
        if sparse.issparse(X):
            return cls._of_sparse(X, labels, weight)
        if (whole := cls._of_whole(X, labels, weight)) is not None:
            return whole
        work: list[Array] = []
        # Blocks large enough to hide the p × p merge.
        blocks = row_blocks(X, at_least=2048)
        return reduce(add, (cls._of_dense(x, labels[i], weight[i], work) for i, x in blocks))

    @classmethod
    def _of_whole(cls, X: Array, labels: Any, weight: Array) -> MomentScatter | None:
        """Multiply dense X as it is and centre the products, where that costs at most a digit.

        Rows of unit weight need no copy then, and centring them costs half as much as XᵀX. None if
        X or its weights do not allow it.
        """
        if X.dtype != np.float64 or not X.flags.forc or np.any(weight != 1):
            return None
        few, n = X[:1024], len(X)
        with np.errstate(over="ignore", invalid="ignore"):
            if not _is_central(np.einsum("ij,ij->j", few, few), len(few), few.mean(axis=0)):
                return None
            sums = labels.T @ X
            if np.all(labels.sum(axis=1) == 1):
                mean = sums.sum(axis=0) / n  # saves reading X once more
            else:
                mean = weighted_mean(X, weight)
            # A value of X that is not finite shows in the mean; the blocks then tell which it is.
            if not np.isfinite(mean).all():
                return None
            total = X.T @ X
            if not _is_central(total.diagonal(), n, mean):
                return None
        total -= np.outer(n * mean, mean)
        moments = label_moments(labels, weight, mean)
        cross = (sums - np.outer(moments[-1], mean)).T
        return cls(*moments, cross, label_gram(labels, weight), total)

    @classmethod
    def of_blocks(cls, blocks: Iterable[tuple[Array, Any, Array]]) -> MomentScatter:
        """Add up blocks of dense rows, labels and weights. The rows are overwritten."""
        return reduce(add, (cls._of_dense(x, b, w, [x]) for x, b, w in blocks))

    @classmethod
    def _of_dense(cls, X: Array, labels: Any, weight: Array, work: list[Array]) -> MomentScatter:
        check_labels(X.shape[1], labels.shape[1])
        mean = weighted_mean(X, weight)
        root = np.sqrt(weight)
        if not work:
            # One workspace for all blocks, because allocating memory costs as much as summing.
            work.append(np.empty(X.shape))
        T = np.subtract(X, mean, out=work[0][: len(X)])  # Ω^½ X̃
        if np.any(root != 1):
            T *= root[:, None]
        cross = ((sparse.diags_array(root) @ labels).T @ T).T
        return cls(*label_moments(labels, weight, mean), cross, label_gram(labels, weight), T.T @ T)

    @classmethod
    def _of_sparse(cls, X: Any, labels: Any, weight: Array) -> MomentScatter:
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        return cls(*head, rows.cross(labels), label_gram(labels, weight), rows.total())

    def __add__(self, other: MomentScatter) -> MomentScatter:
        moments, factor, apart = merged(self, other)
        total = np.outer(factor * apart, apart)
        total += self.total
        total += other.total
        return replace(
            self,
            **moments,
            n_samples=self.n_samples + other.n_samples,
            gram=self.gram + other.gram,
            total=total,
        )

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        return self.total.diagonal()

    def rescaled(self, units: Array) -> MomentScatter:
        """Return the scatter of the rows x_i times `units`, feature by feature."""
        return replace(
            self,
            mean=self.mean * units,
            cross=self.cross * units[:, None],
            total=(self.total * units) * units[:, None],
        )

    def mapped(self, A: Array) -> MomentScatter:
        """Return the scatter of the rows x_i A, for A of shape (p, r)."""
        return replace(self, mean=self.mean @ A, cross=A.T @ self.cross, total=A.T @ self.total @ A)

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        return np.asarray(self.total @ V)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        # NumPy's eigh: SciPy has a faster driver, but switching to its BLAS threads costs more.
        if self.is_even:
            return Spectrum(*positive_eigenpairs(self.total, eigh=np.linalg.eigh))
        # S_t = AAᵀ, where A has one column for each positive eigenvalue of S_t scaled to a unit
        # diagonal. Singular values of A resolve variances that eigenvalues of S_t do not.
        units = self.units
        values, vectors = positive_eigenpairs(self.rescaled(units).total)
        spread = np.divide(1, units, out=np.zeros_like(units), where=units > 0)
        A = np.sqrt(values) * vectors * spread[:, None]
        return spectrum_of_square(A, len(values))

    def _solve(self, L: Array, ridge: float) -> Array | None:
        return cholesky_solve(self.total, ridge, self.cross @ L)

    def select(self, classes: NDArray[Any]) -> MomentScatter:
        """Keep only the given label columns."""
        return replace(
            self,
            label_weight=self.label_weight[classes],
            cross=self.cross[:, classes],
            gram=self.gram[np.ix_(classes, classes)],
        )

    def filled(self, n_labels: int) -> MomentScatter:
        """Put the known mean in place of unknown labels, if the columns are [Y, U].

        U marks the unknown labels. The result has the labels Y + U diag(ȳ), where ȳ is the mean
        over the rows in which a label is known. See `Indicator.filled`.
        """
        if self.n_classes == n_labels:
            return self
        A = filling(self.weight, self.label_weight)
        return replace(
            self,
            label_weight=self.label_weight @ A,
            cross=self.cross @ A,
            gram=A.T @ self.gram @ A,
        )

    def widen(self, n_classes: int, positions: NDArray[Any]) -> MomentScatter:
        """Put label column j at ``positions[j]`` among `n_classes`; the others are empty."""
        gram = np.zeros((n_classes, n_classes))
        gram[np.ix_(positions, positions)] = self.gram
        return replace(
            self,
            label_weight=widened(self.label_weight, n_classes, positions),
            cross=widened(self.cross, n_classes, positions),
            gram=gram,
        )
