"""kaLDA for data too large for the spectrum of S_t: exact solutions in small subspaces.

The first subspace is that of the axes of LDA, S⁻¹ range(S_b) with S the shrunk S_t. If the gradient
of J in the space of the data is not zero at the maximum found there, S⁻¹ times the gradient is
appended, and so on. S Z D is the dominant term of the Hessian of J (see `alignment`), so about ten
rounds are enough. When the subspace has three times as many dimensions as there are directions,
only the span of the last two solutions is kept.

J could grow without meaning along directions in which the training data do not vary, and rounding
errors lead there. So every vector v = Tᵀu is stored along with u, and cannot leave the range of
S_t = TᵀT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import dots, ratio, rough_solution, solve_dual
from skml_kalda._core.eigenproblem import varying
from skml_kalda._core.orthonormal import orthonormal
from skml_kalda._core.scatter import ImplicitScatter
from skml_kalda._core.scatter.base import RANK_RTOL
from skml_kalda._core.symmetric import positive_eigenpairs
from skml_kalda.reducers.kalda.alignment import Alignment
from skml_kalda.reducers.kalda.newton import Reason, Solution, Stop, maximize, stalled

# New columns of V need only roughly the right direction: accuracy in single precision, and in
# double precision, where a round costs more.
_ROUGH, _CAREFUL, _MAX_PRODUCTS = 0.1, 0.03, 200
MAX_ROUNDS = 60
# Most columns of V for each column of G. With more rows than features, most of u in v = Tᵀu is
# mapped to zero, which costs digits in every round: a larger subspace needs fewer rounds.
_WIDTH, _TALL_WIDTH = 3, 8
# Rounds without progress after which rounding errors are taken to prevent it.
_PATIENCE = 4
# Rows and columns of V that are worked on at a time.
_ROWS, _COLUMNS = 4096, 16


class Subspace:
    """A subspace of the range of S_t, with an orthonormal basis V = TᵀU.

    Parameters
    ----------
    V, U : arrays of shape (p, m) and (n, m)
        The basis.
    total : array of shape (m, m)
        VᵀS_tV.
    factor : array of shape (K, m)
        FᵀV, where S_b = F Fᵀ.
    """

    def __init__(self, V: Array, U: Array, total: Array, factor: Array) -> None:
        self.total, self.factor = total, factor
        self._basis, self._dual = V, U

    @property
    def size(self) -> int:
        """Number m of dimensions."""
        return len(self.total)

    @property
    def basis(self) -> Array:
        """V, shape (p, m)."""
        return self._basis[:, : self.size]

    @property
    def dual(self) -> Array:
        """U, shape (n, m)."""
        return self._dual[:, : self.size]

    def reserve(self, size: int) -> None:
        """Make room for a basis of `size` columns, if there is less."""
        missing = size - self._basis.shape[1]
        if missing > 0:
            self._basis = np.pad(self._basis, ((0, 0), (0, missing)))
            self._dual = np.pad(self._dual, ((0, 0), (0, missing)))

    def room(self, q: int) -> tuple[Array, Array]:
        """Return the columns of V and U that follow the basis, to be written to."""
        columns = slice(self.size, self.size + q)
        return self._basis[:, columns], self._dual[:, columns]

    def extend(self, total: Array, factor: Array) -> None:
        """Count the columns that follow as part of the basis.

        `total` is VᵀS_t times the new columns, for V with them, and `factor` is Fᵀ times them.
        """
        m = self.size
        self.total = np.block([[self.total, total[:m]], [total[:m].T, total[m:]]])
        self.factor = np.hstack([self.factor, factor])

    def restrict(self, P: Array) -> None:
        """Keep only the span of V P, for orthonormal P."""
        _turn(self.basis, P)
        _turn(self.dual, P)
        self.total, self.factor = P.T @ self.total @ P, self.factor @ P


def _turn(A: Array, P: Array) -> None:
    """Write A P over the first columns of A: a copy would need as much memory again."""
    for rows in gen_batches(len(A), _ROWS):
        A[rows, : P.shape[1]] = A[rows] @ P


def _subtract(A: Array, B: Array, P: Array) -> None:
    """Write A − B P over A."""
    for rows in gen_batches(len(A), _ROWS):
        A[rows] -= B[rows] @ P


class Maximum(NamedTuple):
    """The maximum of J over orthonormal G, and how it was found."""

    G: Array
    """Shape (p, k), with GᵀS_tG diagonal."""
    variances: Array
    """Diagonal of GᵀS_tG, descending, shape (k,)."""
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
        T, rest = self.scatter.rows, 1 - self.shrinkage
        pull = self.pull(np.eye(self.turn.shape[1]))
        if self.shrinkage == 1:
            U = pull / self.floor
        elif self.shrinkage > 0:
            U = self.scatter.dual_solve(pull / rest, self.floor / rest)
        else:
            U = solve_dual(T, pull, 1.0, 0.0, self.scatter.tol)
        R = self.turn.T @ (self.scatter.between.T @ (T.T @ U))
        values, Q = positive_eigenpairs((R + R.T) / 2, 1e-11)
        U = U @ (Q / np.sqrt(values))
        V, U = _orthonormal_pair(T.T @ U, U)
        image = T @ V
        return Subspace(V, U, image.T @ image, self.scatter.between.of_image(image))

    def precondition(self, right: Array, out: Array, *, careful: bool) -> None:
        """Solve S Z = Tᵀ right roughly, for Z = TᵀU; write U to `out`.

        Single precision does not resolve Tᵀ right if Tᵀ maps most of `right` to zero, as with
        more rows than features. It is enough unless `careful`.
        """
        rest = 1 - self.shrinkage
        if self.shrinkage == 1:
            np.divide(right, self.floor, out=out)
        elif self.scatter.has_dual(self.floor) and not careful:
            rough_solution(self.scatter.dual_system(self.floor / rest), right, _ROUGH, out)
            out /= rest
        else:
            T = self.scatter.rows
            out[:] = solve_dual(T, right, rest, self.floor, _CAREFUL, _MAX_PRODUCTS)

    def widen(self, space: Subspace, q: int) -> None:
        """Extend a basis by the span of the q columns that follow it."""
        T, V, U = self.scatter.rows, space.basis, space.dual
        for first in (True, False):  # once leaves rounding errors
            primal, dual = space.room(q)
            inside = V.T @ primal
            _subtract(dual, U, inside)
            if first:
                primal[:] = T.T @ dual
            else:
                _subtract(primal, V, inside)
            # Drop columns that are, up to rounding, combinations of others or of V.
            turn = _whitening(primal)[:, : max(min(T.shape) - space.size, 0)]
            _turn(primal, turn)
            _turn(dual, turn)
            q = turn.shape[1]
        primal, dual = space.room(q)
        image = T @ primal
        total = np.empty((space.size + q, q))
        for columns in gen_batches(q, _COLUMNS):
            product = T.T @ image[:, columns]  # S_t times new columns
            total[:, columns] = np.vstack([V.T @ product, primal.T @ product])
        space.extend(total, self.scatter.between.of_image(image))

    def alignment(self, space: Subspace) -> tuple[Alignment, Array]:
        """Return J restricted to a subspace in which S_t is diagonal, and the rotation to it."""
        values, rotation = positive_eigenpairs(space.total, eigh=np.linalg.eigh)
        shrunk = (1 - self.shrinkage) * values + self.floor
        return Alignment(shrunk, space.factor @ rotation), rotation


def _orthonormal_pair(V: Array, U: Array) -> tuple[Array, Array]:
    """Return orthonormal V = TᵀU of the same span."""
    V, triangle = np.linalg.qr(V)
    return V, linalg.solve_triangular(triangle.T, U.T, lower=True, check_finite=False).T


def _whitening(V: Array) -> Array:
    """Return P for which V P is an orthonormal basis of span(V), to rounding at the second time."""
    gram = V.T @ V
    size = np.sqrt(gram.diagonal())
    scale = ratio(np.ones_like(size), size)
    lengths, axes = positive_eigenpairs(scale[:, None] * gram * scale, RANK_RTOL)
    return np.asarray(scale[:, None] * axes / np.sqrt(lengths))


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
        the preconditioner, or after max_iter rounds, but at most sixty.
    first : callable
        Solves the problem in the span of the axes.
    """
    objective, rotation = shrunk.alignment(space)
    eigenvalues = objective.eigenvalues
    solution = first(objective)
    history, k = [solution.value], solution.point.shape[1]
    width = _WIDTH if shrunk.scatter.has_dual(shrunk.floor) else _TALL_WIDTH
    room = max(space.size, (width - 1) * k) + k
    space.reserve(min(room, 3 * k))  # at once, because growing needs both the old and the new
    point = last = rotation @ solution.point
    slopes, inner = [np.inf] * _PATIENCE, stop._replace(tol=stop.tol / 10)
    while True:
        if space.size + k > room:
            both = orthonormal(np.hstack([point, last]))
            space.restrict(both)
            point = both.T @ point
        space.reserve(space.size + k)
        # In single precision until that gains little.
        careful = slopes[-1] > slopes[-2] / 4
        slopes.append(_append_columns(shrunk, space, point, careful=careful))
        reason = _reason_to_stop(slopes, solution.value, len(history), stop)
        if reason is not None:
            break
        shrunk.widen(space, k)
        last = np.pad(point, ((0, space.size - len(point)), (0, 0)))
        objective, rotation = shrunk.alignment(space)
        solution = maximize(objective, rotation.T @ last, inner)
        history.append(solution.value)
        point = rotation @ solution.point
    values, rotation = np.linalg.eigh(point.T @ space.total @ point)
    G = space.basis @ (point @ rotation[:, ::-1])
    found = Solution(solution.point, solution.value, np.array(history), reason)
    return Maximum(G, values[::-1], eigenvalues, found)


