"""Classifiers of any library behind one interface: predicted labels, and scores to rank them by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import get_tags

from skml_kalda._core.thresholds import RESPONSES, label_scores


@dataclass(frozen=True)
class LabelClassifier:
    """A classifier fitted to the labels that vary in the training rows.

    Most classifiers cannot be fitted to a label that all training rows have, or none. Such a label
    is predicted as the training rows have it.
    """

    fitted: Any
    constant: Any
    """The value of each label that does not vary, NaN for the others; None for one class a row."""

    @classmethod
    def fit(cls, classifier: Any, X: Any, y: Any) -> Self:
        """Fit a classifier; one that takes a single label is fitted to each label by itself."""
        if y.ndim == 1:
            return cls(classifier.fit(X, y), None)
        low, high = y.min(axis=0), y.max(axis=0)
        constant = np.where(low == high, low, np.nan)
        varies = np.isnan(constant)
        return cls(_fitted(classifier, X, y[:, varies]) if varies.any() else None, constant)

    def predict(self, X: Any) -> Any:
        """Return the class of each row, or an indicator of its labels."""
        if self.constant is None:
            return self.fitted.predict(X)
        return self._with_constants(self._predict, X, self.constant).astype(int)

    def scores(self, X: Any) -> Any:
        """Return a score for each row and label, or None if the classifier has no scores."""
        if self.constant is None or not _has_scores(self.fitted):
            return None
        found = self._with_constants(self._scores, X, np.zeros(len(self.constant)))
        # Constant labels come before or after all others.
        far = np.where(self.constant > 0, found.max() + 1, found.min() - 1)
        return np.where(np.isnan(self.constant), found, far)

    def _with_constants(self, answer: Any, X: Any, constant: Any) -> Any:
        whole = np.tile(constant.astype(float), (X.shape[0], 1))
        varies = np.isnan(self.constant)
        if varies.any():
            whole[:, varies] = answer(X).reshape(X.shape[0], -1)
        return whole

    def _predict(self, X: Any) -> Any:
        return _dense(self.fitted.predict(_features(self.fitted, X)))

    def _scores(self, X: Any) -> Any:
        n_labels = int(np.isnan(self.constant).sum())
        return _dense(label_scores(self.fitted, _features(self.fitted, X), n_labels))


def _fitted(classifier: Any, X: Any, y: Any) -> Any:
    if _of_scikit_multilearn(classifier):
        return classifier.fit(_features(classifier, X), sparse.csr_matrix(y.astype(int)))
    tags = get_tags(classifier)
    several = tags.target_tags.multi_output or tags.classifier_tags.multi_label
    return (classifier if several else OneVsRestClassifier(classifier)).fit(X, y)


def _features(classifier: Any, X: Any) -> Any:
    # Those classifiers fail on sparse arrays.
    return sparse.csr_matrix(X) if _of_scikit_multilearn(classifier) and sparse.issparse(X) else X


def _of_scikit_multilearn(classifier: Any) -> bool:
    return type(classifier).__module__.startswith("skmultilearn.")


def _has_scores(classifier: Any) -> bool:
    # Without a label that varies there is no classifier, and constants are scores enough.
    return classifier is None or any(hasattr(classifier, name) for name in RESPONSES)


def _dense(labels: Any) -> Any:
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
