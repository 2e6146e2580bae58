"""Thresholds of multi-label classifiers, tuned on samples that were not trained on."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _estimator_has, check_is_fitted

from skml_kalda._core.thresholds import (
    Average,
    Response,
    attained,
    best_thresholds,
    check_average,
    label_scores,
    measure_of,
)
from skml_kalda.classifiers._predictions import dense, framed_like
from skml_kalda.model_selection._held_out import HeldOutClassifier


class TunedThresholdsCV(HeldOutClassifier):
    """Multi-label classifier with the thresholds that maximise F1, or another objective.

    A classifier predicts a label where its probability is at least 0.5, or its score at least 0.
    For F1 that is rarely the best threshold: rare labels are then predicted too rarely. This
    estimator scores every training sample by cross-validation, finds the thresholds that are best
    for those scores, fits the classifier to all samples, and predicts with the thresholds.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``predict_proba`` or ``decision_function``, whether it
        returns an array, a list of arrays as in scikit-learn or a sparse matrix.
    average : {"macro", "micro", "samples"}, default="macro"
        The objective to maximise: its mean over labels, that of all (sample, label) pairs
        together, or its mean over samples.
    per_label : bool, default=False
        Whether each label gets a threshold of its own. One threshold for all labels is the safer
        choice if there are few samples. "samples" allows one threshold only.
    cv : int, splitter, iterable or "prefit", default=5
        How to hold samples out. An int is the number of folds of `MultiLabelStratifiedKFold`.
        Samples that are held out more than once count more than once. "prefit" uses the fitted
        `estimator` as it is; pass samples to `fit` that it was not fitted on.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What to apply the thresholds to. "auto" is ``predict_proba`` if the classifier has it.
    objective : str, array-like of shape (2, 2) or callable, default="f1"
        What to maximise. "f1", "f2", "f0.5" and so on are F-beta; "recall_at_precision_0.9" is the
        recall if the precision is at least 0.9, else zero. A matrix has the costs
        ``[[true 0, false 1], [false 0, true 1]]``; their mean is made as low as possible. A
        callable ``(y_true, y_pred) -> float``, or a scorer of scikit-learn, gets arrays of shape
        (n, K), or one label after another if `per_label`; it needs no `average`.
    n_jobs : int or None, default=None
        Number of folds to fit at the same time; -1 means all processors.

    Attributes
    ----------
    thresholds_ : ndarray of shape (K,)
        The threshold of every label. All are equal unless `per_label`, except that labels
        without a sample have infinity: they are never predicted.
    best_score_ : float
        Objective on the held-out samples with these thresholds. They were chosen for it, so expect
        slightly less on new samples.
    fold_scores_ : ndarray of shape (n_splits,)
        The same for the samples that each split holds out; their spread says how certain it is.
    estimator_ : classifier
        The classifier, fitted to all samples.
    label_names_ : ndarray of shape (K,)
        The columns of `y`, by name for a data frame, else by number.
    classes_, n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    See Also
    --------
    sklearn.model_selection.TunedThresholdClassifierCV : For two classes, and any measure.
    sklearn.calibration.CalibratedClassifierCV : Probabilities instead of thresholds.

    Notes
    -----
    All distinct scores are tried, not a grid, by sorting them once; for a callable, up to 100 of
    their quantiles. Thresholds lie midway between two neighbouring scores. With `per_label` and
    ``average="micro"`` the thresholds together maximise the F-beta of all pairs; labels that only
    lower it are never predicted.

    The objective is not weighted: `sample_weight` and other parameters of fit, split by samples,
    are passed only to the classifier.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import f1_score
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.model_selection import TunedThresholdsCV, multilabel_train_test_split
    >>> X, y = load_dataset("yeast", return_X_y=True)
    >>> X_train, X_test, y_train, y_test = multilabel_train_test_split(X, y, random_state=0)
    >>> classifier = MultiOutputClassifier(LogisticRegression())
    >>> plain = classifier.fit(X_train, y_train).predict(X_test)
    >>> tuned = TunedThresholdsCV(classifier).fit(X_train, y_train)
    >>> print(tuned.thresholds_[:3].round(2))
    [0.18 0.18 0.18]
    >>> f1_score(y_test, plain, average="macro", zero_division=0)
    0.3...
    >>> f1_score(y_test, tuned.predict(X_test), average="macro", zero_division=0)
    0.4...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HeldOutClassifier._parameter_constraints,
        "average": [StrOptions({"macro", "micro", "samples"})],
        "per_label": ["boolean"],
        "objective": [str, callable, "array-like"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        average: Average = "macro",
        per_label: bool = False,
        cv: Any = 5,
        response_method: Response = "auto",
        n_jobs: int | None = None,
        objective: Any = "f1",
    ) -> None:
        self.estimator = estimator
        self.average = average
        self.per_label = per_label
        self.cv = cv
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.objective = objective

    @_fit_context(prefer_skip_nested_validation=False)  # The inner estimator is not yet validated.
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Tune the thresholds and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training data, in any form that the classifier accepts.
        y : {array-like, sparse} of shape (n, K)
            Indicator matrix of 0 and 1, with NaN for unknown labels if the classifier accepts
            it. Unknown labels do not count in the objective.
        **params : dict
            Parameters for the fit of the classifier, such as `sample_weight`, and `groups` for
            the splitter; with metadata routing enabled, what they request.

        Returns
        -------
        self
            The fitted estimator.
        """
        measure = measure_of(self.objective)
        check_average(self.average, self.per_label, measure)
        single_label = "sklearn.model_selection.TunedThresholdClassifierCV, for two classes"
        held = self._fit_held_out(X, y, params, single_label)
        options: dict[str, Any] = {"average": self.average, "per_label": self.per_label}
        self.thresholds_ = best_thresholds(
            held.scores, held.Y, held.unknown, measure=measure, **options
        )
        found = held.Y.toarray() > 0, held.scores >= self.thresholds_, held.known
        self.best_score_ = attained(measure, *found, **options)
        ends = np.cumsum([len(fold) for fold in held.folds])[:-1]
        parts = zip(*(np.split(each, ends) for each in found), strict=True)
        self.fold_scores_ = np.array([attained(measure, *part, **options) for part in parts])
        return self

    def predict(self, X: Any) -> Any:
        """Predict the labels of each sample.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Samples, in any form that the classifier accepts.

        Returns
        -------
        ndarray, data frame or sparse of shape (m, K)
            Indicator of 0 and 1; a CSR array or matrix if the `y` given to fit was sparse. If `X`
            and that `y` are data frames, a data frame with the labels as columns and the index
            of `X`.
        """
        check_is_fitted(self, "estimator_")
        predicted = self._scores(self.estimator_, X) >= self.thresholds_
        return self._as_given(X, predicted.astype(np.int64))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classifier, which thresholds do not change.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Samples, in any form that the classifier accepts.

        Returns
        -------
        ndarray, data frame, sparse or list
            A data frame where `predict` returns one, else in the form of the classifier.
        """
        check_is_fitted(self, "estimator_")
        if not (self._named and hasattr(X, "columns")):
            return self.estimator_.predict_proba(X)
        scores = label_scores(self.estimator_, X, len(self.label_names_), ("predict_proba",))
        return framed_like(X, dense(scores), self.label_names_)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classifier, which thresholds do not change.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            Samples, in any form that the classifier accepts.

        Returns
        -------
        ndarray of shape (m, K)
            In the form of the classifier.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)
