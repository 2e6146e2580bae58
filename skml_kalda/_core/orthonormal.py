"""Orthonormal bases of subspaces, with ties and signs resolved."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array

# Rows of a tall array that are worked on at a time, where a copy would need too much memory.
_ROWS = 4096


def orthonormal(Y: Array) -> Array:
    """Return an orthonormal basis of span(Y)."""
    return np.linalg.qr(Y)[0]


def polar(Y: Array) -> Array:
    """Return Y (YᵀY)^(-½), the orthonormal basis of span(Y) nearest to Y."""
    # gesvd, because divide and conquer (gesdd) may fail when all singular values are equal.
    left, _, right = linalg.svd(Y, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return np.asarray(left @ right)


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


def turn(A: Array, P: Array) -> None:
    """Write A P over the first columns of A."""
    for rows in gen_batches(len(A), _ROWS):
        A[rows, : P.shape[1]] = A[rows] @ P


def subtract(A: Array, B: Array, P: Array) -> None:
    """Write A − B P over A."""
    for rows in gen_batches(len(A), _ROWS):
        A[rows] -= B[rows] @ P
