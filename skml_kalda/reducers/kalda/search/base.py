"""Base of the reducers that choose their own parameters."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._core.dask import gathered, is_dask, lazy_on_dask
from skml_kalda._core.labels import Indicator, Weights, occupied_columns
from skml_kalda._core.scatter import AnyScatter
from skml_kalda.reducers._base import RANK_OF_CLASSES, RANK_OF_COVARIANCE, RANK_OF_DATA
from skml_kalda.reducers._streamed import reducer_tags
from skml_kalda.reducers.kalda.linear import MultiLabelKaLDA
from skml_kalda.reducers.kalda.search.grid import Grid, Part, Projection, results
from skml_kalda.reducers.kalda.search.scoring import SCORES, NeighborScore
from skml_kalda.reducers.kalda.search.selection import SelectionRows

SHRINKAGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9)
# By default as many of these as every fold has training rows for.
NEIGHBORS = (3, 5, 10, 20, 30)
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)
Rows: TypeAlias = NDArray[np.intp]


class Fold(NamedTuple):
    """The rows that a fold is fitted on, and the rows that it is scored on."""

    name: str
    train: Rows
    test: Rows
    shared: Any = None
    """What all spaces of the training rows share."""


class OfBest:
    """A fitted attribute of the chosen reducer."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, search: Any, owner: type) -> Any:
        return self if search is None else getattr(search.best_estimator_, self._name)


