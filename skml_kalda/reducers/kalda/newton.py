"""The kaLDA objective, Newton's method on the Grassmannian for it, and the paper's iteration.

J(G) = Tr(GᵀS_bG) / ‖GᵀS_tG‖_F in the eigenbasis of S_t, where S_t = diag(values) and S_b = MᵀM
with M of shape (K, r), so a product with either costs O(K r k). The symbols are the paper's:
A = S_b G, B = GᵀA, C = S_t G, D = GᵀC.

The Hessian of J along Z is −c S_t Z D − Z Λ, with the curvature c and the multiplier Λ = Gᵀ∇J, and
terms of lower rank. `NewtonSystem` solves for it in coordinates in which these two are diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import orthonormal, polar, resolve_ties

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
# Generalised eigenvalues of (S_b, S_t) below this, or below this fraction of the largest, are
# rounding. The largest is at most one if every label counts; if every row does, it may be larger.
_RANK_RTOL = 1e-12


class Alignment:
    """J, its gradient, and what is known about its maxima without iteration.

    Parameters
    ----------
    values : array of shape (r,)
        Eigenvalues of S_t, positive.
    factor : array of shape (K, r)
        M with S_b = MᵀM in the eigenbasis of S_t.
    """

    def __init__(self, values: Array, factor: Array) -> None:
        # Scaling both scatters leaves J unchanged and keeps all numbers near one.
        self._scale = np.sqrt(values.max())
        self.values = values / self._scale**2
        self.factor = factor / self._scale

    def value(self, G: Array) -> float:
        """Return J(G) for any G of full column rank."""
        D = G.T @ (self.values[:, None] * G)
        return float(np.sum((self.factor @ G) ** 2) / linalg.norm(D))

    def gradient(self, G: Array) -> Array:
        """Return the Euclidean gradient ∇J = 2A/‖D‖ − 2 Tr(B) CD/‖D‖³ for any G."""
        A = self.factor.T @ (self.factor @ G)
        C = self.values[:, None] * G
        D = G.T @ C
        norm = linalg.norm(D)
        gradient: Array = (2 / norm) * A - (2 * np.vdot(G, A) / norm**3) * (C @ D)
        return gradient

    @cached_property
    def _discriminant(self) -> tuple[Array, Array]:
        _, singular, right = np.linalg.svd(self.factor / np.sqrt(self.values), full_matrices=False)
        eigenvalues, vectors = singular**2, right.T / np.sqrt(self.values)[:, None]
        live = _live(eigenvalues)
        axes, scale = vectors[:, live], eigenvalues.max(initial=1.0)
        vectors[:, live] = resolve_ties(eigenvalues[live], axes, -1.0, scale)
        return eigenvalues, vectors

    @property
    def eigenvalues(self) -> Array:
        """Generalised eigenvalues λ of (S_b, S_t), descending: min(K, r) of them."""
        return self._discriminant[0]

    @property
    def rank(self) -> int:
        """Rank of S_b on the range of S_t."""
        return int(np.sum(_live(self.eigenvalues)))

    def lda_start(self, k: int) -> Array:
        """Return an orthonormal start: the LDA axes, completed by directions of least variance."""
        axes = self._discriminant[1][:, : min(k, self.rank)]
        axes, q = axes / linalg.norm(axes, axis=0), axes.shape[1]
        if k == q:
            return orthonormal(axes)
        basis: Array = linalg.qr(axes)[0]
        axes, complement = basis[:, :q], basis[:, q:]
        scatter = complement.T @ (self.values[:, None] * complement)
        _, quiet = linalg.eigh(scatter, subset_by_index=[0, k - q - 1])
        return np.hstack([axes, complement @ quiet])

    def random_start(self, k: int, rng: np.random.RandomState) -> Array:
        """Return a random orthonormal start, uniform among subspaces after whitening by S_t."""
        return orthonormal(
            rng.standard_normal((len(self.values), k)) / np.sqrt(self.values)[:, None]
        )


def _live(eigenvalues: Array) -> NDArray[np.bool_]:
    return eigenvalues > _RANK_RTOL * eigenvalues.max(initial=1.0)


class Point:
    """J, its gradient and its Hessian at one subspace.

    The basis G is rotated so that D = diag(d); then the preconditioner is diagonal.
    """

    def __init__(self, objective: Alignment, Y: Array) -> None:
        self.objective = objective
        s, M = objective.values[:, None], objective.factor
        self.G, self.d = G, d = diagonal_basis(Y, objective.values)
        self.C = s * G
        self.MG = M @ G
        self.A = M.T @ self.MG
        self.trace_b = float(np.vdot(self.MG, self.MG))
        self.norm_d = float(linalg.norm(d))
        self.value = self.trace_b / self.norm_d
        self.curvature = 2 * self.trace_b / self.norm_d**3

    @cached_property
    def euclidean_gradient(self) -> Array:
        """∇J = 2A/‖D‖ − 2 Tr(B) CD/‖D‖³."""
        return (2 / self.norm_d) * self.A - self.C * (self.curvature * self.d)

    @cached_property
    def gradient(self) -> Array:
        """Gradient on the Grassmannian, (I − GGᵀ)∇J."""
        return tangent(self.G, self.euclidean_gradient)

    @cached_property
    def ascent(self) -> Array:
        """Gradient in the metric of the preconditioner."""
        return self.precondition(self.gradient)

    @cached_property
    def slope(self) -> float:
        """Squared length of the gradient in that metric."""
        return float(np.vdot(self.gradient, self.ascent))

    @property
    def multiplier(self) -> Array:
        """Λ = Gᵀ∇J, shape (k, k), symmetric."""
        product = self.G.T @ self.euclidean_gradient
        return np.asarray((product + product.T) / 2)

    def precondition(self, R: Array) -> Array:
        """Return the tangent Z that solves S_t Z D = R / curvature up to a multiple of G.

        S_t Z D is the dominant term of the Hessian. It is solved for inside of the tangent space,
        by an oblique projection.
        """
        scaled = self.G / self.objective.values[:, None]
        back = scaled @ np.linalg.inv(self.G.T @ scaled)
        Z: Array = R / self.objective.values[:, None]
        Z -= back @ (scaled.T @ R)
        Z /= self.curvature * self.d
        return Z

    def along(self, Z: Array) -> Callable[[Array], Array]:
        """Return t -> J(span(G + tZ)) for arrays of steps t; each step costs k × k operations."""
        square, rotation = np.linalg.eigh(Z.T @ Z)
        Z, G = Z @ rotation, self.G @ rotation
        MG, MZ = self.MG @ rotation, self.objective.factor @ Z
        b = np.array([np.sum(MG * MG, 0), 2 * np.sum(MG * MZ, 0), np.sum(MZ * MZ, 0)])
        SZ = self.objective.values[:, None] * Z
        D0, D1, D2 = (rotation.T * self.d) @ rotation, G.T @ SZ, Z.T @ SZ
        D1 = D1 + D1.T

        def value(t: Array) -> Array:
            t = t[:, None]
            shrink = 1 / (1 + t * t * square)  # (YᵀY)⁻¹ for Y = G + tZ
            D = D0 + t[:, :, None] * (D1 + t[:, :, None] * D2)
            D *= D
            norm = np.sqrt(np.sum(shrink * np.matmul(D, shrink[:, :, None])[:, :, 0], axis=1))
            along: Array = np.sum(shrink * (b[0] + t * (b[1] + t * b[2])), axis=1) / norm
            return along

        return value

    def reflections(self) -> Array:
        """Return J after flipping the sign of row i of G, for every i.

        Such a reflection leaves GᵀG and D unchanged. Maxima of J come in families whose members
        differ by one reflection, along a direction of small variance.
        """
        own = np.sum(self.objective.factor**2, axis=0) * np.sum(self.G**2, axis=1)
        changed: Array = self.trace_b - 4 * np.sum(self.A * self.G, axis=1) + 4 * own
        return changed / self.norm_d


def tangent(G: Array, Z: Array) -> Array:
    """Return the projection of Z on the tangent space at span(G): (I − GGᵀ) Z."""
    return Z - G @ (G.T @ Z)


def diagonal_basis(Y: Array, values: Array) -> tuple[Array, Array]:
    """Return the orthonormal G of span(Y) for which Gᵀ diag(values) G = diag(d), and d.

    The entries of d are descending. The columns of Y must be well conditioned: a Cholesky
    factor of YᵀY makes them orthonormal.
    """
    inverse = np.linalg.inv(np.linalg.cholesky(Y.T @ Y))
    Y = Y @ inverse.T
    d, rotation = np.linalg.eigh(Y.T @ (values[:, None] * Y))
    return Y @ rotation[:, ::-1], d[::-1]


class Stop(NamedTuple):
    """The stopping criteria of a solver."""

    tol: float = 1e-8
    max_iter: int = 500
    # The class that reports every iteration; empty for none.
    reporter: str = ""

    def report(self, step: str, history: list[float], slope: float) -> None:
        """Print the objective, and how far the gradient is from zero in the units of `tol`."""
        if self.reporter:
            gradient = np.sqrt(max(slope, 0.0) / history[-1])
            result = f"objective {history[-1]:.8g}, gradient {gradient:.1e}"
            print(f"[{self.reporter}] {step} {len(history) - 1}: {result}")


_DEFAULT = Stop()


@dataclass(frozen=True)
class Solution:
    """Where a maximiser stopped, and why."""

    # G, shape (r, k), orthonormal.
    point: Array
    # J(G).
    value: float
    # J at the start and after every iteration.
    history: Array
    # `gradient`: as flat as requested; `rounding`: as flat as floats allow; `max_iter`.
    reason: Reason

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
    point = Point(objective, start)
    history = [point.value]
    previous = reach = np.inf
    reason: Reason = "max_iter"
    while len(history) <= stop.max_iter:
        stop.report("iteration", history, point.slope)
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
    return Point(point.objective, reflected(point.G, best))


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
        following = Point(point.objective, point.G + Z)
        # The tolerance is for points very close to the maximum, where rounding hides the gain.
        if following.value - point.value > 0.2 * np.vdot(point.gradient, Z) - 1e-12 * point.value:
            return following, max(_GROWTH * length, reach if np.isfinite(reach) else 0.0)
    t = _best_step(point, Z)
    # After a long step the columns are far from orthonormal.
    return Point(point.objective, orthonormal(point.G + t * Z)), _GROWTH * t * length


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
    rows = np.argsort(-Point(objective, best).reflections())
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
        # The right-hand side, shape (r, k).
        self.gradient = tangent(self._normal, gradient)

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
        stop.report("iteration", history, float(np.vdot(gradient, gradient)) / history[-1])
        if linalg.norm(gradient) <= stop.tol * history[-1]:
            reason = "gradient"
            break
        # ‖·‖₁ is the sum of absolute entries, as in the paper.
        eta = tau * np.abs(G).sum() / np.abs(gradient).sum()
        G = polar(G + eta * gradient)
        history.append(objective.value(G))
    return Solution(G, history[-1], np.array(history), reason)
