"""Generalised eigenproblems A g = λ B g with A = F Fᵀ of low rank and B = S_t + γI.

F = Σ w_i (x_i − m) b_iᵀ L has few columns, so no p × p eigenproblem is needed: with R = B⁻¹F,
one solve with K right-hand sides, and FᵀR = QΛQᵀ, the columns of G = RQΛ^(-½) are
B-orthonormal eigenvectors with eigenvalues Λ, and there are no others of λ > 0.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg

from skml_kalda._grassmann import orthonormal, settle_ties
from skml_kalda._implicit import ImplicitScatter
from skml_kalda._iterative import CG_TOL, ridge_solve, ridge_solve_rows
from skml_kalda._moments import RANGE_RTOL, positive
from skml_kalda._scatter import AnyScatter, Array, RowScatter, Scatter

Normalization: TypeAlias = Literal["B", "within", "unit", "sqrt_eig", "qr"]

# Eigenvalues below this fraction of the largest are rounding.
RANK_RTOL = 1e-12
# A solve loses as many digits as the condition of B has; worse than this, S_t is cut to its
# range first.
_RCOND = 1e-6


class Pencil(NamedTuple):
    """The eigenpairs of positive eigenvalue."""

    values: Array
    """λ, descending."""
    vectors: Array
    """G with GᵀBG = I and GᵀAG = diag(λ), shape (p, rank)."""


def absolute_ridge(scatter: AnyScatter, ridge: float) -> float:
    """Turn a multiple of the mean eigenvalue of S_t into the γ of S_t + γI."""
    return ridge * scatter.trace / scatter.n_features


def solve_pencil(scatter: AnyScatter, L: Array, ridge: float) -> Pencil:
    """Solve A g = λ B g for B = S_t + γI, on the range of S_t.

    Parameters
    ----------
    scatter : scatter
        Gives S_t and C = Σ w_i (x_i − m) b_iᵀ.
    L : array of shape (K, q)
        F = C L. With L = diag(n_k^(-½)), A is the between-class scatter.
    ridge : float
        γ ≥ 0.
    """
    L = L @ varying(L.T @ scatter.label_scatter @ L)
    R = ridge_weights(scatter, ridge, L)
    T = L.T @ (scatter.cross.T @ R)
    # What is solved by iteration is known to its tolerance, not to rounding.
    rtol = 10 * CG_TOL if isinstance(scatter, ImplicitScatter) else RANK_RTOL
    values, Q = positive_eigenpairs((T + T.T) / 2, rtol)
    G = (R @ Q) / np.sqrt(values)
    return Pencil(values, settle_ties(values, G, -G, values.max(initial=0.0)))


def solve_orthonormal(scatter: AnyScatter, L: Array) -> Pencil:
    """Solve A g = λ g: the same for B = I."""
    L = L @ varying(L.T @ scatter.label_scatter @ L)
    left, singular, _ = linalg.svd(scatter.cross @ L, full_matrices=False)
    keep = singular > RANGE_RTOL * singular.max(initial=0)
    return Pencil(singular[keep] ** 2, left[:, keep])


def normalized(pencil: Pencil, weight: float, normalize: Normalization) -> Array:
    """Scale the columns of G: the eigenproblem fixes their span, not their metric.

    With `weight` = Σ w_i the scale stays the same when all rows are repeated.
    """
    values, G = pencil
    if normalize == "unit":
        return G / linalg.norm(G, axis=0)
    if normalize == "qr":
        return orthonormal(G)
    if normalize == "within":
        return G * np.sqrt(weight / _unexplained(values))
    return G * np.sqrt(weight * values if normalize == "sqrt_eig" else weight)


def _unexplained(values: Array) -> Array:
    """Compute gᵀ(B − A)g = 1 − λ."""
    rest = 1 - values
    if np.any(rest < RANGE_RTOL):
        raise ValueError(
            'normalize="within" divides by the spread within the classes, which is zero in '
            'some direction of these data: use ridge > 0 or another normalize, such as "B".'
        )
    return rest


def ridge_weights(scatter: AnyScatter, ridge: float, L: Array) -> Array:
    """W = (S_t + γI)⁺ Σ w_i (x_i − m) b_iᵀ L, shape (p, q): one solve, q right-hand sides."""
    if isinstance(scatter, ImplicitScatter):
        if ridge and scatter.n_samples < scatter.n_features:
            return ridge_solve_rows(scatter, ridge, scatter.targets(L))
        return ridge_solve(scatter, ridge, scatter.cross @ L)
    W = _solve(scatter, ridge, L)
    return _solve_on_range(scatter, ridge, L) if W is None else W


def regression(scatter: AnyScatter, ridge: float) -> Array:
    """Ridge weights of the label combinations that vary, shape (p, rank); same W Wᵀ."""
    return ridge_weights(scatter, ridge, varying(scatter.label_scatter))


def _solve_on_range(scatter: Scatter | RowScatter, ridge: float, L: Array) -> Array:
    values, basis = scatter.spectrum()
    return np.asarray(basis @ ((basis.T @ scatter.cross @ L) / (values + ridge)[:, None]))


@singledispatch
def _solve(scatter: Any, ridge: float, L: Array) -> Array | None:
    """Solve without a spectrum; None if S_t + γI is too near to singular for that."""
    raise NotImplementedError


@_solve.register(Scatter)
def _(scatter: Scatter, ridge: float, L: Array) -> Array | None:
    return _cholesky_solve(scatter.total, ridge, scatter.cross @ L)


@_solve.register(RowScatter)
def _(scatter: RowScatter, ridge: float, L: Array) -> Array | None:
    # (TᵀT + γI)⁻¹Tᵀ = Tᵀ(TTᵀ + γI)⁻¹
    dual = _cholesky_solve(scatter.kernel, ridge, scatter.targets @ L)
    return None if dual is None else np.asarray(scatter.rows.T @ dual)


def _cholesky_solve(S: Array, ridge: float, right: Array) -> Array | None:
    B = S.copy()
    B.flat[:: len(B) + 1] += ridge
    size = linalg.norm(B, 1)
    try:
        factor, lower = linalg.cho_factor(B, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(factor, size, uplo="L" if lower else "U")
    if reciprocal_condition < _RCOND:
        return None
    solution: Array = linalg.cho_solve((factor, lower), right, check_finite=False)
    return solution


def varying(N: Array) -> Array:
    """Basis of the range of N = Lᵀ Σ w_i (b_i − b̄)(b_i − b̄)ᵀ L, shape (q, rank).

    F vanishes on the rest, such as the sum of one-hot labels, whatever X is; solved for, it
    would come back as directions of rounding.
    """
    return positive_eigenpairs(N)[1]


def positive_eigenpairs(S: Array, rtol: float = RANGE_RTOL) -> tuple[Array, Array]:
    """Eigenvalues of symmetric S above `rtol` of the largest, descending, and their vectors."""
    values, vectors = linalg.eigh(S, check_finite=False)
    keep = positive(values, rtol)
    return values[keep][::-1], vectors[:, keep][:, ::-1]
