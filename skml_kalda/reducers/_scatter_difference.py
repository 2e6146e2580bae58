"""What the reducers share that maximise a difference of scatters."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from skml_kalda._base import BaseReducer
from skml_kalda._grassmann import polar, settle_ties
from skml_kalda._implicit import NO_SPECTRUM, ImplicitScatter
from skml_kalda._moments import RANGE_RTOL
from skml_kalda._pencil import solve_pencil
from skml_kalda._scatter import AnyScatter, Array, RowScatter, Scatter

_MAX_RESTARTS = 300


class ScatterDifference:
    """The matrices a S_b − b S_t in the eigenbasis of S_t.

    Parameters
    ----------
    scatter : scatter
        Gives S_b and S_t; both are divided by Σ w_i here.
    """

    def __init__(self, scatter: Scatter | RowScatter) -> None:
        values, self.basis = scatter.spectrum()
        self.total = values / scatter.weight
        self.factor = np.asarray(self.basis.T @ scatter.between).T / np.sqrt(scatter.weight)

    @property
    def rank(self) -> int:
        """Rank of S_t."""
        return len(self.total)

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Algebraically largest eigenvalues, descending, and orthonormal eigenvectors."""
        matrix = (a * self.factor.T) @ self.factor
        matrix.flat[:: self.rank + 1] -= b * self.total
        # Ties are settled among all directions that can tell classes apart, then cut.
        m = min(max(k, len(self.factor) - 1), self.rank)
        largest = (self.rank - m, self.rank - 1)
        values, vectors = linalg.eigh(matrix, subset_by_index=largest, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        scale = max(a, b) * self.total[0]
        vectors = settle_ties(values, vectors, self.total[:, None] * vectors, scale)
        return values[:k], vectors[:, :k]

    def ratio(self, G: Array) -> float:
        """Tr GᵀS_bG / Tr GᵀS_tG."""
        return float(np.sum((self.factor @ G) ** 2) / np.sum(self.total[:, None] * G**2))

    def largest_share(self, ridge: float) -> float:
        """Largest eigenvalue of (S_b, S_t + γI), γ = ridge Tr(S_t)/p."""
        total = self.total + ridge * self.total.sum() / self.basis.shape[0]
        return float(linalg.norm(self.factor / np.sqrt(total), 2) ** 2)

    def directions(self, G: Array) -> Array:
        """Eigenvectors in the space of the data."""
        return polar(self.basis @ G)


class ImplicitDifference:
    """The same from products with S_t, by the Lanczos method."""

    def __init__(self, scatter: ImplicitScatter) -> None:
        self.scatter = scatter
        self.rank = min(scatter.n_features, scatter.n_samples) - 1

    def _variances(self, G: Array) -> Array:
        variances: Array = np.sum(G * self.scatter.matmul(G), axis=0)
        return variances

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Algebraically largest eigenvalues, descending, and orthonormal eigenvectors."""
        S, F, p = self.scatter, self.scatter.between, self.scatter.n_features

        def product(V: Array) -> Array:
            V = V.reshape(p, -1)
            return (a * (F @ (F.T @ V)) - b * S.matmul(V)) / S.weight

        A = LinearOperator((p, p), matvec=product, matmat=product, dtype=np.float64)
        # In the range of S_t, and so is what follows, but for rounding.
        start = S.matmul(np.random.RandomState(0).standard_normal((p, 1)))[:, 0]
        try:
            values, G = eigsh(A, k, which="LA", v0=start, maxiter=_MAX_RESTARTS)
        except ArpackNoConvergence as error:
            raise self._too_many(k, int(np.sum(error.eigenvalues > 0))) from error
        # Where S_t is singular, rounding may lead to the eigenvalue zero of what is beside.
        varying = self._variances(G) > RANGE_RTOL * S.trace
        if not varying.all():
            raise self._too_many(k, int(varying.sum()))
        return values[::-1], G[:, ::-1]

    def _too_many(self, k: int, found: int) -> ValueError:
        return ValueError(
            f"{k} directions are more than products with X tell from those of no variance, of "
            f"which {found} were found: a further one {NO_SPECTRUM}. Pass a smaller n_components."
        )

    def ratio(self, G: Array) -> float:
        """Tr GᵀS_bG / Tr GᵀS_tG."""
        return float(np.sum((self.scatter.between.T @ G) ** 2) / self._variances(G).sum())

    def largest_share(self, ridge: float) -> float:
        """Largest eigenvalue of (S_b, S_t + γI), γ = ridge Tr(S_t)/p."""
        gamma = ridge * self.scatter.trace / self.scatter.n_features
        pencil = solve_pencil(self.scatter, np.diag(self.scatter.class_scale), gamma)
        return float(pencil.values.max(initial=0.0))

    def directions(self, G: Array) -> Array:
        """Eigenvectors in the space of the data."""
        return G


Difference = ScatterDifference | ImplicitDifference


class ScatterDifferenceReducer(BaseReducer):
    """Base of the methods that maximise Tr Gᵀ(a S_b − b S_t)G over GᵀG = I."""

    @abstractmethod
    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float]:
        """Give a and b, and set the fitted attributes of the method."""

    def _directions(self, scatter: AnyScatter) -> Array:
        difference = (
            ImplicitDifference(scatter)
            if isinstance(scatter, ImplicitScatter)
            else ScatterDifference(scatter)
        )
        reason = "the rank of the centred data"
        k = self._number_of_components(scatter.n_classes - 1, difference.rank, reason)
        a, b = self._coefficients(difference, k)
        self.eigenvalues_, G = difference.top(a, b, k)
        return difference.directions(G)
