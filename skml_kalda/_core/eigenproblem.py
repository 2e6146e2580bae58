"""Generalised eigenproblems A g = λ B g with A = F Fᵀ of low rank and B = S_t + γI.

F = C L has few columns, so no p × p eigenproblem is needed: with R = B⁻¹F, one solve with K
right-hand sides, and FᵀR = QΛQᵀ, the columns of G = RQΛ^(-½) are B-orthonormal eigenvectors with
eigenvalues Λ. No other eigenvalue is positive. The rank, ties and signs are settled here, so that
every form of the scatter gives the same directions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array

if TYPE_CHECKING:
    from skml_kalda._core.scatter import Scatter

Normalization: TypeAlias = Literal["B", "unit", "sqrt_eig", "qr"]

# Eigenvalues of S_t below this fraction of the largest are rounding errors.
RANGE_RTOL = 1e-10
# Eigenvalues of (A, B) below this fraction of the largest are rounding errors.
RANK_RTOL = 1e-12


class Eigenpairs(NamedTuple):
    """The eigenpairs with positive eigenvalues."""

    # λ, descending.
    values: Array
    # G with GᵀBG = I and GᵀAG = diag(λ), shape (p, rank).
    vectors: Array

    def leading(self, k: int) -> Eigenpairs:
        """Return the first k pairs."""
        return Eigenpairs(self.values[:k], self.vectors[:, :k])


def generalized_eigenpairs(
    scatter: Scatter, L: Array, ridge: float, k: int | None = None
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
    values, G = scatter.eigenpairs(L, ridge, k)
    return Eigenpairs(values, resolve_ties(values, G, -1.0, values.max(initial=0.0)))


def orthonormal_eigenpairs(scatter: Scatter, L: Array) -> Eigenpairs:
    """Solve A g = λ g, the same problem for B = I."""
    left, singular, _ = linalg.svd(scatter.cross @ scatter.varying_side(L), full_matrices=False)
    keep = singular > RANGE_RTOL * singular.max(initial=0)
    return Eigenpairs(singular[keep] ** 2, left[:, keep])


def normalized(pairs: Eigenpairs, weight: float, normalize: Normalization) -> Array:
    """Scale the columns of G in place: the eigenproblem fixes their span, not their metric.

    With `weight` = Σ w_i the scale stays the same when all samples are repeated.
    """
    values, G = pairs
    if normalize == "unit":
        G /= linalg.norm(G, axis=0)
        return G
    if normalize == "qr":
        return orthonormal(G)
    G *= np.sqrt(weight * values if normalize == "sqrt_eig" else weight)
    return G


def positive(values: Array, rtol: float = RANGE_RTOL) -> NDArray[np.bool_]:
    """Return which eigenvalues are positive and larger than rounding errors."""
    return values > rtol * max(values.max(initial=0.0), 0.0)


def positive_eigenpairs(
    S: Array, rtol: float = RANGE_RTOL, *, eigh: Callable[[Array], Any] = linalg.eigh
) -> tuple[Array, Array]:
    """Return the eigenvalues of S above `rtol` of the largest, descending, and their vectors."""
    values, vectors = eigh(S)
    keep = positive(values, rtol)
    return values[keep][::-1], vectors[:, keep][:, ::-1]


def orthonormal(Y: Array) -> Array:
    """Return an orthonormal basis of span(Y)."""
    return np.linalg.qr(Y)[0]


def polar(Y: Array) -> Array:
    """Return Y (YᵀY)^(-½), the orthonormal basis of span(Y) nearest to Y."""
    # gesvd, because divide and conquer (gesdd) may fail when all singular values are equal.
    left, _, right = linalg.svd(Y, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return np.asarray(left @ right)


def resolve_ties(eigenvalues: Array, G: Array, weights: Array | float, scale: float) -> Array:
    """Return G with the basis of each eigenspace rotated so that Gᵀ diag(weights) G is diagonal.

    Eigenvectors of equal eigenvalues are defined only up to a rotation. `eigenvalues` must be
    descending; they count as equal if they differ by no more than rounding relative to `scale`.
    Within an eigenspace the vector with the largest diagonal entry comes first.
    """
    apart = np.flatnonzero(-np.diff(eigenvalues) > 1e-8 * scale)
    spaces = [tied for tied in np.split(np.arange(G.shape[1]), apart + 1) if len(tied) > 1]
    if not spaces:
        return G
    resolved, weights = G.copy(), np.reshape(weights, (-1, 1))
    for tied in spaces:
        part = G[:, tied]
        resolved[:, tied] = part @ linalg.eigh(part.T @ (weights * part))[1][:, ::-1]
    return resolved


def with_signs(G: Array) -> Array:
    """Return G with its columns signed so that the largest entry of each is positive."""
    return np.asarray(G * signs(G))


def signs(G: Array) -> Array:
    """Return the sign of the largest entry of each column.

    Of several entries that are equal up to rounding the first decides, so that two ways of
    computing the same column agree in sign.
    """
    found = np.ones(G.shape[1])
    for columns in gen_batches(G.shape[1], 16):  # copies of wide G would cost memory
        part = G[:, columns]
        size = np.abs(part)
        decisive = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
        found[columns][part[decisive, np.arange(part.shape[1])] < 0] = -1
    return found
