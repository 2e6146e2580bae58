"""Kernel-alignment LDA with parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skml_kalda._core.arrays import projected
from skml_kalda._core.labels import Weights, weighted
from skml_kalda._core.scatter import AnyScatter, scatter_of
from skml_kalda.reducers._base import check_squares
from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA
from skml_kalda.reducers.kalda.search.base import SHRINKAGES, THRESHOLDS, NeighborCV, OfBest
from skml_kalda.reducers.kalda.search.grid import Projection


class MultiLabelKaLDACV(NeighborCV):
    """kaLDA with shrinkage and number of components chosen for a neighbour classifier.

    Chooses the parameters for which a vote of the nearest rows predicts best in
    cross-validation, then fits `MultiLabelKaLDA` with them on all rows. For each fold, the
    whole grid costs one scatter, one eigendecomposition and some neighbour searches. This is a
    fraction of the cost of :class:`~sklearn.model_selection.GridSearchCV` over a pipeline, for
    the same scores.

    Parameters
    ----------
    n_components : int, None or sequence of them, default=None
        Numbers of directions to try. None means the default of `MultiLabelKaLDA`.
    shrinkages : sequence of floats in [0, 1], "auto" or None, default=(0.0, ..., 0.9)
        Shrinkages to try; see `MultiLabelKaLDA`.
    n_neighbors : int, sequence of ints or None, default=None
        Numbers of neighbours to try. None means 3, 5, 10, 20 and 30, without those that exceed
        the training rows of a fold.
    thresholds : float or sequence of floats in [0, 1), default=(0.1, 0.2, 0.3, 0.4, 0.5)
        Shares to try: a label is predicted if more than this share of the neighbours have it.
        They are not used for a 1-D `y`, where the most frequent class is predicted.
    constraint : {"none", "orthonormal"}, default="none"
        See `MultiLabelKaLDA`. "orthonormal" has no closed form, so it solves for every
        shrinkage and number of components separately.
    weights : {"labels", "rows"}, default="labels"
        Whether every label counts once, or every row; see `MultiLabelKaLDA`.
    scoring : str or callable, default="f1_macro"
        The score to maximise: a scikit-learn score of predictions ("f1_macro", "f1_micro",
        "f1_samples", "accuracy", ...), "label_accuracy" for one minus the Hamming loss, or a
        function of the true and the predicted labels.
    cv : int, splitter or iterable, default=5
        Folds; see :class:`~sklearn.model_selection.GridSearchCV`. Stratified if `y` is 1-D.
    selection_rows : int or "auto", default="auto"
        Number of rows, drawn at random, on which the parameters are chosen. The reducer is
        then fitted on all rows. "auto" uses all rows in memory, and 10,000 rows of dask data.
        Folds given as indices refer to the rows drawn, in the order of X.
    random_state : int, RandomState instance or None, default=None
        Draws `selection_rows`.
    n_jobs : int, default=None
        Number of folds to run in parallel; -1 means all processors.
    verbose : int, default=0
        If positive, print a line when a fold is done.

    Attributes
    ----------
    best_params_ : dict
        The chosen parameters: those of `MultiLabelKaLDA`, and n_neighbors and threshold for
        the classifier that follows it, ``BinaryRelevanceKNN(n_neighbors, threshold=threshold)``.
    best_score_ : float
        Their mean score over the folds.
    best_index_ : int
        Their index in `cv_results_`.
    cv_results_ : dict of arrays
        All candidates and scores, in the layout of
        :class:`~sklearn.model_selection.GridSearchCV`. There are no times, because candidates
        share their work.
    selection_rows_ : int
        Number of rows on which the parameters were chosen.
    best_estimator_ : MultiLabelKaLDA
        The reducer, fitted on all rows.
    components_, mean_, alignment_, eigenvalues_, shrinkage_, classes_, ...
        The attributes of `best_estimator_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    MultiLabelKaLDA : The same with given parameters.
    KernelKaLDACV : Chooses the kernel and its width too.

    Notes
    -----
    Put preprocessing before this reducer, so that it runs once for all folds. This is safe for
    unsupervised steps: a `StandardScaler` fitted on all rows reveals nothing about their
    labels. There is no `sample_weight`, because a vote of neighbours has no weights; to weight
    rows, fit `MultiLabelKaLDA` with the chosen parameters. Among candidates with equal scores
    the first is chosen. A number of components that is too large for some fold has a score of
    NaN.

    Examples
    --------
    >>> from skml_kalda import MultiLabelKaLDACV
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", split="train", return_X_y=True)
    >>> kalda = MultiLabelKaLDACV([3, 5], n_neighbors=[5, 15], scoring="f1_micro").fit(X, y)
    >>> sorted(kalda.best_params_)
    ['n_components', 'n_neighbors', 'shrinkage', 'threshold']
    >>> len(kalda.cv_results_["params"])
    160
    """

    components_ = OfBest()
    mean_ = OfBest()
    objective_history_ = OfBest()

    def __init__(
        self,
        n_components: int | Sequence[int | None] | None = None,
        *,
        shrinkages: Sequence[float | Literal["auto"] | None] = SHRINKAGES,
        n_neighbors: int | Sequence[int] | None = None,
        thresholds: float | Sequence[float] = THRESHOLDS,
        constraint: Literal["orthonormal", "none"] = "none",
        weights: Weights = "labels",
        scoring: str | Callable[[Any, Any], float] = "f1_macro",
        cv: Any = 5,
        selection_rows: int | Literal["auto"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.shrinkages = shrinkages
        self.n_neighbors = n_neighbors
        self.thresholds = thresholds
        self.constraint = constraint
        self.weights = weights
        self.scoring = scoring
        self.cv = cv
        self.selection_rows = selection_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def inverse_transform(self, X: Any) -> Any:
        """Map projected data back: the nearest point that has this projection.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Projected data.

        Returns
        -------
        X_original : array of shape (n_samples, n_features)
            Points in the space of the data.
        """
        check_is_fitted(self)
        return self.best_estimator_.inverse_transform(X)

    def _spaces(self, X: Any) -> list[dict[str, Any]]:
        return [{}]

    def _embed(
        self, space: Mapping[str, Any], X: Any, Y: Any, shared: Any
    ) -> tuple[AnyScatter, Projection]:
        with np.errstate(over="ignore", invalid="ignore"):  # checked below, feature by feature
            scatter = scatter_of(X, *weighted(Y, np.ones(X.shape[0]), self.weights))
        check_squares(scatter, getattr(self, "feature_names_in_", None))
        scatter = replace(scatter, rows_once=self.weights == "rows")
        # Centred, as in transform: far from the origin, distances would lose digits.
        return scatter, lambda rows, G: projected(rows, G.T, scatter.mean @ G)

    def _plain(self, parameters: Mapping[str, Any]) -> MultiLabelKaLDA:
        return MultiLabelKaLDA(constraint=self.constraint, weights=self.weights, **parameters)
