"""Kernel-alignment LDA on any kernel, and the features of a kernel at landmarks."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from numbers import Integral, Real
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from skml_kalda._core.arrays import (
    Array,
    check_distances,
    check_labels,
    is_dask,
    stacked,
    sum_duplicates,
)
from skml_kalda._core.eigenproblem import signs
from skml_kalda._core.kernels import (
    MANY_LANDMARKS,
    ROWS_PER_LANDMARK,
    KernelFeatures,
    LandmarkChoice,
    LandmarkKernel,
    check_kernel,
    choose_landmarks,
    functions,
    has_gamma,
    median_gamma,
)
from skml_kalda._core.labels import LabelledSamples, Weights
from skml_kalda._core.messages import warn_on_units
from skml_kalda._core.streams import Batch, FirstSamples
from skml_kalda.reducers.base import (
    RANK_OF_DATA,
    Results,
    StreamingTransformer,
    SupervisedTransformer,
    check_class_means,
    documented,
    no_direction,
)
from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA
from skml_kalda.reducers.kalda.newton import Stop
from skml_kalda.reducers.kalda.solve import closed_form, orthonormal_maximum

_REPORTED = (
    *("alignment_", "explained_alignment_ratio_", "objective_", "upper_bound_"),
    *("eigenvalues_", "shrinkage_", "n_iter_", "converged_"),
)


class KernelTransformer(StreamingTransformer):
    """Base of the transformers that choose landmarks, from all samples or from the first ones."""

    kernel: Any
    gamma: Any
    n_landmarks: Any
    landmarks: Any
    kernel_params: Any
    random_state: Any
    n_jobs: Any
    landmarks_: Any
    landmark_indices_: NDArray[np.intp] | None
    gamma_: float | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({*KERNEL_PARAMS, "precomputed"}), callable],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither"), None],
        "landmarks": [StrOptions({"kmeans", "random"})],
        "kernel_params": [dict, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _choose(self, X: Any, weight: Array) -> KernelFeatures:
        """Choose the landmarks and the width of the kernel."""
        n, wanted = np.count_nonzero(weight), self._most_landmarks
        if n == 0:
            raise ValueError("X has no sample of positive weight to choose landmarks from.")
        if self.n_landmarks != "auto" and wanted > n:
            raise ValueError(
                f"n_landmarks={wanted} must be <= {n}, the number of samples of positive weight."
            )
        precomputed, unit_length = self.kernel == "precomputed", bool(self.kernel == "cosine")
        if not precomputed:
            check_distances(X, getattr(self, "feature_names_in_", None))
        elif X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}, but a precomputed kernel must be square: pass the "
                "kernel values of all training samples with one another."
            )
        how: LandmarkChoice = "random" if precomputed else self.landmarks
        rng = check_random_state(self.random_state)
        chosen = choose_landmarks(X, weight, wanted, how, rng, unit_length=unit_length)
        gamma = self.gamma if has_gamma(self.kernel) else None
        if gamma == "median":
            rng = check_random_state(self.random_state)
            gamma = median_gamma(self.kernel, X, weight, rng)
        given = chosen.indices if precomputed else chosen.points
        values = LandmarkKernel(given, self.kernel, gamma, self.kernel_params, self.n_jobs)
        return KernelFeatures.of(values, chosen, gamma)

    @property
    def _most_landmarks(self) -> int:
        """Number of landmarks, if there are enough samples."""
        return MANY_LANDMARKS if self.n_landmarks == "auto" else int(self.n_landmarks)

    @property
    def _enough(self) -> int:
        """Number of samples to choose landmarks from, if not all are in memory."""
        return ROWS_PER_LANDMARK * self._most_landmarks

    def _choose_from_blocks(
        self, X: Any, sample_weight: Any, first: FirstSamples | None
    ) -> KernelFeatures:
        """Choose the landmarks from samples of all blocks, and from the first ones."""
        from skml_kalda._core.dask import sample_of_blocks

        seed = check_random_state(self.random_state).randint(2**31 - 1)
        drawn = sample_of_blocks(
            self, X, None, sample_weight, reset=first is None, size=self._enough, seed=seed
        )
        parts = [drawn.columns] if first is None else [first.together(), drawn.columns]
        return self._choose(*(stacked(each) for each in zip(*parts, strict=True)))

    def _warn_on_units(self, X: Any) -> None:
        # It is not known what a callable depends on.
        if isinstance(self.kernel, str) and self.kernel != "precomputed" and not issparse(X):
            names = getattr(self, "feature_names_in_", None)
            warn_on_units(type(self).__name__, X.std(axis=0, dtype=np.float64), names)

    def _needs_all_samples(self) -> str | None:
        if self.kernel == "precomputed":
            return "a precomputed kernel needs all samples at once."
        return None

    def _results_of(self, features: KernelFeatures) -> Results:
        return {
            "landmarks_": features.landmarks.points,
            "landmark_indices_": features.landmarks.indices,
            "gamma_": features.gamma,
        }

    def _landmark_kernel(self) -> LandmarkKernel:
        """Return the kernel values with the landmarks, as a function."""
        given = self.landmark_indices_ if self.kernel == "precomputed" else self.landmarks_
        return LandmarkKernel(given, self.kernel, self.gamma_, self.kernel_params, self.n_jobs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


@documented
class LandmarkFeatures(KernelTransformer):
    r"""The features of a kernel at landmarks.

    A kernel :math:`k` is an inner product of features, possibly infinitely many. At landmarks
    :math:`l_1, \dots, l_m`, with :math:`k(x) = (k(x, l_1), \dots, k(x, l_m))` and :math:`K` the
    kernel values of the landmarks with one another, the features

    .. math:: \varphi(x) = k(x) K^{-1/2}

    have the kernel as their inner product: exactly if all samples are landmarks, and in the
    Nyström approximation [1]_ if there are fewer. A linear method on these features is a
    kernel method: ``make_pipeline(LandmarkFeatures(), OPLS())``.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. "auto" means all samples, but at most 1000 landmarks.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed".
    gamma : "median", float or None, default="median"
        Parameter of the kernel, if it has one. "median" is one over the median squared
        distance of two samples ("rbf") or over their median distance ("laplacian"); other
        kernels then take scikit-learn's default, as None does.
    landmarks : {"kmeans", "random"}, default="kmeans"
        How landmarks are chosen if there are more samples: centres of k-means, or samples drawn at
        random. k-means looks at ten samples for each landmark, drawn at random. Sparse samples are
        clustered in their leading 64 singular directions, and the sample nearest to each centre
        is the landmark. For a precomputed kernel, landmarks are samples drawn at random.
    kernel_params : dict, default=None
        Further parameters of the kernel.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks, and the samples for the median.
    n_jobs : int, default=None
        Number of jobs for the kernel.

    Attributes
    ----------
    landmarks_ : ndarray or sparse of shape (n_landmarks, n_features)
        The landmarks; samples of the kernel if it is precomputed.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Their indices among the training samples; None if they are centres of samples, or came in
        batches or blocks.
    gamma_ : float or None
        The parameter of the kernel; None if left to scikit-learn.
    normalization_ : ndarray of shape (n_landmarks, n_features_out)
        :math:`K^{-1/2}` on the range of :math:`K`, in the basis of its eigenvectors, largest
        eigenvalue first. Repeated landmarks, or kernels of few features, leave fewer features
        than landmarks.
    {features}

    See Also
    --------
    KernelKaLDA : kaLDA on these features.
    sklearn.kernel_approximation.Nystroem : Random landmarks, in the precision of X.

    Notes
    -----
    Kernel values and their decomposition are computed in double precision and on samples about
    the mean of the landmarks where the kernel allows it, so that a large offset of the
    features costs no digits. The linear and the cosine kernel are taken about that mean: this
    moves the origin of the features and leaves the distances between samples as they are.

    `partial_fit` keeps samples until there are ten for each landmark, then chooses the landmarks
    from these; later batches change nothing. Until then `transform` uses the landmarks that
    `fit` on the samples so far would choose, and a further batch changes them: call `partial_fit`
    on enough samples first. On dask data the landmarks are chosen from ten samples
    for each of them, drawn from all blocks.

    References
    ----------
    .. [1] C. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS 2000.
    .. [2] K. Zhang, I. Tsang and J. Kwok, "Improved Nyström low-rank approximation and error
       analysis", ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.pipeline import make_pipeline
    >>> from skml_kalda import OPLS, LandmarkFeatures
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> features = LandmarkFeatures(n_landmarks=30, random_state=0)
    >>> features.fit_transform(X).shape
    (100, 30)
    >>> make_pipeline(features, OPLS()).fit_transform(X, Y).shape
    (100, 4)
    """

    normalization_: Array
    _shows_fit = "normalization_"

    def __init__(
        self,
        n_landmarks: int | Literal["auto"] = "auto",
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["median"] | None = "median",
        landmarks: LandmarkChoice = "kmeans",
        kernel_params: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.gamma = gamma
        self.landmarks = landmarks
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data; the square kernel matrix if the kernel is precomputed.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if is_dask(X):
            features = self._choose_from_blocks(X, None, None)
        else:
            X = self._validate_samples(X, reset=True, min_samples=2)
            features = self._choose(X, np.ones(X.shape[0]))
            self._warn_on_units(X)
        self._set_results(self._solve_stream(features))
        return self

    @available_if(lambda self: self._needs_all_samples() is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take a batch of samples into account, until there are enough to choose landmarks.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The samples of the batch.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The transformer.
        """
        self._set_stream(self._extended(vars(self).get("_stream"), X))
        return self

    def _extended(self, before: Any, X: Any) -> FirstSamples | KernelFeatures:
        chosen = isinstance(before, KernelFeatures)
        if is_dask(X):
            from skml_kalda._core.dask import check_features

            check_features(self, X, reset=before is None)
            return before if chosen else self._choose_from_blocks(X, None, before)
        X = self._validate_samples(X, reset=before is None, min_samples=1)
        if chosen:
            return before
        samples = FirstSamples.of(LabelledSamples(X, None, np.ones(X.shape[0])))
        first = samples if before is None else before + samples
        return self._choose(*first.together()) if first.n_weighted >= self._enough else first

    def _solve_stream(self, stream: FirstSamples | KernelFeatures) -> Results:
        if isinstance(stream, FirstSamples):
            stream = self._choose(*stream.together())
        features = stream
        if not features.whitening.shape[1]:
            raise ValueError(
                f"{type(self).__name__} finds no feature in X: the kernel values of its landmarks "
                "are zero (about their mean, if the kernel is linear)."
            )
        return {**self._results_of(features), "normalization_": features.whitening}

    def _project(self, X: Any) -> Array:
        return functions(self._landmark_kernel(), sum_duplicates(X), self.normalization_)

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])


