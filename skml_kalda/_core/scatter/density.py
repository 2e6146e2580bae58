"""The distribution of the eigenvalues of S_t, exact or estimated from products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import column_blocks, dots, ratio

# Random vectors and Lanczos steps: enough for an accuracy of a few per cent at any ridge.
_PROBES = 32
_STEPS = 60


class Density(NamedTuple):
    """Points that represent the eigenvalues of S_t."""

    values: Array
    counts: Array
    """Number of eigenvalues that each point represents."""
    energy: Array
    """Σ ‖Fᵀu‖² over their eigenvectors u, where S_b = F Fᵀ."""

    @classmethod
    def exact(cls, values: Array, basis: Any, F: Array) -> Density:
        """Use every eigenvalue of S_t = basis diag(values) basisᵀ."""
        energy = np.sum(np.asarray(basis.T @ F) ** 2, axis=1)
        return cls(values, np.ones(len(values)), energy)

    @classmethod
    def estimate(cls, product: Callable[[Array], Array], n_samples: int, F: Array) -> Density:
        """Estimate from products with S_t: Lanczos quadrature, random vectors for the counts.

        References
        ----------
        S. Ubaru, J. Chen and Y. Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos
        quadrature", SIAM Journal on Matrix Analysis and Applications 38, 2017.
        """
        shape = n_samples, len(F)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(F), _PROBES))
        values, counts = _quadrature(product, shape, signs)
        nodes, energy = _quadrature(product, shape, F)
        return cls(
            np.concatenate([values, nodes]),
            np.concatenate([counts / _PROBES, np.zeros_like(nodes)]),
            np.concatenate([np.zeros_like(values), energy]),
        )


def _quadrature(
    product: Callable[[Array], Array], shape: tuple[int, int], V: Array
) -> tuple[Array, Array]:
    """Return points and weights with Σ weights·f(points) = Σ vᵀf(S_t)v over the columns v."""
    parts = [_lanczos(product, V[:, columns]) for columns in column_blocks(shape, V.shape[1])]
    values, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return np.maximum(values, 0), weights


def _lanczos(product: Callable[[Array], Array], V: Array) -> tuple[Array, Array]:
    length = linalg.norm(V, axis=0)
    previous, current = np.zeros_like(V), V * ratio(np.ones_like(length), length)
    beta = np.zeros_like(length)
    steps = min(_STEPS, *V.shape[:1])
    T = np.zeros((V.shape[1], steps, steps))  # the tridiagonal matrix of each column
    for j in range(steps):
        ahead = product(current) - beta * previous
        T[:, j, j] = dots(current, ahead)
        ahead -= T[:, j, j] * current
        beta = linalg.norm(ahead, axis=0)
        if j + 1 < steps:
            T[:, j, j + 1] = T[:, j + 1, j] = beta
        previous, current = current, ahead * ratio(np.ones_like(beta), beta)
    values, vectors = np.linalg.eigh(T)
    return values.ravel(), (length[:, None] ** 2 * vectors[:, 0] ** 2).ravel()
