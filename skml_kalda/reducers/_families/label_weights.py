"""Weights of a row in each of its classes: the wMLDA family."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skml_kalda._core.arrays import Array, check_columns
from skml_kalda._core.labels import row_shares
from skml_kalda._core.scatter import label_gram
from skml_kalda._core.scatter.centred import weighted_mean

_MAX_FUZZY = 100
_FUZZY_TOL = 1e-2
_MAX_EPOCHS = 1000


def correlation(Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Return W = diag(1/ρ) Y C, where C holds the cosines of the columns of Y."""
    C = label_gram(Y, sample_weight)
    length = np.sqrt(C.diagonal())
    return sparse.csr_array(row_shares(Y) @ (C / np.outer(length, length)))


def fuzzy(X: Any, Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Return weights that fall with the distance to the class centres, as in fuzzy c-means.

    W_ik ∝ 1/d_ik² over the labels of row i, and the centres c_k = Σ_i W_ik² x_i / Σ_i W_ik²,
    are updated in turn until the centres no longer move.
    """
    X, mean = _centred_if_dense(X, sample_weight)
    sample_weight = sample_weight / sample_weight.max()  # its size cancels, and may overflow
    W = row_shares(Y)
    centres = _centres(X, W, sample_weight, np.tile(mean, (Y.shape[1], 1)))
    for _ in range(_MAX_FUZZY):
        W = _closeness(X, Y, centres)
        before, centres = centres, _centres(X, W, sample_weight, centres)
        if linalg.norm(centres - before) <= _FUZZY_TOL * linalg.norm(centres - mean):
            break
    return W


def _centres(X: Any, W: Any, sample_weight: Array, before: Array) -> Array:
    """Return the centres; that of a class without weight stays where it was."""
    squares = (W * W * sample_weight[:, None]).tocsr()
    sums: Array = safe_sparse_dot(squares.T, X, dense_output=True)
    mass = squares.sum(axis=0)[:, None]
    return np.divide(sums, mass, out=before.copy(), where=mass > 0)


def _closeness(X: Any, Y: Any, centres: Array) -> sparse.csr_array:
    squares = row_norms(X, squared=True)[:, None] + row_norms(centres, squared=True)
    squares -= 2 * safe_sparse_dot(X, centres.T, dense_output=True)
    return row_shares(Y.multiply(1 / np.maximum(squares, 1e-300)))


def dependence(
    X: Any, Y: Any, sample_weight: Array, rng: np.random.RandomState
) -> sparse.csr_array:
    """Return weights that assign each row to one of its classes, to maximise dependence on X.

    Ascends Tr(Wᵀ X̃ X̃ᵀ W), the HSIC of linear kernels, over the rows of W on the simplex, row
    by row in random order. The maximum over one row is at a corner, so W becomes one-hot.
    """
    state = _Assignment(X, Y, sample_weight)
    several = np.flatnonzero(Y.sum(axis=1) > 1)
    for _ in range(_MAX_EPOCHS):
        moved = [state.move(i) for i in rng.permutation(several)]
        if not any(moved):
            break
    return sparse.csr_array(state.W)


class _Assignment:
    """W, and the sums over all rows that determine the best class of a row."""

    def __init__(self, X: Any, Y: Any, sample_weight: Array) -> None:
        self.X, mean = _centred_if_dense(X, sample_weight)
        self.Y, self.weight = Y, sample_weight
        self.W = row_shares(Y).toarray()
        weighted = sample_weight[:, None] * self.W
        self.sums = np.asarray(self.X.T @ weighted)  # Σ s_j x_j W_jᵀ
        self.mass = weighted.sum(axis=0)  # Σ s_j W_j
        self.level = mean @ mean
        self.along = self.X @ mean
        self.across = mean @ self.sums
        self.squares = row_norms(self.X, squared=True) - 2 * self.along + self.level

    def move(self, i: int) -> bool:
        """Assign row i to its best class; return whether that changed anything."""
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
        """Return Σ_{j≠i} s_j (x̃_i · x̃_j) W_j."""
        where, values = _row(self.X, i)
        pull: Array = values @ self.sums[where] - self.across
        pull += (self.level - self.along[i]) * self.mass
        return pull - self.weight[i] * self.squares[i] * self.W[i]


def _row(X: Any, i: int) -> tuple[Any, Array]:
    """Return the columns in which row i is stored, and its values there."""
    if sparse.issparse(X):
        stored = slice(*X.indptr[i : i + 2])
        return X.indices[stored], X.data[stored]
    return slice(None), X[i]


def _centred_if_dense(X: Any, sample_weight: Array) -> tuple[Any, Array]:
    """Return X and its mean. Dense X is centred, so its mean is zero; sparse X is unchanged."""
    X = X.astype(np.float64, copy=False)
    mean = weighted_mean(X, sample_weight)
    squares = X.multiply(X) if sparse.issparse(X) else (X - mean) ** 2
    check_columns(~np.isfinite(np.asarray(squares.sum(axis=0))), "large")
    return (X, mean) if sparse.issparse(X) else (X - mean, np.zeros_like(mean))
