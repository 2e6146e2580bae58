"""The scatter statistic that every reducer is computed from.

Rows x_i carry weights w_i and label vectors b_i. In the paper's setting w_i = ρ_i, the
number of labels of row i (Ω = diag(ρ)), and b_i = y_i / ρ_i, so that Σ w_i b_i = n_k;
regression-like methods take w_i = 1 and b_i = y_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator

from skml_kalda._moments import Moments, Spectrum, label_gram, label_moments, positive
from skml_kalda._rows import Array as Array
from skml_kalda._rows import CentredRows, weighted_mean

# A square array of this many rows, 200 MB, is the largest that sparse data are turned into.
LARGE = 5_000


@dataclass(frozen=True)
class Scatter(Moments):
    """Moments about the weighted mean; ``a + b`` is the scatter of the rows of both."""

    total: Array
    """S_t = Σ w_i (x_i − m)(x_i − m)ᵀ, shape (p, p)."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> Scatter:
        """Add up the rows of X; dense ones block by block, each centred about its own mean.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            Sparse X stays sparse.
        labels : CSR of shape (n, K)
            b_i.
        weight : array of shape (n,)
            w_i ≥ 0.
        """
        if sparse.issparse(X):
            return cls._of_sparse(X, labels, weight)
        blocks = list(_blocks(X))
        # One workspace for all blocks: fresh memory for each would cost as much as its sums.
        work = np.empty((min(len(X), blocks[0].stop), X.shape[1]))
        return reduce(add, (cls._of_dense(X[i], labels[i], weight[i], work) for i in blocks))

    @classmethod
    def _of_dense(cls, X: Array, labels: Any, weight: Array, work: Array) -> Scatter:
        mean = weighted_mean(X, weight)
        root = np.sqrt(weight)
        T = np.subtract(X, mean, out=work[: len(X)])  # Ω^½ X̃
        if np.any(root != 1):
            T *= root[:, None]
        cross = ((sparse.diags_array(root) @ labels).T @ T).T
        return cls(*label_moments(labels, weight, mean), cross, label_gram(labels, weight), T.T @ T)

    @classmethod
    def _of_sparse(cls, X: Any, labels: Any, weight: Array) -> Scatter:
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        return cls(*head, rows.cross(labels), label_gram(labels, weight), rows.total())

    def __add__(self, other: Scatter) -> Scatter:
        """Pairwise update of the moments (Chan, Golub & LeVeque 1983)."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        cross = self.cross + other.cross
        cross -= np.outer(share * apart, self.label_weight)
        cross += np.outer((1 - share) * apart, other.label_weight)
        return Scatter(
            self.n_samples + other.n_samples,
            weight,
            self.mean + share * apart,
            self.label_weight + other.label_weight,
            cross,
            self.gram + other.gram,
            self.total + other.total + (self.weight * share) * np.outer(apart, apart),
        )

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(np.trace(self.total))

    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        # NumPy's: a switch to the threads of SciPy's BLAS costs more than the driver saves.
        values, basis = np.linalg.eigh(self.total)
        keep = positive(values)
        return Spectrum(values[keep][::-1], basis[:, keep][:, ::-1])

    def select(self, classes: NDArray[Any]) -> Scatter:
        """Keep the given label columns only."""
        return replace(
            self,
            label_weight=self.label_weight[classes],
            cross=self.cross[:, classes],
            gram=self.gram[np.ix_(classes, classes)],
        )

    def widen(self, n_classes: int, positions: NDArray[Any]) -> Scatter:
        """Put label column j at ``positions[j]`` among `n_classes`; the others are empty."""
        label_weight = np.zeros(n_classes)
        cross = np.zeros((self.n_features, n_classes))
        gram = np.zeros((n_classes, n_classes))
        label_weight[positions] = self.label_weight
        cross[:, positions] = self.cross
        gram[np.ix_(positions, positions)] = self.gram
        return replace(self, label_weight=label_weight, cross=cross, gram=gram)


@dataclass(frozen=True)
class RowScatter(Moments):
    """The scatter of fewer rows than features: no p × p array, everything through n × n."""

    rows: Any
    """T = Ω^½ X̃, shape (n, p): an array, or an operator over sparse X."""
    kernel: Array
    """T Tᵀ, shape (n, n)."""
    targets: Array
    """Ω^½ (b − b̄), shape (n, K): the sum `cross` is Tᵀ of it."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> RowScatter:
        """Keep the centred rows of X; parameters as in :meth:`Scatter.of`."""
        rows: Any
        root = np.sqrt(weight)[:, None]
        label_mean = np.asarray(labels.T @ weight) / weight.sum()
        targets = root * (labels.toarray() - label_mean)
        if sparse.issparse(X):
            rows = CentredRows(X, weight)
            mean, kernel = rows.mean, rows.kernel()
        else:
            mean = weighted_mean(X, weight)
            rows = root * np.subtract(X, mean, dtype=np.float64)
            kernel = rows @ rows.T
        head = label_moments(labels, weight, mean)
        return cls(*head, rows.T @ targets, label_gram(labels, weight), rows, kernel, targets)

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(np.trace(self.kernel))

    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        if isinstance(self.rows, np.ndarray):
            # Through QR: orthonormal to rounding even where eigenvalues are tiny.
            Q, R = linalg.qr(self.rows.T, mode="economic", check_finite=False)
            left, singular, _ = linalg.svd(R, full_matrices=False, check_finite=False)
            keep = positive(singular**2)
            return Spectrum(singular[keep] ** 2, Q @ left[:, keep])
        values, vectors = linalg.eigh(self.kernel, check_finite=False)
        keep = positive(values)
        values, vectors = values[keep][::-1], vectors[:, keep][:, ::-1]
        return Spectrum(values, self.rows.T @ aslinearoperator(vectors / np.sqrt(values)))


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

    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range: needs the square array after all."""
        form = _smaller_form(self.rows.X)
        return form.of(self.rows.X, self.labels, self.rows.weight).spectrum()


AnyScatter: TypeAlias = Scatter | RowScatter | ImplicitScatter


def scatter_of(X: Any, labels: Any, weight: Array) -> AnyScatter:
    """Scatter of X in the form that is smallest.

    That is p × p moments, n × n rows for n < p, or sparse X itself where both squares are
    large.
    """
    large = sparse.issparse(X) and min(X.shape) > LARGE
    form = ImplicitScatter if large else _smaller_form(X)
    return form.of(X, labels, weight)


def _smaller_form(X: Any) -> type[Scatter | RowScatter]:
    return RowScatter if X.shape[0] < X.shape[1] else Scatter


def _blocks(X: Array) -> Iterator[slice]:
    """Row blocks: bounded working memory, yet large enough to hide the p × p merge."""
    n, p = X.shape
    rows = max(2**23 // p, 2048)
    return (slice(start, start + rows) for start in range(0, n, rows))
