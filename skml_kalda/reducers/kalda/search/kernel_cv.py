"""Kernel kaLDA with kernel and parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels.landmarks import LandmarkChoice, Landmarks
from skml_kalda._core.kernels.values import (
    check_distances,
    check_square,
    has_gamma,
    median_gamma,
)
from skml_kalda._core.labels import Weights, weighted
from skml_kalda._core.scatter import MomentScatter
from skml_kalda.reducers.kalda.kernel import KernelKaLDA
from skml_kalda.reducers.kalda.landmarks import PRECOMPUTED
from skml_kalda.reducers.kalda.search.base import SHRINKAGES, THRESHOLDS, NeighborCV, OfBest, Rows
from skml_kalda.reducers.kalda.search.grid import Projection


class KernelKaLDACV(NeighborCV):
    """Kernel kaLDA with kernel, width, shrinkage and components chosen for a neighbour classifier.

    Chooses the parameters for which a vote of the nearest rows predicts best in
    cross-validation, then fits `KernelKaLDA` with them on all rows. Each fold decomposes every
    kernel once; trying all shrinkages and numbers of components and neighbours costs little
    more.

    Parameters
    ----------
    n_components : int, None or sequence of them, default=None
        Numbers of functions to try. None means the default of `KernelKaLDA`.
    kernels : str, callable or sequence of them, default=("rbf", "cosine")
        Kernels to try; see `KernelKaLDA`. "precomputed" cannot be combined with others.
    gammas : float or sequence of floats, default=(0.5, 1.0, 2.0)
        Widths to try for kernels that have one, in units of `gamma_unit`.
    gamma_unit : {"median"} or None, default="median"
        "median" computes the unit from all rows passed to fit, like ``gamma="median"`` of
        `KernelKaLDA`. Kernels other than "rbf" and "laplacian" are then tried only with
        scikit-learn's default width. None uses `gammas` unscaled.
    shrinkages : sequence of floats in [0, 1], "auto" or None, default=(0.0, ..., 0.9)
        Shrinkages to try; see `KernelKaLDA`.
    n_neighbors : int, sequence of ints or None, default=None
        Numbers of neighbours to try. None means 3, 5, 10, 20 and 30, without those that exceed
        the training rows of a fold.
    thresholds : float or sequence of floats in [0, 1), default=(0.1, 0.2, 0.3, 0.4, 0.5)
        Shares to try: a label is predicted if more than this share of the neighbours have it.
        They are not used for a 1-D `y`, where the most frequent class is predicted.
    landmarks : {"kmeans", "random"}, default="kmeans"
        How landmarks are chosen; see `KernelKaLDA`.
    n_landmarks : int or "auto", default="auto"
        See `KernelKaLDA`. In each fold all kernels use the same landmarks.
    constraint : {"none", "orthonormal"}, default="none"
        See `KernelKaLDA`. "orthonormal" has no closed form, so it solves for every shrinkage
        and number of components separately.
    weights : {"rows", "labels"}, default="rows"
        Whether every row counts once, or every label; see `KernelKaLDA`.
    kernel_params : dict, default=None
        Further parameters of all kernels.
    scoring : str or callable, default="f1_macro"
        The score to maximise; see `MultiLabelKaLDACV`.
    cv : int, splitter or iterable, default=5
        Folds; see :class:`~sklearn.model_selection.GridSearchCV`. Stratified if `y` is 1-D.
    selection_rows : int or "auto", default="auto"
        Number of rows, drawn at random, on which the parameters are chosen; see
        `MultiLabelKaLDACV`.
    random_state : int, RandomState instance or None, default=None
        Chooses the landmarks, and draws the rows for the median and `selection_rows`.
    n_jobs : int, default=None
        Number of folds and kernels to run in parallel; -1 means all processors.
    verbose : int, default=0
        If positive, print a line when a fold is done with a kernel.

    Attributes
    ----------
    best_params_ : dict
        The chosen parameters: those of `KernelKaLDA`, with gamma as a number, and n_neighbors
        and threshold for the classifier that follows it; see `MultiLabelKaLDACV`.
    best_score_, best_index_, cv_results_, selection_rows_
        See `MultiLabelKaLDACV`.
    best_estimator_ : KernelKaLDA
        The reducer, fitted on all rows.
    landmarks_, dual_components_, offset_, gamma_, alignment_, eigenvalues_, classes_, ...
        The attributes of `best_estimator_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDA : The same with given parameters.
    MultiLabelKaLDACV : The same with the linear kernel; faster.

    Notes
    -----
    The notes of `MultiLabelKaLDACV` on preprocessing, weights and ties apply here too.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import KernelKaLDACV
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> kalda = KernelKaLDACV(gammas=[0.5, 1], random_state=0).fit(X, Y)
    >>> sorted(kalda.best_params_)
    ['gamma', 'kernel', 'n_components', 'n_neighbors', 'shrinkage', 'threshold']
    >>> kalda.transform(X).shape
    (100, 4)
    """

    landmarks_ = OfBest()
    landmark_indices_ = OfBest()
    dual_components_ = OfBest()
    offset_ = OfBest()
    gamma_ = OfBest()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborCV._parameter_constraints,
        "kernels": [*KernelKaLDA._parameter_constraints["kernel"], "array-like"],
        "gammas": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "gamma_unit": [StrOptions({"median"}), None],
        **{
            name: KernelKaLDA._parameter_constraints[name]
            for name in ("landmarks", "n_landmarks", "kernel_params")
        },
    }

    def __init__(
        self,
        n_components: int | Sequence[int | None] | None = None,
        *,
        kernels: Any = ("rbf", "cosine"),
        gammas: float | Sequence[float] = (0.5, 1.0, 2.0),
        gamma_unit: Literal["median"] | None = "median",
        shrinkages: Sequence[float | Literal["auto"] | None] = SHRINKAGES,
        n_neighbors: int | Sequence[int] | None = None,
        thresholds: float | Sequence[float] = THRESHOLDS,
        landmarks: LandmarkChoice = "kmeans",
        n_landmarks: int | Literal["auto"] = "auto",
        constraint: Literal["orthonormal", "none"] = "none",
        weights: Weights = "rows",
        kernel_params: dict[str, Any] | None = None,
        scoring: str | Callable[[Any, Any], float] = "f1_macro",
        cv: Any = 5,
        selection_rows: int | Literal["auto"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.gammas = gammas
        self.gamma_unit = gamma_unit
        self.shrinkages = shrinkages
        self.n_neighbors = n_neighbors
        self.thresholds = thresholds
        self.landmarks = landmarks
        self.n_landmarks = n_landmarks
        self.constraint = constraint
        self.weights = weights
        self.kernel_params = kernel_params
        self.scoring = scoring
        self.cv = cv
        self.selection_rows = selection_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _spaces(self, X: Any) -> list[dict[str, Any]]:
        kernels = self._options("kernels")
        if "precomputed" in kernels and len(kernels) > 1:
            raise ValueError(
                'kernels combines "precomputed" with others, but X is either a kernel matrix or '
                'data: pass kernels="precomputed" alone, or leave it out.'
            )
        if self._is_precomputed():
            check_square(X)
        else:
            check_distances(X, getattr(self, "feature_names_in_", None))
        return [
            {"gamma": g, "kernel": kernel} for kernel in kernels for g in self._widths(kernel, X)
        ]

    def _widths(self, kernel: Any, X: Any) -> list[float | None]:
        if not has_gamma(kernel):
            return [None]
        gammas = self._options("gammas")
        if self.gamma_unit is None:
            return [float(gamma) for gamma in gammas]
        unit = median_gamma(kernel, X, np.ones(X.shape[0]), check_random_state(self._seed))
        return [None] if unit is None else [unit * gamma for gamma in gammas]

    def _shared(self, spaces: list[dict[str, Any]], X: Any) -> dict[bool, Landmarks]:
        """Choose the landmarks, for kernels of rows as they are and of unit length."""
        choices = [self._plain(space)._choice() for space in spaces]
        one_of_each = {choice.unit_length: choice for choice in choices}
        weight = np.ones(X.shape[0])
        return {unit: choice.landmarks_of(X, weight) for unit, choice in one_of_each.items()}

    def _embed(
        self, space: Mapping[str, Any], X: Any, Y: Any, shared: dict[bool, Landmarks]
    ) -> tuple[MomentScatter, Projection]:
        one, choice = np.ones(X.shape[0]), self._plain(space)._choice()
        features = choice.at(shared[choice.unit_length], X, one)
        scatter = features.of_features(features.scatter(X, *weighted(Y, one, self.weights)))
        scatter = replace(scatter, rows_once=self.weights == "rows")

        def project(rows: Any, G: Array) -> Array:
            return features.functions(rows, features.whitening @ G, scatter.mean @ G)

        return scatter, project

    def _plain(self, parameters: Mapping[str, Any]) -> KernelKaLDA:
        shared = ("landmarks", "n_landmarks", "constraint", "weights", "kernel_params")
        return KernelKaLDA(
            **{name: getattr(self, name) for name in shared},
            random_state=self._seed,
            **parameters,
        )

    def _rows(self, X: Any, rows: Rows, train: Rows) -> Any:
        return X[np.ix_(rows, train)] if self._is_precomputed() else X[rows]

    def _needs_all_rows(self) -> str | None:
        return PRECOMPUTED if self._is_precomputed() else None

    def _is_precomputed(self) -> bool:
        return bool(self._options("kernels") == ["precomputed"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
