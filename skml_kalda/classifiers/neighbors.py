"""Classification by the nearest neighbours: one search for all labels, and their votes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.neighbors import VALID_METRICS
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted
from skmultilearn.base import MLClassifierBase

from skml_kalda._core.arrays import (
    Array,
    batches,
    check_distances,
    checked_samples,
    checked_weights,
    sum_duplicates,
)
from skml_kalda._core.labels import indicator
from skml_kalda._core.neighbors import (
    ExactSearch,
    GraphSearch,
    Neighbors,
    adjacency,
    at_entries,
    vote_shares,
    vote_weights,
)
from skml_kalda._core.thresholds import best_thresholds
from skml_kalda.classifiers._predictions import LabelPredictor, dense

_Weights = Literal["uniform", "distance", "tricube"] | Callable[[NDArray[np.float64]], Any]


class NeighborClassifier(LabelPredictor, MLClassifierBase):
    """Base of the classifiers that predict labels from the nearest neighbours.

    This class validates and searches. A subclass turns neighbours into votes on labels, which are
    its scores, and votes into probabilities and decisions.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"precomputed"}.union(*VALID_METRICS.values())), callable],
        "algorithm": [StrOptions({"auto"}), HasMethods(["fit", "transform"])],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "n_jobs": [Integral, None],
        "sparse_output": ["boolean", None],
    }

    @property
    def copyable_attrs(self) -> list[str]:
        """The names of the parameters, which scikit-multilearn's get_params reads."""
        return self._get_param_names()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data, or a square distance matrix if `metric` is "precomputed".
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix of 0 and 1, dense or sparse; or one class label per sample. The
            columns of a data frame name the labels. NaN in a matrix is an unknown label: the
            sample then has no vote on it.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples; None means one. Samples of weight zero are left out. See the
            notes of the class for the effect of other weights.

        Returns
        -------
        self
            The fitted classifier.
        """
        Y = indicator(y, allow_unknown=True)
        X = self._checked(X, reset=True)
        check_consistent_length(X, Y.matrix)
        weight = checked_weights(sample_weight, X)
        counted = np.flatnonzero(weight)
        if len(counted) < len(weight) and self._is_precomputed():
            raise ValueError(
                f"sample_weight is zero for {len(weight) - len(counted)} samples, which "
                'metric="precomputed" cannot leave out: remove their rows and columns.'
            )
        self._keep_form(y, Y)
        self._set_classes(Y.classes)
        tunes = self.threshold == "auto" and Y.is_matrix
        drops_self = tunes or not self._counts_self()
        needed = self.k + drops_self
        if len(counted) < needed:
            raise ValueError(
                f"k={self.k} needs at least {needed} training samples of positive weight, but X "
                f"has n_samples={len(counted)} of them: lower k or pass more samples."
            )
        if len(counted) < len(weight):
            X = X[counted]
        self._labels, self._weight = Y.matrix[counted], weight[counted]
        self._unknown = None if Y.unknown is None else Y.unknown[counted]
        self.knn_ = self._search().fit(X)
        if self._learns or tunes:
            found = Neighbors(*self.knn_.kneighbors(X, self._reach(drops_self)))
            others = found.without_self() if drops_self else found
            self._learn(found.nearest(self.k) if self._counts_self() else others)
        if tunes:
            scores = [dense(self._probability(part)) for part in self._votes_of(others)]
            self.thresholds_ = best_thresholds(np.concatenate(scores), self._labels, self._unknown)
        elif Y.is_matrix:
            self.thresholds_ = np.full(len(self.classes_), self._fixed_threshold())
        return self

    # Whether fit learns from the neighbours of the training samples.
    _learns: ClassVar[bool] = False

    def _learn(self, neighbors: Neighbors) -> None:
        """Learn from the neighbours of the training samples."""

    def _counts_self(self) -> bool:
        """Whether a training sample is one of its own neighbours."""
        return True

    def _reach(self, dropped: int = 0) -> int:
        """Return how many neighbours to search if some are dropped."""
        return self.k + dropped

    def _fixed_threshold(self) -> float:
        return float(self.threshold)

    @abstractmethod
    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        """Return the votes that labels get from the neighbours of each sample, shape (m, K)."""

    def _votes_of(self, neighbors: Neighbors) -> Iterator[sparse.csr_array]:
        """Return the votes of batches of samples."""
        rows = batches(len(neighbors.indices), 4 * len(self.label_names_) + 2 * self.k)
        return (self._votes(neighbors.at(each)) for each in rows)

    def _search(self) -> ExactSearch | GraphSearch:
        if isinstance(self.algorithm, str):
            return ExactSearch(self.k, metric=self.metric, n_jobs=self.n_jobs)
        if self.metric != "minkowski":
            raise ValueError(
                f"metric={self.metric!r} has no effect on algorithm={self.algorithm!r}: set the "
                "metric of that object."
            )
        # One more than is counted, because a training sample finds itself.
        return GraphSearch(self.algorithm, self._reach(1))

    def _scores(self, X: Any) -> Iterator[sparse.csr_array]:
        """Check X, and return the votes of batches of its samples."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        # One search for all samples, which bounds its own memory.
        return self._votes_of(Neighbors(*self.knn_.kneighbors(X, self._reach())))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = sum_duplicates(checked_samples(self, X, accept_sparse="csr", reset=reset))
        if isinstance(self.metric, str) and not self._is_precomputed():
            check_distances(X, getattr(self, "feature_names_in_", None), query=not reset)
        return X

    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Tags:
        # scikit-multilearn's base class lists BaseEstimator before ClassifierMixin, so its tags do
        # not say that it is a classifier.
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


