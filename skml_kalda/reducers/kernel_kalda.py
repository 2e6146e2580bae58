"""Kernel-alignment LDA on any kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from skml_kalda._base import reducer_tags
from skml_kalda._dask import lazy_on_dask, refuse_dask
from skml_kalda._grassmann import signs
from skml_kalda._labels import indicator
from skml_kalda._moments import positive
from skml_kalda._scatter import Array
from skml_kalda.reducers._kernels import batches, check_square, median_gamma
from skml_kalda.reducers.kalda import MultiLabelKaLDA

# All rows are landmarks up to this many: above, they would cost more than they add.
MANY_LANDMARKS = 1000
_REPORTED = (
    *("alignment_", "objective_", "upper_bound_", "eigenvalues_"),
    *("shrinkage_", "n_iter_", "converged_"),
)


class _FeatureKaLDA(MultiLabelKaLDA):
    """kaLDA on the features of a kernel; its errors are those of the class in use."""

    @property
    def _called(self) -> str:
        return "KernelKaLDA"


@lazy_on_dask
class KernelKaLDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Kernel-alignment LDA in the feature space of a kernel.

    Finds the functions :math:`f(x) = \sum_l k(x, x_l) a_l` of the landmarks :math:`x_l` after
    which the data are best aligned with the kernel of the labels: `MultiLabelKaLDA` on the
    features of the kernel instead of on those of the data. With all rows as landmarks it is
    exact; with fewer it is the Nyström approximation.

    Parameters
    ----------
    n_components : int, default=None
        Number of functions. None means the number of classes that have rows, minus one.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed". For
        text of many rare words take "cosine"; `KernelKaLDACV` can tell.
    gamma : "median", float or None, default="median"
        Parameter of the kernel, if it has one. "median" is one over the median squared
        distance of two rows ("rbf") or over their median distance ("laplacian"); other
        kernels then take scikit-learn's default, as None does.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks, drawn from the rows. "auto" takes all rows up to 1000.
    constraint : {"none", "orthonormal"}, default="none"
        As of `MultiLabelKaLDA`.
    shrinkage : float in [0, 1], "auto" or None, default=0.2
        As of `MultiLabelKaLDA`, with as many features as the landmarks give independent
        ones. A kernel of many features fits anything without it; "auto" is often too much
        where labels are rare.
    kernel_params : dict, default=None
        Further parameters of the kernel.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, and the rows for the median.
    n_jobs : int, default=None
        Number of jobs for the kernel.

    Attributes
    ----------
    landmarks_ : ndarray or sparse of shape (n_landmarks, n_features)
        The landmarks; rows of the kernel if it is precomputed.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Their places among the training rows.
    dual_components_ : ndarray of shape (n_landmarks, n_components)
        The coefficients :math:`a_l`; each function is positive at the landmark where it is
        largest in size.
    offset_ : ndarray of shape (n_components,)
        Mean of the functions over the training rows, each weighted by its number of labels.
    gamma_ : float or None
        The parameter of the kernel; None if left to scikit-learn.
    alignment_ : float
        Alignment of the kernel of the projected data with the kernel of the labels.
    objective_, upper_bound_, eigenvalues_, shrinkage_, n_iter_, converged_
        As of `MultiLabelKaLDA`.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDACV : Chooses the kernel, its width and the shrinkage for neighbours.
    MultiLabelKaLDA : The same with the linear kernel.
    sklearn.kernel_approximation.Nystroem : The features of landmarks alone.

    Notes
    -----
    Distances depend on the scaling of the features: put a `StandardScaler` in front unless
    they share a unit. Rows without labels can be landmarks, and count for nothing else. To use
    dask data, fit on a sample of them in memory: `transform` takes dask data as they are.

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
    (100, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": MultiLabelKaLDA._parameter_constraints["n_components"],
        "kernel": [StrOptions({*KERNEL_PARAMS, "precomputed"}), callable],
        "gamma": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither"), None],
        "n_landmarks": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "constraint": MultiLabelKaLDA._parameter_constraints["constraint"],
        "shrinkage": MultiLabelKaLDA._parameter_constraints["shrinkage"],
        "kernel_params": [dict, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["median"] | None = "median",
        n_landmarks: int | Literal["auto"] = "auto",
        constraint: Literal["orthonormal", "none"] = "none",
        shrinkage: float | Literal["auto"] | None = 0.2,
        kernel_params: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.constraint = constraint
        self.shrinkage = shrinkage
        self.kernel_params = kernel_params
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the functions.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The data; the square kernel matrix if the kernel is precomputed.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        refuse_dask(self, X, "its landmarks are drawn from all rows.")
        Y = indicator(y)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        check_consistent_length(X, Y.matrix)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        features = self._features(X, weight)
        kalda = _FeatureKaLDA(
            self.n_components, constraint=self.constraint, shrinkage=self.shrinkage
        )
        for rows in batches(X.shape[0], features.shape[0]):
            kalda.partial_fit(self._kernel(X[rows]) @ features, Y.matrix[rows], weight[rows])
        self._adopt(kalda, features, Y.classes)
        return self

    def transform(self, X: Any) -> Any:
        """Evaluate the functions, a batch of rows at a time.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The data; kernel values with the training rows if the kernel is precomputed.

        Returns
        -------
        X_new : array of shape (n_samples, n_components)
            The projected data, dense.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self._project(X)

    def _project(self, X: Any) -> Array:
        dual = self.dual_components_.astype(X.dtype, copy=False)
        return self._functions(X, dual) - self.offset_.astype(X.dtype, copy=False)

    def _functions(self, X: Any, dual: Array) -> Array:
        """Sums of kernel values with the landmarks, a batch of rows at a time."""
        parts = [self._kernel(X[rows]) @ dual for rows in batches(X.shape[0], dual.shape[0])]
        return np.concatenate(parts)

    def _adopt(self, kalda: MultiLabelKaLDA, features: Array, classes: NDArray[Any]) -> None:
        dual = features @ kalda.components_.T
        offset = kalda.components_ @ kalda.mean_
        # The basis of the features is arbitrary; the values at the landmarks are not.
        flip = signs(self._kernel(self.landmarks_) @ dual - offset)
        self.dual_components_, self.offset_ = dual * flip, offset * flip
        self.classes_ = classes[kalda.classes_]
        for name in _REPORTED:
            setattr(self, name, getattr(kalda, name))

    def _draw_landmarks(self, X: Any, weight: Array, rng: np.random.RandomState) -> None:
        if self.kernel == "precomputed":
            check_square(X)
        rows = np.flatnonzero(weight)
        wanted = min(len(rows), MANY_LANDMARKS)
        if self.n_landmarks != "auto":
            wanted = self.n_landmarks
        if wanted > len(rows):
            raise ValueError(
                f"n_landmarks={wanted} is more than the {len(rows)} rows of positive weight: "
                "pass fewer."
            )
        if wanted < len(rows):
            rows = rng.choice(rows, wanted, replace=False)
        self.landmark_indices_ = rows
        self.landmarks_ = X[rows]

    def _features(self, X: Any, weight: Array) -> Array:
        """Map kernel values with the landmarks to features: (K_LL)^(-½) on its range."""
        rng = check_random_state(self.random_state)
        self.gamma_ = self._choose_gamma(X, weight, rng)
        self._draw_landmarks(X, weight, rng)
        K = self._kernel(self.landmarks_)
        values, vectors = linalg.eigh((K + K.T) / 2)
        # Repeated rows leave null directions, which must not count as features.
        keep = positive(values)
        features: Array = vectors[:, keep] / np.sqrt(values[keep])
        return features

    def _kernel(self, X: Any) -> Array:
        """Kernel values of rows with the landmarks."""
        if self.kernel == "precomputed":
            return X[:, self.landmark_indices_]
        gamma = {} if self.gamma_ is None else {"gamma": self.gamma_}
        values: Array = pairwise_kernels(
            X,
            self.landmarks_,
            metric=self.kernel,
            n_jobs=self.n_jobs,
            **gamma,
            **(self.kernel_params or {}),
        )
        return values

    def _choose_gamma(self, X: Any, weight: Array, rng: np.random.RandomState) -> float | None:
        if callable(self.kernel) or "gamma" not in KERNEL_PARAMS.get(self.kernel, ()):
            return None
        if self.gamma != "median":
            return self.gamma
        return median_gamma(self.kernel, X, weight, rng)

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_components_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = reducer_tags(super().__sklearn_tags__())
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
