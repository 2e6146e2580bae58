"""The features of a kernel at landmarks, as a transformer of its own."""

from __future__ import annotations

from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from skml_kalda._core.advice import advise_on_units
from skml_kalda._core.arrays import Array, canonical, stacked
from skml_kalda._core.dask import check_features, is_dask, sample_of_blocks
from skml_kalda._core.kernels.features import FeatureChoice, KernelFeatures
from skml_kalda._core.kernels.landmarks import LandmarkChoice
from skml_kalda._core.streams import FirstRows, Results, Rows, Stream
from skml_kalda.reducers._streamed import Fitted, StreamedTransformer

# Why a precomputed kernel has neither batches nor blocks.
PRECOMPUTED = "a precomputed kernel needs all rows at once."


class KernelTransformer(StreamedTransformer):
    """Base of the transformers that choose landmarks, from all rows or from the first ones."""

    kernel: Any
    landmarks_ = Fitted[Any]()
    landmark_indices_ = Fitted[NDArray[np.intp] | None]()
    gamma_ = Fitted[float | None]()
    _features = Fitted[KernelFeatures]()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({*KERNEL_PARAMS, "precomputed"}), callable],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither"), None],
        "landmarks": [StrOptions({"kmeans", "random"})],
        "kernel_params": [dict, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def _choice(self) -> FeatureChoice:
        names = {field.name for field in fields(FeatureChoice)} - {"feature_names"}
        return FeatureChoice(
            **{name: getattr(self, name) for name in names},
            feature_names=getattr(self, "feature_names_in_", None),
        )

    def _enough(self, rows: FirstRows) -> bool:
        """Whether there are enough rows to choose landmarks from."""
        return rows.n_weighted >= self._choice().n_rows

    def _choose_from_blocks(
        self, X: Any, sample_weight: Any, first: FirstRows | None
    ) -> KernelFeatures:
        """Choose the landmarks from rows of all blocks, and from the first ones."""
        choice = self._choice()
        seed = check_random_state(choice.random_state).randint(2**31 - 1)
        drawn = sample_of_blocks(
            self, X, None, sample_weight, reset=first is None, size=choice.n_rows, seed=seed
        )
        parts = [drawn.columns] if first is None else [first.together(), drawn.columns]
        return choice.of(*(stacked(each) for each in zip(*parts, strict=True)))

    def _advise_on_units(self, X: Any) -> None:
        # It is not known what a callable depends on.
        if isinstance(self.kernel, str) and self.kernel != "precomputed" and not issparse(X):
            names = getattr(self, "feature_names_in_", None)
            advise_on_units(type(self).__name__, X.std(axis=0, dtype=np.float64), names)

    def _needs_all_rows(self) -> str | None:
        return PRECOMPUTED if self.kernel == "precomputed" else None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class LandmarkFeatures(KernelTransformer):
    r"""The features of a kernel at landmarks.

    A kernel :math:`k` is an inner product of features, possibly infinitely many. At landmarks
    :math:`l_1, \dots, l_m`, with :math:`k(x) = (k(x, l_1), \dots, k(x, l_m))` and :math:`K` the
    kernel values of the landmarks with one another, the features

    .. math:: \varphi(x) = k(x) K^{-1/2}

    have the kernel as their inner product: exactly if all rows are landmarks, and in the
    Nyström approximation [1]_ if there are fewer. A linear method on these features is a
    kernel method: ``make_pipeline(LandmarkFeatures(), OPLS())``.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. "auto" means all rows, but at most 1000 landmarks.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed".
    gamma : "median", float or None, default="median"
        Parameter of the kernel, if it has one. "median" is one over the median squared
        distance of two rows ("rbf") or over their median distance ("laplacian"); other
        kernels then take scikit-learn's default, as None does.
    landmarks : {"kmeans", "random"}, default="kmeans"
        How landmarks are chosen if there are more rows: centres of k-means, or rows drawn at
        random. k-means looks at ten rows for each landmark, drawn at random. Sparse rows are
        clustered in their leading 64 singular directions, and the row nearest to each centre
        is the landmark. For a precomputed kernel, landmarks are rows drawn at random.
    kernel_params : dict, default=None
        Further parameters of the kernel.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks, and the rows for the median.
    n_jobs : int, default=None
        Number of jobs for the kernel.

    Attributes
    ----------
    landmarks_ : ndarray or sparse of shape (n_landmarks, n_features)
        The landmarks; rows of the kernel if it is precomputed.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Their indices among the training rows; None if they are centres of rows, or came in
        batches or blocks.
    gamma_ : float or None
        The parameter of the kernel; None if left to scikit-learn.
    normalization_ : ndarray of shape (n_landmarks, n_features_out)
        :math:`K^{-1/2}` on the range of :math:`K`, in the basis of its eigenvectors, largest
        eigenvalue first. Repeated landmarks, or kernels of few features, leave fewer features
        than landmarks.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDA : kaLDA on these features.
    sklearn.kernel_approximation.Nystroem : Random landmarks, in the precision of X.

    Notes
    -----
    Kernel values and their decomposition are computed in double precision and on rows about
    the mean of the landmarks where the kernel allows it, so that a large offset of the
    features costs no digits. The linear and the cosine kernel are taken about that mean: this
    moves the origin of the features and leaves the distances between rows as they are.

    `partial_fit` keeps rows until there are ten for each landmark, then chooses the landmarks
    from these; later batches change nothing. Until then `transform` uses the landmarks that
    `fit` on the rows so far would choose, and a further batch changes them: call `partial_fit`
    on enough rows first. On dask data the landmarks are chosen from ten rows
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

    normalization_ = Fitted[Array]()

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
            X = self._validate_rows(X, reset=True, min_samples=2)
            features = self._choice().of(X, np.ones(X.shape[0]))
            self._advise_on_units(X)
        self._state = self._solve_batch(features)
        return self

    @available_if(lambda self: self._needs_all_rows() is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take a batch of rows into account, until there are enough to choose landmarks.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The rows of the batch.
        y : Ignored
            Not used, present for API consistency by convention.

        Returns
        -------
        self : object
            The transformer.
        """
        self._state = Stream(self._extended(self._batches_before(), X))
        return self

    def _extended(self, before: Any, X: Any) -> FirstRows | KernelFeatures:
        chosen = isinstance(before, KernelFeatures)
        if is_dask(X):
            check_features(self, X, reset=before is None)
            return before if chosen else self._choose_from_blocks(X, None, before)
        X = self._validate_rows(X, reset=before is None, min_samples=1)
        if chosen:
            return before
        rows = FirstRows.of(Rows(X, None, np.ones(X.shape[0])))
        first = rows if before is None else before + rows
        return self._choice().of(*first.together()) if self._enough(first) else first

    def _solve_batch(self, batch: FirstRows | KernelFeatures) -> Results:
        features = self._choice().of(*batch.together()) if isinstance(batch, FirstRows) else batch
        if not features.whitening.shape[1]:
            raise ValueError(
                f"{type(self).__name__} finds no feature in X: the kernel values of its landmarks "
                "are zero (about their mean, if the kernel is linear)."
            )
        return {**results_of(features), "normalization_": features.whitening}

    def _project(self, X: Any) -> Array:
        return self._features(canonical(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])


def results_of(features: KernelFeatures) -> Results:
    """Return the fitted attributes that all kernel transformers have."""
    return {
        "landmarks_": features.landmarks.points,
        "landmark_indices_": features.landmarks.indices,
        "gamma_": features.gamma,
        "_features": features,
    }
