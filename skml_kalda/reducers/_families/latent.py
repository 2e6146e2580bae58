"""The direct form of MLSI from products with S = XᵀX alone.

With B = S + γI, the eigenpairs of [(1−β) S² + β CCᵀ] g = λ B g, C = XᵀY, are those of
(1−β)(S − γI + γ²B⁻¹) + β B⁻¹CCᵀ, in which B⁻¹C is one solve with K right-hand sides. The term in
γ² hardly changes the leading pairs unless the ridge is large. So the search leaves it out, and a
correction follows, whose linear systems converge quickly when the ridge is large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import Eigenpairs, varying
from skml_kalda._core.orthonormal import orthonormal
from skml_kalda._core.scatter import ImplicitScatter
from skml_kalda._core.scatter.implicit import TooFewDirections
from skml_kalda._core.symmetric import RANGE_RTOL, positive

_MAX_ROUNDS = 100


class Latent(NamedTuple):
    """The eigenproblem, with S = S_t / x and C = Σ w_i (x_i − m) b_iᵀ / √(xy)."""

    scatter: ImplicitScatter
    beta: float
    gamma: float
    x: float
    cross: Array
    """C Q, shape (p, q), where the orthonormal Q spans the range of Cᵀ."""
    weights: Array
    """B⁻¹C Q."""

    @classmethod
    def of(cls, scatter: ImplicitScatter, beta: float, gamma: float, x: float, y: float) -> Latent:
        """Set the problem up; this solves for the weights."""
        Q = varying(scatter.label_scatter)
        weights = scatter.ridge_weights(Q, gamma * x) * np.sqrt(x / y)
        return cls(scatter, beta, gamma, x, scatter.cross @ Q / (np.sqrt(x) * np.sqrt(y)), weights)

    @property
    def tol(self) -> float:
        """Residual at which to stop; that of the systems is smaller."""
        return max(self.scatter.tol / 4, 1e-11)

    def data(self, V: Array) -> Array:
        """Return S V."""
        return self.scatter.matmul(V) / self.x

    def ascend(self, V: Array) -> Array:
        """Return B⁻¹A V without the term in γ²."""
        labels: Array = self.weights @ (self.cross.T @ V)
        return (1 - self.beta) * (self.data(V) - self.gamma * V) + self.beta * labels

    def best_within(self, V: Array, k: int) -> Eigenpairs:
        """Return the k leading eigenpairs within span(V)."""
        V = orthonormal(V)
        SV, CV = self.data(V), self.cross.T @ V
        A = (1 - self.beta) * SV.T @ SV + self.beta * CV.T @ CV
        m = V.shape[1]
        B = V.T @ SV + self.gamma * np.eye(m)
        values, P = linalg.eigh(A, (B + B.T) / 2, subset_by_index=(m - k, m - 1))
        return Eigenpairs(values[::-1], V @ P[:, ::-1])

    def top(self, k: int) -> Eigenpairs:
        """Return the k leading eigenpairs."""
        if self.beta == 1:
            return self.best_within(self.weights, k)
        pairs = self.best_within(self._arnoldi(k), k)
        before = pairs.vectors[:, :0]
        for _ in range(_MAX_ROUNDS):
            values, G = pairs
            if self.gamma <= RANGE_RTOL * values[-1]:
                break
            inverse = self.scatter.ridge_solve(G, self.gamma * self.x) * self.x
            missing = (1 - self.beta) * self.gamma**2 * inverse
            rest = self.ascend(G) + missing - G * values
            if linalg.norm(rest) <= self.tol * linalg.norm(G * values):
                break
            # With the directions before, the search is one of conjugate gradients (LOBPCG).
            span = np.hstack([G, rest / linalg.norm(rest, axis=0), before])
            pairs, before = self.best_within(span, k), G
        return pairs

    def _arnoldi(self, k: int) -> Array:
        values, G = self.scatter.leading_eigenpairs(self.ascend, k, symmetric=False, tol=self.tol)
        found = int(np.sum(positive(values)))
        if found < k:
            raise TooFewDirections(k, found)
        return G
