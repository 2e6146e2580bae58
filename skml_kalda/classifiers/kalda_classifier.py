"""Labels read from the scores of kernel alignment, with everything chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from skml_kalda._core.arrays import Array, batches, canonical
from skml_kalda._core.frames import frame_library, label_frame
from skml_kalda._core.labels import Indicator, indicator, occupied_columns, sparse_form
from skml_kalda._core.streams import check_same_columns, same_names
from skml_kalda.classifiers._choice import Search
from skml_kalda.classifiers._scores import Average, SeenRows
from skml_kalda.classifiers._spaces import Landscape, Rows, Space
from skml_kalda.classifiers._top_labels import TopLabelsMixin

KERNELS = ("rbf", "angular", "linear")
# Several widths at once do better than the best one of them, and need no choice.
WIDTHS = (0.125, 0.5, 2.0, 8.0)
# No, half and full relevance: half is the mean of both kernels.
RELEVANCES = ((0.0,), (0.0, 1.0), (1.0,))
SHRINKAGES = tuple(1 / (1 + 10**x) for x in np.linspace(4, -2, 19))
# A space is chosen on so many rows, at so many landmarks; then all rows are fitted.
SEARCH_ROWS = 1000
SEARCH_LANDMARKS = 500
MANY_LANDMARKS = 1000
# The linear kernel of no more features than this needs no landmarks.
MANY_FEATURES = 2000


class KaLDAClassifier(TopLabelsMixin, ClassifierMixin, BaseEstimator):
    r"""Classifier that reads labels from the scores that kernel alignment is computed from.

    What centred kernel alignment says about labels are the scores of (kernel) ridge regression
    on their indicators: `MultiLabelKaLDA` and `KernelKaLDA` project on them, this classifier
    reads them directly. Kernel, relevance of the features, shrinkage, probabilities and
    thresholds are chosen from leave-one-out scores in closed form, without cross-validation.

    Parameters
    ----------
    kernel : {"auto", "rbf", "angular", "linear"} or list of these, default="auto"
        Kernel, or kernels to choose from; "auto" is all three. "rbf" is the Gaussian kernel,
        "angular" the Gaussian kernel of rows scaled to unit length.
    gamma : "auto", float or list of floats, default="auto"
        Parameter of the Gaussian kernels, in units of one over the median squared distance.
        The kernel of several is their mean; "auto" is the mean of 1/8, 1/2, 2 and 8, which
        does better than the best of them.
    shrinkage : "auto" or float in (0, 1], default="auto"
        The ridge is :math:`a/(1-a)` times the mean eigenvalue of the scatter. "auto" takes the
        one of least leave-one-out squared error.
    relevance : "auto", float or list of floats, default="auto"
        Power of their own correlation with the labels that features are multiplied by, as
        in `AlignmentScaler`. The kernel of several is their mean. "auto" chooses between 0, 1
        and both, with no row judged by a relevance that has seen its labels.
    with_std : "auto" or bool, default="auto"
        Whether features are divided by their standard deviations. "auto" chooses.
    n_landmarks : "auto" or int, default="auto"
        Number of landmarks of the kernel, the centres of k-means clusters; all rows if there
        are no more. "auto" is 1000. A linear kernel of up to 2000 features needs none.
    average : {"macro", "micro"}, default="macro"
        F1 that thresholds maximise: of each label by itself, with a threshold of its own, or of
        all labels together, with one threshold on their probabilities.
    as_frame : bool, default=False
        Whether `predict` and `predict_proba` return data frames for an indicator `y`, with a
        named column for each label: of polars if `y` was a polars frame, else of pandas, with
        the index of X.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks and samples of rows.

    Attributes
    ----------
    kernel_ : str
        The kernel chosen.
    relevance_ : tuple of floats
        The power chosen; more than one are those of a mean of kernels.
    with_std_ : bool
        Whether features are divided by their standard deviations.
    shrinkage_ : float
        The shrinkage chosen.
    leave_one_out_error_ : float
        Leave-one-out squared error of the scores, as a share of the variance of the labels.
    candidates_ : list of dict
        What was tried on the way, and its error: first kernels, then relevances.
    thresholds_ : ndarray of shape (n_labels,)
        Probabilities from which labels are predicted; not for a 1-D `y`.
    classes_ : ndarray
        The classes of a 1-D `y`, or the columns of an indicator matrix: the names of those of
        a data frame, else their numbers.
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

    so that one eigendecomposition tells the errors of all shrinkages. The kernel and the
    relevance are chosen on at most 1000 rows and 500 landmarks: kernels first, relevances
    after. Probabilities are sigmoids of the leave-one-out scores, one for each label, drawn
    towards one another; for a 1-D `y` a softmax. Leave-one-out scores of at most 5000 rows,
    drawn at random, serve for shrinkage, probabilities and thresholds.

    A 1-D `y` is predicted by the largest score. A label that no leave-one-out score tells
    from chance is predicted where it is more likely than not, that is, for all rows or none.
    Weights count in the fit, the choices and the probabilities; thresholds count every row of
    positive weight once.

    A missing value (NaN) in an indicator `y` is an unknown label. The regression then takes the
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

        The first batch decides on the kernel, its landmarks and the relevance; it should be a
        fair sample of some hundred rows at least. All rows decide on the rest. A linear kernel
        of up to 2000 features has no landmarks, and takes the relevance of all rows, too. The
        first call after `fit` starts anew.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The rows of the batch.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch.
        classes : array-like of shape (n_classes,), default=None
            All classes that a 1-D `y` may have. Needed in the first call if its `y` does not
            have them all, ignored in later ones.
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

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of each label, or scores of which the largest is predicted.

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
        X, (m, K) = canonical(X), self._scores.coefficients.shape
        return (self._scores.log_odds(X[rows]) for rows in batches(X.shape[0], 4 * (m + K)))

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> Rows:
        """Check the data, and return the rows of positive weight."""
        Y = indicator(y, allow_unknown=True)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )
        check_consistent_length(X, Y.matrix)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        counted = np.flatnonzero(weight)
        labels = Y.matrix[counted]
        unknown = None if Y.unknown is None else Y.unknown[counted]
        if reset:
            self._columns = Y.columns
            self._sparse_form, self._frame_library = sparse_form(y), frame_library(y)
            self.classes_ = _classes_of(Y, weight, classes)
        check_same_columns(self._columns, Y.columns)
        if Y.is_matrix:
            self.classes_ = same_names(self.classes_, Y.classes)
        else:
            labels = _in_columns(labels, Y.classes, self.classes_)
        return Rows(canonical(X)[counted], labels, weight[counted], unknown)

    def _begin(self, rows: Rows, many_features: int) -> SeenRows:
        """Choose the space of the scores, and add up the first rows in it."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        space = self._choose(rows, seed)
        n_landmarks = MANY_LANDMARKS if self.n_landmarks == "auto" else self.n_landmarks
        landscape = Landscape(rows, n_landmarks, many_features, self._widths(), seed)
        self.kernel_, self.relevance_, self.with_std_ = astuple(space)
        return SeenRows(landscape.first_features(space), rows, np.random.RandomState(seed))

    def _choose(self, rows: Rows, seed: int) -> Space:
        kernels = _kernels(self.kernel)
        with_std = (True, False) if self.with_std == "auto" else (self.with_std,)
        relevances = RELEVANCES if self.relevance == "auto" else (_floats(self.relevance),)
        sample = rows.drawn(SEARCH_ROWS, np.random.RandomState(seed))
        landscape = Landscape(sample, SEARCH_LANDMARKS, SEARCH_LANDMARKS, self._widths(), seed)
        search = Search(landscape, self._shrinkages(), seed)
        best, judged = search.best(kernels, with_std, relevances)
        self.candidates_ = [
            {**asdict(each.space), "shrinkage": each.shrinkage, "error": each.error}
            for each in judged
        ]
        return best

    def _widths(self) -> Sequence[float]:
        return WIDTHS if self.gamma == "auto" else _floats(self.gamma)

    def _shrinkages(self) -> Sequence[float]:
        return SHRINKAGES if self.shrinkage == "auto" else (self.shrinkage,)

    def _solve(self, seen: SeenRows) -> None:
        average = None if self._columns is None else self.average
        self._scores = scores = seen.solve(self._shrinkages(), average)
        self.shrinkage_, self.leave_one_out_error_ = scores.shrinkage, scores.error
        if average is not None:
            self.thresholds_ = scores.thresholds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


def _kernels(kernel: str | Sequence[str]) -> Sequence[str]:
    kernels = KERNELS if kernel == "auto" else [kernel] if isinstance(kernel, str) else kernel
    unknown = [each for each in kernels if each not in KERNELS]
    if unknown or not kernels:
        raise ValueError(f"kernel={kernel!r} must name kernels among {list(KERNELS)}.")
    return kernels


def _floats(numbers: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(numbers).astype(float).tolist())


def _classes_of(Y: Indicator, weight: Array, classes: Any) -> NDArray[Any]:
    """Return the classes of a 1-D y, or the columns of an indicator matrix."""
    if Y.is_matrix:
        return Y.classes
    if classes is not None:
        return np.unique(classes)
    return Y.classes[occupied_columns(Y.matrix.T @ weight, Y.classes)]


def _in_columns(Y: Any, found: NDArray[Any], classes: NDArray[Any]) -> sparse.csr_array:
    """Return class labels, one in each row, with a column for each of `classes`."""
    strange = np.setdiff1d(found[Y.indices], classes)
    if len(strange):
        raise ValueError(
            f"y has classes that were not there before: {strange.tolist()}. Pass all of them as "
            "classes in the first call of partial_fit."
        )
    columns = np.searchsorted(classes, found)[Y.indices]
    return sparse.csr_array((Y.data, columns, Y.indptr), shape=(Y.shape[0], len(classes)))
