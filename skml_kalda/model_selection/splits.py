"""Splitters that give every part its share of every label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.model_selection._split import _validate_shuffle_split
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import check_consistent_length

from skml_kalda._core.labels import indicator
from skml_kalda._core.stratification import stratified_parts, stratified_split

__all__ = [
    "MultiLabelStratifiedKFold",
    "MultiLabelStratifiedShuffleSplit",
    "multilabel_train_test_split",
]

Rows = NDArray[np.intp]


class _SplitByLabels:
    """Turn y into an indicator matrix before scikit-learn's splitter gets it."""

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Generate indices of training and test rows.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Training data. Only the number of rows matters, so `y` may be passed instead.
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix to stratify by, dense or sparse; or one class label per row. NaN
            in a matrix is an unknown label, which is ignored.
        groups : object
            Ignored, with a warning.

        Yields
        ------
        train, test : ndarray
            Indices of the rows of each split.
        """
        if y is None:
            raise ValueError(
                "y is None: pass the labels to stratify by, an indicator matrix of shape (n, K) "
                "or class labels of shape (n,)."
            )
        Y = indicator(y, allow_unknown=True).matrix
        check_consistent_length(X, Y)
        return super().split(X, Y, groups)  # type: ignore[misc]


class MultiLabelStratifiedKFold(_SplitByLabels, KFold):
    """Folds that all have nearly the same proportion of every label.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. Must be at least 2.
    shuffle : bool, default=False
        Whether to shuffle the rows first. If not, rows are dealt to the folds in their order,
        and the folds are the same at every call.
    random_state : int, RandomState instance or None, default=None
        With `shuffle`, determines the order of the rows and breaks ties. Pass an int for the
        same folds at every call.

    See Also
    --------
    MultiLabelStratifiedShuffleSplit : Independent splits with parts of any size.
    multilabel_train_test_split : Split arrays once.
    sklearn.model_selection.StratifiedKFold : The same for one class per row.

    Notes
    -----
    Iterative stratification [1]_: labels are taken by the number of their remaining rows, the
    rarest first, and each of their rows goes to the fold that lacks that label most. Rows with
    the same labels are spread over the folds, so that pairs of labels are balanced too. Rows
    without labels count as a class of their own.

    The sizes of folds always differ by at most one. So the most frequent class, which is placed
    last, may be balanced less exactly than the others. A label with fewer rows than folds is
    missing in some of them.

    With one class per row (1-D `y`) this is ordinary stratification: the rows of a class in any
    two folds differ by one at most.

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
        parts = stratified_parts(y, shares, sizes, rng)
        return (parts == fold for fold in range(self.n_splits))


class MultiLabelStratifiedShuffleSplit(_SplitByLabels, ShuffleSplit):
    """Random splits into training and test rows with the same proportion of every label.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float, int or None, default=None
        Share or number of test rows. None means all rows but `train_size`, or 0.1.
    train_size : float, int or None, default=None
        Share or number of training rows. None means all rows but `test_size`.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the rows and breaks ties. Pass an int for the same splits at
        every call.

    See Also
    --------
    MultiLabelStratifiedKFold : Folds that together cover all rows.
    multilabel_train_test_split : Split arrays once.
    sklearn.model_selection.StratifiedShuffleSplit : The same for one class per row.

    Notes
    -----
    The method is that of :class:`MultiLabelStratifiedKFold`, with parts of exactly the sizes
    requested. A label with a single row is put in the larger part.

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
    ) -> Iterator[tuple[Rows, Rows]]:
        n_train, n_test = _validate_shuffle_split(
            y.shape[0], self.test_size, self.train_size, self._default_test_size
        )
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            yield stratified_split(y, n_train, n_test, rng)


def multilabel_train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: Any = None,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays into training and test rows with the same proportion of every label.

    Parameters
    ----------
    *arrays : sequence of arrays, lists, data frames or sparse matrices
        What to split, all of the same length.
    test_size : float, int or None, default=None
        Share or number of test rows. None means all rows but `train_size`, or 0.25.
    train_size : float, int or None, default=None
        Share or number of training rows. None means all rows but `test_size`.
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
    MultiLabelStratifiedShuffleSplit : The splitter behind it.
    sklearn.model_selection.train_test_split : The same for one class per row.

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
