"""Labels ranked by their scores, dense or sparse, with ties."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array


def ranked_gain(Y: sparse.csr_array, scores: Any, discount: Array) -> Array:
    """Return Σ over ranks r ≤ k of discount_r · [the label at rank r is true], for each row.

    Parameters
    ----------
    Y : CSR of shape (n, K)
        The true labels.
    scores : array or CSR of shape (n, K)
        Scores of the labels; CSR without duplicates and stored zeros.
    discount : array of shape (k,)
        What a true label is worth at each rank.

    Returns
    -------
    ndarray of shape (n,)
        The mean over all orders of labels with equal scores.
    """
    k = len(discount)
    total = np.append(0.0, np.cumsum(discount))
    ties = _sparse_ties(Y, scores) if sparse.issparse(scores) else _dense_ties(Y, scores, k)
    ranks = total[np.minimum(ties.above + ties.size, k)] - total[np.minimum(ties.above, k)]
    gains = ties.true / ties.size * ranks
    return np.bincount(ties.row, weights=gains, minlength=Y.shape[0]).astype(np.float64)


def covering_rank(Y: sparse.csr_array, scores: Any) -> NDArray[np.intp]:
    """Return the rank of the lowest true label of each row; it is last among equal scores.

    The rank is zero for rows without labels. The parameters are those of `ranked_gain`.
    """
    rows, labels = Y.nonzero()
    lowest = np.full(Y.shape[0], np.inf)
    np.minimum.at(lowest, rows, entries(scores, rows, labels))
    if not sparse.issparse(scores):
        return np.count_nonzero(scores >= lowest[:, np.newaxis], axis=1)
    rows, _ = scores.nonzero()
    stored = np.bincount(rows[scores.data >= lowest[rows]], minlength=len(lowest))
    return stored + np.where(lowest <= 0, _n_zeros(scores), 0)


def top_scores(scores: Any, n: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the n labels of each row with the highest scores, highest first.

    Parameters
    ----------
    scores : array or CSR of shape (m, K)
        Scores of the labels; those not stored in a CSR are zero, and no stored one is negative.
    n : int
        How many labels, at most K.

    Returns
    -------
    labels : ndarray of shape (m, n)
        Their columns. Among equal scores the lowest column comes first.
    scores : ndarray of shape (m, n)
        Their scores.
    """
    m = scores.shape[0]
    rows, labels, values = (_stored_top if sparse.issparse(scores) else _dense_top)(scores, n)
    order = np.lexsort((labels, -values, rows))
    first = np.searchsorted(rows[order], np.arange(m))
    top = order[first[:, np.newaxis] + np.arange(n)]
    return labels[top], values[top]


def _dense_top(scores: NDArray[Any], n: int) -> tuple[NDArray[Any], ...]:
    """Return the entries of each row that are not below its n-th highest."""
    place = scores.shape[1] - n
    rows, labels = np.nonzero(scores >= np.partition(scores, place, axis=1)[:, [place]])
    return rows, labels, scores[rows, labels]


def _stored_top(scores: sparse.csr_array, n: int) -> tuple[NDArray[Any], ...]:
    """Return the stored entries, and the first n labels of each row, in case zeros are needed."""
    m = scores.shape[0]
    entries = scores.tocoo()
    rows = np.concatenate([entries.row, np.repeat(np.arange(m), n)])
    labels = np.concatenate([entries.col, np.tile(np.arange(n), m)])
    values = np.concatenate([entries.data, np.zeros(m * n, dtype=scores.dtype)])
    # Sums duplicates, and keeps zeros.
    merged = sparse.coo_array((values, (rows, labels)), shape=scores.shape).tocsr().tocoo()
    return merged.row, merged.col, merged.data


def entries(matrix: Any, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> Array:
    """Return the entries of a matrix, dense or CSR, at some rows and columns."""
    # Without entries, SciPy returns an array of another shape.
    return matrix[rows, labels] if len(rows) else np.zeros(0)


def _n_zeros(scores: sparse.csr_array) -> NDArray[np.intp]:
    return scores.shape[1] - np.diff(scores.indptr)


class _Ties(NamedTuple):
    """Groups of labels with equal scores within a row, one entry per group."""

    row: NDArray[np.intp]
    above: NDArray[np.intp]
    """How many labels of the row have higher scores."""

    size: NDArray[np.intp]
    true: NDArray[Any]
    """How many labels of the group are true."""


def _dense_ties(Y: sparse.csr_array, scores: NDArray[Any], k: int) -> _Ties:
    """Return the ties of the k highest scores of each row, and of scores equal to the lowest."""
    place = max(scores.shape[1] - k, 0)
    lowest = np.partition(scores, place, axis=1)[:, [place]]
    rows, labels = np.nonzero(scores >= lowest)
    return _ties(rows, scores[rows, labels], entries(Y, rows, labels))[0]


def _sparse_ties(Y: sparse.csr_array, scores: sparse.csr_array) -> _Ties:
    rows, labels = scores.nonzero()
    true = entries(Y, rows, labels)
    stored, values = _ties(rows, scores.data, true)
    n, n_zeros = Y.shape[0], _n_zeros(scores)
    below = np.where(values < 0, n_zeros[stored.row], 0)
    positive = np.bincount(rows[scores.data > 0], minlength=n)
    missed = np.diff(Y.indptr) - np.bincount(rows, weights=true, minlength=n)
    some = n_zeros > 0
    zeros = _Ties(np.arange(n)[some], positive[some], n_zeros[some], missed[some])
    stored = stored._replace(above=stored.above + below)
    return _Ties(*map(np.concatenate, zip(stored, zeros, strict=True)))


def _ties(
    rows: NDArray[np.intp], values: NDArray[Any], true: NDArray[Any]
) -> tuple[_Ties, NDArray[Any]]:
    """Group entries by row and value, highest values first; also return the values."""
    order = np.lexsort((-values, rows))
    rows, values = rows[order], values[order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(is_first)
    above = first - np.searchsorted(rows, rows[first])
    size = np.diff(np.append(first, len(rows)))
    return _Ties(rows[first], above, size, np.add.reduceat(true[order], first)), values[first]