class KernelBatch(NamedTuple):
    """The samples so far, once their landmarks are chosen."""

    features: KernelFeatures
    # With the scatter of the kernel values.
    batch: Batch


@documented
class KernelKaLDA(KernelTransformer, SupervisedTransformer):
    r"""Kernel-alignment LDA in the feature space of a kernel.

    Finds the functions :math:`f(x) = \sum_l k(x, x_l) a_l` of the landmarks :math:`x_l` after
    which the data are best aligned with the kernel of the labels: `MultiLabelKaLDA` on the
    features of the kernel instead of on those of the data. With all samples as landmarks it is
    exact; with fewer it is the Nyström approximation.

    Parameters
    ----------
    n_components : int, default=None
        Number of functions. None means the number of non-empty classes, minus one if every sample
        has the same number of labels or ``weights="labels"``.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed". For
        text of many rare words use "cosine".
    gamma : "median", float or None, default="median"
        Parameter of the kernel, if it has one: see `LandmarkFeatures`.
    landmarks : {"kmeans", "random"}, default="kmeans"
        How landmarks are chosen if there are more samples: centres of k-means, or samples drawn at
        random. See `LandmarkFeatures`.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. "auto" means all samples, but at most 1000 landmarks.
    constraint : {"none", "orthonormal"}, default="none"
        See `MultiLabelKaLDA`.
    weights : {"rows", "labels"}, default="rows"
        Whether every sample counts once, or every label. See `MultiLabelKaLDA`. A kernel fits
        rare labels easily, and does worse where samples without labels are ignored.
    shrinkage : float in [0, 1], "auto" or None, default="auto"
        See `MultiLabelKaLDA`; here it applies to the features of the kernel. Without
        shrinkage a kernel with many features fits anything.
    kernel_params : dict, default=None
        Further parameters of the kernel.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks, and the samples for the median.
    n_jobs : int, default=None
        Number of jobs for the kernel.

    Attributes
    ----------
    landmarks_ : ndarray or sparse of shape (n_landmarks, n_features)
        The landmarks; samples of the kernel if it is precomputed.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Their indices among the samples they were chosen from; None if they are centres of samples.
    dual_components_ : ndarray of shape (n_landmarks, n_components)
        The coefficients :math:`a_l`, signed so that each function is positive at the landmark
        where its absolute value is largest.
    offset_ : ndarray of shape (n_components,)
        Mean of the functions over the training samples, weighted as `weights` says.
    gamma_ : float or None
        The parameter of the kernel; None if left to scikit-learn.
    alignment_ : float
        Alignment of the kernel of the projected data with the kernel of the labels.
    explained_alignment_ratio_, objective_, upper_bound_, eigenvalues_
        See `MultiLabelKaLDA`.
    shrinkage_, n_iter_, converged_
        See `MultiLabelKaLDA`.
    {classes_and_features}

    See Also
    --------
    LandmarkFeatures : The features alone, to use before any other reducer.
    MultiLabelKaLDA : The same with the linear kernel.

    Notes
    -----
    Distances depend on the scaling of the features: use a `StandardScaler` before it unless
    they share a unit. Samples without labels can be landmarks; with
    ``weights="labels"`` they are otherwise ignored.

    `partial_fit` chooses the landmarks once there are ten samples for each of them, from these
    first samples, and then keeps them. These samples are added up like all others, so the result is
    that of `fit` with the same landmarks; with fewer samples it is that of `fit`. Shuffle the
    samples if the first batches are not representative. On dask data, a first pass draws ten
    samples for each landmark from all blocks and chooses the landmarks; a second pass adds up the
    samples. A stream chooses its landmarks with its first dask batch at the latest.

    Kernel values and their decomposition are computed in double precision, on samples about the
    mean of the landmarks where the kernel allows it: a large offset of the features costs no
    digits. Features of eigenvalues below 1e-10 of the largest are left out; below the precision
    of X if it is a precomputed kernel in single precision.

    References
    ----------
    .. [1] S. Zheng and C. Ding, "Kernel alignment inspired linear discriminant analysis",
       ECML PKDD 2014.
    .. [2] C. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       NIPS 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import KernelKaLDA
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> KernelKaLDA().fit_transform(X, Y).shape
    (100, 4)
    """

    dual_components_: Array
    offset_: Array

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelTransformer._parameter_constraints,
        **{
            name: MultiLabelKaLDA._parameter_constraints[name]
            for name in ("n_components", "constraint", "weights", "shrinkage")
        },
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["median"] | None = "median",
        landmarks: LandmarkChoice = "kmeans",
        n_landmarks: int | Literal["auto"] = "auto",
        constraint: Literal["orthonormal", "none"] = "none",
        weights: Weights = "rows",
        shrinkage: float | Literal["auto"] | None = "auto",
        kernel_params: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.constraint = constraint
        self.weights = weights
        self.shrinkage = shrinkage
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _sample_weighted(self) -> bool:
        return self.weights == "rows"

    def _fit_samples(self, samples: LabelledSamples) -> Results:
        results = self._solve_stream(FirstSamples((samples,)))
        self._warn_on_units(samples.X)
        return results

    def _extended(
        self, before: FirstSamples | KernelBatch | None, X: Any, y: Any, sample_weight: Any
    ) -> FirstSamples | KernelBatch:
        if isinstance(before, KernelBatch):
            features, batch = before
            batch += self._batch(X, y, sample_weight, features=features, reset=False)
            return KernelBatch(features, batch)
        if is_dask(X):
            features = self._choose_from_blocks(X, sample_weight, before)
            batch = self._batch(X, y, sample_weight, features=features, reset=before is None)
            if before is not None:
                batch = self._added_up(before, features) + batch
            return KernelBatch(features, batch)
        samples = self._validate(X, y, sample_weight, reset=before is None, min_samples=1)
        first = FirstSamples.of(samples)
        first = first if before is None else before + first
        return self._with_landmarks(first) if first.n_weighted >= self._enough else first

    def _with_landmarks(self, first: FirstSamples) -> KernelBatch:
        check_labels(0, len(first.parts[-1].Y.classes))  # before landmarks, which take long
        features = self._choose(*first.together())
        return KernelBatch(features, self._added_up(first, features))

    def _added_up(self, first: FirstSamples, features: KernelFeatures) -> Batch:
        batches = (self._batch_of(samples, features=features) for samples in first.parts)
        return cast("Batch", reduce(add, batches))

    def _sums(self, X: Any, Y: Any, weight: Array, **given: Any) -> Any:
        return given["features"].scatter(X, *self._weigh(X, Y, weight))

    def _solve_stream(self, stream: FirstSamples | KernelBatch) -> Results:
        name = type(self).__name__
        if isinstance(stream, FirstSamples):
            stream = self._with_landmarks(stream)
        features, batch = stream
        scatter, classes = batch.occupied()
        check_kernel(scatter.diagonal)
        scatter = replace(features.of_features(scatter), sample_weighted=self._sample_weighted)
        check_kernel(scatter.diagonal)
        if not scatter.varying.any():
            raise no_direction(name, RANK_OF_DATA)
        check_class_means(name, scatter, self._sample_weighted)
        scatter = scatter.cleaned()
        problem = name, scatter, self.n_components, scatter.label_dimensions, self.shrinkage
        if self.constraint == "none":
            G, attributes = closed_form(*problem)
        else:
            G, attributes = orthonormal_maximum(*problem, stop=Stop())
        dual, offset = features.whitening @ G, G.T @ scatter.mean
        # The basis of the features is arbitrary; the values at the landmarks are not.
        flip = signs(features.kernel(features.landmarks.points) @ dual - offset)
        return {
            **self._results_of(features),
            **{name: attributes[name] for name in _REPORTED},
            "dual_components_": dual * flip,
            "offset_": offset * flip,
            "classes_": classes,
        }

    def _project(self, X: Any) -> Array:
        kernel = self._landmark_kernel()
        return functions(kernel, sum_duplicates(X), self.dual_components_, self.offset_)

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_components_.shape[1])
