"""kaLDA for data too large for the spectrum of S_t: exact solutions in growing subspaces.

The problem is solved in a subspace V that holds the axes of LDA, S⁻¹ range(S_b) with S the
shrunk S_t. The gradient of J in the space of the data tells whether that is the solution; if
not, S⁻¹ times the gradient gives V new columns. S Z D is what dominates the Hessian of J (see
`_alignment`), so that about ten rounds reach rounding.

J would gain from directions in which the training data do not vary at all, and rounding
leads there: so every vector is kept as Tᵀ of a vector with n entries, which cannot leave the
range of S_t = TᵀT.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._alignment import Alignment
from skml_kalda._grassmann import orthonormal
from skml_kalda._implicit import ImplicitScatter
from skml_kalda._iterative import CG_MAX_ITER, CG_TOL, solve, solve_dual, warn_unsettled
from skml_kalda._moments import Spectrum, positive
from skml_kalda._pencil import positive_eigenpairs, solve_orthonormal, solve_pencil, varying
from skml_kalda._scatter import Array
from skml_kalda._solvers import Reason, Solution, Stop, maximize, stalled

# New columns of V need no more than the right direction.
_COLUMN_TOL, _COLUMN_MAX_ITER = 0.03, 200
_FIT_MAX_ITER = 300
MAX_ROUNDS = 30
# V has about this many columns for each of G; then it starts again from G and the axes.
_WIDTH = 8


class Subspace(NamedTuple):
    """A part of the range of S_t, in the orthonormal basis in which S_t is diagonal."""

    space: Spectrum
    """S_t there: its eigenvalues, descending, and V = TᵀU, shape (p, m)."""
    dual: Array
    """U, shape (n, m)."""


class Shrunk(NamedTuple):
    """S = (1 − a) S_t + a Tr(S_t)/p I, known by its products."""

    scatter: ImplicitScatter
    shrinkage: float
    pull: Array
    """Label side of F Q = Tᵀ `pull`, where S_b = F Fᵀ, shape (n, q)."""
    turn: Array
    """Q, shape (K, q): orthonormal, F vanishes beside it."""

    @classmethod
    def of(cls, scatter: ImplicitScatter, shrinkage: float) -> Shrunk:
        """Shrink S_t towards a multiple of I."""
        scale = scatter.class_scale
        turn = varying(scale[:, None] * scatter.label_scatter * scale)
        L = scale[:, None] * turn
        # What Tᵀ does not see of the labels is noise to all that follows: it is taken off if
        # the fit of the labels without a ridge is to be had.
        fit, settled = solve(
            scatter, 0.0, scatter.cross @ L, CG_MAX_ITER if shrinkage == 0 else _FIT_MAX_ITER
        )
        if shrinkage == 0 and not settled:
            warn_unsettled()
        pull = scatter.rows @ fit if settled or shrinkage == 0 else scatter.targets(L)
        return cls(scatter, shrinkage, pull, turn)

    @property
    def floor(self) -> float:
        """The multiple of I."""
        return self.shrinkage * self.scatter.trace / self.scatter.n_features

    def solve(self, right: Array, tol: float, max_iter: int) -> Array:
        """Solve S Z = Tᵀ right for Z = TᵀU; returns U."""
        scale = 1 - self.shrinkage
        return solve_dual(self.scatter, right, scale, self.floor, tol, max_iter)

    def axes(self) -> Subspace:
        """The directions of LDA, S⁻¹ range(S_b)."""
        U = self.solve(self.pull, CG_TOL, CG_MAX_ITER)
        F = self.scatter.between @ self.turn
        R = F.T @ (self.scatter.rows.T @ U)
        values, Q = positive_eigenpairs((R + R.T) / 2, 10 * CG_TOL)
        return self.span(U @ Q / np.sqrt(values))

    def span(self, U: Array) -> Subspace:
        """The span of TᵀU."""
        V, triangle = np.linalg.qr(self.scatter.rows.T @ U)
        values, rotation = np.linalg.eigh(V.T @ self.scatter.matmul(V))
        live = positive(values)
        values, rotation = values[live][::-1], rotation[:, live][:, ::-1]
        U = U @ linalg.solve_triangular(triangle, rotation, check_finite=False)
        return Subspace(Spectrum(values, V @ rotation), U)

    def widened(self, kept: Subspace, columns: Array) -> Subspace:
        """Span a subspace and Tᵀ `columns`."""
        T, (_, V), U = self.scatter.rows, *kept
        for _ in range(2):
            size = linalg.norm(T.T @ columns, axis=0)
            columns = columns / np.where(size > 0, size, 1)
            columns = columns - U @ (V.T @ (T.T @ columns))
        # Of columns that are nearly the same, or in V, one is new and the rest is rounding.
        _, singular, right = linalg.svd(T.T @ columns, full_matrices=False)
        new = singular > 1e-8
        new[max(min(T.shape) - U.shape[1], 0) :] = False
        return self.span(np.hstack([U, columns @ (right[new].T / singular[new])]))

    def alignment(self, space: Spectrum) -> Alignment:
        """J within a subspace."""
        values = (1 - self.shrinkage) * space.values + self.floor
        return Alignment(values, (space.basis.T @ self.scatter.between).T)


def lda_subspace(scatter: ImplicitScatter, shrinkage: float) -> Spectrum:
    """S_t in the span of the axes of LDA, which holds the maximum of J over all G."""
    floor, L = shrinkage * scatter.trace / scatter.n_features, np.diag(scatter.class_scale)
    if shrinkage == 1:
        V = solve_orthonormal(scatter, L).vectors
    else:
        G = solve_pencil(scatter, L, floor / (1 - shrinkage)).vectors
        V = orthonormal(G / linalg.norm(G, axis=0))
    values, rotation = np.linalg.eigh(V.T @ scatter.matmul(V))
    return Spectrum(values[::-1], V @ rotation[:, ::-1])


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
        Stops when √⟨g, W⁻¹g⟩ ≤ tol·√J, with g the gradient in the space of the data and W
        the preconditioner, or after max_iter rounds, thirty at most.
    first : callable
        Solves the problem among the axes.

    Returns
    -------
    space : Spectrum
        S_t in the last subspace.
    solution : Solution
        The maximum, in coordinates of that subspace; one iteration is one round.
    """
    current, slope = axes, np.inf
    solution = first(shrunk.alignment(axes.space))
    history = [solution.value]
    reason: Reason | None = None
    while reason is None:
        G, dual = current.space.basis @ solution.point, current.dual @ solution.point
        previous, (slope, columns) = slope, _new_columns(shrunk, G, dual)
        if slope <= stop.tol**2 * solution.value:
            reason = "gradient"
        elif stalled(slope, previous, solution.value):
            reason = "rounding"
        elif len(history) > min(stop.max_iter, MAX_ROUNDS):
            reason = "max_iter"
        else:
            wide = len(solution.point) > _WIDTH * G.shape[1]
            current = shrunk.widened(shrunk.widened(axes, dual) if wide else current, columns)
            start = current.space.basis.T @ G
            solution = maximize(shrunk.alignment(current.space), start, stop)
            history.append(solution.value)
    return current.space, Solution(solution.point, solution.value, np.array(history), reason)


def _new_columns(shrunk: Shrunk, G: Array, dual: Array) -> tuple[float, Array]:
    """Solve S Z D = gradient / curvature, roughly; with the squared length of the gradient."""
    T = shrunk.scatter.rows
    b = (shrunk.scatter.between @ shrunk.turn).T @ G
    C = (1 - shrunk.shrinkage) * (T @ G) + shrunk.floor * dual  # S G = Tᵀ C
    d = np.sum(G * (T.T @ C), axis=0)
    norm = linalg.norm(d)
    curvature = 2 * np.vdot(b, b) / norm**3
    gradient = (2 / norm) * (shrunk.pull @ b) - C * (curvature * d)
    gradient -= dual @ (G.T @ (T.T @ gradient))
    columns = shrunk.solve(gradient / (curvature * d), _COLUMN_TOL, _COLUMN_MAX_ITER)
    return float(np.vdot(T.T @ gradient, T.T @ columns)), columns
