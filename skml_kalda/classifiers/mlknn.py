"""ML-kNN: Bayesian inference on the label counts of the nearest neighbours."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval

from skml_kalda._core.arrays import Array
from skml_kalda._core.nearest import Neighbors
from skml_kalda._core.neighbors import adjacency, at_entries
from skml_kalda._core.scores.thresholds import Cells
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
        Number of threads of the neighbour search; -1 means all processors, None as many as
        scikit-learn's own loops use.
    metric : str or callable, default="minkowski"
        Distance; see :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
    include_self : bool, default=True
        Whether a training point counts as its own neighbour when the likelihoods are estimated.
        True matches scikit-multilearn; False is the definition of Zhang and Zhou [1]_.
    threshold : float in [0, 1] or "auto", default=0.5
        A label is predicted if its probability is at least this. "auto" chooses the threshold
        that maximises macro F1 over the leave-one-out votes of the training rows, without a
        further search. For a 1-D `y` there is no threshold.
    algorithm : "auto" or object, default="auto"
        How to search for neighbours. "auto" is an exact search: with SciPy's tree for Euclidean
        distances, many rows and few features, else with scikit-learn. Pass an object with the
        interface of :class:`sklearn.neighbors.KNeighborsTransformer` for approximate search,
        such as ``pynndescent.PyNNDescentTransformer``: ``fit(X)``, and ``transform(X)`` that
        returns a sparse matrix of distances to training rows. It uses its own metric.
    sparse_output : bool or None, default=None
        Whether `predict` and `predict_proba` return sparse matrices. None predicts labels in the
        form of `y` and dense probabilities. True matches scikit-multilearn, whose predictions
        are always sparse.
    as_frame : bool, default=False
        Whether `predict` and `predict_proba` return data frames for an indicator `y`, with a
        named column for each label: polars frames if `y` was one, else pandas frames with the
        index of X.

    Attributes
    ----------
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y`, the values 0 and 1 of each label, even if it is constant in `y`;
        for a 1-D `y`, its class labels.
    label_names_ : ndarray of shape (K,)
        The columns of an indicator `y`, by name for a data frame, else by number; for a 1-D
        `y`, its class labels.
    knn_ : sklearn.neighbors.NearestNeighbors
        The neighbour search; before `fit`, the one that `fit` would use.
    best_thresholds_ : ndarray of shape (K,)
        Only with ``threshold="auto"``: a label is predicted if its probability is at least this.
        All are equal, except that labels without a row have infinity: they are never predicted.
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
    point is among its own neighbours, unlike new points. The likelihoods of high counts are
    then too optimistic, especially for small k.

    Neighbours are ordered by distance; of equal distances, the row with the lowest number comes
    first. scikit-multilearn leaves ties to the search, so predictions can differ where two
    distances are equal, and only there.

    The leave-one-out votes of ``threshold="auto"`` are those of the k nearest other rows, with
    and without `include_self`. Their probabilities come from the same tables as those of new rows.

    If labels are unknown, priors and likelihoods are estimated from the rows in which they are
    known. C_l is then the share of label l among the neighbours for which it is known, times k
    and rounded; it is zero if there are none.

    A 1-D `y` holds one class label per row. The most probable class is then predicted.

    The likelihoods are tables over the counts 0 to k, so a neighbour counts once or not at all:
    votes weighted by distance, or by `sample_weight`, have no such table and are left to
    `BinaryRelevanceKNN`. Here `sample_weight` weighs the training points in the prior
    probabilities and in the likelihoods. There a row of weight two counts like two rows, but it
    remains one neighbour. Rows of weight zero are not searched.

    Three things differ from scikit-multilearn. Predictions are dense if `y` is dense, and
    probabilities are always dense, because that is what scikit-learn's scorers and searches
    expect; set `sparse_output` to change it. `classes_` is an array with both values of each
    label, not a list with the values found in `y`. Wrong parameters and data raise errors.

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
        threshold: float | Literal["auto"] = 0.5,
        algorithm: Any = "auto",
        include_self: bool = True,
        sparse_output: bool | None = None,
        as_frame: bool = False,
    ) -> None:
        self.k = k
        self.s = s
        self.ignore_first_neighbours = ignore_first_neighbours
        self.n_jobs = n_jobs
        self.metric = metric
        self.threshold = threshold
        self.algorithm = algorithm
        self.include_self = include_self
        self.sparse_output = sparse_output
        self.as_frame = as_frame

    def _ignored(self) -> int:
        return self.ignore_first_neighbours

    def _leaves_one_out(self) -> bool:
        return not self.include_self or super()._leaves_one_out()

    def _fit_votes(self, X: Any) -> None:
        s = self.s
        weight = np.ones(self._num_instances) if self._weight is None else self._weight
        known = self._known_weight(weight)
        self._prior_prob_true = (s + weight @ self._label_cache) / (s * 2 + known)
        self._prior_prob_false = 1 - self._prior_prob_true
        found = Neighbors(*self.knn_.kneighbors(X, self._rows_needed()))
        others = found.without_self() if self._leaves_one_out() else found
        true, false = self._histograms(found if self.include_self else others, weight)
        self._cond_prob_true = self._smoothed(true)
        self._cond_prob_false = self._smoothed(false)
        if super()._leaves_one_out():
            true, false = self._histograms(others, np.ones(self._num_instances))
            cells = map(Cells, self._probability_table(), true, true + false)
            self.best_thresholds_ = self._best_thresholds(cells)

    def _histograms(self, neighbors: Neighbors, weight: Array) -> tuple[Array, Array]:
        """Return the weight of the rows with and without label l (row) that have each C_l."""
        Y, unknown, neighbors = self._label_cache, self._unknown, self._counted(neighbors)
        true, every = np.zeros((2, self._num_labels, self.k + 1))
        for rows in self._batches(self._num_instances):
            counts = self._votes(neighbors.at(rows))
            every += self._histogram(counts, weight[rows])
            true += self._histogram(counts.multiply(Y[rows]).tocsr(), weight[rows])
            if unknown is not None:
                every -= self._histogram(counts.multiply(unknown[rows]).tocsr(), weight[rows])
        # What is not stored in the sparse counts is zero.
        every[:, 0] = self._known_weight(weight) - every.sum(axis=1)
        true[:, 0] = weight @ Y - true.sum(axis=1)
        return true, every - true

    def _histogram(self, counts: sparse.csr_array, weight: Array) -> Array:
        """Return the weight of the rows with each stored count C_l (column) of label l (row)."""
        cells = counts.indices * (self.k + 1) + counts.data.astype(np.intp)
        weights = np.repeat(weight, np.diff(counts.indptr))
        shape = (self._num_labels, self.k + 1)
        return np.bincount(cells, weights, shape[0] * shape[1]).astype(float).reshape(shape)

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        """Return C_l, how many of the neighbours of each row carry each label.

        If it is unknown for some, C_l is the share among the others, times k and rounded.
        """
        near = adjacency(neighbors.indices, self._num_instances)
        counts = near @ self._label_cache
        if self._unknown is not None:
            known = self.k - at_entries(near @ self._unknown, counts)
            counts.data = np.rint(self.k * counts.data / known)
        return counts

    def _probability(self, votes: sparse.csr_array) -> Array:
        probability = self._looked_up(self._probability_table(), votes)
        if self._is_single_label():
            probability /= probability.sum(axis=1, keepdims=True)
        return probability

    def _decision(self, votes: sparse.csr_array) -> NDArray[np.bool_]:
        return self._looked_up(self._decision_table(), votes)

    def _looked_up(self, table: NDArray[Any], counts: sparse.csr_array) -> NDArray[Any]:
        return table[np.arange(self._num_labels), counts.toarray().astype(np.intp)]

    def _smoothed(self, histogram: Array) -> Array:
        total = histogram.sum(axis=1, keepdims=True)
        return (self.s + histogram) / (self.s * (self.k + 1) + total)

    def _evidence(self) -> tuple[Array, Array]:
        """Return both sides of the rule, for each label (row) and count (column)."""
        true = self._prior_prob_true[:, np.newaxis] * self._cond_prob_true
        return true, self._prior_prob_false[:, np.newaxis] * self._cond_prob_false

    def _probability_table(self) -> Array:
        true, false = self._evidence()
        return true / (true + false)

    def _decision_table(self) -> NDArray[np.bool_]:
        if self.threshold == 0.5:
            true, false = self._evidence()
            # The probability can be rounded to one half, so it is not compared.
            return true >= false
        threshold = self.best_thresholds_ if self.threshold == "auto" else self.threshold
        return (threshold <= self._probability_table().T).T
