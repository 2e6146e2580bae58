"""Subspaces and the bases that stand for them: pure functions of a few lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.floating[Any]]


def orthonormal(Y: Array) -> Array:
    """Return an orthonormal basis of span(Y)."""
    Q: Array = np.linalg.qr(Y)[0]
    return Q


def polar(Y: Array) -> Array:
    """Return Y (YᵀY)^(-½), the orthonormal basis of span(Y) nearest to Y."""
    # By QR iteration: divide and conquer may fail where all singular values are equal.
    left, _, right = linalg.svd(Y, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    nearest: Array = left @ right
    return nearest


def tangent(G: Array, Z: Array) -> Array:
    """Project Z on the tangent space at span(G): (I − GGᵀ) Z."""
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


def settle_ties(eigenvalues: Array, G: Array, product: Array, scale: float) -> Array:
    """Choose among the bases of each eigenspace: Gᵀ product is made diagonal there.

    Eigenvectors of equal eigenvalue (descending, equal but for rounding relative to `scale`)
    are defined up to a rotation only; of the rotated ones those of the largest diagonal
    entry come first.
    """
    apart = np.flatnonzero(-np.diff(eigenvalues) > 1e-8 * scale)
    settled = G.copy()
    for tied in np.split(np.arange(G.shape[1]), apart + 1):
        if len(tied) > 1:
            rotation = linalg.eigh(G[:, tied].T @ product[:, tied])[1][:, ::-1]
            settled[:, tied] = G[:, tied] @ rotation
    return settled


def with_signs(G: Array) -> Array:
    """Flip columns so that the largest entry of each is positive."""
    flipped: Array = G * signs(G)
    return flipped


def signs(G: Array) -> Array:
    """Sign of the largest entry of each column.

    Of entries that are equal but for rounding the first decides, so that two ways to the
    same column agree in sign.
    """
    size = np.abs(G)
    decisive = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    return np.where(G[decisive, np.arange(G.shape[1])] < 0, -1.0, 1.0)
