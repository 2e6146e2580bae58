"""Rows of data about their weighted mean, without making sparse data dense."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from skml_kalda._core.arrays import Array

# Multiplications of one block of a sparse product: bounds its memory to some hundred MB.
_BLOCK = 2**24


class CentredRows(LinearOperator):
    """T = Ω^½ (X − 1mᵀ) for sparse X, as products with X.

    Parameters
    ----------
    X : CSR of shape (n, p)
        The data.
    weight : array of shape (n,)
        w_i ≥ 0, the diagonal of Ω.
    """

    def __init__(self, X: Any, weight: Array) -> None:
        self.X, shift = _shift_full_columns(X.astype(np.float64, copy=False))
        self.weight = weight
        self._root = np.sqrt(weight)[:, None]
        self._offset = weighted_mean(self.X, weight)
        self.mean = self._offset + shift
        """m, in the units of the X that was given."""
        super().__init__(np.float64, X.shape)

    def _matmat(self, V: Array) -> Array:
        product: Array = self.X @ V
        product -= self._offset @ V
        product *= self._root
        return product

    def _rmatmat(self, U: Array) -> Array:
        U = self._root * U
        product: Array = self.X.T @ U
        product -= np.outer(self._offset, U.sum(axis=0))
        return product

    def _rmatvec(self, u: Array) -> Array:
        # SciPy before 1.15 does not derive it from _rmatmat.
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def cross(self, labels: Any) -> Array:
        """Return Σ w_i (x_i − m) b_iᵀ for the rows b_i of sparse `labels`, shape (p, K)."""
        weighted = labels.multiply(self.weight[:, None])
        cross: Array = (self.X.T @ weighted).toarray()
        return cross - np.outer(self._offset, np.asarray(weighted.sum(axis=0)))

    def total(self) -> Array:
        """Return TᵀT, shape (p, p)."""
        offset, weight = self._offset, self.weight.sum()
        total = np.empty((self.shape[1], self.shape[1]))
        for columns, block in self._gram():
            total[columns] = block.toarray()
            total[columns] -= weight * np.outer(offset[columns], offset)
        return total

    def _gram(self) -> Iterator[tuple[slice, Any]]:
        """Yield XᵀΩX as sparse blocks of rows, each of at most _BLOCK multiplications."""
        X, stored = self.X, np.diff(self.X.indptr)
        # The work of one column: the stored entries of all rows that hold it.
        work = np.bincount(X.indices, np.repeat(stored, stored), X.shape[1])
        work = np.cumsum(work) // _BLOCK
        # Only the values are copied: the weighted rows share the pattern of X.
        values = X.data * np.repeat(self.weight, stored)
        weighted = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
        features = sparse.csr_array(X.T)
        edges = np.flatnonzero(np.diff(work, prepend=-1, append=np.inf))
        for start, stop in pairwise(edges):
            yield slice(start, stop), features[start:stop] @ weighted

    def rescaled(self, units: Array) -> CentredRows:
        """Return the rows times `units`, feature by feature."""
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

    def squared_norms(self) -> Array:
        """Return the diagonal of TᵀT, shape (p,)."""
        squares: Array = self.X.multiply(self.X).T @ self.weight
        return np.maximum(squares - self.weight.sum() * self._offset**2, 0)


def weighted_mean(X: Any, weight: Array) -> Array:
    """Return m = Σ w_i x_i / Σ w_i; zero if no row has weight."""
    total = weight.sum()
    return np.asarray(X.T @ (weight / total) if total else np.zeros(X.shape[1]), dtype=np.float64)


def _shift_full_columns(X: Any) -> tuple[Any, Array]:
    """Shift the columns of X that have no implicit zero by their first value.

    Sparse X is centred after each product, where a large offset would cancel badly. A column
    with zeros has no large offset: its mean is at most of the size of its spread.
    """
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    shift = np.zeros(X.shape[1])
    if full.any():
        shift[full] = X[[0]].toarray()[0, full]
        X = sparse.csr_array((X.data - shift[X.indices], X.indices, X.indptr), shape=X.shape)
    return X, shift
