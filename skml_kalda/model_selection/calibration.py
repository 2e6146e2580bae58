"""Probabilities of multi-label classifiers, calibrated on samples that were not trained on."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import _fit_context
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skml_kalda._core.leave_one_out import label_sigmoids
from skml_kalda._core.thresholds import RESPONSES, Response
from skml_kalda.classifiers._predictions import framed_like
from skml_kalda.model_selection._held_out import HeldOutClassifier


class LabelCalibratedClassifier(HeldOutClassifier):
    """Multi-label classifier with calibrated probabilities.

    Of the samples with a calibrated probability of 0.8 for a label, about 80 % have it. This
    estimator scores every training sample by cross-validation, fits a sigmoid to the scores of each
    label, and fits the classifier to all samples. Labels learn from one another, so that rare ones
    keep sensible probabilities.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``decision_function`` or ``predict_proba``, whether it
        returns an array, a list of arrays as in scikit-learn or a sparse matrix.
    cv : int, splitter, iterable or "prefit", default=5
        How to hold samples out. An int is the number of folds of `MultiLabelStratifiedKFold`.
        "prefit" uses the fitted `estimator` as it is; pass samples to `fit` that it was not fitted
        on.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What to calibrate. "auto" is ``decision_function`` if the classifier has it.
    n_jobs : int or None, default=None
        Number of folds to fit at the same time; -1 means all processors.

    Attributes
    ----------
    slopes_, intercepts_ : ndarray of shape (K,)
        The log-odds of a label are its slope times its score, plus its intercept. The slope is
        zero for a label whose scores carry no information: its probability is its prevalence.
    estimator_ : classifier
        The classifier, fitted to all samples.
    label_names_ : ndarray of shape (K,)
        The columns of `y`, by name for a data frame, else by number.
    classes_, n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    See Also
    --------
    TunedThresholdsCV : Thresholds instead of probabilities.
    sklearn.calibration.CalibratedClassifierCV : For one class per sample, or one label.

    Notes
    -----
    The sigmoids are those of `KaLDAClassifier`: logistic regressions on the score, in which one
    sigmoid of all labels together counts about as much as three samples of each label.

    Examples
    --------
    >>> from sklearn.metrics import brier_score_loss
    >>> from skml_kalda import BinaryRelevanceKNN
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.metrics import per_label
    >>> from skml_kalda.model_selection import LabelCalibratedClassifier
    >>> X, y = load_dataset("yeast", split="train", return_X_y=True)
    >>> X_test, y_test = load_dataset("yeast", split="test", return_X_y=True)
    >>> for model in (BinaryRelevanceKNN(5), LabelCalibratedClassifier(BinaryRelevanceKNN(5))):
    ...     probability = model.fit(X, y).predict_proba(X_test)
    ...     print(per_label(brier_score_loss, y_test, probability).mean().round(3))
    0.154
    0.143
    """

    _responses: ClassVar[tuple[str, ...]] = RESPONSES[::-1]

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        response_method: Response = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.response_method = response_method
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # The inner estimator is not yet validated.
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the classifier, and the sigmoids to its scores of held-out samples.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data, in any form that the classifier accepts.
        y : {array-like, sparse} of shape (n, K)
            Indicator matrix of 0 and 1, with NaN for unknown labels if the classifier accepts
            it.
        **params : dict
            Parameters for the fit of the classifier, and `groups` for the splitter; with metadata
            routing enabled, what they request. `sample_weight` weighs the samples in the sigmoids
            as well.

        Returns
        -------
        self
            The fitted estimator.
        """
        weight = _check_sample_weight(params.get("sample_weight"), X)
        held = self._fit_held_out(X, y, params, "sklearn.calibration.CalibratedClassifierCV")
        self.slopes_, self.intercepts_ = label_sigmoids(
            held.scores.astype(np.float64),
            held.Y.toarray(),
            weight[np.concatenate(held.folds)],
            held.known.astype(np.float64),
        )
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the calibrated probability of each label.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Samples, in any form that the classifier accepts.

        Returns
        -------
        ndarray or data frame of shape (m, K)
            A data frame if `X` and the `y` given to fit are data frames.
        """
        check_is_fitted(self, "estimator_")
        probability = expit(self.slopes_ * self._scores(self.estimator_, X) + self.intercepts_)
        return framed_like(X, probability, self.label_names_) if self._named else probability

    def predict(self, X: Any) -> Any:
        """Predict the labels whose probability is at least 0.5.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Samples, in any form that the classifier accepts.

        Returns
        -------
        ndarray, data frame or sparse of shape (m, K)
            Indicator of 0 and 1, in the form of the `y` given to fit.
        """
        return self._as_given(X, (np.asarray(self.predict_proba(X)) >= 0.5).astype(np.int64))