def _reason_to_stop(slopes: list[float], value: float, rounds: int, stop: Stop) -> Reason | None:
    if slopes[-1] <= (stop.tol / 4) ** 2 * value:
        return "gradient"
    if stalled(slopes[-1], slopes[-1 - _PATIENCE], value):
        return "rounding"
    return "max_iter" if rounds > min(stop.max_iter, MAX_ROUNDS) else None


def _append_columns(shrunk: Shrunk, space: Subspace, point: Array, *, careful: bool) -> float:
    """Write a rough Z = TᵀU with S Z D = g / curvature behind the basis, for the gradient g.

    Return the squared length of g in the metric of the preconditioner.
    """
    T, rest, floor = shrunk.scatter.rows, 1 - shrunk.shrinkage, shrunk.floor
    primal, dual = space.room(point.shape[1])
    primal[:] = space.basis @ point
    dual[:] = space.dual @ point
    image = T @ primal
    b = shrunk.turn.T @ shrunk.scatter.between.of_image(image)
    d = rest * dots(image, image) + floor * dots(image, dual)  # diagonal of GᵀSG
    norm = linalg.norm(d)
    curvature = 2 * np.vdot(b, b) / norm**3 * d
    gradient = shrunk.pull((2 / norm) * b)
    for rows in gen_batches(len(image), _ROWS):  # S G = Tᵀ(rest · image + floor · dual)
        gradient[rows] -= curvature * (rest * image[rows] + floor * dual[rows])
    _subtract(gradient, dual, image.T @ gradient)
    del image  # the solve needs the memory
    gradient /= curvature
    shrunk.precondition(gradient, dual, careful=careful)
    primal[:] = T.T @ dual
    return float(curvature @ dots(gradient, T @ primal))
