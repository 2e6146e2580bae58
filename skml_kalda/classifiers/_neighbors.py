"""What the neighbour classifiers share: one search, counted labels, a look-up table."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.neighbors import VALID_METRICS, NearestNeighbors
from sklearn.utils import ClassifierTags, Tags, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from skmultilearn.base import MLClassifierBase

from skml_kalda._labels import indicator
from skml_kalda._votes import adjacency

_METRICS = {"precomputed"}.union(*VALID_METRICS.values())


class NeighborCountClassifier(MLClassifierBase, metaclass=ABCMeta):
    """Base of the classifiers that see a point only through its neighbours' label counts.

    How many of the k neighbours carry a label, 0 to k, decides on that label alone. So a
    subclass gives one table of shape (K, k + 1) with the probability of every label for every
    count, and one with the decision; the rest is here: the search, the counting and the form
    of the answer.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(_METRICS), callable],
        "n_jobs": [Integral, None],
    }

    k: int
    metric: Any
    n_jobs: int | None

    @property
    def copyable_attrs(self) -> list[str]:
        """The names of the parameters, which scikit-multilearn's get_params reads."""
        # Read from the signature: what __init__ sets are the parameters, and nothing else.
        return self._get_param_names()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data; square distances if `metric` is "precomputed".
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix of 0 and 1, dense or sparse; or one class label per row.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._label_cache, classes, is_matrix = indicator(y)
        X = validate_data(self, X, accept_sparse="csr")
        check_consistent_length(X, self._label_cache)
        self._num_instances, self._num_labels = self._label_cache.shape
        self._sparse_form = _sparse_form(y)
        self.classes_ = np.tile([0, 1], (self._num_labels, 1)) if is_matrix else classes
        self._check_enough_rows()
        self.knn_ = NearestNeighbors(n_neighbors=self.k, metric=self.metric, n_jobs=self.n_jobs)
        self.knn_.fit(X)
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
            In the form of the `y` given to fit: class labels, or a 0/1 indicator that is
            dense, a CSR matrix or a CSR array.
        """
        if self._is_single_label():
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        _, decision = self._tables()
        batches = self._look_up(decision.astype(np.int64), X)
        if self._sparse_form is None:
            return np.concatenate(list(batches))
        return self._sparse_form(sparse.vstack([sparse.csr_array(batch) for batch in batches]))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each label for each row.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Query points.

        Returns
        -------
        ndarray of shape (m, K)
            For an indicator `y`, the probability that row i has label j, in [0, 1]. For a 1-D
            `y`, the same scaled so that each row sums to one, as the classes exclude another.
        """
        single_label = self._is_single_label()
        probability, _ = self._tables()
        result = np.concatenate(list(self._look_up(probability, X)))
        return result / result.sum(axis=1, keepdims=True) if single_label else result

    @abstractmethod
    def _tables(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Probability and decision for each label and count, both of shape (K, k + 1)."""

    def _fit_counts(self, X: Any) -> None:
        """Learn from the training points' own neighbourhoods; not every method does."""

    def _ignored(self) -> int:
        """Nearest neighbours that are found, but not counted."""
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
        # One search for all rows, not one per batch: scikit-learn bounds its memory itself, and
        # which of several equally distant points it finds depends on the rows searched together.
        found = self.knn_.kneighbors(X, self.k + self._ignored(), return_distance=False)
        return found[:, self._ignored() :]

    def _counts(self, neighbors: NDArray[np.intp]) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Count each label among the neighbours of each row, one batch of rows at a time."""
        bytes_per_row = 8 * (4 * self._num_labels + 2 * self.k)
        batch_size = max(1, int(get_config()["working_memory"] * 2**20) // bytes_per_row)
        for rows in gen_batches(neighbors.shape[0], batch_size):
            counts = adjacency(neighbors[rows], self._num_instances) @ self._label_cache
            yield rows, counts.toarray().astype(np.intp)

    def _look_up(self, table: NDArray[Any], X: Any) -> Iterator[NDArray[Any]]:
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        labels = np.arange(self._num_labels)
        for _, counts in self._counts(self._neighbors(X)):
            yield table[labels, counts]

    def __sklearn_tags__(self) -> Tags:
        # The framework's base class names BaseEstimator before ClassifierMixin, so that
        # scikit-learn does not take it for a classifier by itself.
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _sparse_form(y: Any) -> type | None:
    if not sparse.issparse(y):
        return None
    return sparse.csr_array if isinstance(y, sparse.sparray) else sparse.csr_matrix
