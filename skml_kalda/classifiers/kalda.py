"""A classifier on the scores of kernel alignment, with parameters chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial, reduce
from numbers import Integral, Real
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from skml_kalda._core.arrays import (
    BLOCK,
    Array,
    batches,
    check_distances,
    checked_samples,
    checked_weights,
    is_dask,
    one_thread,
    stacked,
    sum_duplicates,
    warn_on_weights,
)
from skml_kalda._core.labels import Indicator, indicator, occupied_columns
from skml_kalda._core.leave_one_out import (
    RidgePath,
    Sigmoids,
    best_shrinkage,
    label_sigmoids,
    softmax_slope,
)
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.streams import RandomSample, added, check_same_columns, same_names
from skml_kalda._core.thresholds import best_thresholds
from skml_kalda.classifiers._choice import (
    FeatureMap,
    KernelFactory,
    Samples,
    Scaled,
    Scored,
    Space,
    WideRidge,
    choose_space,
    feature_scatter,
    left_out,
    ranks_differ,
)
from skml_kalda.classifiers._predictions import LabelPredictor

_Kernel = Literal["rbf", "angular", "linear"]
KERNELS = ("rbf", "angular", "linear")
# Several widths at once do better than the best one of them, and need no choice.
WIDTHS = (0.125, 0.5, 2.0, 8.0)
# No, half and full relevance: half is the mean of both kernels.
RELEVANCES = ((0.0,), (0.0, 1.0), (1.0,))
SHRINKAGES = tuple(1 / (1 + 10**x) for x in np.linspace(4, -2, 19))
SCALES = (None, "standard", "ranks")
# The space is chosen on at most this many samples; then all samples are fitted.
SEARCH_SAMPLES = 600
MAX_LANDMARKS = 1000
# The linear kernel of no more features than this needs no landmarks.
MAX_FEATURES = 2000
# With more of them, weights of all features and labels are not computed: 0.5 GB.
LARGEST_WEIGHTS = 2**26
# Leave-one-out scores of at most this many samples determine shrinkage, probabilities, thresholds.
MAX_SCORED = 5000


class KaLDAClassifier(LabelPredictor, ClassifierMixin, BaseEstimator):
    r"""Classifier that predicts labels from the scores of kernel alignment.

    Centred kernel alignment leads to the scores of a (kernel) ridge regression of the labels.
    `MultiLabelKaLDA` and `KernelKaLDA` project on these scores; this classifier predicts from
    them directly. Kernel, relevance of the features, shrinkage, probabilities and thresholds
    are chosen from leave-one-out scores in closed form, without cross-validation.

    Parameters
    ----------
    kernel : {"auto", "rbf", "angular", "linear"} or list of these, default="auto"
        Kernel, or kernels to choose from; "auto" is all three. "rbf" is the Gaussian kernel,
        "angular" the Gaussian kernel of samples scaled to unit length.
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
        between 0, 1 and both; no sample is scored by a relevance computed from its own labels.
    scale : {"auto", "standard", "ranks"} or None, default="auto"
        "standard" divides features by their standard deviations; "ranks" replaces them by their
        ranks among the training samples, from 0 to 1, which no outlier or odd unit disturbs; None
        takes them as they are. "auto" chooses, among ranks only for up to 2000 features that have
        any value beside their zeros or ones. Sparse X keeps its zeros.
    n_landmarks : "auto" or int, default="auto"
        Number of landmarks of the kernel, samples drawn at random; all samples if there are not
        more of them. "auto" is 1000. A linear kernel needs none for up to 2000 features, or sparse
        X that is fitted at once.
    average : {"macro", "micro"}, default="macro"
        The F1 that the thresholds maximise: that of each label, with a threshold of its own,
        or that of all labels together, with one threshold on their probabilities.
    random_state : int, RandomState instance or None, default=None
        Controls landmark and sample selection.
    verbose : int, default=0
        If positive, the fit prints each candidate with its error, what was chosen, and the
        shrinkage and error of the fit to all samples.

    Attributes
    ----------
    kernel_ : str
        The kernel chosen.
    relevance_ : tuple of floats
        The powers chosen; the kernel is the mean over them.
    scale_ : {"standard", "ranks"} or None
        The scale chosen.
    shrinkage_ : float
        The shrinkage chosen.
    leave_one_out_error_ : float
        Leave-one-out squared error of the scores, as a share of the variance of the labels; of
        samples that were held out for wide sparse X, see the notes.
    candidates_ : list of dict
        The candidates scored, with their errors: first kernels and scales, then relevances.
    thresholds_ : ndarray of shape (n_labels,)
        A label is predicted if its probability is at least this. Not set for a 1-D `y`.
    classes_ : ndarray of shape (K, 2) or (K,)
        For an indicator `y`, the values 0 and 1 of each label; for a 1-D `y`, its class labels.
    label_names_ : ndarray of shape (K,)
        The columns of an indicator `y`, by name for a data frame, else by number; for a 1-D
        `y`, its class labels.
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
    and the score of a sample that was left out is

    .. math:: y_i - \frac{y_i - f_i}{1 - h_i}, \qquad
              h_i = \frac1n + \sum_j \frac{z_{ij}^2}{\Lambda_j + \lambda},

    so that one eigendecomposition yields the errors of all shrinkages. Kernel and scale are
    chosen together on 200 samples, the best three of them once more on at most 600 samples with
    200 landmarks, and the relevance then. Probabilities are sigmoids of the
    leave-one-out scores, one for each label, pulled towards a common one; for a 1-D `y` they are a
    softmax. Leave-one-out scores of at most 5000 samples, drawn at random, determine shrinkage,
    probabilities and thresholds. With more than 100 labels, the errors compared are those of 100
    random combinations of labels.

    For sparse X of more than 2000 features and more samples than landmarks, `fit` also tries the
    best linear kernel on all features, by conjugate gradients. A fifth of the samples, at most
    5000, are held out once for its shrinkage, probabilities and thresholds.

    For a 1-D `y` the class with the largest score is predicted. A label whose leave-one-out
    scores are no better than chance is predicted for all samples if it is more likely than not,
    else for none. Weights count in the fit, the choices and the probabilities; thresholds count
    every sample of positive weight once.

    A missing value (NaN) in an indicator `y` is an unknown label. The regression then uses the
    mean of the label over the samples in which it is known, which adds nothing to the centred sums
    above; errors, probabilities and thresholds are those of known labels.

    References
    ----------
    .. [1] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", JMLR 13, 2012.
    .. [2] J. Platt, "Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods", 1999.

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
        "scale": [StrOptions({"auto", "standard", "ranks"}), None],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "average": [StrOptions({"macro", "micro"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        kernel: _Kernel | Literal["auto"] | Sequence[_Kernel] = "auto",
        *,
        gamma: float | Sequence[float] | Literal["auto"] = "auto",
        shrinkage: float | Literal["auto"] = "auto",
        relevance: float | Sequence[float] | Literal["auto"] = "auto",
        scale: Literal["auto", "standard", "ranks"] | None = "auto",
        n_landmarks: int | Literal["auto"] = "auto",
        average: Literal["macro", "micro"] = "macro",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.relevance = relevance
        self.scale = scale
        self.n_landmarks = n_landmarks
        self.average = average
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            Training data. Sparse X is never made dense. Blocks of dask data are added up on the
            workers, as batches are by `partial_fit`; the first batch is a random sample of them.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form. The columns of a data
            frame name the labels. NaN in a matrix is an unknown label.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each sample; None means one.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._running: RunningFit | None = None
        if is_dask(X):
            self._finish(self._ridge(self._sum_of_blocks(X, y, sample_weight)))
            return self
        samples = self._validate(X, y, sample_weight, reset=True)
        # With fewer samples than features the landmarks, all samples, are cheaper than features.
        n = len(samples.weight)
        with one_thread(n * MAX_LANDMARKS):
            chosen = self._choose(samples, min(MAX_FEATURES, n))
            fits = [self._ridge_on_all_features(samples, chosen)]
            if fits[0] is None or chosen.space.kernel != "linear":
                fits.append(self._ridge(chosen.fitted(samples)))
            self._finish(min(filter(None, fits), key=attrgetter("error")))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add a batch of samples.

        The kernel, its landmarks and the relevance are chosen on the first batch, which should
        be representative and have a few hundred samples or more. All else is chosen on all samples.
        A linear kernel of up to 2000 features has no landmarks, and its relevance is that of all
        samples. The first call after `fit` starts over.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The samples of the batch.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch.
        classes : array-like of shape (n_classes,), default=None
            All classes that a 1-D `y` may have. Needed in the first call if its `y` does not
            have them all; ignored in later calls.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample; None means one.

        Returns
        -------
        self : object
            The classifier.
        """
        running: RunningFit | None = getattr(self, "_running", None)
        samples = self._validate(X, y, sample_weight, classes, reset=running is None)
        if running is None:
            self._running = running = self._choose(samples, MAX_FEATURES).fitted(samples)
        else:
            running.add(samples)
        self._finish(self._ridge(running))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of each label, or the scores of the classes of a 1-D `y`.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            Logarithms of the odds of each label. For a 1-D `y`, logarithms of the probabilities
            of the classes up to a constant; for two classes their difference.
        """
        log_odds = np.concatenate(list(self._scores(X)))
        if self._is_indicator or len(self.classes_) != 2:
            return log_odds
        return log_odds[:, 1] - log_odds[:, 0]

    def _scores(self, X: Any) -> Iterator[Array]:
        """Check X, and return the log-odds of batches of its samples."""
        check_is_fitted(self)
        X = checked_samples(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        X, width = sum_duplicates(X), sum(self._log_odds.coefficients.shape)
        return (self._log_odds(X[rows]) for rows in batches(X.shape[0], 4 * width))

    def _probability(self, scores: Array) -> Array:
        return expit(scores) if self._is_indicator else softmax(scores, axis=1)

    def _decision(self, scores: Array) -> NDArray[np.bool_]:
        return self._probability(scores) >= self.thresholds_

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> Samples:
        """Check the data, and return the samples of positive weight."""
        Y = indicator(y, allow_unknown=True)
        X = checked_samples(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2 if reset else 1,
            reset=reset,
        )
        check_distances(X, getattr(self, "feature_names_in_", None))
        check_consistent_length(X, Y.matrix)
        weight = checked_weights(sample_weight, X, batch=not reset)
        warn_on_weights(type(self).__name__, weight)
        if reset:
            self._keep_form(y, Y)
            self._set_classes(_classes(Y, weight, classes))
        check_same_columns(len(self.classes_) if self._is_indicator else None, Y.columns)
        if Y.is_matrix:
            self._set_classes(same_names(self.label_names_, Y.classes))
        counted = np.flatnonzero(weight)
        labels = Y.matrix[counted]
        if not Y.is_matrix:
            labels = _in_columns(labels, Y.classes, self.classes_)
        unknown = sparse.csr_array(labels.shape) if Y.unknown is None else Y.unknown[counted]
        return Samples(sum_duplicates(X)[counted], labels, unknown, weight[counted])

    def _choose(self, samples: Samples, max_features: int) -> Chosen:
        """Choose the space of the scores."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        kernels = _kernels(self.kernel)
        widths = WIDTHS if self.gamma == "auto" else _floats(self.gamma)
        relevances = RELEVANCES if self.relevance == "auto" else (_floats(self.relevance),)
        rng = np.random.RandomState(seed)
        drawn = samples.at(rng.permutation(len(samples.weight))[:SEARCH_SAMPLES])
        scales: Sequence[str | None] = (self.scale,)
        if self.scale == "auto":
            scales = SCALES if ranks_differ(drawn.X) else SCALES[:2]
        factory = KernelFactory(self._most_landmarks(), max_features, widths, seed)
        with one_thread():
            space, scored = choose_space(
                drawn, factory, kernels, scales, relevances, self._shrinkages()[::2]
            )
        self.candidates_ = [
            {**each.space._asdict(), "shrinkage": each.shrinkage, "error": each.error}
            for each in scored
        ]
        for each in scored:
            self._report("candidate", *each)
        self._report("chosen", space)
        return Chosen(space, scored, factory, rng)

    def _sum_of_blocks(self, X: Any, y: Any, sample_weight: Any) -> RunningFit:
        """Choose the space of a dask X on a random sample, and add up its blocks on the workers."""
        from skml_kalda._core.dask import LabelledBlocks, check_features

        check_features(self, X, reset=True)
        blocks = LabelledBlocks(X, y, sample_weight)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        size = max(MAX_SCORED, self._most_landmarks())
        drawn = blocks.drawn(size, np.random.RandomState(seed))
        samples = self._validate(*drawn, classes=blocks.classes(), reset=True)
        running = self._choose(samples, MAX_FEATURES).fitted(samples)
        worker = copy(self)
        worker.__dict__.pop("_log_odds", None)  # of an earlier fit
        running.sums = blocks.total(partial(worker._sums_of_block, running.feature_map), seed)
        return running

    def _sums_of_block(
        self, feature_map: FeatureMap, X: Any, y: Any, sample_weight: Any, seed: Any
    ) -> FeatureSums | None:
        """Add up a block of samples, on a worker."""
        samples = self._validate(X, y, sample_weight, reset=False)
        if not len(samples.weight):
            return None
        rng = np.random.default_rng(seed)
        return FeatureSums.of(samples, lambda rows: feature_map(samples.X[rows]), rng)

    def _most_landmarks(self) -> int:
        return MAX_LANDMARKS if self.n_landmarks == "auto" else self.n_landmarks

    def _shrinkages(self) -> Sequence[float]:
        return SHRINKAGES if self.shrinkage == "auto" else (self.shrinkage,)

    def _ridge(self, running: RunningFit) -> RidgeFit:
        """Fit the scores to all samples, with the shrinkage of least leave-one-out error."""
        scatter, sample = running.sums.scatter, running.sums.sample
        samples = Samples(*sample.columns)
        feature_map, scatter, features = running.feature_map.fitted_to(
            scatter.filled(len(self.classes_)), samples.X
        )
        path = RidgePath.of(scatter)
        others = left_out(path, features, samples)
        shrinkage, error = best_shrinkage([others], self._shrinkages())
        ridge = path.ridge(shrinkage)
        weights = path.weights(ridge)
        offset = path.label_mean - path.mean @ weights
        scores = others.scores(ridge)
        return RidgeFit(
            running.space, feature_map, weights, offset, scores, samples, shrinkage, error
        )

    def _ridge_on_all_features(self, samples: Samples, chosen: Chosen) -> RidgeFit | None:
        """Fit the best linear kernel to wide sparse samples; None if landmarks do as well.

        Its scores are of samples that were held out: to leave out one at a time would take long.
        """
        (n, p), K = samples.X.shape, len(self.classes_)
        needs_landmarks = p > MAX_FEATURES and n > chosen.factory.n_landmarks
        linear = chosen.best("linear")
        if not sparse.issparse(samples.X) or not needs_landmarks or linear is None:
            return None
        if p * K > LARGEST_WEIGHTS or linear.space.scale == "ranks":
            return None
        order = chosen.rng.permutation(n)
        n_held = min(MAX_SCORED, n // 5)
        held, rest = samples.at(order[:n_held]), samples.at(order[n_held:])
        ridge, Y, space = WideRidge(rest, linear.space), held.Y.toarray(), linear.space
        each = held.weight[:, None] * held.known
        variance = float(np.sum(each * (Y - ridge.label_mean) ** 2))

        @cache
        def scored(shrinkage: float) -> tuple[float, Array]:
            scores = ridge.scores(ridge.weights(shrinkage), held.X)
            error = float(np.sum(each * (Y - scores) ** 2)) / (variance or np.inf)
            self._report("fit without samples held out", space, shrinkage, error)
            return error, scores

        tried = self._shrinkages()
        best = int(np.argmin(np.abs(np.subtract(tried, linear.shrinkage))))
        for step in (2, -2):  # the error has one minimum, and changes little within a step
            while 0 <= best + step < len(tried) and (
                scored(tried[best + step])[0] < scored(tried[best])[0]
            ):
                best += step
        error, scores = scored(tried[best])
        ridge = WideRidge(samples, space)
        weights = ridge.weights(tried[best])
        offset = ridge.offset(weights)
        return RidgeFit(space, ridge.feature_map, weights, offset, scores, held, tried[best], error)

    def _report(self, stage: str, space: Space, *fit: float) -> None:
        """Print a stage, its space, and the shrinkage and the error of its fit."""
        if self.verbose:
            result = ", shrinkage {:.3g}, error {:.4f}".format(*fit) if fit else ""
            line = "kernel {}, relevance {}, scale {}{}".format(*space, result)
            print(f"[{type(self).__name__}] {stage}: {line}")

    def _finish(self, fit: RidgeFit) -> None:
        """Fit probabilities and thresholds to the scores, and keep the result."""
        self.kernel_, self.relevance_, self.scale_ = fit.space
        self.shrinkage_, self.leave_one_out_error_ = fit.shrinkage, fit.error
        self._report("fit to all samples", fit.space, fit.shrinkage, fit.error)
        slope, intercept = self._calibrate(fit.scores, fit.samples)
        coefficients = fit.feature_map.coefficients(fit.weights) * slope
        self._log_odds = LogOdds(fit.feature_map, coefficients, fit.offset * slope + intercept)

    def _calibrate(self, scores: Array, samples: Samples) -> Sigmoids:
        """Fit probabilities, and thresholds on them, to leave-one-out scores."""
        Y = samples.Y.toarray()
        if not self._is_indicator:
            slope = softmax_slope(scores, Y.argmax(axis=1), samples.weight)
            return Sigmoids(np.full(Y.shape[1], slope), np.zeros(Y.shape[1]))
        sigmoids = label_sigmoids(scores, Y, samples.weight, samples.known)
        best = best_thresholds(
            expit(scores * sigmoids.slope + sigmoids.intercept),
            samples.Y,
            samples.unknown,
            average=self.average,
            per_label=self.average == "macro",
        )
        # Where scores carry no information, F1 would be best if every sample got the label.
        uninformative = (sigmoids.slope == 0) & np.isfinite(best)
        self.thresholds_ = np.where(uninformative, 0.5, best)
        return sigmoids

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


class Chosen(NamedTuple):
    """The space chosen, and what fits are made with."""

    space: Space
    scored: list[Scored]
    factory: KernelFactory
    rng: np.random.RandomState

    def best(self, kernel: str) -> Scored | None:
        """Return the best space with a kernel; None if it was not among the candidates."""
        if self.space.kernel == kernel and not self.scored:
            return Scored(self.space, SHRINKAGES[len(SHRINKAGES) // 2], np.inf)
        of_kernel = [each for each in self.scored if each.space.kernel == kernel]
        return min(of_kernel, key=attrgetter("error"), default=None)

    def fitted(self, samples: Samples) -> RunningFit:
        """Make the feature map from samples, and add them up."""
        scaled = Scaled.of(samples, self.space.scale, self.factory.seed)
        feature_map = self.factory.feature_map(self.space, scaled)
        features = partial(feature_map.of_source, scaled.samples.X)
        sums = FeatureSums.of(samples, features, self.rng)
        return RunningFit(self.space, feature_map, sums, self.rng)


class RidgeFit(NamedTuple):
    """Scores, and those of some samples by a fit without them."""

    space: Space
    feature_map: FeatureMap
    # Weights of the features, shape (m, K).
    weights: Array
    # Shape (K,).
    offset: Array
    # Scores of `samples`.
    scores: Array
    samples: Samples
    shrinkage: float
    # Squared error of the scores, as a share of the variance of the labels.
    error: float


@dataclass(frozen=True)
class FeatureSums:
    """What is kept of all samples; ``a + b`` is what is kept of the samples of both."""

    # The scatter of their features.
    scatter: PrimalScatter
    # Some of them, with features in place of X.
    sample: RandomSample

    @classmethod
    def of(
        cls,
        samples: Samples,
        features: Callable[[slice], Any],
        rng: np.random.RandomState | np.random.Generator,
    ) -> FeatureSums:
        """Add up samples; `features` returns those of a slice of them."""
        n = len(samples.weight)
        drawn = RandomSample.of(MAX_SCORED, (np.arange(n),), rng)
        (chosen,) = drawn.columns
        scatters, kept = [], []
        for rows in batches(n, MAX_LANDMARKS, at_most=BLOCK):  # features stay in the cache
            values = features(rows)
            scatters.append(feature_scatter(values, samples.at(rows)))
            first, last = np.searchsorted(chosen, [rows.start, rows.stop])
            kept.append(values[chosen[first:last] - rows.start])
        sample = samples.at(chosen)._replace(X=stacked(kept))
        return cls(reduce(added, scatters), replace(drawn, columns=tuple(sample)))

    def __add__(self, other: FeatureSums) -> FeatureSums:
        return FeatureSums(added(self.scatter, other.scatter), self.sample + other.sample)


@dataclass
class RunningFit:
    """The sums of the samples so far, in the space that was chosen on the first of them."""

    space: Space
    feature_map: FeatureMap
    sums: FeatureSums
    rng: np.random.RandomState

    def add(self, samples: Samples) -> None:
        """Add further samples."""
        self.sums += FeatureSums.of(
            samples, lambda rows: self.feature_map(samples.X[rows]), self.rng
        )


class LogOdds(NamedTuple):
    """Log-odds of labels, or of classes up to a constant."""

    feature_map: FeatureMap
    # Coefficients of `feature_map.values`, shape (m, K).
    coefficients: Array
    # Shape (K,).
    intercept: Array

    def __call__(self, X: Any) -> Array:
        """Return the log-odds of samples."""
        values = self.feature_map.values(X)
        sums: Array = safe_sparse_dot(values, self.coefficients, dense_output=True)
        return sums + self.intercept


def _classes(Y: Indicator, weight: Array, classes: Any) -> NDArray[Any]:
    """Return the classes of a 1-D y, or the columns of an indicator matrix."""
    if Y.is_matrix:
        return Y.classes
    if classes is not None:
        return np.unique(classes)
    return Y.classes[occupied_columns(Y.matrix.T @ weight, Y.classes)]


def _in_columns(Y: Any, found: NDArray[Any], classes: NDArray[Any]) -> sparse.csr_array:
    """Return class labels, one in each row, with a column for each of `classes`."""
    codes = found[Y.indices]
    if new := np.setdiff1d(codes, classes).tolist():
        raise ValueError(
            f"y has new classes: {new}. Pass all classes as the argument classes in the first "
            "call of partial_fit."
        )
    columns = np.searchsorted(classes, codes)
    return sparse.csr_array((Y.data, columns, Y.indptr), shape=(Y.shape[0], len(classes)))


def _kernels(kernel: str | Sequence[str]) -> Sequence[str]:
    kernels = KERNELS if kernel == "auto" else [kernel] if isinstance(kernel, str) else kernel
    if not kernels or not set(kernels) <= set(KERNELS):
        raise ValueError(f"kernel={kernel!r} must name kernels among {list(KERNELS)}.")
    return kernels


def _floats(numbers: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(numbers).astype(float).tolist())