class MLkNN(NeighborClassifier):
    r"""Multi-label k nearest neighbours with Bayesian inference.

    A replacement for :class:`skmultilearn.adapt.MLkNN` with the same predictions and
    probabilities. It has no loops over samples and labels, and accepts every form of `X` and `y`.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that count.
    s : float, default=1.0
        Smoothing: the number of observations of each kind assumed before any data are seen.
        Must be positive.
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
        that maximises macro F1 over the leave-one-out votes of the training samples, which takes
        an array of all samples and labels but no further search. For a 1-D `y` there is none.
    algorithm : "auto" or object, default="auto"
        How to search for neighbours. "auto" is an exact search: with SciPy's tree for Euclidean
        distances, many samples and few features, else with scikit-learn. Pass an object with the
        interface of :class:`sklearn.neighbors.KNeighborsTransformer` for approximate search,
        such as ``pynndescent.PyNNDescentTransformer``: ``fit(X)``, and ``transform(X)`` that
        returns a sparse matrix of distances to training samples. It uses its own metric.
    sparse_output : bool or None, default=None
        Whether `predict` and `predict_proba` return sparse matrices. None predicts labels in the
        form of `y` and dense probabilities. True matches scikit-multilearn, whose predictions
        are always sparse.

    Attributes
    ----------
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y`, the values 0 and 1 of each label; for a 1-D `y`, its class labels.
    label_names_ : ndarray of shape (K,)
        The columns of an indicator `y`, by name for a data frame, else by number; for a 1-D
        `y`, its class labels.
    knn_ : object
        The neighbour search, with a method ``kneighbors(X, n_neighbors)``.
    thresholds_ : ndarray of shape (K,)
        A label is predicted if its probability is at least this. With ``threshold="auto"``, labels
        without a sample have infinity: they are never predicted. Not set for a 1-D `y`.
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

    Neighbours are ordered by distance; of equal distances, the sample with the lowest number comes
    first. scikit-multilearn leaves ties to the search, so predictions can differ where two
    distances are equal, and only there.

    The leave-one-out votes of ``threshold="auto"`` are those of the k nearest other samples, with
    and without `include_self`. Their probabilities come from the same tables as those of new
    samples.

    If labels are unknown, priors and likelihoods are estimated from the samples in which they are
    known. C_l is then the share of label l among the neighbours for which it is known, times k
    and rounded; it is zero if there are none.

    A 1-D `y` holds one class label per sample. The most probable class is then predicted.

    The likelihoods are tables over the counts 0 to k, so a neighbour counts once or not at all:
    votes weighted by distance, or by `sample_weight`, have no such table and are left to
    `BinaryRelevanceKNN`. Here `sample_weight` weighs the training points in the prior
    probabilities and in the likelihoods. There a sample of weight two counts like two, but it
    remains one neighbour. Samples of weight zero are not searched.

    Four things differ from scikit-multilearn. Predictions are dense if `y` is dense, and
    probabilities are always dense, because that is what scikit-learn's scorers and searches
    expect; set `sparse_output` to change it. `classes_` has both values of each label, not those
    found in `y`. Wrong parameters and data raise errors.

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
        "include_self": ["boolean"],
    }

    def __init__(
        self,
        k: int = 10,
        s: float = 1.0,
        *,
        n_jobs: int | None = None,
        metric: Any = "minkowski",
        threshold: float | Literal["auto"] = 0.5,
        algorithm: Any = "auto",
        include_self: bool = True,
        sparse_output: bool | None = None,
    ) -> None:
        self.k = k
        self.s = s
        self.n_jobs = n_jobs
        self.metric = metric
        self.threshold = threshold
        self.algorithm = algorithm
        self.include_self = include_self
        self.sparse_output = sparse_output

    _learns = True

    def _counts_self(self) -> bool:
        return self.include_self

    def _learn(self, neighbors: Neighbors) -> None:
        """Compute both sides of the rule, for each label (row) and count (column)."""
        s, Y, weight = self.s, self._labels, self._weight
        unknown = 0.0 if self._unknown is None else weight @ self._unknown
        known = np.full(len(self.classes_), weight.sum()) - unknown
        true, every = np.zeros((2, len(self.classes_), self.k + 1))
        ends = 0
        for counts in self._votes_of(neighbors):
            rows = slice(ends, ends := ends + counts.shape[0])
            every += self._histogram(counts, weight[rows])
            true += self._histogram(counts.multiply(Y[rows]).tocsr(), weight[rows])
            if self._unknown is not None:
                hidden = counts.multiply(self._unknown[rows]).tocsr()
                every -= self._histogram(hidden, weight[rows])
        # What is not stored in the sparse counts is zero.
        every[:, 0] = known - every.sum(axis=1)
        true[:, 0] = weight @ Y - true.sum(axis=1)
        prior = ((s + weight @ Y) / (s * 2 + known))[:, np.newaxis]
        yes, no = (
            share * ((s + each) / (s * (self.k + 1) + each.sum(axis=1, keepdims=True)))
            for share, each in ((prior, true), (1 - prior, every - true))
        )
        self._probability_table = yes / (yes + no)
        # The probability can be rounded to one half, so it is not compared with that.
        self._is_likelier = yes >= no

    def _histogram(self, counts: sparse.csr_array, weight: Array) -> Array:
        """Return the weight of the samples with each stored count C_l (column) of label l (row)."""
        cells = counts.indices * (self.k + 1) + counts.data.astype(np.intp)
        weights = np.repeat(weight, np.diff(counts.indptr))
        shape = (len(self.classes_), self.k + 1)
        return np.bincount(cells, weights, shape[0] * shape[1]).astype(float).reshape(shape)

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        """Return C_l, how many of the neighbours of each sample carry each label.

        If it is unknown for some, C_l is the share among the others, times k and rounded.
        """
        near = adjacency(neighbors.indices, len(self._weight))
        counts = near @ self._labels
        if self._unknown is not None:
            known = self.k - at_entries(near @ self._unknown, counts)
            counts.data = np.rint(self.k * counts.data / known)
        return counts

    def _probability(self, scores: sparse.csr_array) -> Array:
        probability = self._looked_up(self._probability_table, scores)
        if not self._is_indicator:
            probability /= probability.sum(axis=1, keepdims=True)
        return probability

    def _decision(self, scores: sparse.csr_array) -> NDArray[np.bool_]:
        if self.threshold == 0.5:
            return self._looked_up(self._is_likelier, scores)
        return self._probability(scores) >= self.thresholds_

    def _looked_up(self, table: NDArray[Any], counts: sparse.csr_array) -> NDArray[Any]:
        return table[np.arange(len(table)), counts.toarray().astype(np.intp)]


class BinaryRelevanceKNN(NeighborClassifier):
    """One nearest-neighbour vote per label, with one search for all labels.

    Predictions and probabilities equal those of scikit-multilearn's
    ``BinaryRelevance(KNeighborsClassifier(k))``, which repeats the same search for each label,
    and predictions those of its ``BRkNNaClassifier(k)``, wherever no two distances are equal.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that vote.
    n_jobs : int or None, default=None
        Number of threads of the neighbour search; -1 means all processors, None as many as
        scikit-learn's own loops use.
    weights : {"uniform", "distance", "tricube"} or callable, default="uniform"
        Weight of a neighbour's vote: one; one over its distance d; the smooth (1 − (d/h)³)³,
        where h is the distance of the neighbour k + 1, if there is one; or what a function
        returns for an array of distances, as in scikit-learn. See the notes.
    metric : str or callable, default="minkowski"
        Distance, such as "euclidean" or "cosine"; see
        :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
    threshold : "majority", "auto" or float in [0, 1], default="majority"
        A label is predicted if its share of the votes is at least this; "majority" means more
        than half. "auto" chooses the threshold that maximises macro F1 over the leave-one-out
        votes of the training samples, which takes one search of these samples and an array of all
        samples and labels. For a 1-D `y` there is none.
    algorithm : "auto" or object, default="auto"
        How to search for neighbours. "auto" is an exact search: with SciPy's tree for Euclidean
        distances, many samples and few features, else with scikit-learn. Pass an object with the
        interface of :class:`sklearn.neighbors.KNeighborsTransformer` for approximate search,
        such as ``pynndescent.PyNNDescentTransformer``: ``fit(X)``, and ``transform(X)`` that
        returns a sparse matrix of distances to training samples. It uses its own metric.
    sparse_output : bool or None, default=None
        Whether `predict` and `predict_proba` return sparse matrices. None predicts labels in the
        form of `y` and dense probabilities. True matches scikit-multilearn, whose predictions
        are always sparse.

    Attributes
    ----------
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y`, the values 0 and 1 of each label; for a 1-D `y`, its class labels.
    label_names_ : ndarray of shape (K,)
        The columns of an indicator `y`, by name for a data frame, else by number; for a 1-D
        `y`, its class labels.
    knn_ : object
        The neighbour search, with a method ``kneighbors(X, n_neighbors)``.
    thresholds_ : ndarray of shape (K,)
        A label is predicted if its share of the votes is at least this. With ``threshold="auto"``,
        labels without a sample have infinity: they are never predicted. Not set for a 1-D `y`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had string names for all of them.

    See Also
    --------
    MLkNN : Compares how likely the count is with and without the label.

    Notes
    -----
    The probability of a label is its share of the votes of the k neighbours. By default the label
    is predicted if it has more than half, so half of an even k is not enough. Neighbours are
    ordered by distance; of equal distances, the sample with the lowest number comes first.

    With ``weights="distance"`` a neighbour counts as if its distance was at least a thousandth of
    the kth one. So duplicates outvote all others, but do not silence them, as they do in
    scikit-learn; and rounding does not decide which of several near-duplicates counts. The
    tricube of local regression depends little on k, and suits large k, such as 100; one over the
    distance suits 10 to 20.

    With `sample_weight` a neighbour's vote also counts by its weight. A sample of weight two votes
    twice, but takes only one of the k places; two equal samples take two. So integer weights have
    the effect of repeated samples only where the k places go to the same samples: if all weights
    are w, and the repeated samples vote with k w neighbours. Samples of weight zero are not
    searched.

    Neighbours for which a label is unknown have no vote on it: its probability is its share of
    the votes of the others, and zero if it is unknown for all k neighbours.

    A 1-D `y` holds one class label per sample. The most frequent class is then predicted, as in
    :class:`sklearn.neighbors.KNeighborsClassifier`.

    :class:`skmultilearn.adapt.BRkNNaClassifier` stores `neighbors_` and `confidences_` at every
    prediction. This class does not, so that several threads can predict at the same time: call
    ``knn_.kneighbors(X)`` and ``predict_proba(X)`` instead. Predictions are sparse if `y` is, and
    always with ``sparse_output=True``, as theirs are.

    Examples
    --------
    >>> from skml_kalda import BinaryRelevanceKNN
    >>> X = [[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]]
    >>> y = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> classifier = BinaryRelevanceKNN(k=3).fit(X, y)
    >>> classifier.predict([[0.05], [2.15]])
    array([[1, 0],
           [0, 1]])
    >>> classifier.predict_proba([[0.05], [2.15]]).round(3)
    array([[1.   , 0.333],
           [0.   , 1.   ]])

    The votes of near neighbours can count more, and `top_labels` ranks the labels:

    >>> weighted = BinaryRelevanceKNN(k=3, weights="distance").fit(X, y)
    >>> from skml_kalda import top_labels
    >>> labels, scores = top_labels(weighted, [[0.05], [2.15]], n=1)
    >>> labels.ravel(), scores.ravel()
    (array([0, 1]), array([1., 1.]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborClassifier._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance", "tricube"}), callable],
        "threshold": [StrOptions({"majority", "auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        k: int = 10,
        n_jobs: int | None = None,
        *,
        weights: _Weights = "uniform",
        metric: Any = "minkowski",
        threshold: float | Literal["majority", "auto"] = "majority",
        algorithm: Any = "auto",
        sparse_output: bool | None = None,
    ) -> None:
        self.k = k
        self.n_jobs = n_jobs
        self.weights = weights
        self.metric = metric
        self.threshold = threshold
        self.algorithm = algorithm
        self.sparse_output = sparse_output

    def _fixed_threshold(self) -> float:
        # The lowest share that is more than half.
        return float(np.nextafter(0.5, 1) if self.threshold == "majority" else self.threshold)

    def _reach(self, dropped: int = 0) -> int:
        # The tricube's bandwidth is the distance of the next neighbour, if there is one.
        wanted = self.k + (isinstance(self.weights, str) and self.weights == "tricube") + dropped
        return min(wanted, len(self._weight))

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        indices = neighbors.nearest(self.k).indices
        weights = vote_weights(self.weights, neighbors.distances, self.k) * self._weight[indices]
        return vote_shares(indices, weights, self._labels, self._unknown)

    def _probability(self, scores: sparse.csr_array) -> sparse.csr_array:
        return scores

    def _decision(self, scores: sparse.csr_array) -> Any:
        if self.thresholds_.min() <= 0:
            return scores.toarray() >= self.thresholds_
        reached = scores.data >= self.thresholds_[scores.indices]
        return sparse.csr_array((reached, scores.indices, scores.indptr), shape=scores.shape)
