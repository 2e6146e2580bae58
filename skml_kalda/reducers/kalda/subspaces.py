"""kaLDA for data too large for the spectrum of S_t: exact solutions in small subspaces.

The first subspace is that of the axes of LDA, S⁻¹ range(S_b) with S the shrunk S_t. If the gradient
of J in the space of the data is not zero at the maximum found there, S⁻¹ times the gradient is
appended, and so on. S Z D is the dominant term of the Hessian of J (see `alignment`), so about ten
rounds are enough. When the subspace has no room for more columns, only the solution and the
directions of the last step are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches, gen_even_slices

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import dots, ratio, rough_solution, solve_dual
from skml_kalda._core.eigenproblem import varying
from skml_kalda._core.orthonormal import orthonormal, subtract
from skml_kalda._core.scatter import ImplicitScatter
from skml_kalda._core.symmetric import positive_eigenpairs
from skml_kalda.reducers.kalda.alignment import Alignment
from skml_kalda.reducers.kalda.bases import (
    COLUMNS,
    Subspace,
    TallSubspace,
    WideSubspace,
)
from skml_kalda.reducers.kalda.newton import Reason, Solution, Stop, maximize, stalled

# New columns of V need only roughly the right direction: accuracy in single precision, and in
# double precision, where a round costs more.
_ROUGH, _CAREFUL, _MAX_PRODUCTS = 0.3, 0.03, 200
# Accuracy of the axes of LDA, in multiples of the tolerance. Errors of their eigenvalues are the
# square of it, and what the axes lack is found in the first rounds.
_START = 30
# Columns that are solved for at a time: more would need fewer products, but more memory.
_SOLVED = 20
MAX_ROUNDS = 60
# Rounds without progress after which rounding errors are taken to prevent it.
_PATIENCE = 4


class Maximum(NamedTuple):
    """The maximum of J over orthonormal G, and how it was found."""

    G: Array
    """Shape (p, k), with GᵀS_tG diagonal."""
    variances: Array
    """Diagonal of GᵀS_tG, descending, shape (k,)."""
    factor: Array
    """FᵀG, shape (K, k), where S_b = F Fᵀ."""
    eigenvalues: Array
    """Generalised eigenvalues of (S_b, S), descending."""
    solution: Solution


class Shrunk(NamedTuple):
    """The operator S = (1 − a) S_t + a Tr(S_t)/p I."""

    scatter: ImplicitScatter
    shrinkage: float
    turn: Array
    """Q, shape (K, q): an orthonormal basis of the range of Fᵀ, where S_b = F Fᵀ."""
    labels: Array
    """L, shape (K, q): F Q = C L."""
    fit: Array | None = None
    """Side of the rows of F Q, shape (n, q), if it is not that of the labels themselves."""

    @classmethod
    def of(cls, scatter: ImplicitScatter, shrinkage: float) -> Shrunk:
        """Shrink S_t towards a multiple of I."""
        scale = scatter.label_scale
        turn = varying(scale[:, None] * scatter.label_scatter * scale)
        L = scale[:, None] * turn
        if shrinkage > 0:
            return cls(scatter, shrinkage, turn, L)
        # Tᵀ maps part of the labels to zero; that part only adds rounding errors below. Replacing
        # the labels by their fit without a ridge removes it.
        fit = scatter.rows @ scatter.ridge_solve(scatter.cross @ L, 0.0)
        return cls(scatter, shrinkage, turn, L, fit)

    @property
    def floor(self) -> float:
        """The factor a Tr(S_t)/p of I."""
        return self.shrinkage * self.scatter.mean_eigenvalue

    def pull(self, b: Array) -> Array:
        """Return u with Tᵀu = F Q b."""
        return self.scatter.cross.targets(self.labels @ b) if self.fit is None else self.fit @ b

    def axes(self) -> Subspace:
        """Return the span of the LDA axes, S⁻¹ range(S_b)."""
        rest = 1 - self.shrinkage
        pull = self.pull(np.eye(self.turn.shape[1]))
        if self.shrinkage == 1:
            U = pull / self.floor
        elif self.shrinkage > 0:
            pull /= rest
            tol = max(self.scatter.tol, min(_START * self.scatter.tol, 0.01))
            U = self.scatter.dual_solve(pull, self.floor / rest, tol)
        else:
            U = solve_dual(self.scatter.rows, pull, 1.0, 0.0, self.scatter.tol)
        del pull
        R = self.turn.T @ self.scatter.between.of_image(self.scatter.kernel_matmul(U))
        values, Q = positive_eigenpairs((R + R.T) / 2, 1e-11)
        U = U @ (Q / np.sqrt(values))
        wide = self.scatter.has_dual(self.floor)
        return (WideSubspace if wide else TallSubspace)(self.scatter, U)

    def gradient(self, space: Subspace, point: Array) -> tuple[Array, Array]:
        """Return R with gradient TᵀR of J at G = V point, D = diag(d), and the curvature."""
        rest, floor = 1 - self.shrinkage, self.floor
        b = self.turn.T @ (space.factor @ point)
        d = rest * dots(point, space.total @ point) + floor  # diagonal of GᵀSG
        norm = linalg.norm(d)
        curvature = 2 * np.vdot(b, b) / norm**3 * d
        R = np.empty((len(space.dual), len(d)))
        for columns in gen_batches(len(d), COLUMNS):
            R[:, columns] = self.pull((2 / norm) * b[:, columns])
        # S G = rest · S_t V point + floor · TᵀU point
        space.subtract_image(R, rest * curvature * point)
        subtract(R, space.dual, floor * curvature * point)
        subtract(R, space.dual, point @ (point.T @ space.pulled(R)))
        return R, curvature

    def precondition(self, right: Array, out: Array, *, careful: bool) -> None:
        """Solve S Z = Tᵀ right roughly, for Z = TᵀU; write U to `out`.

        Single precision does not resolve Tᵀ right if Tᵀ maps most of `right` to zero, as with
        more rows than features. It is enough unless `careful`.
        """
        rest = 1 - self.shrinkage
        if self.shrinkage == 1:
            np.divide(right, self.floor, out=out)
        elif self.scatter.has_dual(self.floor) and not careful:
            system = self.scatter.dual_system(self.floor / rest)
            q = right.shape[1]
            for columns in gen_even_slices(q, -(-q // _SOLVED)):
                rough_solution(system, right[:, columns], _ROUGH, out[:, columns])
            out /= rest
        else:
            T = self.scatter.rows
            out[:] = solve_dual(T, right, rest, self.floor, _CAREFUL, _MAX_PRODUCTS)

    def alignment(self, space: Subspace) -> tuple[Alignment, Array]:
        """Return J restricted to a subspace in which S_t is diagonal, and the rotation to it."""
        values, rotation = positive_eigenpairs(space.total, eigh=np.linalg.eigh)
        shrunk = (1 - self.shrinkage) * values + self.floor
        return Alignment(shrunk, space.factor @ rotation), rotation


def maximize_in_subspaces(
    shrunk: Shrunk, space: Subspace, stop: Stop, first: Callable[[Alignment], Solution]
) -> Maximum:
    """Maximise J over the range of S_t. One iteration of the solution is one round.

    Parameters
    ----------
    shrunk : Shrunk
        S_t and S_b.
    space : Subspace
        The axes of LDA. It is changed in place.
    stop : Stop
        Stop when √⟨g, W⁻¹g⟩ ≤ tol·√J / 4, with g the gradient in the space of the data and W
        the preconditioner, or after max_iter rounds, but at most sixty times through all columns.
    first : callable
        Solves the problem in the span of the axes.
    """
    objective, rotation = shrunk.alignment(space)
    eigenvalues = objective.eigenvalues
    solution = first(objective)
    history, k = [solution.value], solution.point.shape[1]
    new, room = space.growth(k)
    sweep = -(-k // new)  # rounds after which every column has had its turn
    room = max(room, space.size + new)
    space.reserve(min(room, 3 * k))  # at once, because growing needs both the old and the new
    point = last = rotation @ solution.point
    slopes, inner = [np.inf] * _PATIENCE, stop._replace(tol=stop.tol / 10)
    while True:
        if space.size + new > room:
            kept = _solution_and_step(point, last, room - new)
            space.restrict(kept)
            point = kept.T @ point
        space.reserve(space.size + new)
        # In single precision until that gains little. A round gains a factor of four or more.
        careful = slopes[-1] > slopes[-1 - sweep] / 2
        slope, columns = _append_columns(shrunk, space, point, new, careful=careful)
        slopes.append(slope)
        reason = _reason_to_stop(slopes, solution.value, len(history), stop, sweep)
        if reason is not None:
            break
        space.extend(columns, careful=careful)
        last = np.pad(point, ((0, space.size - len(point)), (0, 0)))
        objective, rotation = shrunk.alignment(space)
        solution = maximize(objective, rotation.T @ last, inner)
        history.append(solution.value)
        point = rotation @ solution.point
    found = Solution(solution.point, solution.value, np.array(history), reason)
    values, rotation = np.linalg.eigh(point.T @ space.total @ point)
    point = point @ rotation[:, ::-1]
    factor = space.factor @ point
    return Maximum(space.take(point), values[::-1], factor, eigenvalues, found)


def _solution_and_step(point: Array, last: Array, m: int) -> Array:
    """Return an orthonormal basis of the solution and of the largest changes since the last."""
    k = point.shape[1]
    before, _, _ = np.linalg.svd(last - point @ (point.T @ last), full_matrices=False)
    return orthonormal(np.hstack([point, before[:, : min(m, 2 * k) - k]]))


def _reason_to_stop(
    slopes: list[float], value: float, rounds: int, stop: Stop, sweep: int
) -> Reason | None:
    if slopes[-1] <= (stop.tol / 4) ** 2 * value:
        return "gradient"
    if stalled(slopes[-1], slopes[-1 - _PATIENCE], value):
        return "rounding"
    return "max_iter" if rounds > min(stop.max_iter, MAX_ROUNDS * sweep) else None


def _append_columns(
    shrunk: Shrunk, space: Subspace, point: Array, most: int, *, careful: bool
) -> tuple[float, int]:
    """Write a rough Z = TᵀU with S Z D = g / curvature behind the basis, for the gradient g.

    Only the columns with the largest gradient are solved for. Return the squared length of g in
    the metric of the preconditioner, and the number of columns.
    """
    gradient, curvature = shrunk.gradient(space, point)
    bounds = dots(gradient, gradient) / curvature
    worst = np.argsort(-bounds, kind="stable")[:most]
    others = bounds.sum() - np.cumsum(bounds[worst])
    worst = worst[: 1 + int(np.sum(others[:-1] > space.rest * bounds.sum()))]
    gradient = gradient[:, worst]
    gradient /= curvature[worst]
    shrunk.precondition(gradient, space.append(len(worst)), careful=careful)
    slopes = curvature[worst] * dots(gradient, space.products(len(worst)))
    # The other columns: at most the share of their bound that these have.
    share = np.max(ratio(slopes, bounds[worst]), initial=0.0)
    return float(slopes.sum() + others[len(worst) - 1] * share), len(worst)
