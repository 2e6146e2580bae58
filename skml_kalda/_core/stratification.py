"""Iterative stratification of multi-label rows, one label at a time instead of one row."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array

Counts: TypeAlias = NDArray[np.intp]

# Rows count as alike if this many of their rarest labels agree; more made almost no difference
# on real sets.
_LABELS_ALIKE = 5


def stratified_parts(
    Y: sparse.csr_array, shares: Array, sizes: Counts, rng: np.random.RandomState | None = None
) -> NDArray[np.intp]:
    """Distribute rows over parts so that every part has its share of every label.

    Parameters
    ----------
    Y : CSR of shape (n, K)
        The labels of the rows. Rows without labels are a class of their own.
    shares : array of shape (k,)
        Share of the rows of each label that each part should get; they sum to one.
    sizes : array of shape (k,)
        Number of rows that each part gets; they sum to n.
    rng : RandomState or None, default=None
        Shuffles the rows and breaks ties. If None, rows keep their order, and ties go to the
        parts in turn.

    Returns
    -------
    ndarray of shape (n,)
        The part of each row, 0 to k - 1.

    Notes
    -----
    The method of Sechidis, Tsoumakas and Vlahavas [1]_: again and again take the label with the
    fewest rows left, and put each of them where most rows of that label are still wanted; break
    ties by where most rows are wanted altogether. Which part comes next does not depend on the
    row, so all rows of a label are placed at once.

    Two things differ. A part that has reached its size gets no more rows; so the most frequent
    label, which comes last, is balanced less exactly than the others. And the rows of a label are
    not placed at random, but those whose rarest labels are the same are spread over the parts,
    which balances the other labels, and pairs of labels, better.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data",
       ECML PKDD 2011, 145-158.

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 0], [0, 0]])
    >>> stratified_parts(Y, np.array([0.5, 0.5]), np.array([3, 3]))
    array([0, 1, 0, 1, 1, 0])
    """
    n = Y.shape[0]
    Y = _with_unlabelled(Y)
    Y = Y[:, np.argsort(Y.sum(axis=0), kind="stable")]
    order = np.arange(n) if rng is None else rng.permutation(n)
    order = order[_alike_together(Y[order])]
    parts = np.empty(n, dtype=np.intp)
    parts[order] = _placed(Y[order], shares, np.array(sizes), rng)
    return parts


def stratified_split(
    Y: sparse.csr_array, n_train: int, n_test: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows, drawn so that both have their share of every label."""
    n = Y.shape[0]
    sizes = np.array([n_train, n_test, n - n_train - n_test])
    parts = stratified_parts(Y, sizes / n, sizes, rng)
    return np.flatnonzero(parts == 0), np.flatnonzero(parts == 1)


def _with_unlabelled(Y: sparse.csr_array) -> sparse.csr_array:
    """Add a last column that marks the rows without labels."""
    unlabelled = np.diff(Y.indptr) == 0
    return sparse.csr_array(sparse.hstack([Y, sparse.csr_array(unlabelled[:, None])]))


def _alike_together(Y: sparse.csr_array) -> NDArray[np.intp]:
    """Return the order of the rows by their first labels, which are the rarest."""
    Y.sort_indices()
    first, n_labels = Y.indptr[:-1], np.diff(Y.indptr)
    labels = [
        np.where(n_labels > i, Y.indices[np.minimum(first + i, Y.nnz - 1)], -1)
        for i in range(_LABELS_ALIKE)
    ]
    return np.lexsort(labels[::-1])


def _placed(
    Y: sparse.csr_array, shares: Array, room: Counts, rng: np.random.RandomState | None
) -> NDArray[np.intp]:
    k = len(room)
    by_label = Y.tocsc()
    left = np.diff(by_label.indptr)
    wanted = np.outer(left, shares)
    given = np.zeros(wanted.shape, dtype=np.intp)
    parts = np.full(Y.shape[0], -1)
    while left.any():
        label = np.where(left > 0, left, len(parts) + 1).argmin()
        rows = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        rows = rows[parts[rows] < 0]
        turns = np.roll(np.arange(k), label) if rng is None else rng.permutation(k)
        counts = _counts(len(rows), wanted[label], given[label], room, turns)
        parts[rows] = _dealt(counts, turns)
        room -= counts
        placed = Y[rows]
        part_of_entry = np.repeat(parts[rows], np.diff(placed.indptr))
        np.add.at(given.reshape(-1), placed.indices * k + part_of_entry, 1)
        np.subtract.at(left, placed.indices, 1)
    return parts


def _counts(rows: int, wanted: Array, given: Counts, room: Counts, turns: Counts) -> Counts:
    """Return how many rows each part gets if every row goes where most are wanted."""
    counts = np.zeros(len(room), dtype=np.intp)
    while rows:
        open_ = np.flatnonzero(counts < room)
        # The integers are added first, so that rounding keeps equal amounts equal.
        lack = wanted[open_] - (given + counts)[open_]
        whole = np.floor(np.maximum(lack - _level(lack, rows), 0)).astype(np.intp)
        whole = np.minimum(whole, (room - counts)[open_])
        if not whole.any():
            # Fewer rows than parts at the top: the first parts get one each.
            ranking = np.lexsort((turns[open_], (counts - room)[open_], -lack))
            whole[ranking[:rows]] = 1
        counts[open_] += whole
        rows -= int(whole.sum())
    return counts


def _level(lack: Array, rows: int) -> Any:
    """Return the level with Σ max(lack − level, 0) = rows: the rows fill the parts up to it."""
    ranked = np.sort(lack)[::-1]
    levels = (np.cumsum(ranked) - rows) / np.arange(1, len(ranked) + 1)
    return levels[np.flatnonzero(ranked > levels)[-1]]


def _dealt(counts: Counts, turns: Counts) -> NDArray[np.intp]:
    """Return each part as often as counted, evenly spread: 0, 0, 1, 0, 0, 1 for (4, 2)."""
    parts = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(parts)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = (nth + (turns[parts] + 0.5) / len(counts)) / counts[parts]
    return parts[np.argsort(place, kind="stable")]
