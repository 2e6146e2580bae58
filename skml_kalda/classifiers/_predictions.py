"""Predictions from fitted label scores: log-odds, probabilities and labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._core.arrays import Array, batches, sum_duplicates
from skml_kalda._core.frames import label_frame
from skml_kalda.classifiers._scores import Scores
from skml_kalda.classifiers._top_labels import TopLabelsMixin


class ScoredLabelsMixin(TopLabelsMixin):
    """Adds the methods that predict to a classifier whose fit sets these attributes."""

    as_frame: bool
    thresholds_: Array
    _scores: Scores
    _columns: int | None
    """Number of columns of an indicator `y`; None for a 1-D `y`."""
    _sparse_form: type | None
    """Class of sparse predictions; None if `y` was dense."""
    _frame_library: str
    """Library of data frames of predictions."""

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of each label, or the scores of the classes of a 1-D `y`.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            Logarithms of the odds of each label. For a 1-D `y`, logarithms of the probabilities
            of the classes up to a constant; for two classes their difference.
        """
        log_odds = np.concatenate(list(self._log_odds(X)))
        if self._columns is not None or len(self.classes_) != 2:
            return log_odds
        return log_odds[:, 1] - log_odds[:, 0]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or data frame of shape (n_samples, n_labels)
            For an indicator `y`, the probability that a row has a label. For a 1-D `y`, the
            probabilities of the classes, which sum to one.
        """
        return self._in_frame(np.concatenate(list(self._probabilities(X))), X)

    def predict(self, X: Any) -> Any:
        """Predict the labels.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels), sparse or data frame
            In the form of the `y` given to fit: class labels, or a 0/1 indicator that is
            dense, a CSR matrix or a CSR array. A data frame with ``as_frame=True``.
        """
        probabilities = self._probabilities(X)
        if self._columns is None:
            return self.classes_[np.concatenate([part.argmax(axis=1) for part in probabilities])]
        parts = [(part >= self.thresholds_).astype(np.int64) for part in probabilities]
        if self._sparse_form is None or self.as_frame:
            return self._in_frame(np.concatenate(parts), X)
        return self._sparse_form(sparse.vstack([sparse.csr_array(part) for part in parts]))

    def _column_names(self) -> NDArray[Any] | None:
        return None if self._columns is None else self.classes_

    def _in_frame(self, labels: Array, X: Any) -> Any:
        if not self.as_frame or self._columns is None:
            return labels
        return label_frame(labels, self.classes_, X, self._frame_library)

    def _probabilities(self, X: Any) -> Iterator[Array]:
        log_odds = self._log_odds(X)
        return map(partial(softmax, axis=1) if self._columns is None else expit, log_odds)

    def _log_odds(self, X: Any) -> Iterator[Array]:
        """Check X, and return the log-odds of batches of its rows."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        X, (m, K) = sum_duplicates(X), self._scores.coefficients.shape
        return (self._scores.log_odds(X[rows]) for rows in batches(X.shape[0], 4 * (m + K)))