@lazy_on_dask
class NeighborCV(
    SelectionRows,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of the reducers that choose their parameters by cross-validated neighbour votes.

    A subclass lists its feature spaces (`_spaces`), computes the scatter of rows in one of them
    (`_embed`), and builds the reducer with given parameters (`_plain`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [*MultiLabelKaLDA._parameter_constraints["n_components"], "array-like"],
        "shrinkages": [*MultiLabelKaLDA._parameter_constraints["shrinkage"], "array-like"],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "thresholds": [Interval(Real, 0, 1, closed="left"), "array-like"],
        "constraint": MultiLabelKaLDA._parameter_constraints["constraint"],
        "weights": MultiLabelKaLDA._parameter_constraints["weights"],
        "scoring": [StrOptions(SCORES), callable],
        "cv": ["cv_object"],
        "selection_rows": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    alignment_ = OfBest()
    explained_alignment_ratio_ = OfBest()
    objective_ = OfBest()
    upper_bound_ = OfBest()
    eigenvalues_ = OfBest()
    shrinkage_ = OfBest()
    n_iter_ = OfBest()
    converged_ = OfBest()
    classes_ = OfBest()

    n_components: Any
    shrinkages: Any
    n_neighbors: Any
    thresholds: Any
    constraint: Any
    weights: Weights
    scoring: Any
    cv: Any
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def _spaces(self, X: Any) -> list[dict[str, Any]]:
        """Return the parameter sets that change the features, so each needs a decomposition."""

    def _shared(self, spaces: list[dict[str, Any]], X: Any) -> Any:
        """Return what all spaces of some rows share, to be computed once."""
        return None

    @abstractmethod
    def _embed(
        self, space: Mapping[str, Any], X: Any, Y: Any, shared: Any
    ) -> tuple[AnyScatter, Projection]:
        """Return the scatter of the rows in one of the spaces, and how to project rows there."""

    @abstractmethod
    def _plain(self, parameters: Mapping[str, Any]) -> Any:
        """Return an unfitted reducer with these parameters."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the parameters by cross-validation, then fit on all rows.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data. Sparse X is never made dense.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        self._draw_seed()
        y = y if is_dask(X) else gathered(y)
        X, rows, labels = self._drawn(X, y)
        with warnings.catch_warnings():  # the fit on all rows warns
            warnings.simplefilter("ignore")
            occupied_columns(labels.matrix.sum(axis=0), labels.classes)
        self.selection_rows_ = rows.shape[0]
        self._select(rows, labels)
        of_votes = ("n_neighbors", "threshold")
        chosen = {k: v for k, v in self.best_params_.items() if k not in of_votes}
        self.best_estimator_ = self._plain(chosen).fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Project X with the parameters that were chosen.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : array of shape (n_samples, n_components)
            The projected data, dense.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.best_estimator_._project(X)

    def _select(self, X: Any, Y: Indicator) -> None:
        target = Y.matrix if Y.is_matrix else Y.matrix.indices
        folds = _folds(check_cv(self.cv, target, classifier=True).split(X, target))
        grid = Grid(
            type(self).__name__,
            self._options("n_components"),
            self._sizes(folds),
            self._options("shrinkages"),
            self._options("thresholds") if Y.is_matrix else [0.5],
            self.constraint,
        )
        spaces = self._spaces(X)
        score = NeighborScore(self.scoring, Y.classes, Y.is_matrix)
        parallel = Parallel(n_jobs=self.n_jobs)
        train = (self._rows(X, fold.train, fold.train) for fold in folds)
        shared = parallel(delayed(self._shared)(spaces, rows) for rows in train)
        scores = parallel(
            delayed(self._fold_scores)(grid, space, X, Y.matrix, fold._replace(shared=each), score)
            for fold, each in zip(folds, shared, strict=True)
            for space in spaces
        )
        candidates = [each for space in spaces for each in grid.candidates(space)]
        self._choose(results(candidates, np.reshape(scores, (len(folds), -1))))

    def _sizes(self, folds: list[Fold]) -> list[int]:
        """Return the numbers of neighbours to try."""
        rows = min(len(fold.train) for fold in folds)
        if self.n_neighbors is None:
            return [k for k in NEIGHBORS if k <= rows] or [rows]
        sizes = self._options("n_neighbors")
        if max(sizes) > rows:
            raise ValueError(
                f"n_neighbors={max(sizes)} is more than the {rows} training rows of a fold: pass "
                "a smaller n_neighbors, or more rows."
            )
        return sizes

    def _fold_scores(
        self,
        grid: Grid,
        space: dict[str, Any],
        X: Any,
        Y: Any,
        fold: Fold,
        score: NeighborScore,
    ) -> NDArray[Any]:
        train = Part(self._rows(X, fold.train, fold.train), Y[fold.train])
        test = Part(self._rows(X, fold.test, fold.train), Y[fold.test])
        occupied = np.flatnonzero(train.Y.sum(axis=0))
        embedded = self._embed(space, train.X, train.Y[:, occupied], fold.shared)
        scores = grid.scores(embedded, train, test, score)
        if self.verbose:
            where = ", ".join([fold.name, *(f"{key}={value}" for key, value in space.items())])
            best = np.max(scores[~np.isnan(scores)], initial=-np.inf)
            print(f"[{type(self).__name__}] {where}: {scores.size} candidates, best {best:.4f}")
        return scores

    def _choose(self, cv_results: dict[str, Any]) -> None:
        mean = cv_results["mean_test_score"]
        failed = np.isnan(mean)
        if failed.any():
            self._report_failed(cv_results["param_n_components"][failed], bool(failed.all()))
        self.cv_results_ = cv_results
        self.best_index_ = int(cv_results["rank_test_score"].argmin())
        self.best_params_ = cv_results["params"][self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    def _report_failed(self, sizes: Any, every: bool) -> None:
        limit = RANK_OF_COVARIANCE if self.weights == "rows" else RANK_OF_CLASSES
        if self.constraint == "orthonormal":
            limit = RANK_OF_DATA
        given = [size for size in sizes if size is not None]
        name, advice = type(self).__name__, "Pass a smaller n_components."
        message = (
            f"n_components={min(given, default=None)} is more than {name} can give on the "
            f"training rows of a fold: at most {limit}."
        )
        if len(given) < len(sizes):  # a default is never too many
            message = f"{name} finds no direction on the training rows of a fold with some kernel."
            advice = "Pass other kernels."
        if every:
            raise ValueError(f"{message} {advice}")
        warnings.warn(f"{message} It is never chosen.", FitFailedWarning, stacklevel=2)

    def _options(self, name: str) -> list[Any]:
        """Return the values of a parameter as a list, each validated by its constraints."""
        value = getattr(self, name)
        one = value is None or isinstance(value, str) or callable(value) or np.ndim(value) == 0
        values = [value] if one else list(value)
        if not values:
            raise ValueError(f"{name} is empty: pass at least one value.")
        allowed = [each for each in self._parameter_constraints[name] if each != "array-like"]
        for each in values:
            validate_parameter_constraints({name: allowed}, {name: each}, type(self).__name__)
        return values

    @property
    def _n_features_out(self) -> int:
        return int(self.best_estimator_._n_features_out)

    def __sklearn_is_fitted__(self) -> bool:
        return "best_estimator_" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        return reducer_tags(super().__sklearn_tags__())


def _folds(splits: Iterable[tuple[Rows, Rows]]) -> list[Fold]:
    folds = list(splits)
    return [Fold(f"fold {i}/{len(folds)}", *fold) for i, fold in enumerate(folds, 1)]
