"""What the linear reducers share: a method only computes its directions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils.validation import check_array, check_is_fitted

from skml_kalda._core.advice import advise, advise_on_units
from skml_kalda._core.arrays import Array, check_columns, floating, projected
from skml_kalda._core.dask import batch_of_blocks, check_features, is_dask, rows_on_workers
from skml_kalda._core.labels import Weighted, occupied_columns, omega_weighted, row_weighted
from skml_kalda._core.orthonormal import signs
from skml_kalda._core.scatter import AnyScatter, MomentScatter, Scatter, adds_up, scatter_of
from skml_kalda._core.scatter.base import TOL
from skml_kalda._core.scatter.memory import check_labels
from skml_kalda._core.shrinkage import relative_ridge
from skml_kalda._core.streams import Batch, Results, Rows
from skml_kalda.reducers._streamed import Fitted, SupervisedReducer

# Sums of squares below this have lost digits.
_SMALLEST = np.finfo(np.float64).tiny / np.finfo(np.float64).eps
# A sum of weights beyond this, or below its inverse, is the reason if squares are no floats.
_ORDINARY = 1e100
# What limits the number of directions.
RANK_OF_DATA = "the rank of the centred data"
RANK_OF_CLASSES = "the rank of the between-class scatter"
RANK_OF_COVARIANCE = "the rank of the covariance of X and y"


class Directions(NamedTuple):
    """What a method computes from a scatter."""

    G: Array
    """Shape (p, k)."""
    attributes: dict[str, Any]
    """Fitted attributes of the method, by name."""


class BaseReducer(SupervisedReducer):
    """Base of all linear reducers.

    A subclass computes its directions from a scatter (`_directions`). If its rows are not
    weighted by their number of labels, it also says how (`_counts_rows_once` or `_weigh`).
    """

    components_ = Fitted[Array]()
    mean_ = Fitted[Array]()
    tol: float = TOL
    """Accuracy of what is solved for by iteration."""
    _reads_blocks = True

    @abstractmethod
    def _directions(self, scatter: AnyScatter) -> Directions:
        """Compute the directions and the fitted attributes of the method."""

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        weighted = row_weighted if self._counts_rows_once else omega_weighted
        return weighted(Y, sample_weight)

    def _solve_rows(self, rows: Rows) -> Results:
        X, Y, sample_weight = rows
        occupied = occupied_columns(Y.matrix.T @ sample_weight, Y.classes)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below, feature by feature
            scatter = scatter_of(X, *self._weigh(X, Y.matrix[:, occupied], sample_weight))
        results = self._solve(scatter, Y.classes[occupied], floating(X.dtype))
        # The spreads of sparse features, such as words, differ by how often they occur.
        if isinstance(X, np.ndarray) and self._depends_on_units(results):
            spread = np.sqrt(scatter.diagonal / scatter.weight)
            advise_on_units(type(self).__name__, spread, getattr(self, "feature_names_in_", None))
        return results

    @property
    def _needs_class_means(self) -> bool:
        """Whether no direction is better than another where all class means are equal."""
        return True

    def _depends_on_units(self, results: Results) -> bool:
        """Whether the directions depend on the units of the features."""
        return True

    def _solve_blocks(self, X: Any, y: Any, sample_weight: Any) -> Results:
        check_features(self, X, reset=True)
        rows = None
        if not adds_up(self.n_features_in_, *getattr(y, "shape", ())[1:]):
            rows = rows_on_workers(self, X)
        if rows is None:
            return super()._solve_blocks(X, y, sample_weight)
        Y = self._validate_labels(y)
        return self._solve_rows(self._labelled(rows, Y, sample_weight, batch=False))

    def _extended(self, before: Batch | None, X: Any, y: Any, sample_weight: Any) -> Batch:
        batch = self._batch(X, y, sample_weight, reset=before is None)
        return batch if before is None else before + batch

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        if is_dask(X):
            return batch_of_blocks(self, X, y, sample_weight, reset=reset)
        X, Y, sample_weight = self._validate(X, y, sample_weight, reset=reset, min_samples=1)
        with np.errstate(over="ignore", invalid="ignore"):  # checked when solved
            scatter = MomentScatter.of(X, *self._weigh(X, Y.matrix, sample_weight))
        return Batch(scatter, Y.classes, Y.columns, floating(X.dtype))

    def _solve_batch(self, batch: Batch) -> Results:
        return self._solve(*batch.occupied(), batch.dtype)

    def _project(self, X: Any) -> Array:
        dtype = floating(X.dtype)
        # Centred after the projection: X is neither copied nor made dense.
        components = self.components_.astype(dtype, copy=False)
        offset = self.mean_.astype(np.float64) @ components.T.astype(np.float64)
        return projected(X, components, offset)

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
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {type(self).__name__} projects to "
                f"{self.components_.shape[0]}: pass what transform returned."
            )
        return X @ linalg.pinv(self.components_).T.astype(X.dtype) + self.mean_.astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _solve(self, scatter: AnyScatter, classes: NDArray[Any], dtype: np.dtype[Any]) -> Results:
        """Compute the directions of all rows seen."""
        check_squares(scatter, getattr(self, "feature_names_in_", None))
        if scatter.is_constant:
            raise no_direction(type(self).__name__, RANK_OF_DATA)
        if self._needs_class_means:
            check_class_means(type(self).__name__, scatter, self._counts_rows_once)
        if self.n_components is None:  # refused before a ridge is chosen, which takes long
            check_labels(scatter.n_features, scatter.n_classes)
        scatter = replace(scatter.cleaned(), rows_once=self._counts_rows_once, tol=self.tol)
        G, attributes = self._directions(scatter)
        mean = scatter.mean.astype(dtype)
        del scatter  # which may hold copies of the data
        components = np.array(G.T, dtype=dtype, order="C")
        components *= signs(G).astype(dtype)[:, None]
        return {
            "components_": components,
            "mean_": mean,
            "classes_": classes,
            **attributes,
        }

    def _reducing(self, default: int) -> int:
        """Return a default number of components that is below the number of features."""
        p = self.n_features_in_
        if self.n_components is not None or default < p or p == 1:
            return default
        advise(
            f"{type(self).__name__} would by default keep as many directions as X has "
            f"features: {p - 1} of {p} are kept. Pass n_components to choose."
        )
        return p - 1

    def _number_of_components(self, default: int, limit: int, reason: str) -> int:
        """Check `n_components` against the number of directions that the method has."""
        default = self._reducing(default)
        return number_of_components(type(self).__name__, self.n_components, default, limit, reason)


def check_squares(scatter: AnyScatter, names: NDArray[Any] | None) -> None:
    """Raise if the weighted squares of some feature are too large or too small for floats."""
    with np.errstate(invalid="ignore", over="ignore"):
        large = ~np.isfinite(scatter.diagonal)
        small = scatter.varying & (scatter.diagonal < _SMALLEST)
    if (large | small).any() and not 1 / _ORDINARY < scatter.weight < _ORDINARY:
        raise ValueError(
            f"sample_weight adds up to {scatter.weight:.3g}, and weighted squares of X are no "
            "floats: divide it by its mean."
        )
    check_columns(large, "large", names)
    check_columns(small, "small", names)


def check_class_means(name: str, scatter: AnyScatter, rows_once: bool) -> None:
    """Raise if X and y are uncorrelated, so that all directions are equally good."""
    if not scatter.has_class_means:
        raise no_direction(name, RANK_OF_COVARIANCE if rows_once else RANK_OF_CLASSES)


def number_of_components(
    name: str, wanted: int | None, default: int, limit: int, reason: str
) -> int:
    """Return the number of directions, or raise if more are wanted than there are.

    Parameters
    ----------
    name : str
        The class in use, for the errors.
    wanted : int or None
        `n_components`; None means `default`, or `limit` if that is smaller.
    default, limit : int
        Number by default, and at most.
    reason : str
        What the limit is.
    """
    if limit < 1:
        raise no_direction(name, reason)
    if wanted is None:
        return min(default, limit)
    if wanted > limit:
        raise ValueError(
            f"n_components={wanted} is more than {name} can give "
            f"on these data: at most {limit}, which is {reason}. Pass a smaller n_components."
        )
    return wanted


def chosen_ridge(name: str, ridge: float | Literal["auto"], scatter: Scatter) -> float:
    """Return the ridge as a multiple of the mean eigenvalue of S_t; warn if there is none."""
    chosen = relative_ridge(scatter, ridge)
    if chosen == 0:
        warn_unregularised(name, "ridge", scatter)
    return chosen


def warn_unregularised(name: str, parameter: str, scatter: Scatter) -> None:
    """Warn about a fit without regularisation on too few rows for the number of features."""
    n, p = scatter.n_samples, scatter.n_features
    if n < 3 * p:
        advise(
            f"{name} without regularisation fits noise if there are fewer than three rows per "
            f'feature, and X has {n} rows of {p} features: use {parameter}="auto".'
        )


def no_direction(name: str, reason: str) -> ValueError:
    """Return the error for data in which a method finds no direction."""
    return ValueError(f"{name} finds no direction in X: {reason} is zero.")
