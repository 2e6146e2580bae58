"""The scatter that keeps the sparse rows, for data too large for any square array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import CG_TOL, solve, warn_not_converged
from skml_kalda._core.scatter.base import Scatter, label_gram, label_moments
from skml_kalda._core.scatter.centred import CentredRows
from skml_kalda._core.scatter.density import Density
from skml_kalda._core.symmetric import RANGE_RTOL

# The end of an error message where a method cannot do without the spectrum.
NO_SPECTRUM = (
    "needs the whole spectrum of S_t, which is not formed for sparse X with this many rows and "
    "features (skml_kalda.scatter_form can force it)"
)
_MAX_RESTARTS = 300


class TooFewDirections(ValueError):
    """Products with X do not tell as many directions from those of no variance."""

    def __init__(self, wanted: int, found: int) -> None:
        super().__init__(
            f"Only {found} of {wanted} directions have variance that products with X can tell "
            f"from zero; a further one {NO_SPECTRUM}. Pass a smaller n_components."
        )


@dataclass(frozen=True)
class ImplicitScatter(Scatter):
    """The scatter of many sparse rows of many features: products with S_t, no square array."""

    rows: CentredRows
    """T = Ω^½ X̃, shape (n, p)."""
    labels: Any
    """b_i, shape (n, K), sparse."""

    has_spectrum: ClassVar[Literal[False]] = False
    # What is solved by iteration is known to its tolerance, not to rounding.
    rank_rtol: ClassVar[float] = 10 * CG_TOL

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> ImplicitScatter:
        """Keep sparse X as it is; parameters as in :meth:`MomentScatter.of`."""
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        return cls(*head, rows.cross(labels), label_gram(labels, weight), rows, labels)

    def targets(self, L: Array) -> Array:
        """Return Ω^½ (b − b̄) L, shape (n, q): C L is Tᵀ of it."""
        label_mean = self.label_weight / self.weight
        centred: Array = self.labels @ L - label_mean @ L
        return np.sqrt(self.rows.weight)[:, None] * centred

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        return self.rows.squared_norms()

    def rescaled(self, units: Array) -> ImplicitScatter:
        """Return the scatter of the rows x_i times `units`, feature by feature."""
        return replace(
            self,
            mean=self.mean * units,
            cross=self.cross * units[:, None],
            rows=self.rows.rescaled(units),
        )

    @cached_property
    def density(self) -> Density:
        """An estimate of how S_t spreads over its eigenvalues."""
        return Density.estimate(self.matmul, self.n_samples, self.between)

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        product: Array = self.rows.T @ (self.rows @ V)
        return product

    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L, shape (p, q): one solve with q right-hand sides.

        Without a ridge, features of different units are brought to equal variance first.
        """
        if ridge == 0 and not self.is_even:
            units = self.units
            return units[:, None] * self.rescaled(units).ridge_weights(L, ridge)
        if not ridge or self.n_samples >= self.n_features:
            return self.ridge_solve(self.cross @ L, ridge)
        # W = Tᵀ(TTᵀ + γI)⁻¹(·): with fewer rows than features, shorter vectors are cheaper.
        T = self.rows
        U, converged = solve(lambda V: T @ (T.T @ V), self.targets(L), T.shape, ridge=ridge)
        if not converged:
            warn_not_converged()
        return np.asarray(T.T @ U)

    def ridge_solve(self, right: Array, ridge: float) -> Array:
        """Solve (S_t + γI) W = right, for right-hand sides in the range of S_t."""
        W, converged = self.try_ridge_solve(right, ridge)
        if not converged:
            warn_not_converged()
        return W

    def try_ridge_solve(
        self, right: Array, ridge: float, max_iter: int | None = None
    ) -> tuple[Array, bool]:
        """Solve (S_t + γI) W = right, and return whether that converged.

        With γ > 0 and n ≥ p the diagonal is the preconditioner. Otherwise there is none,
        because plain conjugate gradients stay in the range of S_t: without a ridge they end at
        the solution of least norm, and with fewer rows than features they do not see the
        eigenvalue γ outside the range, which would cost more iterations than the diagonal saves.
        """
        regular = ridge > 0 and self.n_samples >= self.n_features
        inverse = 1 / (self.diagonal + ridge)[:, None] if regular else None
        return solve(
            self.matmul, right, self.rows.shape, ridge=ridge, inverse=inverse, max_iter=max_iter
        )

    def leading_eigenpairs(
        self, product: Callable[[Array], Array], k: int, *, symmetric: bool
    ) -> tuple[Array, Array]:
        """Return the k algebraically largest eigenpairs of an operator on the range of S_t.

        Parameters
        ----------
        product : callable
            V -> A V for arrays of p rows.
        k : int
            Number of pairs.
        symmetric : bool
            Whether A is symmetric: Lanczos, else Arnoldi.

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
        # In the range of S_t, and so is what follows, but for rounding.
        start = self.matmul(np.random.RandomState(0).standard_normal((p, 1)))[:, 0]
        find, which = (eigsh, "LA") if symmetric else (eigs, "LR")
        try:
            values, G = find(A, k, which=which, v0=start, maxiter=_MAX_RESTARTS)
        except ArpackNoConvergence as error:
            raise TooFewDirections(k, int(np.sum(error.eigenvalues.real > 0))) from error
        order = np.argsort(-values.real, kind="stable")
        return values.real[order], np.asarray(G.real)[:, order]

    def check_varying(self, G: Array) -> None:
        """Raise TooFewDirections if S_t vanishes along some column of G."""
        # Where S_t is singular, rounding may lead to the eigenvalue zero beside its range.
        varying = self.variances(G) > RANGE_RTOL * self.trace
        if not varying.all():
            raise TooFewDirections(G.shape[1], int(varying.sum()))

    def variances(self, G: Array) -> Array:
        """Return gᵀS_tg for each column g of G."""
        return np.asarray(np.sum(G * self.matmul(G), axis=0))
