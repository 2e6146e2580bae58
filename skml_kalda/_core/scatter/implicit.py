"""The scatter that stores only sparse rows, for data too large for any square array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import (
    System,
    solve,
    warn_not_converged,
)
from skml_kalda._core.scatter.base import Scatter, label_moments, sparse_label_gram
from skml_kalda._core.scatter.centred import CentredRows, SingleRows, weighted_mean
from skml_kalda._core.scatter.density import Density
from skml_kalda._core.scatter.memory import check_labels
from skml_kalda._core.symmetric import RANGE_RTOL

# The end of error messages of methods that need the spectrum.
NO_SPECTRUM = (
    "needs the whole spectrum of S_t, which is not formed for sparse X with this many rows and "
    "features (skml_kalda.scatter_form can force it)"
)
_MAX_RESTARTS = 300
# With more labels, a few leading directions are found from a sketch of the labels.
MANY_LABELS = 1_000
_SKETCH = 64
# Columns of one product in double precision.
_COLUMNS = 16


class TooFewDirections(ValueError):
    """Fewer directions than requested have a variance that is distinguishable from zero."""

    def __init__(self, wanted: int, found: int) -> None:
        super().__init__(
            f"Only {found} of {wanted} directions have variance distinguishable from zero; "
            f"a further one {NO_SPECTRUM}. Pass a smaller n_components."
        )


class LabelCross(LinearOperator):
    """C = Σ w_i (x_i − m) b_iᵀ of shape (p, K), each column times a scale, as products.

    C = TᵀΩ^½(b − b̄) is never stored, because its p × K numbers may be many more than X has.
    """

    def __init__(self, rows: Any, labels: Any, scale: Array, mean: Array | None = None) -> None:
        self._rows, self._labels, self._scale = rows, labels, scale
        self._root = np.sqrt(rows.weight)[:, None]
        self._mean = weighted_mean(labels, rows.weight) if mean is None else mean
        super().__init__(np.float64, (rows.shape[1], labels.shape[1]))

    def targets(self, L: Array) -> Array:
        """Return Ω^½ (b − b̄) L, shape (n, q)."""
        L = self._scale[:, None] * L
        return np.asarray(self._root * (self._labels @ L - self._mean @ L))

    def of_image(self, Z: Array) -> Array:
        """Return CᵀV, shape (K, q), from the image Z = T V."""
        Z = self._root * Z
        product: Array = self._labels.T @ Z
        product -= np.outer(self._mean, Z.sum(axis=0))
        product *= self._scale[:, None]
        return product

    def scaled(self, scale: Array) -> LabelCross:
        """Return C times a diagonal matrix."""
        return type(self)(self._rows, self._labels, self._scale * scale, self._mean)

    def on(self, rows: Any) -> LabelCross:
        """Return C for other rows, such as the same ones in other units."""
        return type(self)(rows, self._labels, self._scale, self._mean)

    def _matmat(self, L: Array) -> Array:
        return np.asarray(self._rows.T @ self.targets(L))

    def _rmatmat(self, V: Array) -> Array:
        return self.of_image(self._rows @ V)

    def _rmatvec(self, v: Array) -> Array:
        return self._rmatmat(v.reshape(-1, 1)).ravel()


@dataclass(frozen=True)
class RidgeSpan:
    """The span of W = (S_t + γI)⁺ C L, and the products that its best directions need."""

    lift: Callable[[Array], Array]
    """P -> W P."""
    cross: Array
    """(C L)ᵀW, shape (q, q)."""
    gram: Array
    """Wᵀ(S_t + γI)W, shape (q, q)."""


@dataclass(frozen=True)
class ImplicitScatter(Scatter):
    """The scatter of sparse data with many rows and many features, as products with S_t."""

    gram: Any
    """Σ w_i b_i b_iᵀ, shape (K, K), as CSR."""
    cross: Any
    """C = Σ w_i (x_i − m) b_iᵀ, shape (p, K), as products: a `LabelCross`."""
    rows: CentredRows
    """T = Ω^½ X̃, shape (n, p)."""

    has_spectrum: ClassVar[Literal[False]] = False

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> ImplicitScatter:
        """Store sparse X as it is. Parameters as in :meth:`MomentScatter.of`."""
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        cross = LabelCross(rows, labels, np.ones(labels.shape[1]))
        return cls(*head, cross, sparse_label_gram(labels, weight), rows)

    @property
    def sketches_labels(self) -> bool:
        """Whether there are too many labels to solve for each of them."""
        return self.n_classes > MANY_LABELS

    @property
    def label_scatter(self) -> Array:
        """Σ w_i (b_i − b̄)(b_i − b̄)ᵀ, shape (K, K)."""
        check_labels(self.n_features, self.n_classes)
        share = self.label_weight / self.weight
        return np.asarray(self.gram.toarray() - np.outer(share, self.label_weight))

    @property
    def label_norm(self) -> float:
        """Frobenius norm of the label kernel; see `Scatter`."""
        scale = self.label_scale
        kernel = self.gram.multiply(scale[:, None]).multiply(scale).tocsr()
        squares = kernel.data @ kernel.data
        if self.rows_once:
            weight = scale * self.label_weight
            squares -= 2 * (weight @ (kernel @ weight)) / self.weight
            squares += (weight @ weight) ** 2 / self.weight**2
        return float(np.sqrt(squares))

    @property
    def between(self) -> Any:
        """F with S_b = F Fᵀ, shape (p, K), as products."""
        return self.cross.scaled(self.label_scale)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        return self.rows.squared_norms()

    @cached_property
    def single(self) -> SingleRows:
        """T in single precision."""
        return self.rows.single()

    def rescaled(self, units: Array) -> ImplicitScatter:
        """Return the scatter of the rows x_i times `units`, feature by feature."""
        rows = self.rows.rescaled(units)
        return replace(self, mean=self.mean * units, cross=self.cross.on(rows), rows=rows)

    @cached_property
    def density(self) -> Density:
        """An estimate of the distribution of the eigenvalues of S_t."""
        L = np.eye(self.n_classes)
        if self.sketches_labels:  # the expected energy is the same
            signs = np.random.default_rng(1).choice([-1.0, 1.0], (self.n_classes, _SKETCH))
            L = signs / np.sqrt(_SKETCH)
        F = self.between @ L
        return Density.estimate(self.matmul, self.n_samples, F)

    def matmul(self, V: Array) -> Array:
        """Return S_t V = TᵀT V."""
        return _by_columns(lambda V: self.rows.T @ (self.rows @ V), V)

    def kernel_matmul(self, U: Array) -> Array:
        """Return T Tᵀ U."""
        return _by_columns(lambda U: self.rows @ (self.rows.T @ U), U)

    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L, shape (p, q): one solve with q right-hand sides.

        Without a ridge, features with different units are scaled to equal variance first.
        """
        if ridge == 0 and not self.is_even:
            units = self.units
            return units[:, None] * self.rescaled(units).ridge_weights(L, ridge)
        if self.has_dual(ridge):
            return np.asarray(self.rows.T @ self.dual_solve(self.cross.targets(L), ridge))
        return self.ridge_solve(self.cross @ L, ridge)

    def ridge_span(self, L: Array, ridge: float) -> RidgeSpan:
        """Return the span of W = (S_t + γI)⁺ C L, to the tolerance."""
        T, targets = self.rows, self.cross.targets(L)
        if self.has_dual(ridge):
            U = self.dual_solve(targets, ridge)
            Z = self.kernel_matmul(U)
            gram = Z.T @ (Z + ridge * U)
            return RidgeSpan(lambda P: T.T @ (U @ P), targets.T @ Z, (gram + gram.T) / 2)
        W = self.ridge_weights(L, ridge)
        Z = T @ W
        return RidgeSpan(lambda P: W @ P, targets.T @ Z, Z.T @ Z + ridge * (W.T @ W))

    def has_dual(self, ridge: float) -> bool:
        """Whether to solve W = Tᵀ(T Tᵀ + γI)⁻¹(·), with vectors of n entries instead of p."""
        return ridge > 0 and self.n_samples < self.n_features

    def dual_solve(self, right: Array, ridge: float, tol: float | None = None) -> Array:
        """Return U = (T Tᵀ + γI)⁻¹ right, for γ > 0: TᵀU solves (S_t + γI) W = Tᵀ right."""
        U, converged = solve(self.dual_system(ridge), right, self.tol if tol is None else tol)
        if not converged:
            warn_not_converged()
        return U

    def dual_system(self, ridge: float) -> System:
        """Return the matrix T Tᵀ + γI, for γ > 0."""
        return System(self.kernel_matmul, ridge, self.rows.shape, self.single.kernel)

    def ridge_solve(self, right: Array, ridge: float) -> Array:
        """Solve (S_t + γI) W = right, for right-hand sides in the range of S_t."""
        W, converged = self.try_ridge_solve(right, ridge)
        if not converged:
            warn_not_converged()
        return W

    def try_ridge_solve(
        self, right: Array, ridge: float, max_iter: int | None = None
    ) -> tuple[Array, bool]:
        """Solve (S_t + γI) W = right; also return whether that converged.

        With γ > 0 and n ≥ p the diagonal is the preconditioner. Otherwise there is none, because
        only plain conjugate gradients stay in the range of S_t. Without a ridge they converge to
        the solution of least norm. With fewer rows than features they never meet the eigenvalue γ
        outside the range, which would cost more iterations than the diagonal saves.
        """
        # Right-hand sides are correlated, so the error of their span exceeds that of each.
        return solve(self.primal_system(ridge), right, self.tol / 4, max_iter)

    def primal_system(self, ridge: float) -> System:
        """Return the matrix S_t + γI."""
        regular = ridge > 0 and self.n_samples >= self.n_features
        inverse = 1 / (self.diagonal + ridge)[:, None] if regular else None
        # Single precision leaves the range of S_t, which does no harm if there is a ridge.
        rough = self.single.total if ridge > 0 else None
        return System(self.matmul, ridge, self.rows.shape, rough, inverse)

    def leading_eigenpairs(self, product: Callable[[Array], Array], k: int) -> tuple[Array, Array]:
        """Return the k algebraically largest eigenpairs of an operator on the range of S_t.

        Parameters
        ----------
        product : callable
            V -> A V for arrays of p rows and symmetric A.
        k : int
            Number of pairs.

        Raises
        ------
        TooFewDirections
            If the iteration does not converge.
        """
        p = self.n_features

        def columns(V: Array) -> Array:
            return product(V.reshape(p, -1))

        def vector(v: Array) -> Array:
            return columns(v)[:, 0]

        A = LinearOperator((p, p), matvec=vector, matmat=columns, dtype=np.float64)
        # In the range of S_t, like all vectors that follow, up to rounding.
        start = self.matmul(np.random.RandomState(0).standard_normal((p, 1)))[:, 0]
        try:
            values, G = eigsh(A, k, which="LA", v0=start, maxiter=_MAX_RESTARTS)
        except ArpackError as error:
            # Without any eigenvalue where the range of S_t is exhausted before they converge.
            found = np.asarray(getattr(error, "eigenvalues", ()))
            raise TooFewDirections(k, int(np.sum(found > 0))) from error
        order = np.argsort(-values, kind="stable")
        return values[order], np.asarray(G)[:, order]

    def check_varying(self, G: Array) -> None:
        """Raise TooFewDirections if S_t vanishes along some column of G."""
        # If S_t is singular, rounding errors may lead outside its range, to the eigenvalue zero.
        varying = self.variances(G) > RANGE_RTOL * self.trace
        if not varying.all():
            raise TooFewDirections(G.shape[1], int(varying.sum()))

    def variances(self, G: Array) -> Array:
        """Return gᵀS_tg for each column g of G."""
        return np.asarray(np.sum(G * self.matmul(G), axis=0))


def _by_columns(product: Callable[[Array], Array], V: Array) -> Array:
    """Apply a product to some columns at a time, which bounds the memory in between."""
    if V.ndim == 1 or 0 < V.shape[1] <= _COLUMNS:
        return product(V)
    result = np.empty_like(V)
    for columns in gen_batches(V.shape[1], _COLUMNS):
        result[:, columns] = product(V[:, columns])
    return result
