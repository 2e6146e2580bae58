"""The kaLDA objective J(G) = Tr(GᵀS_bG) / ‖GᵀS_tG‖_F in the eigenbasis of S_t.

In this basis S_t = diag(values) and S_b = MᵀM with M of shape (K, r), so a product with
either costs O(K r k). The symbols are the paper's: A = S_b G, B = GᵀA, C = S_t G, D = GᵀC.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import orthonormal, resolve_ties

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

    def upper_bound(self, k: int) -> float:
        """Return √(Σ_{i≤k} λ_i²), the maximum of J over all G with k columns."""
        return float(linalg.norm(self.eigenvalues[:k]))

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

    def at(self, Y: Array) -> Point:
        """Return J and its derivatives at span(Y)."""
        return Point(self, Y)


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
