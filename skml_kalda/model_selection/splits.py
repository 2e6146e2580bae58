"""Splitters whose parts all have their share of every label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.model_selection._split import (
    GroupsConsumerMixin,
    _UnsupportedGroupCVMixin,
    _validate_shuffle_split,
)
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import check_consistent_length, column_or_1d

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import indicator

Counts: TypeAlias = NDArray[np.intp]
Indices: TypeAlias = NDArray[np.intp]

# Samples count as alike if this many of their rarest labels agree; more made almost no difference
# on real datasets.
_LABELS_ALIKE = 5


class _SplitByLabels(GroupsConsumerMixin):
    """Turn y into an indicator matrix before scikit-learn's splitter gets it."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Generate indices of training and test samples.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Training data. Only the number of samples matters, so `y` may be passed instead.
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix to stratify by, dense or sparse; or one class label per sample. NaN
            in a matrix is an unknown label, which is ignored.
        groups : array-like of shape (n,), default=None
            Group of each sample, such as the patient or the author. The samples of a group are
            never divided.

        Yields
        ------
        train, test : ndarray
            Indices of the samples of each split.
        """
        if y is None:
            raise ValueError(
                "y is None: pass the labels to stratify by, an indicator matrix of shape (n, K) "
                "or class labels of shape (n,)."
            )
        Y = indicator(y, allow_unknown=True).matrix
        check_consistent_length(X, Y, groups)
        # The splitters that ours derive from take no groups.
        return super(_UnsupportedGroupCVMixin, self).split(X, Y, groups)


class MultiLabelStratifiedKFold(_SplitByLabels, KFold):
    """Folds that all have nearly the same proportion of every label.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. Must be at least 2.
    shuffle : bool, default=False
        Whether to shuffle the samples first. If not, they are dealt to the folds in their order,
        and the folds are the same at every call.
    random_state : int, RandomState instance or None, default=None
        With `shuffle`, determines the order of the samples and breaks ties. Pass an int for the
        same folds at every call.

    See Also
    --------
    MultiLabelStratifiedShuffleSplit : Independent splits with parts of any size.
    multilabel_train_test_split : Split arrays once.
    sklearn.model_selection.StratifiedKFold : The same for one class per sample.
    sklearn.model_selection.StratifiedGroupKFold : The same for one class per sample, and groups.

    Notes
    -----
    Iterative stratification [1]_: labels are taken by the number of their remaining samples, the
    rarest first, and each of their samples goes to the fold that lacks that label most. Samples
    with the same labels are spread over the folds, so that pairs of labels are balanced too.
    Samples without labels count as a class of their own.

    The sizes of folds always differ by at most one. So the most frequent class, which is placed
    last, may be balanced less exactly than the others. A label with fewer samples than folds is
    missing in some of them.

    With `groups`, whole groups are dealt, those with the largest shares of the labels first, and
    each goes to the fold that lacks its labels most. Folds then differ in size as groups require.

    With one class per sample (1-D `y`) this is ordinary stratification: the samples of a class in
    any two folds differ by one at most.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data",
       ECML PKDD 2011, 145-158.

    Examples
    --------
    >>> import numpy as np
    >>> from skml_kalda.model_selection import MultiLabelStratifiedKFold
    >>> y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 1], [1, 1]])
    >>> for train, test in MultiLabelStratifiedKFold(n_splits=2).split(y, y):
    ...     print(test, y[test].sum(axis=0))
    [2 3 5] [2 2]
    [0 1 4] [2 2]
    """

    def _iter_test_masks(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.bool_]]:
        sizes = np.diff(np.arange(self.n_splits + 1) * y.shape[0] // self.n_splits)
        shares = np.full(self.n_splits, 1 / self.n_splits)
        rng = check_random_state(self.random_state) if self.shuffle else None
        if groups is None:
            parts = _stratified_parts(y, shares, sizes, rng)
        else:
            parts = _grouped_parts(y, groups, shares, rng, largest_first=True)
        return (parts == fold for fold in range(self.n_splits))


class MultiLabelStratifiedShuffleSplit(_SplitByLabels, ShuffleSplit):
    """Random splits into training and test samples with the same proportion of every label.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float, int or None, default=None
        Share or number of test samples. None means all samples but `train_size`, or 0.1.
    train_size : float, int or None, default=None
        Share or number of training samples. None means all samples but `test_size`.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the samples and breaks ties. Pass an int for the same splits at
        every call.

    See Also
    --------
    MultiLabelStratifiedKFold : Folds that together cover all samples.
    multilabel_train_test_split : Split arrays once.
    sklearn.model_selection.StratifiedShuffleSplit : The same for one class per sample.

    Notes
    -----
    The method is that of :class:`MultiLabelStratifiedKFold`, with parts of exactly the sizes
    requested. A label with a single sample is put in the larger part. With `groups`, whole groups
    are dealt in random order, so the sizes are met as far as groups allow.

    Examples
    --------
    >>> import numpy as np
    >>> from skml_kalda.model_selection import MultiLabelStratifiedShuffleSplit
    >>> y = np.tile([[1, 0], [1, 1], [0, 1], [0, 0]], (5, 1))
    >>> splitter = MultiLabelStratifiedShuffleSplit(n_splits=3, test_size=0.2, random_state=0)
    >>> for train, test in splitter.split(y, y):
    ...     print(test, y[test].mean(axis=0))
    [ 4 11 14 17] [0.5 0.5]
    [ 1 11 12 14] [0.5 0.5]
    [ 1  6  8 15] [0.5 0.5]
    """

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Indices, Indices]]:
        n_train, n_test = _validate_shuffle_split(
            y.shape[0], self.test_size, self.train_size, self._default_test_size
        )
        rng = check_random_state(self.random_state)
        n = y.shape[0]
        sizes = np.array([n_train, n_test, n - n_train - n_test])
        for _ in range(self.n_splits):
            if groups is None:
                parts = _stratified_parts(y, sizes / n, sizes, rng)
            else:
                parts = _grouped_parts(y, groups, sizes / n, rng)
            yield np.flatnonzero(parts == 0), np.flatnonzero(parts == 1)


def multilabel_train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Any = None,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays into training and test samples with the same proportion of every label.

    Parameters
    ----------
    *arrays : sequence of arrays, lists, data frames or sparse matrices
        What to split, all of the same length.
    test_size : float, int or None, default=None
        Share or number of test samples. None means all samples but `train_size`, or 0.25.
    train_size : float, int or None, default=None
        Share or number of training samples. None means all samples but `test_size`.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same split at every call.
    stratify : {array-like, sparse} of shape (n, K) or (n,), default=None
        Labels to stratify by. If None, the last of `arrays`.

    Returns
    -------
    list
        Training and test part of each array, twice as many as `arrays`.

    See Also
    --------
    MultiLabelStratifiedShuffleSplit : The splitter that it uses.
    sklearn.model_selection.train_test_split : The same for one class per sample.

    Examples
    --------
    >>> import numpy as np
    >>> from skml_kalda.model_selection import multilabel_train_test_split
    >>> X = np.arange(40).reshape(20, 2)
    >>> y = np.tile([[1, 0], [1, 1], [0, 1], [0, 0]], (5, 1))
    >>> X_train, X_test, y_train, y_test = multilabel_train_test_split(
    ...     X, y, test_size=0.2, random_state=0
    ... )
    >>> y_train.mean(axis=0), y_test.mean(axis=0)
    (array([0.5, 0.5]), array([0.5, 0.5]))
    """
    if not arrays:
        raise ValueError("No arrays to split: pass at least one, such as X, y.")
    arrays = tuple(indexable(*arrays))
    splitter = MultiLabelStratifiedShuffleSplit(
        1,
        test_size=0.25 if test_size is None and train_size is None else test_size,
        train_size=train_size,
        random_state=random_state,
    )
    train, test = next(splitter.split(arrays[0], arrays[-1] if stratify is None else stratify))
    return [_safe_indexing(array, rows) for array in arrays for rows in (train, test)]


