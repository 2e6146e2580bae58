"""The direct form of MLSI from products with S = XᵀX alone.

With B = S + γI, the pairs of [(1−β) S² + β CCᵀ] g = λ B g, C = XᵀY, are those of
(1−β)(S − γI + γ²B⁻¹) + β B⁻¹CCᵀ, in which B⁻¹C is one solve with K right-hand sides. The term in
γ² is nothing to the leading pairs unless the ridge is large, and so is left out while they are
looked for and put right afterwards, where systems with a large ridge are quickly solved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

from skml_kalda._grassmann import orthonormal
from skml_kalda._implicit import NO_SPECTRUM, ImplicitScatter
from skml_kalda._iterative import ridge_solve
from skml_kalda._moments import RANGE_RTOL
from skml_kalda._pencil import Pencil, ridge_weights, varying
from skml_kalda._scatter import Array

_MAX_RESTARTS = 300
_MAX_ROUNDS = 20


class Latent(NamedTuple):
    """S = S_t / x and C = Σ w_i (x_i − m) b_iᵀ / √(xy), whose pairs are looked for."""

    scatter: ImplicitScatter
    beta: float
    gamma: float
    x: float
    cross: Array
    """C Q, for Q orthonormal and C zero beside it, shape (p, q)."""
    weights: Array
    """B⁻¹C Q."""

    @classmethod
    def of(cls, scatter: ImplicitScatter, beta: float, gamma: float, x: float, y: float) -> Latent:
        """Solve for the weights."""
        Q = varying(scatter.label_scatter)
        weights = ridge_weights(scatter, gamma * x, Q) * np.sqrt(x / y)
        return cls(scatter, beta, gamma, x, scatter.cross @ Q / np.sqrt(x * y), weights)

    def data(self, V: Array) -> Array:
        """S V."""
        return self.scatter.matmul(V) / self.x

    def ascend(self, V: Array) -> Array:
        """B⁻¹A V, but for the term in γ²."""
        labels: Array = self.weights @ (self.cross.T @ V)
        return (1 - self.beta) * (self.data(V) - self.gamma * V) + self.beta * labels

    def best_within(self, V: Array, k: int) -> Pencil:
        """The pairs in a subspace."""
        V = orthonormal(V)
        SV, CV = self.data(V), self.cross.T @ V
        A = (1 - self.beta) * SV.T @ SV + self.beta * CV.T @ CV
        m = V.shape[1]
        B = V.T @ SV + self.gamma * np.eye(m)
        values, P = linalg.eigh(A, (B + B.T) / 2, subset_by_index=(m - k, m - 1))
        return Pencil(values[::-1], V @ P[:, ::-1])

    def top(self, k: int) -> Pencil:
        """The k leading pairs."""
        if self.beta == 1:
            return self.best_within(self.weights, k)
        pencil = self.best_within(self._arnoldi(k), k)
        for _ in range(_MAX_ROUNDS):
            values, G = pencil
            if self.gamma <= RANGE_RTOL * values[-1]:
                break
            inverse = ridge_solve(self.scatter, self.gamma * self.x, G) * self.x
            missing = (1 - self.beta) * self.gamma**2 * inverse
            rest = self.ascend(G) + missing - G * values
            if linalg.norm(rest) <= 1e-11 * linalg.norm(G * values):
                break
            pencil = self.best_within(np.hstack([G, rest / linalg.norm(rest, axis=0)]), k)
        return pencil

    def _arnoldi(self, k: int) -> Array:
        p = self.scatter.n_features
        A = LinearOperator(
            (p, p), matvec=lambda v: self.ascend(v.reshape(p, 1))[:, 0], dtype=np.float64
        )
        start = self.data(np.random.RandomState(0).standard_normal((p, 1)))[:, 0]
        try:
            values, G = eigs(A, k, which="LR", v0=start, maxiter=_MAX_RESTARTS)
        except ArpackNoConvergence as error:
            raise ValueError(f"MLSI with {k} components {NO_SPECTRUM}.") from error
        if values.real.min() <= RANGE_RTOL * values.real.max():
            raise ValueError(f"MLSI with {k} components {NO_SPECTRUM}.")
        return np.asarray(G.real)
