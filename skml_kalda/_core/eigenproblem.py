"""Generalised eigenproblems A g = λ B g with A = F Fᵀ of low rank and B = S_t + γI.

F = C L has few columns, so no p × p eigenproblem is needed: with R = B⁻¹F, one solve with K
right-hand sides, and FᵀR = QΛQᵀ, the columns of G = RQΛ^(-½) are B-orthonormal eigenvectors with
eigenvalues Λ. No other eigenvalue is positive.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.orthonormal import orthonormal, resolve_ties
from skml_kalda._core.scatter import AnyScatter, ImplicitScatter, Scatter, SpectralScatter
from skml_kalda._core.scatter.base import RANK_RTOL
from skml_kalda._core.scatter.many_labels import leading_pairs
from skml_kalda._core.symmetric import RANGE_RTOL, positive_eigenpairs

Normalization: TypeAlias = Literal["B", "within", "unit", "sqrt_eig", "qr"]


class Eigenpairs(NamedTuple):
    """The eigenpairs with positive eigenvalues."""

    values: Array
    """λ, descending."""
    vectors: Array
    """G with GᵀBG = I and GᵀAG = diag(λ), shape (p, rank)."""

    def leading(self, k: int) -> Eigenpairs:
        """Return the first k pairs."""
        return Eigenpairs(self.values[:k], self.vectors[:, :k])


def generalized_eigenpairs(
    scatter: AnyScatter, L: Array, ridge: float, k: int | None = None
) -> Eigenpairs:
    """Solve A g = λ B g for B = S_t + γI, on the range of S_t.

    Parameters
    ----------
    scatter : Scatter
        Provides S_t and C = Σ w_i (x_i − m) b_iᵀ.
    L : array of shape (K, q) or (K,)
        F = C L; one dimension is a diagonal. With L = n_k^(-½), A is the between-class scatter.
    ridge : float
        γ ≥ 0.
    k : int, optional
        Number of pairs needed. With very many labels, only these are returned.
    """
    scatter, factor = scatter.of_ordinary_size(ridge)
    values, G = _eigenpairs(scatter, L, ridge * factor**2, k)
    if factor != 1:
        G *= factor
    return Eigenpairs(values, G)


def _eigenpairs(scatter: AnyScatter, L: Array, ridge: float, k: int | None) -> Eigenpairs:
    if not scatter.has_spectrum and scatter.sketches_labels and L.ndim == 1 and k and ridge:
        return Eigenpairs(*leading_pairs(scatter, L, ridge, k))
    L = _varying_side(scatter, L)
    values, G = (
        _exact(scatter, L, ridge) if scatter.has_spectrum else _best_within(scatter, L, ridge)
    )
    return Eigenpairs(values, resolve_ties(values, G, -1.0, values.max(initial=0.0)))


def _exact(scatter: SpectralScatter, L: Array, ridge: float) -> Eigenpairs:
    R = scatter.ridge_weights(L, ridge)
    T = L.T @ (scatter.cross.T @ R)
    values, Q = positive_eigenpairs((T + T.T) / 2, RANK_RTOL)
    return Eigenpairs(values, (R @ Q) / np.sqrt(values))


def _best_within(scatter: ImplicitScatter, L: Array, ridge: float) -> Eigenpairs:
    """Return the eigenpairs within the span of an R that is known to a tolerance.

    Their eigenvalues are right to the square of that tolerance, and G is B-orthonormal.
    """
    span = scatter.ridge_span(L, ridge)
    left, singular, _ = linalg.svd(span.cross)
    # Columns of F that combine to zero do so in FᵀR up to rounding, in R only up to the tolerance.
    Q = left[:, singular > 10 * RANK_RTOL * singular.max(initial=0.0)]
    gram = Q.T @ span.gram @ Q
    scale = 1 / np.sqrt(gram.diagonal())
    lengths, axes = positive_eigenpairs(scale[:, None] * gram * scale, RANK_RTOL)
    Q = Q @ (scale[:, None] * axes / np.sqrt(lengths))
    _, singular, right = linalg.svd(span.cross @ Q, full_matrices=False)
    return Eigenpairs(singular**2, span.lift(Q @ right.T))


def orthonormal_eigenpairs(scatter: Scatter, L: Array) -> Eigenpairs:
    """Solve A g = λ g, the same problem for B = I."""
    left, singular, _ = linalg.svd(scatter.cross @ _varying_side(scatter, L), full_matrices=False)
    keep = singular > RANGE_RTOL * singular.max(initial=0)
    return Eigenpairs(singular[keep] ** 2, left[:, keep])


def normalized(pairs: Eigenpairs, weight: float, normalize: Normalization) -> Array:
    """Scale the columns of G in place: the eigenproblem fixes their span, not their metric.

    With `weight` = Σ w_i the scale stays the same when all rows are repeated.
    """
    values, G = pairs
    if normalize == "unit":
        G /= linalg.norm(G, axis=0)
        return G
    if normalize == "qr":
        return orthonormal(G)
    if normalize == "within":
        G *= np.sqrt(weight / _unexplained(values))
    else:
        G *= np.sqrt(weight * values if normalize == "sqrt_eig" else weight)
    return G


def _unexplained(values: Array) -> Array:
    """Return gᵀ(B − A)g = 1 − λ."""
    rest = 1 - values
    if np.any(rest < RANGE_RTOL):
        raise ValueError(
            'normalize="within" divides by the spread within the classes, which is zero in '
            'some direction of these data: use ridge > 0 or another normalize, such as "B".'
        )
    return rest


def regression_weights(scatter: Scatter, ridge: float) -> Array:
    """Return ridge weights of the label combinations that vary, shape (p, rank); same W Wᵀ."""
    scatter, factor = scatter.of_ordinary_size(ridge)
    return factor * scatter.ridge_weights(varying(scatter.label_scatter), ridge * factor**2)


def _varying_side(scatter: Scatter, L: Array) -> Array:
    """Return L times a basis of the combinations of its columns that vary, shape (K, rank)."""
    if L.ndim == 1:
        return np.asarray(L[:, None] * varying(L[:, None] * scatter.label_scatter * L))
    return np.asarray(L @ varying(L.T @ scatter.label_scatter @ L))


def varying(N: Array) -> Array:
    """Return a basis of the range of N = Lᵀ Σ w_i (b_i − b̄)(b_i − b̄)ᵀ L, shape (q, rank).

    F vanishes on the rest, such as the sum of one-hot labels, whatever X is. Solving for it would
    return directions made of rounding errors.
    """
    return positive_eigenpairs(N)[1]
