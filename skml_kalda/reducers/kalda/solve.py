"""The maximum of the kaLDA objective for a scatter, of data or of the features of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import generalized_eigenpairs, orthonormal_eigenpairs, polar
from skml_kalda._core.scatter import Scatter, Spectrum
from skml_kalda._core.shrinkage import shrinkage_of
from skml_kalda.reducers.base import (
    RANK_OF_CLASSES,
    RANK_OF_COVARIANCE,
    RANK_OF_DATA,
    Directions,
    number_of_components,
    warn_unregularised,
)
from skml_kalda.reducers.kalda.newton import (
    Alignment,
    Solution,
    Stop,
    best_of,
    diagonal_basis,
    paper_iteration,
)

if TYPE_CHECKING:
    from skml_kalda._core.operator import OperatorScatter


class Maximum(NamedTuple):
    """The maximum of J over orthonormal G, and how it was found."""

    # Shape (p, k), with GᵀS_tG diagonal.
    G: Array
    # Diagonal of GᵀS_tG, descending, shape (k,).
    variances: Array
    # FᵀG, shape (K, k), where S_b = F Fᵀ.
    factor: Array
    # Generalised eigenvalues of (S_b, S), descending.
    eigenvalues: Array
    solution: Solution


def closed_form(
    name: str,
    scatter: Scatter,
    n_components: int | None,
    default: int,
    shrinkage: float | Literal["auto"] | None,
) -> Directions:
    """Maximise J over all G: the axes of LDA, each times the root of its eigenvalue.

    Parameters
    ----------
    name : str
        The class in use, for messages.
    scatter : Scatter
        Of the data, or of the features of a kernel.
    n_components, default : int
        Number of directions, and the number if none is given.
    shrinkage : float, "auto" or None
        Of S_t towards a multiple of I.
    """
    a = _shrinkage(name, scatter, shrinkage)
    values, axes = _lda_axes(scatter, a, n_components)
    k = number_of_components(name, n_components, default, len(values), _rank_of_labels(scatter))
    values, G = values[:k], axes[:, :k]
    G *= np.sqrt(values)
    J = float(linalg.norm(values))
    # J without shrinkage: GᵀSG = diag(λ) and GᵀS_bG = diag(λ²).
    if a == 1:
        D = G.T @ scatter.matmul(G)
    else:
        D = (np.diag(values) - a * scatter.mean_eigenvalue * (G.T @ G)) / (1 - a)
    attributes = {
        "objective_": J,
        "objective_history_": np.array([J]),
        "upper_bound_": J,
        "eigenvalues_": values,
        "n_iter_": 1,
        "converged_": True,
        "shrinkage_": a,
        "alignment_": float(np.sum(values**2) / linalg.norm(D)) / scatter.label_norm,
        "explained_alignment_ratio_": values**2 / np.sum(values**2),
    }
    # Scaled so that λ is the variance of the projected samples, not their sum of squares.
    G *= np.sqrt(scatter.weight)
    return Directions(G, attributes)


def orthonormal_maximum(
    name: str,
    scatter: Scatter,
    n_components: int | None,
    default: int,
    shrinkage: float | Literal["auto"] | None,
    *,
    solver: Literal["auto", "paper"] = "auto",
    stop: Stop,
    tau: float = 1e-3,
    n_init: int = 1,
    random_state: Any = None,
) -> Directions:
    """Maximise J over GᵀG = I, by iteration; parameters as in `closed_form`, and of the solver."""
    a = _shrinkage(name, scatter, shrinkage)

    def solve(objective: Alignment, k: int) -> Solution:
        if solver == "paper":
            return paper_iteration(objective, objective.lda_start(k), stop, tau=tau)
        return best_of(objective, k, stop, n_init, check_random_state(random_state))

    if scatter.spectrum is not None:
        limit = len(scatter.spectrum.values)
        k = number_of_components(name, n_components, default, limit, RANK_OF_DATA)
        found = _in_eigenbasis(scatter, scatter.spectrum, a, lambda J: solve(J, k))
    else:
        from skml_kalda.reducers.kalda.subspace import lda_axes, maximum_in_subspaces

        scatter = cast("OperatorScatter", scatter)
        axes = lda_axes(scatter, a)
        reason = f"{_rank_of_labels(scatter)}, for sparse X of this size"
        k = number_of_components(name, n_components, default, axes.shape[1], reason)
        found = maximum_in_subspaces(scatter, a, axes, stop, lambda J: solve(J, k))
    G, variances, factor, eigenvalues, solution = found
    if not solution.converged:
        _warn_not_converged(name, solution, solver, stop)
    shares: Array = np.sum(factor**2, axis=0)
    alignment = float(shares.sum() / linalg.norm(variances)) / scatter.label_norm
    attributes = {
        "objective_": solution.value,
        "objective_history_": solution.history,
        "upper_bound_": float(linalg.norm(eigenvalues[:k])),
        "eigenvalues_": np.pad(eigenvalues[:k], (0, max(k - len(eigenvalues), 0))),
        "n_iter_": max(1, solution.n_iter),
        "converged_": solution.converged,
        "shrinkage_": a,
        "alignment_": alignment,
        "explained_alignment_ratio_": shares / (shares.sum() or 1.0),
    }
    return Directions(G, attributes)


def _in_eigenbasis(
    scatter: Scatter, spectrum: Spectrum, a: float, solve: Callable[[Alignment], Solution]
) -> Maximum:
    """Maximise J in the eigenbasis of S_t."""
    values, basis = spectrum
    factor = np.asarray(basis.T @ scatter.between).T  # M: S_b = MᵀM in the eigenbasis
    objective = Alignment((1 - a) * values + a * scatter.mean_eigenvalue, factor)
    solution = solve(objective)
    point, variances = diagonal_basis(solution.point, values)
    G = polar(basis @ point)
    return Maximum(G, variances, factor @ point, objective.eigenvalues, solution)


def _shrinkage(name: str, scatter: Scatter, shrinkage: float | Literal["auto"] | None) -> float:
    a = shrinkage_of(scatter, shrinkage)
    if a == 0:
        warn_unregularised(name, "shrinkage", scatter)
    return a


def _rank_of_labels(scatter: Scatter) -> str:
    """Return the name of the rank that limits the number of directions."""
    return RANK_OF_COVARIANCE if scatter.sample_weighted else RANK_OF_CLASSES


def _lda_axes(scatter: Scatter, shrinkage: float, k: int | None) -> tuple[Array, Array]:
    """Return the eigenpairs of (S_b, S) for S = (1 − a) S_t + a Tr(S_t)/p I, GᵀSG = I."""
    floor, L = shrinkage * scatter.mean_eigenvalue, scatter.label_scale
    if shrinkage == 1:
        values, vectors = orthonormal_eigenpairs(scatter, L)
        return values / floor, vectors / np.sqrt(floor)
    rest = 1 - shrinkage
    values, vectors = generalized_eigenpairs(scatter, L, floor / rest, k)
    vectors /= np.sqrt(rest)
    return values / rest, vectors


def _warn_not_converged(name: str, solution: Solution, solver: str, stop: Stop) -> None:
    if solver == "paper":
        advice = 'its steps have a fixed length; lower tau, or use solver="auto"'
    elif solution.n_iter < stop.max_iter:
        advice = "use some shrinkage, or a scaler such as MaxAbsScaler before it"
    else:
        advice = "increase max_iter, or use a StandardScaler before it"
    warnings.warn(
        f"{name} did not converge in {solution.n_iter} iterations: {advice}.",
        ConvergenceWarning,
        stacklevel=2,
    )
