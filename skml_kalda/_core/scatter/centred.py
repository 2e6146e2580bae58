"""Centred rows of sparse data, as products: the data stay sparse."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter.products import StoredProducts, in_fours

# Multiplications in one block of a sparse product; limits its memory to a few hundred MB.
_BLOCK = 2**24


class CentredRows(LinearOperator):
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
        m less the shift; by default that of these rows.

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
        shift = _first_of_full_columns(X) if shift is None else shift
        self.X = shifted(X, shift)
        self.weight = weight
        self._root = np.sqrt(weight)[:, None]
        self._offset = weighted_mean(self.X, weight) if offset is None else offset
        self.mean = self._offset + shift
        """m, the weighted mean of X."""
        super().__init__(np.float64, X.shape)

    @property
    def stored(self) -> int:
        """Bytes of X."""
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)

    def _matmat(self, V: Array) -> Array:
        product: Array = self.X @ V
        product -= self._offset @ V
        product *= self._root
        return product

    def _rmatmat(self, U: Array) -> Array:
        U = self._root * U
        product: Array = self.X.T @ U
        # In place, because an outer product would need as much memory as the product itself.
        linalg.blas.dger(-1.0, U.sum(axis=0), self._offset, a=product.T, overwrite_a=True)
        return product

    def _rmatvec(self, u: Array) -> Array:
        # SciPy before 1.15 does not derive it from _rmatmat.
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def _transpose(self) -> LinearOperator:
        # SciPy's own transpose copies its input and its output to conjugate them.
        p, n = self.shape[::-1]
        return LinearOperator(
            (p, n),
            matvec=self._rmatvec,
            matmat=self._rmatmat,
            rmatvec=self._matvec,
            rmatmat=self._matmat,
            dtype=np.float64,
        )

    def single(self) -> SingleRows:
        """Return T in single precision, for products on all threads."""
        return SingleRows(self.X, self._root, self._offset)

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
        # Copies only the values: the weighted rows share the sparsity pattern of X.
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
        return np.maximum(self.squares() - self.weight.sum() * self._offset**2, 0)

    def squares(self) -> Array:
        """Return Σ w_i x_i² of each shifted column, about zero, shape (p,)."""
        squares = self.X.data**2
        squares *= np.repeat(self.weight, np.diff(self.X.indptr))
        return np.asarray(np.bincount(self.X.indices, squares, self.shape[1]), dtype=np.float64)


class SingleRows:
    """Products with T Tᵀ and TᵀT for T = Ω^½ (X − 1mᵀ), in single precision.

    They are products with A = Ω^½X and Aᵀ, corrected for the mean in the vectors with n entries.
    """

    def __init__(self, X: Any, root: Array, mean: Array) -> None:
        entries = X.data * np.repeat(root[:, 0], np.diff(X.indptr))
        A = sparse.csr_array((entries.astype(np.float32), X.indices, X.indptr), shape=X.shape)
        self._products = StoredProducts(A)
        to_mean = (X @ mean)[:, None]
        to_mean *= root
        self._mean, self._root = mean.astype(np.float32), root.astype(np.float32)
        self._sides = np.hstack([to_mean, root]).astype(np.float32)
        """A m and Ω^½1."""
        self._square = np.float32(mean @ mean)

    def kernel(self, U: Array) -> Array:
        """Return T TᵀU."""
        products = self._products.forward(self._products.backward(in_fours(U)))
        products = products[:, : U.shape[1]]
        to_mean, share = self._sides.T @ U
        products -= self._sides @ np.stack([share, to_mean - self._square * share])
        return products

    def total(self, V: Array) -> Array:
        """Return TᵀT V."""
        padded = in_fours(V)
        image = self._products.forward(padded)
        image -= self._root * (self._mean @ padded)
        # The columns of the image are orthogonal to Ω^½1, so Aᵀ needs no correction.
        return self._products.backward(image)[:, : V.shape[1]]


def weighted_mean(X: Any, weight: Array) -> Array:
    """Return m = Σ w_i x_i / Σ w_i; zero if no row has weight."""
    total = weight.sum()
    return np.asarray(X.T @ (weight / total) if total else np.zeros(X.shape[1]), dtype=np.float64)


def _first_of_full_columns(X: Any) -> Array:
    """Return the first value of every column without an implicit zero, and zero for the others."""
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    shift = np.zeros(X.shape[1])
    if full.any():
        shift[full] = X[[0]].toarray()[0, full]
    return shift


def shifted(X: Any, shift: Array) -> Any:
    """Subtract `shift`, which is zero for columns with implicit zeros, from the rows of X."""
    if not shift.any():
        return X
    return sparse.csr_array((X.data - shift[X.indices], X.indices, X.indptr), shape=X.shape)
