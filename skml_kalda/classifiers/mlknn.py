"""ML-kNN: Bayesian inference on the label counts of the nearest neighbours."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval

from skml_kalda._core.arrays import Array
from skml_kalda._core.neighbors import Neighbors, adjacency
from skml_kalda.classifiers._neighbors import NeighborClassifier


class MLkNN(NeighborClassifier):
    r"""Multi-label k nearest neighbours with Bayesian inference.

    A drop-in replacement for :class:`skmultilearn.adapt.MLkNN` with the same parameters,
    predictions and probabilities. It has no loops over rows and labels, and accepts every form
    of `X` and `y`.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that count.
    s : float, default=1.0
        Smoothing: the number of observations of each kind assumed before any data are seen.
        Must be positive.
    ignore_first_neighbours : int, default=0
        Number of nearest points to skip before the `k` that count, in fit and in predict.
    n_jobs : int or None, default=None
        Number of parallel jobs for the neighbour search; -1 means all processors.
    metric : str or callable, default="minkowski"
        Distance; see :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
    include_self : bool, default=True
        Whether a training point counts as its own neighbour when the likelihoods are estimated.
        True matches scikit-multilearn; False is the definition of Zhang and Zhou [1]_.
    sparse_output : bool or None, default=None
        Whether `predict` and `predict_proba` return sparse matrices. None predicts labels in the
        form of `y` and dense probabilities. True matches scikit-multilearn, whose predictions
        are always sparse.

    Attributes
    ----------
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y`, the values 0 and 1 of each label, even if it is constant in `y`;
        for a 1-D `y`, its class labels.
    knn_ : sklearn.neighbors.NearestNeighbors
        The neighbour search; before `fit`, the one that `fit` would use.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had string names for all of them.

    See Also
    --------
    BinaryRelevanceKNN : The plain vote of the neighbours on each label.

    Notes
    -----
    For label l, let C_l(x) be the number of the k neighbours of x that carry it, and H_l the
    event that x carries it. The label is predicted if

    .. math:: P(H_l) P(C_l | H_l) \ge P(\bar H_l) P(C_l | \bar H_l),

    where all four terms are counted on the training set and smoothed by `s`. The probability
    is the left side divided by the sum of both sides. With `include_self=True` each training
    point is among its own neighbours, which is not so for new points. The likelihoods of high
    counts are then too optimistic, especially for small k.

    The neighbour search breaks ties in distance. Repeating a search for the same rows returns
    the same neighbours, but a point searched together with other rows may be given a different
    one of several equidistant neighbours.

    A 1-D `y` holds one class label per row. The most probable class is then predicted.

    The likelihoods are tables over the counts 0 to k, so a neighbour counts one or nothing: votes
    weighted by distance, or by `sample_weight`, have no such table and are left to
    `BinaryRelevanceKNN`. Here `sample_weight` weighs the training points in the prior
    probabilities and in the likelihoods. There a row of weight two counts like two rows, but it
    remains one neighbour. Rows of weight zero are not searched.

    Three things differ from scikit-multilearn. Predictions are dense if `y` is dense, and
    probabilities are always dense, because that is what scikit-learn's scorers and searches
    expect; set `sparse_output` to change it. `classes_` is an array with both values of each
    label, not a list with the values found in `y`. Wrong parameters and data are errors.

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
        **NeighborClassifier._parameter_constraints,
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
        sparse_output: bool | None = None,
    ) -> None:
        self.k = k
        self.s = s
        self.ignore_first_neighbours = ignore_first_neighbours
        self.n_jobs = n_jobs
        self.metric = metric
        self.include_self = include_self
        self.sparse_output = sparse_output

    def _ignored(self) -> int:
        return self.ignore_first_neighbours

    def _rows_needed(self) -> int:
        return super()._rows_needed() + (not self.include_self)

    def _fit_votes(self, X: Any) -> None:
        s, Y = self.s, self._label_cache
        weight = np.ones(self._num_instances) if self._weight is None else self._weight
        with_label = weight @ Y
        self._prior_prob_true = (s + with_label) / (s * 2 + weight.sum())
        self._prior_prob_false = 1 - self._prior_prob_true
        # With None, scikit-learn searches the training points and leaves out the point itself.
        neighbors = self._neighbors(X if self.include_self else None)
        true, every = np.zeros((2, self._num_labels, self.k + 1))
        for rows in self._batches(self._num_instances):
            counts = self._votes(neighbors.at(rows))
            every += self._histogram(counts, weight[rows])
            true += self._histogram(counts.multiply(Y[rows]).tocsr(), weight[rows])
        # What is not stored in the sparse counts is zero.
        every[:, 0] = weight.sum() - every.sum(axis=1)
        true[:, 0] = with_label - true.sum(axis=1)
        self._cond_prob_true = self._smoothed(true)
        self._cond_prob_false = self._smoothed(every - true)

    def _histogram(self, counts: sparse.csr_array, weight: Array) -> Array:
        """Return the weight of the rows with each stored count C_l (column) of label l (row)."""
        cells = counts.indices * (self.k + 1) + counts.data.astype(np.intp)
        weights = np.repeat(weight, np.diff(counts.indptr))
        shape = (self._num_labels, self.k + 1)
        return np.bincount(cells, weights, shape[0] * shape[1]).astype(float).reshape(shape)

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        """Return C_l, how many of the neighbours of each row carry each label."""
        return adjacency(neighbors.indices, self._num_instances) @ self._label_cache

    def _probability(self, votes: sparse.csr_array) -> Array:
        probability = self._looked_up(self._tables()[0], votes)
        if self._is_single_label():
            probability /= probability.sum(axis=1, keepdims=True)
        return probability

    def _decision(self, votes: sparse.csr_array) -> NDArray[np.bool_]:
        return self._looked_up(self._tables()[1], votes)

    def _looked_up(self, table: NDArray[Any], counts: sparse.csr_array) -> NDArray[Any]:
        return table[np.arange(self._num_labels), counts.toarray().astype(np.intp)]

    def _smoothed(self, histogram: Array) -> Array:
        total = histogram.sum(axis=1, keepdims=True)
        return (self.s + histogram) / (self.s * (self.k + 1) + total)

    def _tables(self) -> tuple[Array, NDArray[np.bool_]]:
        """Return the probability and the decision for each label and count, shape (K, k + 1)."""
        true = self._prior_prob_true[:, np.newaxis] * self._cond_prob_true
        false = self._prior_prob_false[:, np.newaxis] * self._cond_prob_false
        return true / (true + false), true >= false