def _stratified_parts(
    Y: sparse.csr_array, shares: Array, sizes: Counts, rng: np.random.RandomState | None = None
) -> NDArray[np.intp]:
    """Distribute samples over parts so that every part has its share of every label.

    Parameters
    ----------
    Y : CSR of shape (n, K)
        The labels of the samples. Samples without labels are a class of their own.
    shares : array of shape (k,)
        Share of the samples of each label that each part should get; they sum to one.
    sizes : array of shape (k,)
        Number of samples that each part gets; they sum to n.
    rng : RandomState or None, default=None
        Shuffles the samples and breaks ties. If None, samples keep their order, and ties go to the
        parts in turn.

    Returns
    -------
    ndarray of shape (n,)
        The part of each sample, 0 to k - 1.

    Notes
    -----
    The method of Sechidis, Tsoumakas and Vlahavas [1]_: again and again take the label with the
    fewest samples left, and put each of them where most samples of that label are still wanted;
    break ties by where most samples are wanted altogether. Which part comes next does not depend on
    the sample, so all samples of a label are placed at once.

    Two things differ. A part that has reached its size gets no more samples; so the most frequent
    label, which comes last, is balanced less exactly than the others. And the samples of a label
    are not placed at random, but those whose rarest labels are the same are spread over the parts,
    which balances the other labels, and pairs of labels, better.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the stratification of multi-label data",
       ECML PKDD 2011, 145-158.
    """
    n = Y.shape[0]
    unlabelled = sparse.csr_array((np.diff(Y.indptr) == 0)[:, None])
    Y = sparse.csr_array(sparse.hstack([Y, unlabelled]))
    Y = Y[:, np.argsort(Y.sum(axis=0), kind="stable")]
    order = np.arange(n) if rng is None else rng.permutation(n)
    order = order[_alike_together(Y[order])]
    parts = np.empty(n, dtype=np.intp)
    parts[order] = _placed(Y[order], shares, np.array(sizes), rng)
    return parts


