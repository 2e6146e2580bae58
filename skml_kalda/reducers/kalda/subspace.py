"""kaLDA for data too large for the spectrum of S_t: exact maxima in growing subspaces.

The first subspace is that of the axes of LDA, S⁻¹ range(S_b) with S the shrunk S_t. If the gradient
of J in the space of the data is not zero at the maximum found there, S⁻¹ times the gradient is
added, and so on. S Z D is the dominant term of the Hessian of J (see `objective`), so about ten
rounds are enough. When the subspace becomes large, only the maximum and the last steps are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array, dots
from skml_kalda._core.eigenproblem import orthonormal, positive_eigenpairs
from skml_kalda._core.operator import MAX_ITER, OperatorScatter, extension, solve
from skml_kalda.reducers.kalda.newton import Reason, Solution, Stop, maximize, stalled
from skml_kalda.reducers.kalda.objective import Alignment
from skml_kalda.reducers.kalda.solve import Maximum

# New columns need only roughly the right direction.
_ROUGH, _MAX_PRODUCTS = 0.5, 200
# The subspace holds this many columns for each direction.
_WIDTH = 4
_MAX_ROUNDS = 100
# Rounds without progress after which rounding errors are taken to prevent it.
_PATIENCE = 4


def lda_axes(scatter: OperatorScatter, shrinkage: float) -> Array:
    """Return an orthonormal basis of S⁻¹ range(S_b), for S = (1 − a) S_t + a Tr(S_t)/p I."""
    L = scatter.varying_side(scatter.label_scale)
    floor = shrinkage * scatter.mean_eigenvalue
    # What the axes lack is found in the first rounds.
    tol = max(scatter.tol, 1e-3) if shrinkage > 0 else scatter.tol / 4
    W = _solved(scatter, np.asarray(scatter.cross @ L), 1 - shrinkage, floor, tol, MAX_ITER)
    values, Q = positive_eigenpairs(L.T @ np.asarray(scatter.cross.T @ W), 1e-11)
    return orthonormal(W @ (Q / np.sqrt(values)))


def maximum_in_subspaces(
    scatter: OperatorScatter,
    shrinkage: float,
    axes: Array,
    stop: Stop,
    first: Callable[[Alignment], Solution],
) -> Maximum:
    """Maximise J over the range of S_t. One iteration of the solution is one round.

    Parameters
    ----------
    scatter : OperatorScatter
        S_t and S_b.
    shrinkage : float
        a.
    axes : array of shape (p, m)
        Orthonormal basis of the axes of LDA.
    stop : Stop
        Stop when √⟨g, W⁻¹g⟩ ≤ tol·√J / 4, with g the gradient in the space of the data and W
        the preconditioner, or after max_iter rounds.
    first : callable
        Solves the problem in the span of the axes.
    """
    F, rest, floor = scatter.between, 1 - shrinkage, shrinkage * scatter.mean_eigenvalue
    V, SV = axes, scatter.matmul(axes)
    FV = np.asarray(F.T @ V)
    objective, rotation = _restricted(V, SV, FV, rest, floor)
    eigenvalues = objective.eigenvalues
    solution = first(objective)
    history, slopes = [solution.value], [np.inf] * _PATIENCE
    k = solution.point.shape[1]
    last = rotation @ solution.point
    while True:
        point = rotation @ solution.point
        G, SG, FG = V @ point, SV @ point, FV @ point
        d = rest * dots(G, SG) + floor  # diagonal of GᵀSG
        norm = linalg.norm(d)
        curvature = 2 * np.vdot(FG, FG) / norm**3 * d
        gradient = np.asarray(F @ ((2 / norm) * FG)) - curvature * (rest * SG + floor * G)
        gradient -= G @ (G.T @ gradient)
        gradient /= curvature
        Z = _solved(scatter, gradient, rest, floor, _ROUGH, _MAX_PRODUCTS)
        slopes.append(float(np.sum(curvature * dots(gradient, Z))))
        reason = _reason_to_stop(slopes, solution.value, len(history), stop)
        if reason is not None:
            break
        if V.shape[1] + k > max(_WIDTH * k, axes.shape[1]):
            steps = last - point @ (point.T @ last)
            kept = orthonormal(np.hstack([point, np.linalg.svd(steps, full_matrices=False)[0]]))
            V, SV, FV = V @ kept, SV @ kept, FV @ kept
            point = kept.T @ point
        Z, _ = extension(V, V, Z)
        V, SV = np.hstack([V, Z]), np.hstack([SV, scatter.matmul(Z)])
        FV = np.hstack([FV, np.asarray(F.T @ Z)])
        last = np.pad(point, ((0, Z.shape[1]), (0, 0)))
        objective, rotation = _restricted(V, SV, FV, rest, floor)
        solution = maximize(objective, rotation.T @ last, stop._replace(tol=stop.tol / 10))
        history.append(solution.value)
    found = Solution(solution.point, solution.value, np.array(history), reason)
    variances, rotation = np.linalg.eigh(G.T @ SG)
    rotation = rotation[:, ::-1]
    return Maximum(G @ rotation, variances[::-1], FG @ rotation, eigenvalues, found)


def _restricted(
    V: Array, SV: Array, FV: Array, rest: float, floor: float
) -> tuple[Alignment, Array]:
    """Return J on span(V), in a basis in which S_t is diagonal, and the rotation to it."""
    total = V.T @ SV
    values, rotation = positive_eigenpairs((total + total.T) / 2, eigh=np.linalg.eigh)
    return Alignment(rest * values + floor, FV @ rotation), rotation


def _solved(
    scatter: OperatorScatter, R: Array, rest: float, floor: float, tol: float, max_iter: int
) -> Array:
    """Solve S Z = R for S = rest S_t + floor I, within the range of S_t.

    J would grow without meaning along directions in which the training data do not vary.
    """
    if rest == 0:
        return R / floor
    return solve(scatter.system(floor / rest, within_range=True), R / rest, tol, max_iter)[0]


def _reason_to_stop(slopes: list[float], value: float, rounds: int, stop: Stop) -> Reason | None:
    if slopes[-1] <= (stop.tol / 4) ** 2 * value:
        return "gradient"
    if stalled(slopes[-1], slopes[-1 - _PATIENCE], value):
        return "rounding"
    return "max_iter" if rounds > min(stop.max_iter, _MAX_ROUNDS) else None
