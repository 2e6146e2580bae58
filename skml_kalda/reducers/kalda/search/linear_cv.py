"""Kernel-alignment LDA that chooses its own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from skml_kalda._labels import omega_weighted
from skml_kalda._scatter import AnyScatter, Array, scatter_of
from skml_kalda.reducers._neighbor_cv import SHRINKAGES, NeighborCV
from skml_kalda.reducers._selection import Projection
from skml_kalda.reducers.kalda import MultiLabelKaLDA


class MultiLabelKaLDACV(NeighborCV):
    """kaLDA with the shrinkage and the number of components that serve neighbours best.

    `MultiLabelKaLDA`, fitted on all rows with the parameters for which a vote of the nearest
    rows predicts best in cross-validation. A whole grid costs one scatter, one
    eigendecomposition and some neighbour searches for each fold: a fraction of what
    :class:`~sklearn.model_selection.GridSearchCV` takes over a pipeline, for the same scores.

    Parameters
    ----------
    n_components : int, None or sequence of them, default=None
        Numbers of directions to try. None means the number of classes that have rows, minus
        one.
    shrinkages : sequence of floats in [0, 1], "auto" or None, default=(0.0, ..., 0.9)
        Shrinkages to try, as of `MultiLabelKaLDA`.
    n_neighbors : int or sequence of ints, default=10
        Numbers of neighbours that vote. A label is predicted where more than half of them
        carry it; a class of a 1-D `y` where most of them do.
    constraint : {"none", "orthonormal"}, default="none"
        As of `MultiLabelKaLDA`. "orthonormal" has no closed form: every shrinkage and number
        of components is solved for by itself.
    scoring : str or callable, default="f1_macro"
        What is best: a name that scikit-learn has for scores of predictions ("f1_macro",
        "f1_micro", "f1_samples", "accuracy", ...), "label_accuracy" for one minus the Hamming
        loss, or a function of the true and the predicted labels.
    cv : int, splitter or iterable, default=5
        Folds, as of :class:`~sklearn.model_selection.GridSearchCV`: stratified if `y` is 1-D.
    n_jobs : int, default=None
        Number of folds that are worked on at a time; -1 means all processors.
    verbose : int, default=0
        Whether each fold is told when it is done.

    Attributes
    ----------
    best_params_ : dict
        The parameters chosen: those of `MultiLabelKaLDA`, and n_neighbors for the classifier
        behind it.
    best_score_ : float
        Their mean score over the folds.
    best_index_ : int
        Their place in `cv_results_`.
    cv_results_ : dict of arrays
        All candidates and scores, in the layout of
        :class:`~sklearn.model_selection.GridSearchCV`; without times, for candidates share
        their work.
    best_estimator_ : MultiLabelKaLDA
        The reducer, fitted on all rows.
    components_, mean_, alignment_, eigenvalues_, shrinkage_, classes_, ...
        As of `best_estimator_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    MultiLabelKaLDA : With parameters as given.
    KernelKaLDACV : Chooses the kernel and its width too.

    Notes
    -----
    Preprocessing belongs before this reducer, and is then done once for all folds: a
    `StandardScaler` that has seen the rows it is judged on gives nothing away of their labels.
    There are no sample weights, for a vote of neighbours has none; rows can be given weight in
    a fit of `MultiLabelKaLDA` with the parameters that were chosen. Of candidates with the
    same score the first is taken. A number of components that some fold cannot give has a
    score of NaN.

    Examples
    --------
    >>> from skml_kalda import MultiLabelKaLDACV
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", split="train", return_X_y=True)
    >>> kalda = MultiLabelKaLDACV([3, 5], n_neighbors=[5, 15], scoring="f1_micro").fit(X, y)
    >>> sorted(kalda.best_params_)
    ['n_components', 'n_neighbors', 'shrinkage']
    >>> len(kalda.cv_results_["params"])
    32
    """

    def __init__(
        self,
        n_components: int | Sequence[int | None] | None = None,
        *,
        shrinkages: Sequence[float | Literal["auto"] | None] = SHRINKAGES,
        n_neighbors: int | Sequence[int] = 10,
        constraint: Literal["orthonormal", "none"] = "none",
        scoring: str | Callable[[Any, Any], float] = "f1_macro",
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.shrinkages = shrinkages
        self.n_neighbors = n_neighbors
        self.constraint = constraint
        self.scoring = scoring
        self.cv = cv
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

    def _embed(self, space: Mapping[str, Any], X: Any, Y: Any) -> tuple[AnyScatter, Projection]:
        scatter = scatter_of(X, *omega_weighted(Y, np.ones(X.shape[0])))

        def project(rows: Any, G: Array) -> Array:
            # About the mean, as transform does: far from zero distances would lose digits.
            projected: Array = safe_sparse_dot(rows, G, dense_output=True) - scatter.mean @ G
            return projected

        return scatter, project

    def _plain(self, parameters: Mapping[str, Any]) -> MultiLabelKaLDA:
        return MultiLabelKaLDA(constraint=self.constraint, **parameters)
