"""Newton's method on the Grassmannian for the kaLDA objective, and the paper's iteration.

The Hessian of J along Z is −c S_t Z D − Z Λ, with the curvature c and the multiplier Λ = Gᵀ∇J, and
terms of lower rank. `NewtonSystem` solves for it in coordinates in which these two are diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import orthonormal, polar
from skml_kalda.reducers.kalda.objective import Alignment, Point, tangent

Reason = Literal["gradient", "rounding", "max_iter"]

_STEPS = 2.0 ** np.arange(-20, 4)
_MAX_INNER = 100
# Newton systems are solved until the slope is this fraction of the one to stop at, or sooner.
_FLATTER = 0.01
# A step may be this many times as long as the one before it.
_GROWTH = 2.0
# Smallest entry of the diagonal that the preconditioner inverts. Entries are small, or negative,
# along directions in which the other terms decide.
_LEAST = 0.2
# With a larger slope, relative to J, the multiplier is far from the one at the maximum: it would
# lead to lesser maxima.
_FAR = 0.1
# More numbers than this are stored in single precision, unless the diagonal exceeds this limit.
_MANY, _STEEP = 2**16, 1e3


class Stop(NamedTuple):
    """The stopping criteria of a solver."""

    tol: float = 1e-8
    max_iter: int = 500


_DEFAULT = Stop()


@dataclass(frozen=True)
class Solution:
    """Where a maximiser stopped, and why."""

    point: Array
    """G, shape (r, k), orthonormal."""
    value: float
    """J(G)."""
    history: Array
    """J at the start and after every iteration."""
    reason: Reason
    """`gradient`: as flat as requested; `rounding`: as flat as floats allow; `max_iter`."""

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history) - 1

    @property
    def converged(self) -> bool:
        """Whether the point is stationary."""
        return self.reason != "max_iter"


def maximize(objective: Alignment, start: Array, stop: Stop = _DEFAULT) -> Solution:
    """Maximise the objective by Newton-CG with a line search on the Grassmannian.

    Preconditioned conjugate gradients solve the Newton system until the solution is accurate
    enough, much longer than the last step, or the curvature turns positive. The line search
    tries a wide range of steps, which costs almost nothing here. At a stationary point the solver
    tries its reflections (see :meth:`Point.reflections`).

    Parameters
    ----------
    objective : Alignment
        What to maximise.
    start : array of shape (r, k)
        A basis of the first subspace.
    stop : Stop
        Stop when √⟨g, W⁻¹g⟩ ≤ tol·√J, with g the gradient and W the preconditioner, or
        after max_iter steps.
    """
    point = objective.at(start)
    history = [point.value]
    previous = reach = np.inf
    reason: Reason = "max_iter"
    while len(history) <= stop.max_iter:
        flat = stop.tol**2 * point.value
        if point.slope <= flat or stalled(point.slope, previous, point.value):
            mirrored = _reflected(point)
            if mirrored is None:
                reason = "gradient" if point.slope <= flat else "rounding"
                break
            point, previous, reach = mirrored, np.inf, np.inf
        else:
            previous = point.slope
            point, reach = _newton_step(point, flat, reach)
        history.append(point.value)
    return Solution(point.G, point.value, np.array(history), reason)


def stalled(slope: float, previous: float, value: float) -> bool:
    """Whether rounding prevents progress: the gain is tiny and the slope no longer falls."""
    return slope <= 1e-14 * value and slope > 0.25 * previous


def _reflected(point: Point) -> Point | None:
    reflections = point.reflections()
    best = int(np.argmax(reflections))
    if reflections[best] <= point.value * (1 + 1e-12):
        return None
    return point.objective.at(reflected(point.G, best))


def reflected(G: Array, row: int) -> Array:
    """Return G with the sign of one row flipped."""
    mirrored = G.copy()
    mirrored[row] *= -1
    return mirrored


def _newton_step(point: Point, flat: float, reach: float) -> tuple[Point, float]:
    """Return the next point, and how far the step after that may reach."""
    W, Z, complete = _newton_direction(point, flat, reach)
    length = float(np.linalg.norm(W))
    if complete:
        following = point.objective.at(point.G + Z)
        # The tolerance is for points very close to the maximum, where rounding hides the gain.
        if following.value - point.value > 0.2 * np.vdot(point.gradient, Z) - 1e-12 * point.value:
            return following, max(_GROWTH * length, reach if np.isfinite(reach) else 0.0)
    t = _best_step(point, Z)
    # After a long step the columns are far from orthonormal.
    return point.objective.at(orthonormal(point.G + t * Z)), _GROWTH * t * length


def _newton_direction(point: Point, flat: float, reach: float) -> tuple[Array, Array, bool]:
    """Solve −Hessian Z = gradient by preconditioned conjugate gradients.

    Return Z, its coordinates W in the system, and whether it is accurate enough for superlinear
    convergence of Newton's method. It is not if the iteration met positive curvature, or if W
    became longer than `reach`: so far away from the point its derivatives say little. Accuracy far
    below the slope `flat`, at which Newton's method stops, is of no use.
    """
    system = NewtonSystem(point)
    residual = system.gradient
    search = system.precondition(residual)
    slope = float(np.vdot(residual, search))
    enough = slope * min(0.25, float(np.sqrt(point.slope / point.value)))
    enough = max(enough, _FLATTER * flat)
    W, complete = np.zeros_like(residual), True
    for inner in range(_MAX_INNER):
        image = system.product(search)
        curvature_along = float(np.vdot(search, image))
        if curvature_along <= 0:
            W, complete = search if inner == 0 else W, False
            break
        step = slope / curvature_along
        W += step * search
        if np.linalg.norm(W) > reach:
            complete = False
            break
        residual -= step * image
        following = system.precondition(residual)
        slope, last = float(np.vdot(residual, following)), slope
        if slope <= enough:
            break
        search *= slope / last
        search += following
    return W, system.lift(W), complete


def _best_step(point: Point, Z: Array) -> float:
    """Return the best step length: the best power of two, refined by a parabola."""
    value = point.along(Z)
    J = value(_STEPS)
    i = int(np.argmax(J))
    if not 0 < i < len(_STEPS) - 1:
        return float(_STEPS[i])
    left, middle, right = J[i - 1 : i + 2]
    top = 0.5 * (left - right) / (left - 2 * middle + right)
    candidates = _STEPS[i] * 2.0 ** np.array([0.0, top])
    return float(candidates[np.argmax(value(candidates))])


def best_of(
    objective: Alignment, k: int, stop: Stop, n_init: int, rng: np.random.RandomState
) -> Solution:
    """Maximise from the LDA axes and from `n_init` − 1 further starts; keep the best.

    The further starts alternate between a reflection of the best point so far, in the row that
    loses least, and a random subspace.
    """
    best = maximize(objective, objective.lda_start(k), stop)
    for trial in range(1, n_init):
        start = _further_start(objective, best.point, trial, rng)
        best = max(best, maximize(objective, start, stop), key=lambda found: found.value)
    return best


def _further_start(
    objective: Alignment, best: Array, trial: int, rng: np.random.RandomState
) -> Array:
    if trial % 2 == 0:
        return objective.random_start(best.shape[1], rng)
    rows = np.argsort(-objective.at(best).reflections())
    return reflected(best, rows[trial // 2 % len(rows)])


class NewtonSystem:
    """−Hessian Z = gradient at one point, for tangent Z = S_t^(-½) W T.

    Large systems are in single precision, which is enough: the gradient is that of double
    precision, so the next step corrects the errors of this one.

    Parameters
    ----------
    point : Point
        Where to step from.
    """

    def __init__(self, point: Point) -> None:
        self.point = point
        root = np.sqrt(point.objective.values)[:, None]
        side = 1 / np.sqrt(point.curvature * point.d)
        mu, rotation = np.linalg.eigh(side[:, None] * point.multiplier * side)
        self._scale, self._rotation = 1 / root, rotation.T * side
        diagonal = 1 + mu / root**2
        large = diagonal.size > _MANY and np.abs(diagonal).max() < _STEEP
        self._dtype = np.float32 if large else np.float64
        self._diagonal = self._stored(diagonal)
        near = point.slope < _FAR * point.value
        self._inverse = 1 / np.maximum(self._diagonal, _LEAST) if near else None
        # M and Cᵀ stacked, because one product with both and one with the transpose make up most
        # of the cost.
        self._products = self._stored(
            np.concatenate([point.objective.factor, point.C.T]) * self._scale.T
        )
        # Tangent: W has no part along these.
        self._normal = self._stored(orthonormal(self._scale * point.G))
        gradient = self._stored(self._scale * (point.gradient @ self._rotation.T))
        self.gradient = tangent(self._normal, gradient)
        """The right-hand side, shape (r, k)."""

    def _stored(self, A: Array) -> Array:
        return A.astype(self._dtype, copy=False)

    def product(self, W: Array) -> Array:
        """Return −Hessian W, for tangent W."""
        point, T = self.point, self._rotation
        both = (self._products @ W) @ T
        MZ, CZ = both[: -len(point.d)], both[-len(point.d) :]
        along_b = 2 * np.vdot(point.MG, MZ)
        along_norm = 2 * (point.d @ CZ.diagonal()) / point.norm_d
        along_curvature = 2 * along_b / point.norm_d**3
        along_curvature -= 3 * point.curvature * along_norm / point.norm_d
        upper = (2 / point.norm_d) * (MZ - along_norm / point.norm_d * point.MG)
        lower = -point.curvature * (CZ + CZ.T) - along_curvature * np.diag(point.d)
        image = self._diagonal * W
        image -= self._products.T @ self._stored(np.concatenate([upper, lower]) @ T.T)
        return tangent(self._normal, image)

    def precondition(self, R: Array) -> Array:
        """Return W that solves the system roughly, for tangent R."""
        return R.copy() if self._inverse is None else tangent(self._normal, self._inverse * R)

    def lift(self, W: Array) -> Array:
        """Return Z."""
        return tangent(self.point.G, self._scale * (W @ self._rotation))


def paper_iteration(
    objective: Alignment, start: Array, stop: Stop, *, tau: float = 1e-3
) -> Solution:
    """Maximise the objective by steps of fixed length along the gradient.

    The sign is corrected: the paper states a maximisation but writes a descent step. G is made
    orthonormal after every step. Because the step length is fixed, the iterates stay at a
    distance of about `tau` from the maximum and do not converge.
    """
    G = polar(start)
    history = [objective.value(G)]
    reason: Reason = "max_iter"
    while len(history) <= stop.max_iter:
        gradient = tangent(G, objective.gradient(G))
        if linalg.norm(gradient) <= stop.tol * history[-1]:
            reason = "gradient"
            break
        # ‖·‖₁ is the sum of absolute entries, as in the paper.
        eta = tau * np.abs(G).sum() / np.abs(gradient).sum()
        G = polar(G + eta * gradient)
        history.append(objective.value(G))
    return Solution(G, history[-1], np.array(history), reason)
