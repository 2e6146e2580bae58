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
from skml_kalda._core.operator import (
    MAX_ITER,
    OperatorScatter,
    System,
    extension,
    orthonormal_sides,
    solve,
)
from skml_kalda.reducers.kalda.newton import Alignment, Reason, Solution, Stop, maximize, stalled
from skml_kalda.reducers.kalda.solve import Maximum

# New columns need only roughly the right direction.
_ROUGH, _MAX_PRODUCTS = 0.3, 200
# The subspace holds this many columns for each direction.
_WIDTH = 4
_MAX_ROUNDS = 100
# Rounds without progress after which rounding errors are taken to prevent it.
_PATIENCE = 4


class Vectors:
    """Vectors v = Tᵀu of the range of S_t = TᵀT, as arrays that hold v above u.

    J would grow without meaning along directions in which the training data do not vary, and
    rounding errors lead there. Tᵀu cannot leave the range, so u is carried along with v. Inner
    products are those of v.
    """

    def __init__(self, scatter: OperatorScatter, shrinkage: float) -> None:
        self.scatter = scatter
        self.rest, self.floor = 1 - shrinkage, shrinkage * scatter.mean_eigenvalue
        self.inner, self.dual = slice(scatter.n_features), slice(scatter.n_features, None)

    def of(self, U: Array) -> Array:
        """Return the vectors TᵀU."""
        return np.vstack([self.scatter.pulled(U), U])

    def product(self, Z: Array) -> Array:
        """Return S Z, for S = (1 − a) S_t + a Tr(S_t)/p I."""
        image = self.rest * self.scatter.image(Z[self.inner])
        return self.of(image + self.floor * Z[self.dual])

    def solve(self, R: Array, tol: float, max_iter: int = MAX_ITER) -> Array:
        """Return Z with S Z = R."""
        if self.rest == 0:
            return R / self.floor
        system = System(self.product, 0.0, measured=self.inner)
        return solve(system, R, tol, max_iter)[0]

    def extension(self, V: Array, Z: Array) -> Array:
        """Return an orthonormal basis of what Z adds to the span of the orthonormal V."""
        for _ in range(2):  # the first leaves rounding errors between v and u
            Z, _ = extension(V, V, self.of(Z[self.dual]), measured=self.inner)
        return Z


def lda_axes(scatter: OperatorScatter, shrinkage: float) -> Array:
    """Return an orthonormal basis of S⁻¹ range(S_b), as `Vectors`."""
    vectors = Vectors(scatter, shrinkage)
    L = scatter.varying_side(scatter.label_scale)
    sides, _ = orthonormal_sides(np.asarray(scatter.cross @ L))
    # What the axes lack is found in the first rounds.
    W = vectors.solve(vectors.of(scatter.cross.targets(L @ sides)), min(30 * scatter.tol, 1e-2))
    return vectors.extension(W[:, :0], W)


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
        a > 0.
    axes : array of shape (p + n, m)
        Orthonormal basis of the axes of LDA, from `lda_axes`.
    stop : Stop
        Stop when √⟨g, W⁻¹g⟩ ≤ tol·√J / 10, with g the gradient in the space of the data and W
        the preconditioner, or after max_iter rounds.
    first : callable
        Solves the problem in the span of the axes.
    """
    vectors = Vectors(scatter, shrinkage)
    F, rest, floor, inner = scatter.between, vectors.rest, vectors.floor, vectors.inner
    V, image = axes, scatter.image(axes[inner])
    FV = np.asarray(F.T @ V[inner])
    objective, rotation = _restricted(image, FV, rest, floor)
    eigenvalues = objective.eigenvalues
    solution = first(objective)
    history, slopes = [solution.value], [np.inf] * _PATIENCE
    k = solution.point.shape[1]
    last = rotation @ solution.point
    while True:
        point = rotation @ solution.point
        G, TG, FG = V @ point, image @ point, FV @ point
        d = rest * dots(TG, TG) + floor  # diagonal of GᵀSG
        norm = linalg.norm(d)
        curvature = 2 * (np.vdot(FG, FG) / norm) * (d / norm) / norm
        gradient = F.targets((2 / norm) * FG)
        gradient -= curvature * (rest * TG + floor * G[vectors.dual])
        gradient = vectors.of(gradient / curvature)
        gradient -= G @ (G[inner].T @ gradient[inner])
        Z = vectors.solve(gradient, _ROUGH, _MAX_PRODUCTS)
        slopes.append(float(np.sum(curvature * dots(gradient[inner], Z[inner]))))
        stop.report("round", history, slopes[-1])
        reason = _reason_to_stop(slopes, solution.value, len(history), stop)
        if reason is not None:
            break
        if V.shape[1] + k > max(_WIDTH * k, axes.shape[1]):
            steps = last - point @ (point.T @ last)
            kept = orthonormal(np.hstack([point, np.linalg.svd(steps, full_matrices=False)[0]]))
            V, image, FV = V @ kept, image @ kept, FV @ kept
            point = kept.T @ point
        Z = vectors.extension(V, Z)
        if not Z.shape[1]:
            reason = "rounding"
            break
        V, image = np.hstack([V, Z]), np.hstack([image, scatter.image(Z[inner])])
        FV = np.hstack([FV, np.asarray(F.T @ Z[inner])])
        last = np.pad(point, ((0, Z.shape[1]), (0, 0)))
        objective, rotation = _restricted(image, FV, rest, floor)
        solution = maximize(objective, rotation.T @ last, Stop(stop.tol / 1000, stop.max_iter))
        history.append(solution.value)
    found = Solution(solution.point, solution.value, np.array(history), reason)
    variances, rotation = np.linalg.eigh(TG.T @ TG)
    rotation = rotation[:, ::-1]
    return Maximum(G[inner] @ rotation, variances[::-1], FG @ rotation, eigenvalues, found)


def _restricted(image: Array, FV: Array, rest: float, floor: float) -> tuple[Alignment, Array]:
    """Return J on span(V), in a basis in which S_t is diagonal, and the rotation to it."""
    values, rotation = positive_eigenpairs(image.T @ image, eigh=np.linalg.eigh)
    return Alignment(rest * values + floor, FV @ rotation), rotation


def _reason_to_stop(slopes: list[float], value: float, rounds: int, stop: Stop) -> Reason | None:
    if slopes[-1] <= (stop.tol / 10) ** 2 * value:
        return "gradient"
    if stalled(slopes[-1], slopes[-1 - _PATIENCE], value):
        return "rounding"
    return "max_iter" if rounds > min(stop.max_iter, _MAX_ROUNDS) else None
