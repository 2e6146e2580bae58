"""Base of the neighbour classifiers: one search for all labels, and the form of predictions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.neighbors import VALID_METRICS
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    validate_data,
)
from skmultilearn.base import MLClassifierBase

from skml_kalda._core.arrays import Array, batches, sum_duplicates, checked_weights
from skml_kalda._core.frames import frame_library, label_frame
from skml_kalda._core.arrays import check_distances
from skml_kalda._core.labels import indicator, sparse_form
from skml_kalda._core.nearest import EUCLIDEAN, GraphSearch, NearestRows, Neighbors
from skml_kalda._core.scores.thresholds import Cells, best_threshold_of_cells
from skml_kalda.classifiers._top_labels import TopLabelsMixin

_METRICS = {"precomputed"}.union(*VALID_METRICS.values())


class NeighborClassifier(TopLabelsMixin, MLClassifierBase, metaclass=ABCMeta):
    """Base of the classifiers that predict labels from the nearest neighbours.

    This class validates, searches, and formats the prediction. A subclass turns neighbours into
    votes on labels, and votes into probabilities and labels.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(_METRICS), callable],
        "algorithm": [StrOptions({"auto"}), HasMethods(["fit", "transform"])],
        "threshold": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "n_jobs": [Integral, None],
        "sparse_output": ["boolean", None],
        "as_frame": ["boolean"],
    }

    k: int
    metric: Any
    algorithm: Any
    threshold: float | Literal["auto"]
    n_jobs: int | None
    sparse_output: bool | None
    as_frame: bool

    @property
    def copyable_attrs(self) -> list[str]:
        """The names of the parameters, which scikit-multilearn's get_params reads."""
        # Read from the signature, because __init__ sets the parameters and nothing else.
        return self._get_param_names()

    @property
    def knn_(self) -> NearestRows | GraphSearch:
        """The neighbour search. Before `fit` it is the one that `fit` would use, not fitted."""
        fitted: NearestRows | GraphSearch | None = vars(self).get("_search")
        return self._new_search() if fitted is None else fitted

    def _new_search(self) -> NearestRows | GraphSearch:
        if isinstance(self.algorithm, str):
            return NearestRows(self.k, metric=self.metric, n_jobs=self.n_jobs)
        if self.metric != "minkowski":
            raise ValueError(
                f"metric={self.metric!r} has no effect on algorithm={self.algorithm!r}: set the "
                "metric of that object."
            )
        # One more than is counted, because a training row finds itself.
        return GraphSearch(self.algorithm, self.k + self._ignored() + 1)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data, or a square distance matrix if `metric` is "precomputed".
        y : {array-like, sparse} of shape (n, K) or (n,)
            Indicator matrix of 0 and 1, dense or sparse; or one class label per row. The columns
            of a data frame name the labels. NaN in a matrix is an unknown label: the row then
            has no vote on it.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None means one. Rows of weight zero are left out. See the notes
            of the class for the effect of other weights.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._label_cache, names, is_matrix, self._unknown = indicator(y, allow_unknown=True)
        X = self._validated(X, reset=True)
        check_consistent_length(X, self._label_cache)
        X = self._weighted_rows(X, sample_weight)
        self._num_instances, self._num_labels = self._label_cache.shape
        self._sparse_form, self._frame_library = sparse_form(y), frame_library(y)
        self.label_names_ = names
        self.classes_ = np.tile([0, 1], (self._num_labels, 1)) if is_matrix else names
        self._check_enough_rows()
        self._search = self._new_search().fit(X)
        self._fit_votes(X)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Query points.

        Returns
        -------
        ndarray of shape (m,) or (m, K), or sparse or data frame of shape (m, K)
            Class labels if `y` had one dimension, else a 0/1 indicator. It is a data frame if
            `as_frame` is True, else sparse if `sparse_output` is True, or if that is None and
            `y` was sparse.
        """
        votes = self._votes_of(X)
        if self._is_single_label():
            best = [_dense(self._probability(part)).argmax(axis=1) for part in votes]
            return self.classes_[np.concatenate(best)]
        labels = (self._decision(part).astype(np.int64) for part in votes)
        as_sparse = self._sparse_form is not None
        return self._assembled(
            labels, X, as_sparse if self.sparse_output is None else self.sparse_output
        )

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each label for each row.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Query points.

        Returns
        -------
        ndarray, data frame or sparse of shape (m, K)
            Dense unless `as_frame` or `sparse_output` is True. For an indicator `y`, the
            probability that row i has label j, in [0, 1]. For a 1-D `y`, each row sums to one,
            because classes are mutually exclusive.
        """
        return self._assembled(self._probabilities(X), X, bool(self.sparse_output))

    @abstractmethod
    def _votes(self, neighbors: Neighbors) -> sparse.csr_array:
        """Return the votes that labels get from the neighbours of each row, shape (m, K)."""

    @abstractmethod
    def _probability(self, votes: sparse.csr_array) -> Any:
        """Return the probabilities of labels with these votes, dense or CSR."""

    @abstractmethod
    def _decision(self, votes: sparse.csr_array) -> Any:
        """Return which labels are predicted from these votes, dense or CSR."""

    def _fit_votes(self, X: Any) -> None:
        """Learn from the neighbourhoods of the training points; does nothing by default."""

    def _ignored(self) -> int:
        """Return how many of the nearest neighbours are not counted."""
        return 0

    def _leaves_one_out(self) -> bool:
        """Whether fit needs the neighbours of the training rows without the rows themselves."""
        return self.threshold == "auto" and not self._is_single_label()

    def _rows_needed(self) -> int:
        return self.k + self._ignored() + self._leaves_one_out()

    def _probabilities(self, X: Any) -> Iterator[Any]:
        return map(self._probability, self._votes_of(X))

    def _votes_of(self, X: Any) -> Iterator[sparse.csr_array]:
        """Check X, and return the votes of batches of its rows."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        neighbors = self._neighbors(X)
        return (self._votes(neighbors.at(rows)) for rows in self._batches(X.shape[0]))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = sum_duplicates(validate_data(self, X, accept_sparse="csr", reset=reset))
        if isinstance(self.metric, str) and self.metric in (*EUCLIDEAN, "cosine"):
            check_distances(X, getattr(self, "feature_names_in_", None), query=not reset)
        return X

    def _batches(self, n: int) -> Iterator[slice]:
        return batches(n, 4 * self._num_labels + 2 * self.k)

    def _assembled(self, parts: Iterator[Any], X: Any, as_sparse: bool) -> Any:
        """Stack batches of rows: a frame, a dense array, sparse as `y` was, or a CSR matrix."""
        if self.as_frame and not self._is_single_label():
            labels = np.concatenate([_dense(part) for part in parts])
            return label_frame(labels, self.label_names_, X, self._frame_library)
        if not as_sparse:
            return np.concatenate([_dense(part) for part in parts])
        form = self._sparse_form or sparse.csr_matrix
        return form(sparse.vstack([sparse.csr_array(part) for part in parts]))

    def _is_single_label(self) -> bool:
        return self.classes_.ndim == 1

    def _column_names(self) -> NDArray[Any] | None:
        return None if self._is_single_label() else self.label_names_

    def _known_weight(self, weight: Array) -> Array:
        """Return the weight of the rows in which each label is known, shape (K,)."""
        unknown = 0.0 if self._unknown is None else weight @ self._unknown
        return np.full(self._num_labels, weight.sum()) - unknown

    def _weighted_rows(self, X: Any, sample_weight: Any) -> Any:
        """Keep the weights, and leave out rows and labels of weight zero."""
        self._weight: NDArray[np.float64] | None = None
        if sample_weight is None:
            return X
        weight = checked_weights(sample_weight, X)
        counted = np.flatnonzero(weight)
        if len(counted) == len(weight):
            self._weight = weight
            return X
        if self._is_precomputed():
            raise ValueError(
                f"sample_weight is zero for {len(weight) - len(counted)} rows, which "
                'metric="precomputed" cannot leave out: remove their rows and columns.'
            )
        self._weight, self._label_cache = weight[counted], self._label_cache[counted]
        if self._unknown is not None:
            self._unknown = self._unknown[counted]
        return X[counted]

    def _check_enough_rows(self) -> None:
        needed = self._rows_needed()
        if self._num_instances < needed:
            counted = "n_samples" if self._weight is None else "rows of positive weight, n_samples"
            raise ValueError(
                f"k={self.k} needs at least {needed} training rows, but X has "
                f"{counted}={self._num_instances}: lower k or pass more rows."
            )

    def _neighbors(self, X: Any) -> Neighbors:
        # One search for all rows, which bounds its own memory.
        return self._counted(Neighbors(*self.knn_.kneighbors(X, self.k + self._ignored())))

    def _counted(self, found: Neighbors) -> Neighbors:
        return found.between(self._ignored(), self.k + self._ignored())

    def _best_thresholds(self, cells: Iterable[Cells]) -> NDArray[np.float64]:
        """Return one threshold for all labels; infinite for labels without a row."""
        occupied = self._label_cache.sum(axis=0) > 0
        return np.where(occupied, best_threshold_of_cells(cells), np.inf)

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


def _dense(part: Any) -> NDArray[Any]:
    return part.toarray() if sparse.issparse(part) else part
