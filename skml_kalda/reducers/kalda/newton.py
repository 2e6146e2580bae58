"""Maximisers of the alignment over subspaces."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import ThreadpoolController

from skml_kalda._alignment import Alignment, Point
from skml_kalda._grassmann import orthonormal, polar, tangent

Array = NDArray[np.floating[Any]]
Reason = Literal["gradient", "rounding", "max_iter"]

_STEPS = 2.0 ** np.arange(-20, 4)
_MAX_INNER = 100
# Entries of G below which the threads of BLAS cost more than they save.
_SMALL = 50_000


class Stop(NamedTuple):
    """When to stop."""

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
    """`gradient`: as flat as asked for; `rounding`: as flat as floats allow; `max_iter`."""

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history) - 1

    @property
    def converged(self) -> bool:
        """Whether the point is stationary."""
        return self.reason != "max_iter"


def maximize(objective: Alignment, start: Array, stop: Stop = _DEFAULT) -> Solution:
    """Newton-CG with a search along the way, on the Grassmannian.

    The Newton system is solved by preconditioned conjugate gradients until it is accurate
    enough or the curvature turns positive; the step along the direction found is the best
    of a wide range, which costs next to nothing here. Where nothing is left to climb, the
    reflections of the point (see :meth:`Point.reflections`) are tried.

    Parameters
    ----------
    objective : Alignment
        What to maximise.
    start : array of shape (r, k)
        A basis of the first subspace.
    stop : Stop
        Stops when √⟨g, W⁻¹g⟩ ≤ tol·√J, with g the gradient and W the preconditioner, or
        after max_iter steps.
    """
    point = objective.at(start)
    history = [point.value]
    previous = np.inf
    reason: Reason = "max_iter"
    while len(history) <= stop.max_iter:
        flat = point.slope <= stop.tol**2 * point.value
        if flat or stalled(point.slope, previous, point.value):
            mirrored = _reflected(point)
            if mirrored is None:
                reason = "gradient" if flat else "rounding"
                break
            point, previous = mirrored, np.inf
        else:
            point, previous = _newton_step(point), point.slope
        history.append(point.value)
    return Solution(point.G, point.value, np.array(history), reason)


def stalled(slope: float, previous: float, value: float) -> bool:
    """Whether progress is lost in rounding: the gain is, and the slope no longer falls."""
    return slope <= 1e-14 * value and slope > 0.25 * previous


def _reflected(point: Point) -> Point | None:
    reflections = point.reflections()
    best = int(np.argmax(reflections))
    if reflections[best] <= point.value * (1 + 1e-12):
        return None
    return point.objective.at(reflected(point.G, best))


def reflected(G: Array, row: int) -> Array:
    """G with the sign of one row changed."""
    mirrored = G.copy()
    mirrored[row] *= -1
    return mirrored


def _newton_step(point: Point) -> Point:
    Z, settled = _newton_direction(point)
    if settled:
        ahead = point.objective.at(point.G + Z)
        # Very close to the maximum J is too coarse to tell whether the full step is good.
        if ahead.value - point.value > 0.2 * np.vdot(point.gradient, Z) - 1e-12 * point.value:
            return ahead
    # A long step leaves columns that are far from orthonormal.
    return point.objective.at(orthonormal(point.G + _best_step(point, Z) * Z))


def _newton_direction(point: Point) -> tuple[Array, bool]:
    """Solve −Hessian Z = gradient by preconditioned conjugate gradients.

    Returns Z and whether it solves the system to the accuracy that keeps the convergence
    of Newton's method superlinear; False where positive curvature was met.
    """
    slope = point.slope
    enough = slope * min(0.25, float(np.sqrt(slope / point.value)))
    residual, search = point.gradient.copy(), point.ascent.copy()
    Z = np.zeros_like(residual)
    for inner in range(_MAX_INNER):
        image = point.hessian(search)
        bend = -float(np.vdot(search, image))
        if bend <= 0:
            return (search if inner == 0 else Z), False
        step = slope / bend
        Z += step * search
        residual += step * image
        ahead = point.precondition(residual)
        slope, last = float(np.vdot(residual, ahead)), slope
        if slope <= enough:
            break
        search *= slope / last
        search += ahead
    return Z, True


def _best_step(point: Point, Z: Array) -> float:
    """Search the step lengths by powers of two, then at the top of a parabola."""
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

    The further starts are in turn a reflection of the best point so far, in the rows that
    lose least by it, and a random subspace.
    """
    with _threads(objective, k):
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


def _threads(objective: Alignment, k: int) -> AbstractContextManager[Any]:
    if len(objective.values) * k > _SMALL:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def paper_iteration(
    objective: Alignment, start: Array, stop: Stop = _DEFAULT, *, tau: float = 1e-3
) -> Solution:
    """The paper's gradient iteration: a step of fixed length along the gradient.

    With the sign mended (the paper writes a descent for a maximisation) and G made
    orthonormal after every step. A step of fixed length circles the maximum at a distance
    of the order of `tau` and does not converge to it.
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
