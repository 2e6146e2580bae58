"""Weights of a row in each of its classes: the wMLDA family."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skml_kalda._rows import Array, weighted_mean

_MAX_FUZZY = 100
_FUZZY_TOL = 1e-2
_MAX_EPOCHS = 1000


def entropy(Y: Any) -> sparse.csr_array:
    """Share each row evenly among its classes: W = diag(1/ρ) Y."""
    rho = Y.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(rho > 0, rho, 1)) @ Y)


def correlation(Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Let correlated labels take part: W = diag(1/ρ) Y C, C the cosines of the columns of Y."""
    C = (Y.T @ Y.multiply(sample_weight[:, None])).toarray()
    length = np.sqrt(C.diagonal())
    return sparse.csr_array(entropy(Y) @ (C / np.outer(length, length)))


def fuzzy(X: Any, Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Share each row by its distances to the class centres, as in fuzzy c-means.

    W_ik ∝ 1/d_ik² over the labels of row i, and centres c_k = Σ_i W_ik² x_i / Σ_i W_ik², in
    turn until the centres stay where they are.
    """
    X, mean = _centred_if_dense(X, sample_weight)
    W = entropy(Y)
    centres = _centres(X, W, sample_weight)
    for _ in range(_MAX_FUZZY):
        W = _closeness(X, Y, centres)
        before, centres = centres, _centres(X, W, sample_weight)
        if linalg.norm(centres - before) <= _FUZZY_TOL * linalg.norm(centres - mean):
            break
    return W


def _centres(X: Any, W: Any, sample_weight: Array) -> Array:
    squares = (W * W * sample_weight[:, None]).tocsr()
    sums: Array = safe_sparse_dot(squares.T, X, dense_output=True)
    return sums / squares.sum(axis=0)[:, None]


def _closeness(X: Any, Y: Any, centres: Array) -> sparse.csr_array:
    squares = row_norms(X, squared=True)[:, None] + row_norms(centres, squared=True)
    squares -= 2 * safe_sparse_dot(X, centres.T, dense_output=True)
    return entropy(Y.multiply(1 / np.maximum(squares, 1e-300)))


def dependence(
    X: Any, Y: Any, sample_weight: Array, rng: np.random.RandomState
) -> sparse.csr_array:
    """Give each row to one of its classes so that the classes depend on X most.

    Ascends Tr(Wᵀ X̃ X̃ᵀ W), the HSIC of linear kernels, over the rows of W on the simplex, row
    by row in random order. The best of a row is a corner, so W ends up one-hot.
    """
    state = _Assignment(X, Y, sample_weight)
    several = np.flatnonzero(Y.sum(axis=1) > 1)
    for _ in range(_MAX_EPOCHS):
        moved = [state.move(i) for i in rng.permutation(several)]
        if not any(moved):
            break
    return sparse.csr_array(state.W)


class _Assignment:
    """W, and the sums over all rows from which the best class of a row is found."""

    def __init__(self, X: Any, Y: Any, sample_weight: Array) -> None:
        self.X, mean = _centred_if_dense(X, sample_weight)
        self.Y, self.weight = Y, sample_weight
        self.W = entropy(Y).toarray()
        weighted = sample_weight[:, None] * self.W
        self.sums = np.asarray(self.X.T @ weighted)  # Σ s_j x_j W_jᵀ
        self.mass = weighted.sum(axis=0)  # Σ s_j W_j
        self.level = mean @ mean
        self.along = self.X @ mean
        self.across = mean @ self.sums
        self.squares = row_norms(self.X, squared=True) - 2 * self.along + self.level

    def move(self, i: int) -> bool:
        """Give row i to its best class; False if it was there already."""
        own = slice(*self.Y.indptr[i : i + 2])
        labels = self.Y.indices[own]
        change = -self.W[i]
        change[labels[np.argmax(self._pull(i)[labels])]] += 1
        if not change.any():
            return False
        self.W[i] += change
        change *= self.weight[i]
        where, values = _row(self.X, i)
        self.sums[where] += np.outer(values, change)
        self.mass += change
        self.across += self.along[i] * change
        return True

    def _pull(self, i: int) -> Array:
        """Compute Σ_{j≠i} s_j (x̃_i · x̃_j) W_j."""
        where, values = _row(self.X, i)
        pull: Array = values @ self.sums[where] - self.across
        pull += (self.level - self.along[i]) * self.mass
        return pull - self.weight[i] * self.squares[i] * self.W[i]


def _row(X: Any, i: int) -> tuple[Any, Array]:
    """Where row i is stored, and its values there."""
    if sparse.issparse(X):
        stored = slice(*X.indptr[i : i + 2])
        return X.indices[stored], X.data[stored]
    return slice(None), X[i]


def _centred_if_dense(X: Any, sample_weight: Array) -> tuple[Any, Array]:
    """X and its mean, which is zero after centring; sparse X stays as it is."""
    X = X.astype(np.float64, copy=False)
    mean = weighted_mean(X, sample_weight)
    return (X, mean) if sparse.issparse(X) else (X - mean, np.zeros_like(mean))
