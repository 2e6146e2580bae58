"""ML-kNN: Bayesian inference on the label counts of the nearest neighbours."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from skml_kalda.neighbors._base import NeighborCountClassifier


class MLkNN(NeighborCountClassifier):
    r"""Multi-label k nearest neighbours with Bayesian inference.

    A drop-in for :class:`skmultilearn.adapt.MLkNN`: the same parameters, the same predictions
    and probabilities, without its loops over rows and labels, for every form of `X` and `y`.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that count.
    s : float, default=1.0
        Smoothing: how many observations of each kind are assumed before any is made. Must be
        positive.
    ignore_first_neighbours : int, default=0
        Number of nearest points to leave out before the `k` that count, at fit and at predict.
    n_jobs : int or None, default=None
        Number of parallel jobs of the neighbour search; -1 means all processors.
    metric : str or callable, default="minkowski"
        Distance, as of :class:`sklearn.neighbors.NearestNeighbors`; the default is Euclidean.
    include_self : bool, default=True
        Whether a training point counts as its own neighbour when the likelihoods are estimated.
        True is what scikit-multilearn does; False is the definition of Zhang and Zhou [1]_.

    Attributes
    ----------
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y` the values 0 and 1 of each label, even if it is constant in `y`; for
        a 1-D `y` its class labels.
    knn_ : sklearn.neighbors.NearestNeighbors
        The fitted neighbour search.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had string names for all of them.

    See Also
    --------
    BinaryRelevanceKNN : The plain vote of the neighbours on each label.

    Notes
    -----
    For label l let C_l(x) be the number of the k neighbours of x that carry it. With the event
    H_l that x carries the label, the answer is yes where

    .. math:: P(H_l) P(C_l | H_l) \ge P(\bar H_l) P(C_l | \bar H_l),

    all four estimated by counting on the training set, smoothed by `s`. The probability is the
    left side divided by the sum of both. With `include_self=True` each training point meets
    itself among its neighbours, which no query does: the likelihoods of high counts are then
    too optimistic, the more so the smaller k is.

    Ties in distance are broken by the neighbour search. Searching the same rows gives the same
    neighbours; the same point among other rows may be given another of its equally near ones.

    A 1-D `y` is taken as one class label per row, and the most probable class is predicted.

    References
    ----------
    .. [1] M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning",
       Pattern Recognition 40 (2007) 2038-2048.

    Examples
    --------
    >>> from skml_kalda import MLkNN
    >>> X = [[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]]
    >>> y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> classifier = MLkNN(k=3).fit(X, y)
    >>> classifier.predict([[0.05], [2.15]])
    array([[1, 0],
           [0, 1]])
    >>> classifier.predict_proba([[0.05], [2.15]]).round(3)
    array([[0.8  , 0.455],
           [0.2  , 0.833]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborCountClassifier._parameter_constraints,
        "s": [Interval(Real, 0, None, closed="neither")],
        "ignore_first_neighbours": [Interval(Integral, 0, None, closed="left")],
        "include_self": ["boolean"],
    }

    def __init__(
        self,
        k: int = 10,
        s: float = 1.0,
        ignore_first_neighbours: int = 0,
        n_jobs: int | None = None,
        *,
        metric: Any = "minkowski",
        include_self: bool = True,
    ) -> None:
        self.k = k
        self.s = s
        self.ignore_first_neighbours = ignore_first_neighbours
        self.n_jobs = n_jobs
        self.metric = metric
        self.include_self = include_self

    def _ignored(self) -> int:
        return self.ignore_first_neighbours

    def _rows_needed(self) -> int:
        return super()._rows_needed() + (not self.include_self)

    def _fit_counts(self, X: Any) -> None:
        n, s = self._num_instances, self.s
        self._prior_prob_true = (s + self._label_cache.sum(axis=0)) / (s * 2 + n)
        self._prior_prob_false = 1 - self._prior_prob_true
        # Without X scikit-learn searches the training points and leaves each one itself out.
        true, false = self._histograms(self._neighbors(X if self.include_self else None))
        self._cond_prob_true = self._smoothed(true)
        self._cond_prob_false = self._smoothed(false)

    def _histograms(self, neighbors: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Count the training points with and without label l (row) by their C_l (column)."""
        shape = (self._num_labels, self.k + 1)
        first_cell = np.arange(self._num_labels) * (self.k + 1)
        with_label = np.zeros(shape, dtype=np.int64)
        all_points = np.zeros(shape, dtype=np.int64)
        for rows, counts in self._counts(neighbors):
            cells = counts + first_cell
            labelled = cells[self._label_cache[rows].nonzero()]
            all_points += np.bincount(cells.ravel(), minlength=all_points.size).reshape(shape)
            with_label += np.bincount(labelled, minlength=with_label.size).reshape(shape)
        return with_label, all_points - with_label

    def _smoothed(self, histogram: NDArray[Any]) -> NDArray[np.float64]:
        total = histogram.sum(axis=1, keepdims=True)
        return (self.s + histogram) / (self.s * (self.k + 1) + total)

    def _tables(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        true = self._prior_prob_true[:, np.newaxis] * self._cond_prob_true
        false = self._prior_prob_false[:, np.newaxis] * self._cond_prob_false
        return true / (true + false), true >= false
