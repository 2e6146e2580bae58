"""How S_t spreads over its eigenvalues, also where these are not to be had."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._implicit import ImplicitScatter
from skml_kalda._iterative import column_blocks, dots, ratio
from skml_kalda._moments import Spectrum
from skml_kalda._scatter import AnyScatter, Array

# Random vectors for the counts, and steps of Lanczos: both counts and energies of what ridges
# tell apart are then known to a few per cent.
_PROBES = 32
_STEPS = 60


class Density(NamedTuple):
    """Points that stand for the eigenvalues of S_t."""

    values: Array
    counts: Array
    """Number of eigenvalues that each value stands for."""
    energy: Array
    """Σ ‖Fᵀu‖² over their eigenvectors u, where S_b = F Fᵀ."""

    @classmethod
    def all_of(cls, scatter: AnyScatter, spectrum: Spectrum) -> Density:
        """Take every eigenvalue."""
        values, basis = spectrum
        energy = np.sum(np.asarray(basis.T @ scatter.between) ** 2, axis=1)
        return cls(values, np.ones(len(values)), energy)

    @classmethod
    def estimate(cls, scatter: ImplicitScatter) -> Density:
        """Estimate it from products: Lanczos' quadrature, with random vectors for the counts.

        References
        ----------
        S. Ubaru, J. Chen and Y. Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos
        quadrature", SIAM Journal on Matrix Analysis and Applications 38, 2017.
        """
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (scatter.n_features, _PROBES))
        values, counts = _quadrature(scatter, signs)
        nodes, energy = _quadrature(scatter, scatter.between)
        return cls(
            np.concatenate([values, nodes]),
            np.concatenate([counts / _PROBES, np.zeros_like(nodes)]),
            np.concatenate([np.zeros_like(values), energy]),
        )


def _quadrature(scatter: ImplicitScatter, V: Array) -> tuple[Array, Array]:
    """Points and weights with Σ weights·f(points) = Σ vᵀf(S_t)v over the columns v of V."""
    blocks = column_blocks(scatter.rows.shape, V.shape[1])
    parts = [_lanczos(scatter, V[:, columns]) for columns in blocks]
    values, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return np.maximum(values, 0), weights


def _lanczos(scatter: ImplicitScatter, V: Array) -> tuple[Array, Array]:
    length = linalg.norm(V, axis=0)
    previous, current = np.zeros_like(V), V * ratio(np.ones_like(length), length)
    beta = np.zeros_like(length)
    steps = min(_STEPS, *V.shape[:1])
    T = np.zeros((V.shape[1], steps, steps))  # the tridiagonal matrix of each column
    for j in range(steps):
        ahead = scatter.matmul(current) - beta * previous
        T[:, j, j] = dots(current, ahead)
        ahead -= T[:, j, j] * current
        beta = linalg.norm(ahead, axis=0)
        if j + 1 < steps:
            T[:, j, j + 1] = T[:, j + 1, j] = beta
        previous, current = current, ahead * ratio(np.ones_like(beta), beta)
    values, vectors = np.linalg.eigh(T)
    return values.ravel(), (length[:, None] ** 2 * vectors[:, 0] ** 2).ravel()
