"""Binary relevance with k nearest neighbours, searched once for all labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from skml_kalda._core.nearest import Neighbors
from skml_kalda._core.neighbors import inverse_distances, vote_shares
from skml_kalda._core.scores.ranking import entries
from skml_kalda._core.scores.thresholds import Cells
from skml_kalda.classifiers._neighbors import NeighborClassifier


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
    weights : {"uniform", "distance"}, default="uniform"
        Weight of a neighbour's vote: one, or one over its distance. In the second case
        neighbours at distance zero, if there are any, vote alone.
    metric : str or callable, default="minkowski"
        Distance, such as "euclidean" or "cosine"; see
        :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
    threshold : float in [0, 1] or "auto", default=0.5
        A label is predicted if its share of the votes is above this. "auto" chooses the threshold
        that maximises macro F1 over the leave-one-out votes of the training rows, at the cost of
        one search of these rows. For a 1-D `y` there is no threshold.
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
        Only with ``threshold="auto"``: a label is predicted if its share of the votes is at least
        this. All are equal, except that labels without a row have infinity: they are never
        predicted.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` had string names for all of them.

    See Also
    --------
    MLkNN : Compares how likely the count is with and without the label.

    Notes
    -----
    The probability of a label is its share of the votes of the k neighbours. The label
    is predicted if it has more than half, so half of an even k is not enough. Neighbours are
    ordered by distance; of equal distances, the row with the lowest number comes first.

    With `sample_weight` a neighbour's vote also counts by its weight. A row of weight two votes
    twice, but takes only one of the k places; two equal rows take two. So integer weights have
    the effect of repeated rows only where the k places go to the same rows: if all weights are
    w, and the repeated rows vote with k w neighbours. Rows of weight zero are not searched.

    Neighbours for which a label is unknown have no vote on it: its probability is its share of
    the votes of the others, and zero if it is unknown for all k neighbours.

    A 1-D `y` holds one class label per row. The most frequent class is then predicted, as in
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
    >>> labels, scores = weighted.top_labels([[0.05], [2.15]], n=1)
    >>> labels.ravel(), scores.ravel()
    (array([0, 1]), array([1., 1.]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborClassifier._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"})],
    }

    def __init__(
        self,
        k: int = 10,
        n_jobs: int | None = None,
        *,
        weights: Literal["uniform", "distance"] = "uniform",
        metric: Any = "minkowski",
        threshold: float | Literal["auto"] = 0.5,
        algorithm: Any = "auto",
        sparse_output: bool | None = None,
        as_frame: bool = False,
    ) -> None:
        self.k = k
        self.n_jobs = n_jobs
        self.weights = weights
        self.metric = metric
        self.threshold = threshold
        self.algorithm = algorithm
        self.sparse_output = sparse_output
        self.as_frame = as_frame

    def _fit_votes(self, X: Any) -> None:
        if self._leaves_one_out():
            found = Neighbors(*self.knn_.kneighbors(X, self.k + 1)).without_self()
            parts = (self._votes(found.at(rows)) for rows in self._batches(self._num_instances))
            votes = sparse.vstack(list(parts), format="csc")
            self.best_thresholds_ = self._best_thresholds(self._cells(votes))

    def _cells(self, votes: sparse.csc_array) -> Iterator[Cells]:
        """Yield the votes on each label, and one cell for all rows without a vote on it."""
        n, K = votes.shape
        labels = np.repeat(np.arange(K), np.diff(votes.indptr))
        hits = entries(self._label_cache, votes.indices, labels)
        counted = np.ones(len(hits))
        if self._unknown is not None:
            counted -= entries(self._unknown, votes.indices, labels)
        positive, known = self._label_cache.sum(axis=0), self._known_weight(np.ones(n))
        for label in range(K):
            part = slice(*votes.indptr[label : label + 2])
            met, rows = hits[part], counted[part]
            yield Cells(
                np.append(votes.data[part], 0.0),
                np.append(met, positive[label] - met.sum()),
                np.append(rows, known[label] - rows.sum()),
            )

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        if self.weights == "distance":
            weights = inverse_distances(neighbors.distances)
        else:
            weights = np.ones(neighbors.indices.shape)
        if self._weight is not None:
            weights *= self._weight[neighbors.indices]
        return vote_shares(neighbors.indices, weights, self._label_cache, self._unknown)

    def _probability(self, votes: sparse.csr_array) -> sparse.csr_array:
        return votes

    def _decision(self, votes: sparse.csr_array) -> Any:
        if self.threshold == "auto":
            return votes.toarray() >= self.best_thresholds_
        return votes > self.threshold
