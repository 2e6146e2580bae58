"""Kernel-alignment LDA on the kernel that serves neighbours best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._labels import omega_weighted
from skml_kalda._scatter import Scatter
from skml_kalda.reducers._kernels import batches, check_square, median_gamma
from skml_kalda.reducers._neighbor_cv import SHRINKAGES, NeighborCV, Rows
from skml_kalda.reducers._selection import Projection
from skml_kalda.reducers.kernel_kalda import KernelKaLDA


class KernelKaLDACV(NeighborCV):
    """Kernel kaLDA with the kernel, width, shrinkage and components that serve neighbours best.

    `KernelKaLDA`, fitted on all rows with the parameters for which a vote of the nearest rows
    predicts best in cross-validation. For each fold every kernel is decomposed once; all
    shrinkages and numbers of components and neighbours come at little more.

    Parameters
    ----------
    n_components : int, None or sequence of them, default=None
        Numbers of functions to try. None means the number of classes that have rows, minus
        one.
    kernels : str, callable or sequence of them, default="rbf"
        Kernels to try, as of `KernelKaLDA`; "precomputed" alone.
    gammas : float or sequence of floats, default=(0.5, 1.0, 2.0)
        Widths to try of the kernels that have one, in units of `gamma_unit`.
    gamma_unit : {"median"} or None, default="median"
        "median" takes the unit from all rows given to fit, as ``gamma="median"`` of
        `KernelKaLDA` does; kernels other than "rbf" and "laplacian" then have scikit-learn's
        width only. None takes `gammas` as they are.
    shrinkages : sequence of floats in [0, 1], "auto" or None, default=(0.0, ..., 0.9)
        Shrinkages to try, as of `KernelKaLDA`.
    n_neighbors : int or sequence of ints, default=10
        Numbers of neighbours that vote. A label is predicted where more than half of them
        carry it; a class of a 1-D `y` where most of them do.
    n_landmarks : int or "auto", default="auto"
        As of `KernelKaLDA`; the landmarks of a fold are the same for all kernels.
    constraint : {"none", "orthonormal"}, default="none"
        As of `KernelKaLDA`. "orthonormal" has no closed form: every shrinkage and number of
        components is solved for by itself.
    kernel_params : dict, default=None
        Further parameters of all kernels.
    scoring : str or callable, default="f1_macro"
        As of `MultiLabelKaLDACV`.
    cv : int, splitter or iterable, default=5
        Folds, as of :class:`~sklearn.model_selection.GridSearchCV`: stratified if `y` is 1-D.
    random_state : int, RandomState instance or None, default=None
        Draws the landmarks, and the rows for the median.
    n_jobs : int, default=None
        Number of folds and kernels that are worked on at a time; -1 means all processors.
    verbose : int, default=0
        Whether each fold and kernel is told when it is done.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen: those of `KernelKaLDA`, gamma as a number, and n_neighbors for
        the classifier behind it.
    best_score_, best_index_, cv_results_
        As of `MultiLabelKaLDACV`.
    best_estimator_ : KernelKaLDA
        The reducer, fitted on all rows.
    landmarks_, dual_components_, offset_, gamma_, alignment_, eigenvalues_, classes_, ...
        As of `best_estimator_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KernelKaLDA : With parameters as given.
    MultiLabelKaLDACV : The same with the linear kernel, and faster.

    Notes
    -----
    As of `MultiLabelKaLDACV`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import KernelKaLDACV
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> kalda = KernelKaLDACV(kernels=["rbf", "cosine"], gammas=[0.5, 1], random_state=0).fit(X, Y)
    >>> sorted(kalda.best_params_)
    ['gamma', 'kernel', 'n_components', 'n_neighbors', 'shrinkage']
    >>> kalda.transform(X).shape
    (100, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborCV._parameter_constraints,
        "kernels": [*KernelKaLDA._parameter_constraints["kernel"], "array-like"],
        "gammas": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "gamma_unit": [StrOptions({"median"}), None],
        "n_landmarks": KernelKaLDA._parameter_constraints["n_landmarks"],
        "kernel_params": [dict, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | Sequence[int | None] | None = None,
        *,
        kernels: Any = "rbf",
        gammas: float | Sequence[float] = (0.5, 1.0, 2.0),
        gamma_unit: Literal["median"] | None = "median",
        shrinkages: Sequence[float | Literal["auto"] | None] = SHRINKAGES,
        n_neighbors: int | Sequence[int] = 10,
        n_landmarks: int | Literal["auto"] = "auto",
        constraint: Literal["orthonormal", "none"] = "none",
        kernel_params: dict[str, Any] | None = None,
        scoring: str | Callable[[Any, Any], float] = "f1_macro",
        cv: Any = 5,
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
        self.n_landmarks = n_landmarks
        self.constraint = constraint
        self.kernel_params = kernel_params
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _spaces(self, X: Any) -> list[dict[str, Any]]:
        kernels = self._options("kernels")
        if "precomputed" in kernels and len(kernels) > 1:
            raise ValueError(
                'kernels has "precomputed" beside others, but X is either a kernel matrix or '
                'data: pass kernels="precomputed" alone, or leave it out.'
            )
        if self._is_precomputed():
            check_square(X)
        # One seed for all: every kernel is tried on the same landmarks.
        self._seed = self.random_state
        if not isinstance(self.random_state, int | np.integer):
            self._seed = check_random_state(self.random_state).randint(2**31)
        return [
            {"gamma": g, "kernel": kernel} for kernel in kernels for g in self._widths(kernel, X)
        ]

    def _widths(self, kernel: Any, X: Any) -> list[float | None]:
        if callable(kernel) or "gamma" not in KERNEL_PARAMS.get(kernel, ()):
            return [None]
        gammas = self._options("gammas")
        if self.gamma_unit is None:
            return [float(gamma) for gamma in gammas]
        unit = median_gamma(kernel, X, np.ones(X.shape[0]), check_random_state(self._seed))
        return [None] if unit is None else [unit * gamma for gamma in gammas]

    def _embed(self, space: Mapping[str, Any], X: Any, Y: Any) -> tuple[Scatter, Projection]:
        reducer, one = self._plain(space), np.ones(X.shape[0])
        features = reducer._features(X, one)
        parts = (
            Scatter.of(reducer._kernel(X[rows]) @ features, *omega_weighted(Y[rows], one[rows]))
            for rows in batches(X.shape[0], features.shape[0])
        )
        scatter = reduce(add, parts)
        return scatter, lambda rows, G: reducer._functions(rows, features @ G)

    def _plain(self, parameters: Mapping[str, Any]) -> KernelKaLDA:
        return KernelKaLDA(
            n_landmarks=self.n_landmarks,
            constraint=self.constraint,
            kernel_params=self.kernel_params,
            random_state=self._seed,
            **parameters,
        )

    def _rows(self, X: Any, rows: Rows, train: Rows) -> Any:
        return X[np.ix_(rows, train)] if self._is_precomputed() else X[rows]

    def _is_precomputed(self) -> bool:
        return bool(self._options("kernels") == ["precomputed"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
