"""Binary relevance with k nearest neighbours, searched once for all labels."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from skml_kalda._core.neighbors import Neighbors, inverse_distances, vote_shares
from skml_kalda.classifiers._neighbors import NeighborClassifier


class BinaryRelevanceKNN(NeighborClassifier):
    """One nearest-neighbour vote per label, with one search for all labels.

    Predictions and probabilities equal those of scikit-multilearn's
    ``BinaryRelevance(KNeighborsClassifier(k))``, which repeats the same search for each label,
    and predictions those of its ``BRkNNaClassifier(k)``.

    Parameters
    ----------
    k : int, default=10
        Number of neighbours that vote.
    n_jobs : int or None, default=None
        Number of parallel jobs for the neighbour search; -1 means all processors.
    weights : {"uniform", "distance"}, default="uniform"
        What the vote of a neighbour counts: one, or one over its distance. In the second case
        neighbours at distance zero, if there are any, vote alone.
    metric : str or callable, default="minkowski"
        Distance, such as "euclidean" or "cosine"; see
        :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
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
    MLkNN : Compares how likely the count is with and without the label.

    Notes
    -----
    The probability of a label is the share of the votes of the k neighbours that it has. The label
    is predicted if it has more than half, so half of an even k is not enough.

    With `sample_weight` a neighbour's vote also counts by its weight. A row of weight two votes
    twice, but takes only one of the k places; two equal rows take two. So integer weights equal
    repeated rows where the k places go to the same rows: if all weights are w, and the repeated
    rows are asked for k w neighbours. Rows of weight zero are not searched.

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
        sparse_output: bool | None = None,
    ) -> None:
        self.k = k
        self.n_jobs = n_jobs
        self.weights = weights
        self.metric = metric
        self.sparse_output = sparse_output

    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        if self.weights == "distance":
            weights = inverse_distances(neighbors.distances)
        else:
            weights = np.ones(neighbors.indices.shape)
        if self._weight is not None:
            weights *= self._weight[neighbors.indices]
        return vote_shares(neighbors.indices, weights, self._label_cache)

    def _probability(self, votes: sparse.csr_array) -> sparse.csr_array:
        return votes

    def _decision(self, votes: sparse.csr_array) -> sparse.csr_array:
        return votes > 0.5
