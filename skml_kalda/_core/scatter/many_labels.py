"""The leading eigenpairs of A g = λ B g with too many labels to solve for each of them.

A = F Fᵀ with F = Tᵀ E, where the K columns of E are the labels. A block Krylov space of B⁻¹A starts
from a random sketch of the labels with k + 10 columns. Its cost depends on k instead of K, and
no K × K or p × K array is formed. Every vector v = Tᵀu is stored as u, which has n entries.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import ratio
from skml_kalda._core.scatter.implicit import ImplicitScatter, LabelCross
from skml_kalda._core.symmetric import positive_eigenpairs

_OVERSAMPLES = 10
_MAX_STEPS = 8


class _Block(NamedTuple):
    """B-orthonormal columns of a basis, W = TᵀU."""

    dual: Array
    """U, shape (n, b)."""
    image: Array
    """T W, shape (n, b)."""
    labels: Array
    """FᵀW, shape (K, b)."""

    def __matmul__(self, P: Array) -> _Block:
        """Return combinations of the columns."""
        return _Block(*(part @ P for part in self))

    def minus(self, other: _Block) -> _Block:
        """Return the difference."""
        return _Block(*(a - b for a, b in zip(self, other, strict=True)))


def leading_pairs(
    scatter: ImplicitScatter, scale: Array, ridge: float, k: int
) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, descending, and their B-orthonormal G, shape (p, k).

    Parameters
    ----------
    scatter : ImplicitScatter
        Gives S_t and C.
    scale : array of shape (K,)
        F = C diag(scale).
    ridge : float
        B = S_t + γI, for γ > 0.
    k : int
        Number of pairs. The result has fewer if the rank of the labels is smaller.

    Warns
    -----
    ConvergenceWarning
        If the directions are not yet as exact as `scatter.tol` asks for after eight steps, as
        where the eigenvalues after the kth are nearly equal to it. The directions found are then
        nearly as good as the exact ones, but not the same.
    """
    F = scatter.cross.scaled(scale)
    sketch = np.random.default_rng(0).standard_normal((F.shape[1], k + _OVERSAMPLES))
    basis = [_block(scatter, F, sketch, ridge, [])]
    for _ in range(_MAX_STEPS):
        ahead = _block(scatter, F, basis[-1].labels, ridge, basis)
        turn = _turn(basis, ahead, k)
        basis.append(ahead)
        if turn <= scatter.tol:
            break
    else:
        _warn_not_converged(k, turn, scatter.tol)
    values, P = _ritz(basis)
    edges = np.cumsum([block.dual.shape[1] for block in basis[:-1]])
    parts = zip(basis, np.split(P[:, :k], edges), strict=True)
    U = sum(block.dual @ part for block, part in parts)
    return values[:k], np.asarray(scatter.rows.T @ U)


def _block(
    scatter: ImplicitScatter, F: LabelCross, L: Array, ridge: float, before: list[_Block]
) -> _Block:
    """Return B⁻¹F L, made B-orthogonal to the blocks before."""
    T = scatter.rows
    U = scatter.dual_solve(F.targets(L), ridge)
    Z = T @ (T.T @ U)
    block = _Block(U, Z, F.of_image(Z))
    for _ in range(2):  # once leaves rounding errors
        for other in before:
            block = block.minus(other @ ((other.image + ridge * other.dual).T @ block.image))
    gram = block.image.T @ (block.image + ridge * block.dual)
    lengths, axes = positive_eigenpairs((gram + gram.T) / 2)
    return block @ (axes / np.sqrt(lengths))


def _ritz(basis: list[_Block]) -> tuple[Array, Array]:
    """Return the eigenpairs within the span of a basis."""
    labels = np.hstack([block.labels for block in basis])
    return positive_eigenpairs(labels.T @ labels)


def _turn(basis: list[_Block], ahead: _Block, k: int) -> float:
    """Estimate the largest angle between the span of k leading directions and the exact one.

    The residual of a pair is what B⁻¹A adds outside the basis, through the last block. Divided
    by the gap to the eigenvalues left out, it is the angle of the direction.
    """
    values, P = _ritz(basis)
    last = basis[-1].labels
    residual = np.linalg.norm(ahead.labels.T @ (last @ P[-last.shape[1] :, :k]), axis=0)
    gap = values[:k] - (values[k] if len(values) > k else 0.0)
    return float(np.max(ratio(residual, gap), initial=0.0))


def _warn_not_converged(k: int, turn: float, tol: float) -> None:
    warnings.warn(
        f"The span of the {k} leading directions is known to an angle of about "
        f"{min(turn, np.pi / 2):.0e}, not {tol:.0e}, because eigenvalues after the last of them "
        "are nearly equal to it. Pass another n_components, or a larger tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
