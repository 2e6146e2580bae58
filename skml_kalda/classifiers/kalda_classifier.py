"""A classifier on the scores of kernel alignment, with parameters chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from skml_kalda._core.arrays import sum_duplicates, checked_weights
from skml_kalda._core.frames import frame_library
from skml_kalda._core.arrays import check_distances
from skml_kalda._core.labels import indicator, sparse_form
from skml_kalda._core.streams import check_same_columns, same_names
from skml_kalda.classifiers._candidates import KERNELS, Candidates
from skml_kalda.classifiers._labelled_rows import Rows, classes_of, in_columns
from skml_kalda.classifiers._predictions import ScoredLabelsMixin
from skml_kalda.classifiers._scores import Average, SeenRows
from skml_kalda.classifiers._spaces import Landscape

MANY_LANDMARKS = 1000
# The linear kernel of no more features than this needs no landmarks.
MANY_FEATURES = 2000


class KaLDAClassifier(ScoredLabelsMixin, ClassifierMixin, BaseEstimator):
    r"""Classifier that predicts labels from the scores behind kernel alignment.

    Centred kernel alignment leads to the scores of a (kernel) ridge regression of the labels.
    `MultiLabelKaLDA` and `KernelKaLDA` project on these scores; this classifier predicts from
    them directly. Kernel, relevance of the features, shrinkage, probabilities and thresholds
    are chosen from leave-one-out scores in closed form, without cross-validation.

    Parameters
    ----------
    kernel : {"auto", "rbf", "angular", "linear"} or list of these, default="auto"
        Kernel, or kernels to choose from; "auto" is all three. "rbf" is the Gaussian kernel,
        "angular" the Gaussian kernel of rows scaled to unit length.
    gamma : "auto", float or list of floats, default="auto"
        Parameter of the Gaussian kernels, in units of one over the median squared distance.
        For several values, the kernel is the mean of theirs. "auto" is the mean for 1/8, 1/2, 2
        and 8, which does better than the best of them.
    shrinkage : "auto" or float in (0, 1], default="auto"
        The ridge is :math:`a/(1-a)` times the mean eigenvalue of the scatter. "auto" chooses
        the value with the least leave-one-out squared error.
    relevance : "auto", float or list of floats, default="auto"
        Features are multiplied by this power of their own correlation with the labels, as in
        `AlignmentScaler`. For several powers, the kernel is the mean of theirs. "auto" chooses
        between 0, 1 and both; no row is judged by a relevance computed from its own labels.
    with_std : "auto" or bool, default="auto"
        Whether features are divided by their standard deviations. "auto" chooses.
    n_landmarks : "auto" or int, default="auto"
        Number of landmarks of the kernel, the centres of k-means clusters; all rows if there
        are not more of them. "auto" is 1000. A linear kernel of up to 2000 features needs none.
    average : {"macro", "micro"}, default="macro"
        The F1 that the thresholds maximise: that of each label, with a threshold of its own,
        or that of all labels together, with one threshold on their probabilities.
    as_frame : bool, default=False
        Whether `predict` and `predict_proba` return data frames for an indicator `y`, with a
        named column for each label: polars frames if `y` was one, else pandas frames with the
        index of X.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks and samples of rows.

    Attributes
    ----------
    kernel_ : str
        The kernel chosen.
    relevance_ : tuple of floats
        The powers chosen; the kernel is the mean over them.
    with_std_ : bool
        Whether features are divided by their standard deviations.
    shrinkage_ : float
        The shrinkage chosen.
    leave_one_out_error_ : float
        Leave-one-out squared error of the scores, as a share of the variance of the labels.
    candidates_ : list of dict
        The candidates tried, with their errors: first kernels, then relevances.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted if its probability is at least this. Not set for a 1-D `y`.
    classes_ : ndarray
        The classes of a 1-D `y`, or the columns of an indicator matrix: by name for a data
        frame, else by number.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDA : Projects on the scores.
    AlignmentScaler : The relevance of features, for other methods.
    TunedThresholdsCV : Thresholds for any classifier.

    Notes
    -----
    With features :math:`\varphi_i` of the kernel about their mean, of scatter
    :math:`S = U\Lambda U^\top`, and :math:`z_i = U^\top\varphi_i`, the scores for a ridge
    :math:`\lambda` are :math:`f_i = \bar y + \sum_j z_{ij} (\Lambda + \lambda)_j^{-1} (Z^\top Y)_j`
    and the score of a row that was left out is

    .. math:: y_i - \frac{y_i - f_i}{1 - h_i}, \qquad
              h_i = \frac1n + \sum_j \frac{z_{ij}^2}{\Lambda_j + \lambda},

    so that one eigendecomposition yields the errors of all shrinkages. The kernel and the
    relevance are chosen on at most 1000 rows and 500 landmarks: first the kernel, then the
    relevance. Probabilities are sigmoids of the leave-one-out scores, one for each label, pulled
    towards a common one; for a 1-D `y` they are a softmax. Leave-one-out scores of at most 5000
    rows, drawn at random, determine shrinkage, probabilities and thresholds.

    For a 1-D `y` the class with the largest score is predicted. A label whose leave-one-out
    scores are no better than chance is predicted for all rows if it is more likely than not,
    else for none. Weights count in the fit, the choices and the probabilities; thresholds count
    every row of positive weight once.

    A missing value (NaN) in an indicator `y` is an unknown label. The regression then uses the
    mean of the label over the rows in which it is known, which adds nothing to the centred sums
    above; errors, probabilities and thresholds are those of known labels.

    References
    ----------
    .. [1] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", JMLR 13, 2012.
    .. [2] J. Platt, "Probabilistic outputs for support vector machines", 1999.

    Examples
    --------
    >>> from skml_kalda import KaLDAClassifier
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", split="train", return_X_y=True)
    >>> classifier = KaLDAClassifier(random_state=0).fit(X, y)
    >>> classifier.predict(X[:2])
    array([[0, 1, 1, 0, 0, 0],
           [1, 0, 0, 0, 0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({"auto", *KERNELS}), list, tuple],
        "gamma": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "relevance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), "array-like"],
        "with_std": [StrOptions({"auto"}), "boolean"],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "average": [StrOptions({"macro", "micro"})],
        "as_frame": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: str | Sequence[str] = "auto",
        *,
        gamma: float | Sequence[float] | Literal["auto"] = "auto",
        shrinkage: float | Literal["auto"] = "auto",
        relevance: float | Sequence[float] | Literal["auto"] = "auto",
        with_std: bool | Literal["auto"] = "auto",
        n_landmarks: int | Literal["auto"] = "auto",
        average: Average = "macro",
        as_frame: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.relevance = relevance
        self.with_std = with_std
        self.n_landmarks = n_landmarks
        self.average = average
        self.as_frame = as_frame
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training data. Sparse X is never made dense.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form. The columns of a data
            frame name the labels. NaN in a matrix is an unknown label.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._seen: SeenRows | None = None
        rows = self._validate(X, y, sample_weight, reset=True)
        # With fewer rows than features the landmarks, all rows, are cheaper than the features.
        self._solve(self._begin(rows, min(MANY_FEATURES, len(rows.weight))))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of rows.

        The kernel, its landmarks and the relevance are chosen on the first batch, which should
        be a fair sample of at least a few hundred rows. All else is chosen on all rows. A linear
        kernel of up to 2000 features has no landmarks, and its relevance is that of all rows.
        The first call after `fit` starts over.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The rows of the batch.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch.
        classes : array-like of shape (n_classes,), default=None
            All classes that a 1-D `y` may have. Needed in the first call if its `y` does not
            have them all; ignored in later calls.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The classifier.
        """
        before: SeenRows | None = vars(self).get("_seen")
        rows = self._validate(X, y, sample_weight, classes, reset=before is None)
        if before is None:
            self._seen = before = self._begin(rows, MANY_FEATURES)
        else:
            before.add(rows)
        self._solve(before)
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> Rows:
        """Check the data, and return the rows of positive weight."""
        Y = indicator(y, allow_unknown=True)
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_min_samples=2 if reset else 1,
                reset=reset,
            )
        check_distances(X, getattr(self, "feature_names_in_", None))
        check_consistent_length(X, Y.matrix)
        weight = checked_weights(sample_weight, X)
        counted = np.flatnonzero(weight)
        labels = Y.matrix[counted]
        unknown = None if Y.unknown is None else Y.unknown[counted]
        if reset:
            self._columns = Y.columns
            self._sparse_form, self._frame_library = sparse_form(y), frame_library(y)
            self.classes_ = classes_of(Y, weight, classes)
        check_same_columns(self._columns, Y.columns)
        if Y.is_matrix:
            self.classes_ = same_names(self.classes_, Y.classes)
        else:
            labels = in_columns(labels, Y.classes, self.classes_)
        return Rows(sum_duplicates(X)[counted], labels, weight[counted], unknown)

    def _begin(self, rows: Rows, many_features: int) -> SeenRows:
        """Choose the space of the scores, and add up the first rows in it."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        candidates = self._candidates()
        n_landmarks = MANY_LANDMARKS if self.n_landmarks == "auto" else self.n_landmarks
        space, judged = candidates.best_space(rows, n_landmarks, seed)
        self.candidates_ = [
            {**asdict(each.space), "shrinkage": each.shrinkage, "error": each.error}
            for each in judged
        ]
        self.kernel_, self.relevance_, self.with_std_ = astuple(space)
        landscape = Landscape(rows, n_landmarks, many_features, candidates.widths, seed)
        return SeenRows(landscape.first_features(space), rows, np.random.RandomState(seed))

    def _candidates(self) -> Candidates:
        return Candidates.of(self.kernel, self.gamma, self.shrinkage, self.relevance, self.with_std)

    def _solve(self, seen: SeenRows) -> None:
        average = None if self._columns is None else self.average
        self._scores = scores = seen.solve(self._candidates().shrinkages, average)
        self.shrinkage_, self.leave_one_out_error_ = scores.shrinkage, scores.error
        if average is not None:
            self.thresholds_ = scores.thresholds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags
