"""Kernel-alignment LDA on any kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from skml_kalda._core.arrays import Array, canonical, floating
from skml_kalda._core.dask import batch_of_blocks, is_dask
from skml_kalda._core.kernels.features import KernelFeatures, check_kernel
from skml_kalda._core.kernels.landmarks import LandmarkChoice
from skml_kalda._core.labels import Weights, weighted
from skml_kalda._core.orthonormal import signs
from skml_kalda._core.scatter.memory import check_labels
from skml_kalda._core.streams import Batch, FirstRows, Results, Rows
from skml_kalda.reducers._base import RANK_OF_DATA, check_class_means, no_direction
from skml_kalda.reducers._streamed import Fitted, SupervisedReducer
from skml_kalda.reducers.kalda.landmarks import KernelTransformer, results_of
from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA
from skml_kalda.reducers.kalda.solve import KaLDA

_REPORTED = (
    *("alignment_", "explained_alignment_ratio_", "objective_", "upper_bound_"),
    *("eigenvalues_", "shrinkage_", "n_iter_", "converged_"),
)


class KernelBatch(NamedTuple):
    """The rows so far, once their landmarks are chosen."""

    features: KernelFeatures
    batch: Batch
    """With the scatter of the kernel values."""


class KernelKaLDA(KernelTransformer, SupervisedReducer):
    r"""Kernel-alignment LDA in the feature space of a kernel.

    Finds the functions :math:`f(x) = \sum_l k(x, x_l) a_l` of the landmarks :math:`x_l` after
    which the data are best aligned with the kernel of the labels: `MultiLabelKaLDA` on the
    features of the kernel instead of on those of the data. With all rows as landmarks it is
    exact; with fewer it is the Nyström approximation.

    Parameters
    ----------
    n_components : int, default=None
        Number of functions. None means the number of non-empty classes, minus one if every row
        has the same number of labels or ``weights="labels"``.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed". For
        text of many rare words use "cosine"; `KernelKaLDACV` can choose.
    gamma : "median", float or None, default="median"
        Parameter of the kernel, if it has one: see `LandmarkFeatures`.
    landmarks : {"kmeans", "random"}, default="kmeans"
        How landmarks are chosen if there are more rows: centres of k-means, or rows drawn at
        random. See `LandmarkFeatures`.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. "auto" means all rows, but at most 1000 landmarks.
    constraint : {"none", "orthonormal"}, default="none"
        See `MultiLabelKaLDA`.
    weights : {"rows", "labels"}, default="rows"
        Whether every row counts once, or every label. See `MultiLabelKaLDA`. A kernel fits
        rare labels easily, and does worse where rows without labels are ignored.
    shrinkage : float in [0, 1], "auto" or None, default="auto"
        See `MultiLabelKaLDA`; here it applies to the features of the kernel. Without
        shrinkage a kernel with many features fits anything.
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
        Their indices among the rows they were chosen from; None if they are centres of rows.
    dual_components_ : ndarray of shape (n_landmarks, n_components)
        The coefficients :math:`a_l`, signed so that each function is positive at the landmark
        where its absolute value is largest.
    offset_ : ndarray of shape (n_components,)
        Mean of the functions over the training rows, weighted as `weights` says.
    gamma_ : float or None
        The parameter of the kernel; None if left to scikit-learn.
    alignment_ : float
        Alignment of the kernel of the projected data with the kernel of the labels.
    explained_alignment_ratio_, objective_, upper_bound_, eigenvalues_
        See `MultiLabelKaLDA`.
    shrinkage_, n_iter_, converged_
        See `MultiLabelKaLDA`.
    classes_ : ndarray
        Classes with at least one row: labels, or the columns of `y`, by name if it has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDACV : Chooses the kernel, its width and the shrinkage for neighbours.
    LandmarkFeatures : The features alone, to put in front of any other reducer.
    MultiLabelKaLDA : The same with the linear kernel.

    Notes
    -----
    Distances depend on the scaling of the features: put a `StandardScaler` in front unless
    they share a unit. Rows without labels can be landmarks; with
    ``weights="labels"`` they are otherwise ignored.

    `partial_fit` chooses the landmarks once there are ten rows for each of them, from these
    first rows, and then keeps them. These rows are added up like all others, so the result is
    that of `fit` with the same landmarks; with fewer rows it is that of `fit`. Shuffle the
    rows if the first batches are not representative. On dask data, a first pass draws ten rows
    for each landmark from all blocks and chooses the landmarks; a second pass adds up the
    rows. A stream chooses its landmarks with its first dask batch at the latest.

    Kernel values and their decomposition are computed in double precision, on rows about the
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

    dual_components_ = Fitted[Array]()
    offset_ = Fitted[Array]()
    alignment_ = Fitted[float]()
    explained_alignment_ratio_ = Fitted[Array]()
    objective_ = Fitted[float]()
    upper_bound_ = Fitted[float]()
    eigenvalues_ = Fitted[Array]()
    shrinkage_ = Fitted[float]()
    n_iter_ = Fitted[int]()
    converged_ = Fitted[bool]()

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
    def _counts_rows_once(self) -> bool:
        return self.weights == "rows"

    def _solve_rows(self, rows: Rows) -> Results:
        results = self._solve_batch(self._with_landmarks(FirstRows((rows,))))
        self._advise_on_units(rows.X)
        return results

    def _extended(
        self, before: FirstRows | KernelBatch | None, X: Any, y: Any, sample_weight: Any
    ) -> FirstRows | KernelBatch:
        if isinstance(before, KernelBatch):
            features, batch = before
            batch += self._batch(X, y, sample_weight, features=features, reset=False)
            return KernelBatch(features, batch)
        if is_dask(X):
            return self._first_blocks(before, X, y, sample_weight)
        rows = self._validate(X, y, sample_weight, reset=before is None, min_samples=1)
        first = FirstRows.of(rows) if before is None else before + FirstRows.of(rows)
        return self._with_landmarks(first) if self._enough(first) else first

    def _first_blocks(
        self, before: FirstRows | None, X: Any, y: Any, sample_weight: Any
    ) -> KernelBatch:
        features = self._choose_from_blocks(X, sample_weight, before)
        batch = self._batch(X, y, sample_weight, features=features, reset=before is None)
        if before is not None:
            batch = self._added_up(before, features) + batch
        return KernelBatch(features, batch)

    def _with_landmarks(self, first: FirstRows) -> KernelBatch:
        check_labels(0, len(first.parts[-1].Y.classes))  # before landmarks, which take long
        features = self._choice().of(*first.together())
        return KernelBatch(features, self._added_up(first, features))

    def _added_up(self, first: FirstRows, features: KernelFeatures) -> Batch:
        return reduce(add, (self._batch_of(rows, features) for rows in first.parts))

    def _batch(
        self, X: Any, y: Any, sample_weight: Any, *, features: KernelFeatures, reset: bool
    ) -> Batch:
        if is_dask(X):
            return batch_of_blocks(self, X, y, sample_weight, reset=reset, features=features)
        rows = self._validate(X, y, sample_weight, reset=reset, min_samples=1)
        return self._batch_of(rows, features)

    def _batch_of(self, rows: Rows, features: KernelFeatures) -> Batch:
        X, Y, weight = rows
        scatter = features.scatter(X, *weighted(Y.matrix, weight, self.weights))
        return Batch(scatter, Y.classes, Y.columns, floating(X.dtype))

    def _solve_batch(self, batch: FirstRows | KernelBatch) -> Results:
        features, rows = self._with_landmarks(batch) if isinstance(batch, FirstRows) else batch
        scatter, classes = rows.occupied()
        check_kernel(scatter.diagonal)
        scatter = replace(features.of_features(scatter), rows_once=self._counts_rows_once)
        check_kernel(scatter.diagonal)
        if scatter.is_constant:
            raise no_direction(type(self).__name__, RANK_OF_DATA)
        check_class_means(type(self).__name__, scatter, self._counts_rows_once)
        problem = KaLDA(
            type(self).__name__, self.n_components, self.constraint, self.shrinkage, tol=1e-8
        )
        G, attributes = problem.directions(scatter.cleaned())
        dual, offset = features.whitening @ G, G.T @ scatter.mean
        # The basis of the features is arbitrary; the values at the landmarks are not.
        flip = signs(features.kernel(features.landmarks.points) @ dual - offset)
        return {
            **results_of(features),
            **{name: attributes[name] for name in _REPORTED},
            "dual_components_": dual * flip,
            "offset_": offset * flip,
            "classes_": classes,
        }

    def _project(self, X: Any) -> Array:
        fitted = self._results()
        dual, offset = fitted["dual_components_"], fitted["offset_"]
        return fitted["_features"].functions(canonical(X), dual, offset)

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_components_.shape[1])
