"""The solution of kaLDA for a given scatter, of data or of kernel features."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import generalized_eigenpairs, orthonormal_eigenpairs
from skml_kalda._core.orthonormal import diagonal_basis, polar
from skml_kalda._core.scatter import AnyScatter, ImplicitScatter, Scatter, SpectralScatter
from skml_kalda._core.scatter.implicit import NO_SPECTRUM
from skml_kalda._core.shrinkage import shrinkage_of
from skml_kalda.reducers._base import (
    RANK_OF_CLASSES,
    RANK_OF_COVARIANCE,
    RANK_OF_DATA,
    Directions,
    number_of_components,
    warn_unregularised,
)
from skml_kalda.reducers.kalda.alignment import Alignment
from skml_kalda.reducers.kalda.newton import Solution, Stop, best_of
from skml_kalda.reducers.kalda.paper_iteration import paper_iteration
from skml_kalda.reducers.kalda.subspaces import Maximum, Shrunk, maximize_in_subspaces


@dataclass(frozen=True)
class KaLDA:
    """The problem to solve, with the parameters of `MultiLabelKaLDA`."""

    name: str
    """The class in use, for errors."""
    n_components: int | None = None
    constraint: Literal["orthonormal", "none"] = "orthonormal"
    shrinkage: float | Literal["auto"] | None = None
    solver: Literal["auto", "paper"] = "auto"
    tol: float = 1e-4
    max_iter: int = 500
    tau: float = 1e-3
    n_init: int = 1
    random_state: int | np.random.RandomState | None = None
    default: int | None = None
    """Number of components if none is given; None is the number of dimensions of the labels."""
    is_candidate: bool = False
    """Whether this is one of many that a search tries: only the one chosen warns."""

    def directions(self, scatter: AnyScatter) -> Directions:
        """Return the directions G and the fitted attributes."""
        if self.constraint == "none":
            return self._closed_form(scatter)
        return self._orthonormal(scatter)

    def _closed_form(self, scatter: AnyScatter) -> Directions:
        """Maximise J over all G: the axes of LDA, each times the root of its eigenvalue."""
        a = self._shrinkage(scatter)
        values, axes = lda_axes(scatter, a, self.n_components)
        k = self._k(scatter, len(values), rank_of_labels(scatter))
        values, G = values[:k], axes[:, :k]
        G *= np.sqrt(values)
        J = float(linalg.norm(values))
        attributes = {
            "objective_": J,
            "objective_history_": np.array([J]),
            "upper_bound_": J,
            "eigenvalues_": values,
            "n_iter_": 1,
            "converged_": True,
            "shrinkage_": a,
            "alignment_": label_constant(scatter) * self._unshrunk(scatter, G, values, a),
            "explained_alignment_ratio_": values**2 / np.sum(values**2),
        }
        # Scaled so that λ is the variance of the projected rows, not their sum of squares.
        G *= np.sqrt(scatter.weight)
        return Directions(G, attributes)

    def _unshrunk(self, scatter: AnyScatter, G: Array, values: Array, a: float) -> float:
        """Return J(G) without shrinkage, for GᵀSG = diag(λ) and GᵀS_bG = diag(λ²)."""
        if a == 1:
            D = G.T @ scatter.matmul(G)
        else:
            D = (np.diag(values) - a * scatter.mean_eigenvalue * (G.T @ G)) / (1 - a)
        return float(np.sum(values**2) / linalg.norm(D))

    def _orthonormal(self, scatter: AnyScatter) -> Directions:
        """Maximise J over GᵀG = I, by iteration."""
        a = self._shrinkage(scatter)
        scatter, _ = scatter.of_ordinary_size(a * scatter.mean_eigenvalue)  # J stays the same
        G, variances, factor, eigenvalues, solution = (
            self._spectral(scatter, a) if scatter.has_spectrum else self._in_subspaces(scatter, a)
        )
        if not solution.converged:
            self._warn(solution)
        k = G.shape[1]
        shares: Array = np.sum(factor**2, axis=0)
        attributes = {
            "objective_": solution.value,
            "objective_history_": solution.history,
            "upper_bound_": float(linalg.norm(eigenvalues[:k])),
            "eigenvalues_": _padded(eigenvalues[:k], k),
            "n_iter_": max(1, solution.n_iter),
            "converged_": solution.converged,
            "shrinkage_": a,
            "alignment_": label_constant(scatter) * float(shares.sum() / linalg.norm(variances)),
            "explained_alignment_ratio_": shares / (shares.sum() or 1.0),
        }
        return Directions(G, attributes)

    def _shrinkage(self, scatter: Scatter) -> float:
        a = shrinkage_of(scatter, self.shrinkage)
        if a == 0 and not self.is_candidate:
            warn_unregularised(self.name, "shrinkage", scatter)
        return a

    def _spectral(self, scatter: SpectralScatter, a: float) -> Maximum:
        """Maximise J in the eigenbasis of S_t."""
        values, basis = scatter.spectrum
        k = self._k(scatter, len(values), RANK_OF_DATA)
        factor = np.asarray(basis.T @ scatter.between).T  # M: S_b = MᵀM in the eigenbasis
        objective = Alignment((1 - a) * values + a * scatter.mean_eigenvalue, factor)
        solution = self._solve(objective, k)
        point, variances = diagonal_basis(solution.point, values)
        G = polar(basis @ point)
        return Maximum(G, variances, factor @ point, objective.eigenvalues, solution)

    def _in_subspaces(self, scatter: ImplicitScatter, a: float) -> Maximum:
        if self.solver == "paper":
            raise ValueError(f'solver="paper" {NO_SPECTRUM}: use solver="auto".')
        shrunk = Shrunk.of(scatter, a)
        axes = shrunk.axes()
        reason = f"{rank_of_labels(scatter)}; a further direction {NO_SPECTRUM}"
        k = self._k(scatter, axes.size, reason)
        stop = Stop(self.tol, self.max_iter)
        return maximize_in_subspaces(shrunk, axes, stop, lambda J: self._solve(J, k))

    def _k(self, scatter: Scatter, limit: int, reason: str) -> int:
        default = scatter.label_dimensions if self.default is None else self.default
        return number_of_components(self.name, self.n_components, default, limit, reason)

    def _solve(self, objective: Alignment, k: int) -> Solution:
        stop = Stop(self.tol, self.max_iter)
        if self.solver == "paper":
            return paper_iteration(objective, objective.lda_start(k), stop, tau=self.tau)
        return best_of(objective, k, stop, self.n_init, check_random_state(self.random_state))

    def _warn(self, solution: Solution) -> None:
        if self.solver == "paper":
            advice = 'its steps have a fixed length; lower tau, or use solver="auto"'
        elif solution.n_iter < self.max_iter:
            advice = "use some shrinkage, or put a scaler such as MaxAbsScaler in front"
        else:
            advice = "increase max_iter, or put a StandardScaler in front"
        warnings.warn(
            f"{self.name} did not converge in {solution.n_iter} iterations: {advice}.",
            ConvergenceWarning,
            stacklevel=2,
        )


def rank_of_labels(scatter: Scatter) -> str:
    """Return the name of the rank that limits the number of directions."""
    return RANK_OF_COVARIANCE if scatter.rows_once else RANK_OF_CLASSES


def lda_axes(scatter: AnyScatter, shrinkage: float, k: int | None = None) -> tuple[Array, Array]:
    """Return the eigenpairs of (S_b, S) for S = (1 − a) S_t + a Tr(S_t)/p I, GᵀSG = I."""
    floor, L = shrinkage * scatter.mean_eigenvalue, scatter.label_scale
    if shrinkage == 1:
        values, vectors = orthonormal_eigenpairs(scatter, L)
        return values / floor, vectors / np.sqrt(floor)
    rest = 1 - shrinkage
    values, vectors = generalized_eigenpairs(scatter, L, floor / rest, k)
    vectors /= np.sqrt(rest)
    return values / rest, vectors


def label_constant(scatter: Scatter) -> float:
    """Return the c of alignment = c·J: one over the norm of the label kernel."""
    return 1 / scatter.label_norm


def _padded(eigenvalues: Array, k: int) -> Array:
    return np.pad(eigenvalues, (0, k - len(eigenvalues)))
