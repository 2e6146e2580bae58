"""kaLDA for data too large for the spectrum of S_t: exact solutions in growing subspaces.

The problem is solved in a subspace V that contains the axes of LDA, S⁻¹ range(S_b) with S the
shrunk S_t. If the gradient of J in the space of the data is not zero there, S⁻¹ times the gradient
is appended to V. About ten rounds reach rounding accuracy, because S Z D is the dominant term of
the Hessian of J (see `alignment`).

Along directions in which the training data do not vary, J could grow without meaning, and rounding
errors lead there. So every vector is stored as Tᵀ of a vector with n entries, which cannot leave
the range of S_t = TᵀT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import solve_dual
from skml_kalda._core.eigenproblem import varying
from skml_kalda._core.scatter import ImplicitScatter, Spectrum
from skml_kalda._core.symmetric import positive_eigenpairs
from skml_kalda.reducers.kalda.alignment import Alignment
from skml_kalda.reducers.kalda.newton import Reason, Solution, Stop, maximize, stalled

# New columns of V need only roughly the right direction.
_COLUMN_TOL, _COLUMN_MAX_ITER = 0.03, 200
MAX_ROUNDS = 30
# When V has more than this many columns for each column of G, restart from G and the axes.
_WIDTH = 8


class Subspace(NamedTuple):
    """A subspace of the range of S_t, in the orthonormal basis in which S_t is diagonal."""

    space: Spectrum
    """S_t in the subspace: its eigenvalues, descending, and V = TᵀU, shape (p, m)."""
    dual: Array
    """U, shape (n, m)."""
    image: Array
    """T V, shape (n, m)."""


class Shrunk(NamedTuple):
    """The operator S = (1 − a) S_t + a Tr(S_t)/p I."""

    scatter: ImplicitScatter
    shrinkage: float
    pull: Array
    """Label side of F Q = Tᵀ `pull`, where S_b = F Fᵀ, shape (n, q)."""
    turn: Array
    """Q, shape (K, q): an orthonormal basis of the range of Fᵀ."""

    @classmethod
    def of(cls, scatter: ImplicitScatter, shrinkage: float) -> Shrunk:
        """Shrink S_t towards a multiple of I."""
        scale = scatter.label_scale
        turn = varying(scale[:, None] * scatter.label_scatter * scale)
        L = scale[:, None] * turn
        if shrinkage > 0:
            return cls(scatter, shrinkage, scatter.cross.targets(L), turn)
        # Tᵀ maps part of the labels to zero; that part only adds rounding errors below. Replacing
        # the labels by their fit without a ridge removes it.
        pull = scatter.rows @ scatter.ridge_solve(scatter.cross @ L, 0.0)
        return cls(scatter, shrinkage, pull, turn)

    @property
    def floor(self) -> float:
        """The factor a Tr(S_t)/p of I."""
        return self.shrinkage * self.scatter.mean_eigenvalue

    def solve(self, right: Array, tol: float, max_iter: int | None = None) -> Array:
        """Solve S Z = Tᵀ right for Z = TᵀU; return U."""
        rest = 1 - self.shrinkage
        if self.shrinkage == 1:
            return right / self.floor
        if self.shrinkage > 0:
            return self.scatter.dual_solve(right / rest, self.floor / rest, tol)
        return solve_dual(self.scatter.rows, right, rest, self.floor, tol, max_iter)

    def axes(self) -> Subspace:
        """Return the span of the LDA axes, S⁻¹ range(S_b)."""
        U = self.solve(self.pull, self.scatter.tol)
        R = self.turn.T @ (self.scatter.between.T @ (self.scatter.rows.T @ U))
        values, Q = positive_eigenpairs((R + R.T) / 2, 1e-11)
        return self.span(U @ Q / np.sqrt(values))

    def span(self, U: Array) -> Subspace:
        """Return the span of TᵀU."""
        T = self.scatter.rows
        V, triangle = np.linalg.qr(T.T @ U)
        U = linalg.solve_triangular(triangle.T, U.T, lower=True, check_finite=False).T
        return _diagonal(V, U, T @ V)

    def widened(self, kept: Subspace, columns: Array) -> Subspace:
        """Return the sum of a subspace and the span of Tᵀ `columns`."""
        T, ((_, V), U, Z) = self.scatter.rows, kept
        primal = T.T @ columns
        size = linalg.norm(primal, axis=0)
        size = np.where(size > 0, size, 1)
        primal, columns = primal / size, columns / size
        # Orthogonal to V; the second time to rounding.
        columns = columns - U @ (V.T @ primal)
        primal, columns = _beside(V, U, T.T @ columns, columns)
        # Drop columns that are, up to rounding, combinations of others or of V.
        _, singular, right = linalg.svd(primal, full_matrices=False)
        new = singular > 1e-8
        new[max(min(T.shape) - U.shape[1], 0) :] = False
        turn = right[new].T / singular[new]
        primal, columns = _beside(V, U, primal @ turn, columns @ turn)
        primal, triangle = np.linalg.qr(primal)
        columns = linalg.solve_triangular(triangle.T, columns.T, lower=True).T
        parts = (V, primal), (U, columns), (Z, T @ primal)
        return _diagonal(*(np.hstack(part) for part in parts))

    def alignment(self, subspace: Subspace) -> Alignment:
        """Return J restricted to a subspace."""
        values = (1 - self.shrinkage) * subspace.space.values + self.floor
        return Alignment(values, self.scatter.between.of_image(subspace.image))


def _diagonal(V: Array, U: Array, Z: Array) -> Subspace:
    """Rotate an orthonormal basis so that S_t is diagonal."""
    values, rotation = positive_eigenpairs(Z.T @ Z, eigh=np.linalg.eigh)
    return Subspace(Spectrum(values, V @ rotation), U @ rotation, Z @ rotation)


def _beside(V: Array, U: Array, primal: Array, dual: Array) -> tuple[Array, Array]:
    """Return columns Tᵀ `dual` without their part in the span of V = TᵀU."""
    inside = V.T @ primal
    return primal - V @ inside, dual - U @ inside


def maximize_in_subspaces(
    shrunk: Shrunk, axes: Subspace, stop: Stop, first: Callable[[Alignment], Solution]
) -> tuple[Spectrum, Solution]:
    """Maximise J over the range of S_t.

    Parameters
    ----------
    shrunk : Shrunk
        S_t and S_b.
    axes : Subspace
        The axes of LDA.
    stop : Stop
        Stop when √⟨g, W⁻¹g⟩ ≤ tol·√J, with g the gradient in the space of the data and W the
        preconditioner, or after max_iter rounds, but at most thirty.
    first : callable
        Solves the problem in the span of the axes.

    Returns
    -------
    space : Spectrum
        S_t in the last subspace.
    solution : Solution
        The maximum in coordinates of that subspace. One iteration is one round.
    """
    current, slope = axes, np.inf
    solution = first(shrunk.alignment(axes))
    history = [solution.value]
    reason: Reason | None = None
    while reason is None:
        at = _Point(*(part @ solution.point for part in (current.dual, current.image)))
        previous, (slope, columns) = slope, _new_columns(shrunk, at)
        if slope <= stop.tol**2 * solution.value:
            reason = "gradient"
        elif stalled(slope, previous, solution.value):
            reason = "rounding"
        elif len(history) > min(stop.max_iter, MAX_ROUNDS):
            reason = "max_iter"
        else:
            G = current.space.basis @ solution.point
            wide = len(solution.point) > _WIDTH * G.shape[1]
            current = shrunk.widened(shrunk.widened(axes, at.dual) if wide else current, columns)
            start = current.space.basis.T @ G
            solution = maximize(shrunk.alignment(current), start, stop)
            history.append(solution.value)
    return current.space, Solution(solution.point, solution.value, np.array(history), reason)


class _Point(NamedTuple):
    """Directions G = Tᵀ `dual`."""

    dual: Array
    image: Array
    """T G, shape (n, k)."""


def _new_columns(shrunk: Shrunk, at: _Point) -> tuple[float, Array]:
    """Return the squared length of the gradient g, and a rough Z with S Z D = g / curvature."""
    T, scatter = shrunk.scatter.rows, shrunk.scatter
    b = shrunk.turn.T @ scatter.between.of_image(at.image)
    C = (1 - shrunk.shrinkage) * at.image + shrunk.floor * at.dual  # S G = Tᵀ C
    d = np.sum(at.image * C, axis=0)
    norm = linalg.norm(d)
    curvature = 2 * np.vdot(b, b) / norm**3
    gradient = (2 / norm) * (shrunk.pull @ b) - C * (curvature * d)
    gradient -= at.dual @ (at.image.T @ gradient)
    columns = shrunk.solve(gradient / (curvature * d), _COLUMN_TOL, _COLUMN_MAX_ITER)
    return float(np.vdot(T.T @ gradient, T.T @ columns)), columns