def _grouped_parts(
    Y: sparse.csr_array,
    groups: Any,
    shares: Array,
    rng: np.random.RandomState | None,
    *,
    largest_first: bool = False,
) -> NDArray[np.intp]:
    """Distribute whole groups over parts; parameters and result are those of `_stratified_parts`.

    A group goes to the part where it lowers Σ (given − wanted)² most, over the shares that the
    parts have of the samples of each label, of those without labels, and of all samples.
    """
    _, group, size = np.unique(column_or_1d(groups), return_inverse=True, return_counts=True)
    open_ = np.flatnonzero(shares)
    if len(size) < len(open_):
        raise ValueError(
            f"groups has {len(size)} different groups, which cannot fill {len(open_)} parts: "
            "lower n_splits or pass smaller groups."
        )
    members = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
    unlabelled = members @ (np.diff(Y.indptr) == 0)
    counts = np.column_stack([(members @ Y).toarray(), unlabelled, size])
    fractions = counts / np.maximum(counts.sum(axis=0), 1)
    order = np.arange(len(size)) if rng is None else rng.permutation(len(size))
    if largest_first:
        order = order[np.argsort(-np.linalg.norm(fractions[order], axis=1), kind="stable")]
    lack = np.repeat(shares[:, None], fractions.shape[1], axis=1)
    parts = np.empty(len(size), dtype=np.intp)
    is_empty = np.ones(len(shares), dtype=bool)
    for left, each in zip(range(len(size), 0, -1), order, strict=True):
        empty = open_[is_empty[open_]]
        among = empty if left == len(empty) else open_
        # (lack - f)² - lack² = f² - 2 f lack, and f² is the same for every part.
        parts[each] = among[np.argmax(lack[among] @ fractions[each])]
        lack[parts[each]] -= fractions[each]
        is_empty[parts[each]] = False
    return parts[group]


def _alike_together(Y: sparse.csr_array) -> NDArray[np.intp]:
    """Return the order of the samples by their first labels, which are the rarest."""
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


def _counts(n: int, wanted: Array, given: Counts, room: Counts, turns: Counts) -> Counts:
    """Return how many samples each part gets if every sample goes where most are wanted."""
    counts = np.zeros(len(room), dtype=np.intp)
    while n:
        open_ = np.flatnonzero(counts < room)
        # The integers are added first, so that rounding keeps equal amounts equal.
        lack = wanted[open_] - (given + counts)[open_]
        whole = np.floor(np.maximum(lack - _level(lack, n), 0)).astype(np.intp)
        whole = np.minimum(whole, (room - counts)[open_])
        if not whole.any():
            # Fewer samples than parts at the top: the first parts get one each.
            ranking = np.lexsort((turns[open_], (counts - room)[open_], -lack))
            whole[ranking[:n]] = 1
        counts[open_] += whole
        n -= int(whole.sum())
    return counts


def _level(lack: Array, n: int) -> Any:
    """Return the level with Σ max(lack − level, 0) = n: the samples fill the parts up to it."""
    ranked = np.sort(lack)[::-1]
    levels = (np.cumsum(ranked) - n) / np.arange(1, len(ranked) + 1)
    return levels[np.flatnonzero(ranked > levels)[-1]]


def _dealt(counts: Counts, turns: Counts) -> NDArray[np.intp]:
    """Return each part as often as counted, evenly spread: 0, 0, 1, 0, 0, 1 for (4, 2)."""
    parts = np.repeat(np.arange(len(counts)), counts)
    nth = np.arange(len(parts)) - np.repeat(np.cumsum(counts) - counts, counts)
    place = (nth + (turns[parts] + 0.5) / len(counts)) / counts[parts]
    return parts[np.argsort(place, kind="stable")]
