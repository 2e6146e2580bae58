"""Sparse samples about their mean, as products: the data stay sparse."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

from skml_kalda._core.arrays import Array, weighted_mean

# Multiplications in one block of a sparse product; limits its memory to a few hundred MB.
_BLOCK = 2**24


class CentredSamples(LinearOperator):
    """T = Ω^½ (X − 1mᵀ) for sparse X, as products with X.

    Parameters
    ----------
    X : CSR of shape (n, p)
        The data.
    weight : array of shape (n,)
        w_i ≥ 0, the diagonal of Ω.
    shift : array of shape (p,), optional
        What is subtracted from columns without an implicit zero before any product. By default
        their first value.
    offset : array of shape (p,), optional
        m less the shift; by default that of these samples.

    Notes
    -----
    Sparse X is centred after each product, where a large offset would cancel badly. A column
    with zeros has no large offset: its mean is at most of the size of its spread. The others
    are shifted.
    """

    def __init__(
        self, X: Any, weight: Array, shift: Array | None = None, offset: Array | None = None
    ) -> None:
        X = X.astype(np.float64, copy=False)
        shift = full_column_shift(X, weight > 0) if shift is None else shift
        self.X = shifted(X, shift)
        self.weight = weight
        self._root = np.sqrt(weight)[:, None]
        self._offset = weighted_mean(self.X, weight) if offset is None else offset
        # m, the weighted mean of X.
        self.mean = self._offset + shift
        super().__init__(np.float64, X.shape)

    def _matmat(self, V: Array) -> Array:
        product: Array = self.X @ V
        product -= self._offset @ V
        product *= self._root
        return product

    def _rmatmat(self, U: Array) -> Array:
        U = self._root * U
        product: Array = self.X.T @ U
        # In place, because an outer product would need as much memory as the product itself.
        if product.size:
            linalg.blas.dger(-1.0, U.sum(axis=0), self._offset, a=product.T, overwrite_a=True)
        return product

    def _rmatvec(self, u: Array) -> Array:
        # SciPy before 1.15 does not derive it from _rmatmat.
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def _transpose(self) -> LinearOperator:
        # SciPy's own transpose copies its input and its output to conjugate them.
        return self._adjoint()

    def total(self, V: Array) -> Array:
        """Return S_t V = TᵀT V."""
        return np.asarray(self._rmatmat(self._matmat(V)))

    def single(self, scale: float) -> SingleSamples:
        """Return T times a factor, in single precision."""
        return SingleSamples(self.X, self._root, self._offset, scale)

    def cross(self, labels: Any) -> Array:
        """Return Σ w_i (x_i − m) b_iᵀ for the rows b_i of sparse `labels`, shape (p, K)."""
        weighted = labels.multiply(self.weight[:, None])
        cross: Array = (self.X.T @ weighted).toarray()
        return cross - np.outer(self._offset, np.asarray(weighted.sum(axis=0)))

    def total_array(self) -> Array:
        """Return S_t = TᵀT, shape (p, p)."""
        offset, weight = self._offset, self.weight.sum()
        total = np.empty((self.shape[1], self.shape[1]))
        for columns, block in self._gram():
            total[columns] = block.toarray()
            total[columns] -= weight * np.outer(offset[columns], offset)
        return total

    def _gram(self) -> Iterator[tuple[slice, Any]]:
        """Yield XᵀΩX as sparse blocks of samples, each of at most _BLOCK multiplications."""
        X, stored = self.X, np.diff(self.X.indptr)
        # The work of one column: the stored entries of all samples that hold it.
        work = np.bincount(X.indices, np.repeat(stored, stored), X.shape[1])
        work = np.cumsum(work) // _BLOCK
        # Copies only the values: the weighted samples share the sparsity pattern of X.
        values = X.data * np.repeat(self.weight, stored)
        weighted = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
        features = sparse.csr_array(X.T)
        edges = np.flatnonzero(np.diff(work, prepend=-1, append=np.inf))
        for start, stop in pairwise(edges):
            yield slice(start, stop), features[start:stop] @ weighted

    def rescaled(self, units: Array) -> CentredSamples:
        """Return the samples times `units`, feature by feature."""
        scaled = copy(self)
        data = self.X.data * units[self.X.indices]
        scaled.X = sparse.csr_array((data, self.X.indices, self.X.indptr), shape=self.shape)
        scaled._offset, scaled.mean = self._offset * units, self.mean * units
        return scaled

    def kernel(self) -> Array:
        """Return TTᵀ, shape (n, n)."""
        kernel: Array = (self.X @ self.X.T).toarray()
        to_mean = self.X @ self._offset
        kernel -= to_mean[:, None] + to_mean
        kernel += self._offset @ self._offset
        kernel *= self._root * self._root.T
        return kernel

    def diagonal(self) -> Array:
        """Return the diagonal of S_t, shape (p,)."""
        return np.maximum(self.squares() - self.weight.sum() * self._offset**2, 0)

    def squares(self) -> Array:
        """Return Σ w_i x_i² of each shifted column, about zero, shape (p,)."""
        squares = self.X.data**2
        squares *= np.repeat(self.weight, np.diff(self.X.indptr))
        return np.asarray(np.bincount(self.X.indices, squares, self.shape[1]), dtype=np.float64)


class SingleSamples:
    """Products with TᵀT and T Tᵀ in single precision, for T = Ω^½ (X − 1mᵀ) times a factor.

    A = Ω^½X and Aᵀ are both stored by rows, because SciPy multiplies by a transpose column by
    column, which takes two to four times as long. The mean is subtracted after each product.
    """

    def __init__(self, X: Any, root: Array, mean: Array, scale: float) -> None:
        entries = scale * X.data * np.repeat(root[:, 0], np.diff(X.indptr))
        self._A = sparse.csr_array((entries.astype(np.float32), X.indices, X.indptr), shape=X.shape)
        self._At = sparse.csr_array(self._A.T)
        self._root, self._mean = root.astype(np.float32), (scale * mean).astype(np.float32)

    def total(self, V: Array) -> Array:
        """Return TᵀT V."""
        return self._backward(self._forward(V))

    def kernel(self, U: Array) -> Array:
        """Return T TᵀU."""
        return self._forward(self._backward(U))

    def _forward(self, V: Array) -> Array:
        product: Array = self._A @ V
        product -= self._root * (self._mean @ V)
        return product

    def _backward(self, U: Array) -> Array:
        product: Array = self._At @ U
        product -= np.outer(self._mean, self._root[:, 0] @ U)
        return product


def full_column_shift(X: Any, counted: NDArray[np.bool_] | None = None) -> Array:
    """Return the first value of every column without an implicit zero, and zero for the others.

    A column with zeros has no large offset: its mean is at most of the size of its spread. Only
    samples that count, such as those of positive weight, are looked at.
    """
    shift = np.zeros(X.shape[1])
    rows = X if counted is None or counted.all() else X[np.flatnonzero(counted)]
    full = np.bincount(rows.indices, minlength=X.shape[1]) == rows.shape[0]
    if rows.shape[0] and full.any():
        shift[full] = rows[[0]].toarray()[0, full]
    return shift


def shifted(X: Any, shift: Array) -> Any:
    """Subtract `shift` from the stored values of X: rows that count have no others there."""
    if not shift.any():
        return X
    return sparse.csr_array((X.data - shift[X.indices], X.indices, X.indptr), shape=X.shape)


def wholly_shifted(X: Any, shift: Array) -> Any:
    """Subtract `shift` from all values of X, whose columns are then in another order."""
    moved = shift != 0
    if not moved.any():
        return X
    block = sparse.csr_array(X[:, np.flatnonzero(moved)].toarray() - shift[moved])
    return sparse.hstack([block, X[:, np.flatnonzero(~moved)]], format="csr")
