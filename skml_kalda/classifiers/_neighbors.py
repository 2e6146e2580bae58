"""Base of the neighbour classifiers: one search, label counts and a look-up table."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from skmultilearn.base import MLClassifierBase

from skml_kalda._core.arrays import batches, canonical
from skml_kalda._core.labels import indicator, sparse_form
from skml_kalda._core.neighbors import adjacency

_METRICS = {"precomputed"}.union(*VALID_METRICS.values())


class NeighborCountClassifier(MLClassifierBase, metaclass=ABCMeta):
    """Base of the classifiers that depend only on the label counts of the nearest neighbours.

    The prediction of a label depends only on how many of the k neighbours carry it, 0 to k. So
    a subclass returns two tables of shape (K, k + 1): the probability of every label for every
    count, and the decision. This class searches, counts, and formats the prediction.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(_METRICS), callable],
        "n_jobs": [Integral, None],
        "sparse_output": ["boolean", None],
    }

    k: int
    metric: Any
    n_jobs: int | None
    sparse_output: bool | None

    @property
    def copyable_attrs(self) -> list[str]:
        """The names of the parameters, which scikit-multilearn's get_params reads."""
        # Read from the signature, because __init__ sets the parameters and nothing else.
        return self._get_param_names()

    @property
    def knn_(self) -> NearestNeighbors:
        """The neighbour search. Before `fit` it is the one that `fit` would use, not fitted."""
        fitted: NearestNeighbors | None = vars(self).get("_search")
        return self._new_search() if fitted is None else fitted

    def _new_search(self) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=self.k, metric=self.metric, n_jobs=self.n_jobs)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data, or a square distance matrix if `metric` is "precomputed".
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix of 0 and 1, dense or sparse; or one class label per row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._label_cache, classes, is_matrix, _ = indicator(y)
        X = canonical(validate_data(self, X, accept_sparse="csr"))
        check_consistent_length(X, self._label_cache)
        self._num_instances, self._num_labels = self._label_cache.shape
        self._sparse_form = sparse_form(y)
        self.classes_ = np.tile([0, 1], (self._num_labels, 1)) if is_matrix else classes
        self._check_enough_rows()
        self._search = self._new_search().fit(X)
        self._fit_counts(X)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Query points.

        Returns
        -------
        ndarray of shape (m,) or (m, K), or sparse of shape (m, K)
            Class labels if `y` had one dimension, else a 0/1 indicator. It is sparse if
            `sparse_output` is True, or if that is None and `y` was sparse.
        """
        if self._is_single_label():
            best = [batch.argmax(axis=1) for batch in self._probabilities(X)]
            return self.classes_[np.concatenate(best)]
        _, decision = self._tables()
        batches = self._look_up(decision.astype(np.int64), X)
        as_sparse = self._sparse_form is not None
        return self._assembled(
            batches, as_sparse if self.sparse_output is None else self.sparse_output
        )

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each label for each row.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Query points.

        Returns
        -------
        ndarray of shape (m, K), or sparse if `sparse_output` is True
            For an indicator `y`, the probability that row i has label j, in [0, 1]. For a 1-D
            `y`, these are scaled so that each row sums to one, because classes are mutually
            exclusive.
        """
        return self._assembled(self._probabilities(X), bool(self.sparse_output))

    def _probabilities(self, X: Any) -> Iterator[NDArray[np.float64]]:
        single_label = self._is_single_label()
        probability, _ = self._tables()
        for batch in self._look_up(probability, X):
            yield batch / batch.sum(axis=1, keepdims=True) if single_label else batch

    def _assembled(self, batches: Iterator[NDArray[Any]], as_sparse: bool) -> Any:
        """Stack batches of rows: a dense array, or sparse as `y` was, or a CSR matrix."""
        if not as_sparse:
            return np.concatenate(list(batches))
        form = self._sparse_form or sparse.csr_matrix
        return form(sparse.vstack([sparse.csr_array(batch) for batch in batches]))

    @abstractmethod
    def _tables(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the probability and the decision for each label and count, of shape (K, k + 1)."""

    def _fit_counts(self, X: Any) -> None:
        """Learn from the neighbourhoods of the training points; does nothing by default."""

    def _ignored(self) -> int:
        """Return how many of the nearest neighbours are not counted."""
        return 0

    def _is_single_label(self) -> bool:
        check_is_fitted(self)
        return self.classes_.ndim == 1

    def _rows_needed(self) -> int:
        return self.k + self._ignored()

    def _check_enough_rows(self) -> None:
        needed = self._rows_needed()
        if self._num_instances < needed:
            raise ValueError(
                f"k={self.k} needs at least {needed} training rows, but X has "
                f"n_samples={self._num_instances}: lower k or pass more rows."
            )

    def _neighbors(self, X: Any) -> NDArray[np.intp]:
        # One search for all rows rather than one per batch: scikit-learn bounds its own memory, and
        # which of several equidistant points it finds depends on the rows searched together.
        found = self.knn_.kneighbors(X, self.k + self._ignored(), return_distance=False)
        return found[:, self._ignored() :]

    def _counts(self, neighbors: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Yield the count of each label among the neighbours of each row, by batches of rows."""
        for rows in batches(neighbors.shape[0], 4 * self._num_labels + 2 * self.k):
            counts = adjacency(neighbors[rows], self._num_instances) @ self._label_cache
            yield rows, counts.toarray().astype(np.intp)

    def _look_up(self, table: NDArray[Any], X: Any) -> Iterator[NDArray[Any]]:
        X = canonical(validate_data(self, X, accept_sparse="csr", reset=False))
        labels = np.arange(self._num_labels)
        for _, counts in self._counts(self._neighbors(X)):
            yield table[labels, counts]

    def __sklearn_tags__(self) -> Tags:
        # scikit-multilearn's base class lists BaseEstimator before ClassifierMixin, so its tags do
        # not say that it is a classifier.
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags
