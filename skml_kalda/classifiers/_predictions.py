"""Predictions of a classifier in the form of y: dense, sparse, data frame, or the top labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_scalar
from sklearn.utils.validation import _num_samples, check_is_fitted

from skml_kalda._core.arrays import batches
from skml_kalda._core.labels import Indicator, sparse_form
from skml_kalda._core.thresholds import label_scores


class LabelPredictor(ABC):
    """Base of classifiers that score labels, for batches of samples, dense or CSR.

    Scores are what probabilities and decisions are computed from, such as votes or log-odds.
    """

    classes_: NDArray[Any]
    label_names_: NDArray[Any]
    sparse_output: bool | None = None

    @abstractmethod
    def _scores(self, X: Any) -> Iterator[Any]:
        """Check X, and return the scores of batches of its samples, each of shape (m, K)."""

    @abstractmethod
    def _probability(self, scores: Any) -> Any:
        """Return the probabilities of labels with these scores."""

    @abstractmethod
    def _decision(self, scores: Any) -> Any:
        """Return which labels of an indicator are predicted from these scores."""

    def _keep_form(self, y: Any, Y: Indicator) -> None:
        """Remember the form of y, which is that of predictions."""
        if not Y.matrix.nnz:
            raise ValueError("y has no label in any sample: pass samples that have labels.")
        self._is_indicator = Y.is_matrix
        self._sparse_form = sparse_form(y)
        self._named = hasattr(y, "columns")

    def _set_classes(self, names: NDArray[Any]) -> None:
        """Set `label_names_`, and `classes_` as scikit-learn's scorers need them."""
        self.label_names_ = names
        self.classes_ = np.tile([0, 1], (len(names), 1)) if self._is_indicator else names

    def predict(self, X: Any) -> Any:
        """Predict the labels.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            The samples.

        Returns
        -------
        ndarray of shape (m,) or (m, K), or sparse or data frame of shape (m, K)
            In the form of the `y` given to fit: class labels, or a 0/1 indicator that is dense,
            a CSR matrix or a CSR array. If `X` and that `y` are data frames, a data frame with the
            labels as columns and the index of `X`.
        """
        scores = self._scores(X)
        if not self._is_indicator:
            best = [dense(self._probability(part)).argmax(axis=1) for part in scores]
            return self.classes_[np.concatenate(best)]
        labels = (self._decision(part).astype(np.int64) for part in scores)
        is_sparse = self._sparse_form is not None
        return self._assembled(
            labels, X, is_sparse if self.sparse_output is None else self.sparse_output
        )

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each label.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            The samples.

        Returns
        -------
        ndarray, data frame or sparse of shape (m, K)
            For an indicator `y`, the probability that a sample has a label. For a 1-D `y`, the
            probabilities of the classes, which sum to one. A data frame where `predict` returns
            one; sparse if `sparse_output` is True, where there is such a parameter.
        """
        return self._assembled(self._probabilities(X), X, bool(self.sparse_output))

    def _probabilities(self, X: Any) -> Iterator[Any]:
        return map(self._probability, self._scores(X))

    def _assembled(self, parts: Iterator[Any], X: Any, as_sparse: bool) -> Any:
        """Stack batches of samples: a data frame, a dense array, or sparse in the form of y."""
        if as_sparse:
            form = self._sparse_form or sparse.csr_matrix
            return form(sparse.vstack([sparse.csr_array(part) for part in parts]))
        labels = np.concatenate([dense(part) for part in parts])
        named = self._is_indicator and self._named
        return framed_like(X, labels, self.label_names_) if named else labels


def framed_like(X: Any, labels: NDArray[Any], names: Any) -> Any:
    """Return labels as a data frame of the library of X, with its index; unchanged if X is none."""
    library = type(X).__module__.partition(".")[0] if hasattr(X, "columns") else None
    if library == "polars":
        return type(X)(labels, schema=list(map(str, names)))
    if library == "pandas":
        return type(X)(labels, columns=names, index=X.index)
    return labels


def top_labels(
    classifier: Any, X: Any, n: int = 5, *, names: Any = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the most probable labels of each sample, for example the tags of a text.

    Samples are scored in batches, so no array of all samples and labels is made.

    Parameters
    ----------
    classifier : fitted classifier, Pipeline or search
        Anything with ``predict_proba`` or ``decision_function``, of this package, scikit-learn or
        scikit-multilearn.
    X : array-like or sparse of shape (n_samples, n_features), or a list of texts
        The samples, in any form that the classifier accepts.
    n : int, default=5
        How many labels, at most as many as there are.
    names : sequence of length n_labels, default=None
        Names of the labels. None means those that the classifier has learned: classes, columns of
        a data frame, or else numbers of columns.

    Returns
    -------
    labels : ndarray of shape (n_samples, n)
        Names of labels. The most probable label comes first; of equally probable labels, the one
        that comes first in `y`.
    scores : ndarray of shape (n_samples, n)
        Their probabilities, or decisions.

    See Also
    --------
    skml_kalda.metrics.precision_at_k : How many of the top labels are true.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from skml_kalda import top_labels
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> model = OneVsRestClassifier(LogisticRegression(max_iter=5000)).fit(X, y)
    >>> labels, probabilities = top_labels(model, X[:1], n=2, names=y.columns)
    >>> labels
    array([['relaxing-calm', 'sad-lonely']], dtype=object)
    """
    check_is_fitted(classifier)
    known = _learned_names(classifier) if names is None else np.asarray(names)
    check_scalar(n, "n", Integral, min_val=1, max_val=len(known))
    if isinstance(classifier, Pipeline) and isinstance(classifier[-1], LabelPredictor):
        X, classifier = classifier[:-1].transform(X), classifier[-1]
    if isinstance(classifier, LabelPredictor):
        if len(known) != len(classifier.label_names_):
            raise ValueError(
                f"names has {len(known)} names, but the classifier has "
                f"{len(classifier.label_names_)} labels: pass one name for each."
            )
        parts = classifier._probabilities(X)
    else:
        rows = batches(_num_samples(X), 4 * len(known))
        parts = (label_scores(classifier, _safe_indexing(X, each), len(known)) for each in rows)
    labels, scores = zip(*(_top(part, n) for part in parts), strict=True)
    return known[np.concatenate(labels)], np.concatenate(scores)


def _learned_names(classifier: Any) -> NDArray[Any]:
    """Return the names of the labels that a classifier was fitted with, or their numbers."""
    if isinstance(classifier, Pipeline):
        return _learned_names(classifier[-1])
    if hasattr(classifier, "label_names_"):
        return np.asarray(classifier.label_names_)
    for inner in ("best_estimator_", "estimator_"):  # of a search, of tuned thresholds
        if hasattr(classifier, inner):
            return _learned_names(getattr(classifier, inner))
    if not hasattr(classifier, "classes_"):
        raise ValueError(
            f"{type(classifier).__name__} does not tell its labels: pass their names, one for each "
            "column of y, for example names=range(n_labels)."
        )
    classes = classifier.classes_
    is_list = isinstance(classes, list) or np.ndim(classes) > 1
    return np.arange(len(classes)) if is_list else np.asarray(classes)


def dense(part: Any) -> NDArray[Any]:
    """Return a batch as a dense array."""
    return part.toarray() if sparse.issparse(part) else part


def _top(scores: Any, n: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the columns and values of the n highest scores of each row, highest first.

    What is not stored in a CSR is zero, and no stored score is negative. Of equal scores, the
    lowest column comes first.
    """
    m = scores.shape[0]
    if sparse.issparse(scores):
        # The stored scores, and the first n labels of each row, in case zeros are needed.
        stored = scores.tocoo()
        places = (
            np.concatenate([stored.row, np.repeat(np.arange(m), n)]),
            np.concatenate([stored.col, np.tile(np.arange(n), m)]),
        )
        values = np.concatenate([stored.data, np.zeros(m * n, dtype=scores.dtype)])
        # Sums duplicates, and keeps zeros.
        merged = sparse.coo_array((values, places), shape=scores.shape).tocsr().tocoo()
        rows, labels, values = merged.row, merged.col, merged.data
    else:
        lowest = np.partition(scores, scores.shape[1] - n, axis=1)[:, [scores.shape[1] - n]]
        rows, labels = np.nonzero(scores >= lowest)
        values = scores[rows, labels]
    order = np.lexsort((labels, -values, rows))
    first = np.searchsorted(rows[order], np.arange(m))
    top = order[first[:, np.newaxis] + np.arange(n)]
    return labels[top], values[top]
