"""What all reducers share: fit, partial_fit and transform on one page.

A method computes its directions from the scatter of the data (`BaseReducer._directions`). It never
sees in which form samples came: as an array, sparse, in batches, or in blocks on a cluster.
"""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from numbers import Integral, Real
from threading import RLock
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from skml_kalda._core.arrays import (
    Array,
    check_columns,
    check_labels,
    checked_samples,
    checked_weights,
    floating,
    gathered,
    in_blocks,
    is_dask,
    projected,
    sum_duplicates,
    warn_on_weights,
    whole_checks,
)
from skml_kalda._core.eigenproblem import signs
from skml_kalda._core.labels import (
    Indicator,
    LabelledSamples,
    Weighted,
    check_known,
    indicator,
    occupied_columns,
    omega_weighted,
)
from skml_kalda._core.messages import check_units, warn_on_units
from skml_kalda._core.scatter import TOL, PrimalScatter, Scatter, adds_up, scatter_of
from skml_kalda._core.shrinkage import relative_ridge

# Fitted attributes by name.
Results: TypeAlias = Mapping[str, Any]

PENALTY: list[Any] = [Interval(Real, 0, None, closed="left")]
RIDGE: list[Any] = [*PENALTY, StrOptions({"auto"})]
TOLERANCE: list[Any] = [Interval(Real, 0, None, closed="neither")]

# Sums of squares beyond this, or below its inverse, leave no room for products of two of them.
_LARGEST_SQUARE = 1e150
# Sums of weights beyond this, or below its inverse, are the reason if squares are out of range.
_ORDINARY_WEIGHT = 1e100
# What limits the number of directions.
RANK_OF_DATA = "the rank of the centred data"
RANK_OF_CLASSES = "the rank of the between-class scatter"
RANK_OF_COVARIANCE = "the rank of the covariance of X and y"
# Reentrant, because the first use of one reducer may be within that of another.
_FIRST_USE = RLock()


T = TypeVar("T", bound=type[Any])

# Entries of docstrings that many classes share.
_DOCUMENTED = {
    "tol": """tol : float, default=1e-4
        Tolerance of the iterative solver (large sparse X): about the largest angle between the
        directions and the exact ones. It has no effect where the solution is direct.""",
    "components": """components_ : ndarray of shape (n_components, n_features)
        The directions, signed so that the largest entry of each is positive.""",
    "classes_and_features": """classes_ : ndarray
        Class labels, or column names of `y`; empty classes are dropped.
    {features}""",
    "units": """Without a ridge the projections do not depend on the units of the features, if
    these are linearly independent: that takes more samples than features. With fewer,
    directions of least norm are chosen, which depends on units, and `fit` warns.""",
    "features": """n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.""",
}


def documented(cls: T) -> T:
    """Put the shared entries into the docstring of a class, in place of ``{name}``."""
    for name, entry in _DOCUMENTED.items():
        cls.__doc__ = (cls.__doc__ or "").replace(f"{{{name}}}", entry)
    return cls


class Directions(NamedTuple):
    """What a method computes from a scatter."""

    # Shape (p, k).
    G: Array
    # Fitted attributes of the method, by name.
    attributes: dict[str, Any]


def lazy_on_dask(cls: type[Any]) -> type[Any]:
    """Make `transform` of a class lazy on dask data.

    This decorates the class and not its methods, because scikit-learn wraps the methods (for
    `set_output`) when the class is created, and its wrapper would compute the result.
    """
    transform, fit_transform = cls.transform, cls.fit_transform

    @wraps(transform)
    def any_transform(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return transform(self, X)
        from skml_kalda._core.dask import transform_blocks

        return transform_blocks(self, X)

    @wraps(fit_transform)
    def any_fit_transform(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if not is_dask(X):
            return fit_transform(self, X, y, **fit_params)
        return self.fit(X, y, **fit_params).transform(X)

    cls.transform, cls.fit_transform = any_transform, any_fit_transform
    return cls


@lazy_on_dask
class StreamingTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the transformers whose samples may come in batches.

    `fit` sets fitted attributes. `partial_fit` only adds to the statistic `_stream`; the attributes
    are computed from it once, on first use.
    """

    _stream: Any
    _solved: bool
    # Whether dense samples are checked block by block where they are read, not before.
    _reads_blocks: ClassVar[bool] = False
    # A fitted attribute, which shows that `fit` has been called.
    _shows_fit: ClassVar[str] = "classes_"

    @abstractmethod
    def _solve_stream(self, stream: Any) -> Results:
        """Compute the fitted attributes from the batches so far."""

    @abstractmethod
    def _project(self, X: Any) -> Any:
        """Transform validated samples."""

    def _needs_all_samples(self) -> str | None:
        """Return why batches cannot be added up; None if they can."""
        return None

    def transform(self, X: Any) -> Any:
        """Project X.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : array of shape (n_samples, n_components)
            The projected data, dense. For dask X a lazy dask array, or a dask dataframe after
            ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        checks = whole_checks(in_blocks(X) and self._reads_blocks)
        X = checked_samples(self, X, accept_sparse=("csr", "csc"), reset=False, **checks)
        return self._project(X)

    def _checked_result(self, X: Any, **options: Any) -> Any:
        """Return X, which has the columns that `transform` returns."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], **options)
        columns = len(self.get_feature_names_out())
        if X.shape[1] != columns:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {type(self).__name__} returns {columns}: pass "
                "what transform returned."
            )
        return X

    def _set_results(self, results: Results) -> None:
        """Set the fitted attributes of `fit`, and forget the batches of `partial_fit`."""
        self.__dict__.pop("_stream", None)
        for name, value in results.items():
            setattr(self, name, value)

    def _set_stream(self, stream: Any) -> None:
        """Set the statistic of the batches so far, and forget the attributes of those before."""
        with _FIRST_USE:
            for name in [name for name in vars(self) if _is_result(name)]:
                delattr(self, name)
            self._stream, self._solved = stream, False

    def __getattr__(self, name: str) -> Any:
        # Only called for missing attributes: those of a stream, before their first use.
        if _is_result(name) and "_stream" in vars(self):
            with _FIRST_USE:  # several threads may come first together
                if not self._solved:
                    for each, value in self._solve_stream(self._stream).items():
                        setattr(self, each, value)
                    self._solved = True
            if name in vars(self):
                return vars(self)[name]
        reason = self._needs_all_samples() if name == "partial_fit" else None
        why = f": {reason}" if reason else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}")

    def _validate_samples(self, X: Any, *, reset: bool, min_samples: int) -> Any:
        blocks = in_blocks(X) and self._reads_blocks and self._needs_all_samples() is None
        X = checked_samples(
            self,
            X,
            accept_sparse="csr",
            ensure_min_samples=min_samples,
            reset=reset,
            **whole_checks(blocks),
        )
        return sum_duplicates(X)

    def _sample(self, X: Any, y: Any, sample_weight: Any, seed: Any, *, size: int) -> Any:
        """Draw from the samples of positive weight of a block, on a worker."""
        from skml_kalda._core.streams import RandomSample

        X = self._validate_samples(X, reset=False, min_samples=1)
        weight = checked_weights(sample_weight, X, batch=True)
        rows = np.flatnonzero(weight)
        return RandomSample.of(size, (X[rows], weight[rows]), np.random.default_rng(seed))

    def __sklearn_is_fitted__(self) -> bool:
        return "_stream" in vars(self) or self._shows_fit in vars(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _is_result(name: str) -> bool:
    """Whether an attribute is computed by fitting, unlike those that validation sets."""
    validated = name in ("n_features_in_", "feature_names_in_")
    return name.endswith("_") and not name.startswith("_") and not validated


class SupervisedTransformer(StreamingTransformer):
    """Base of the transformers that are fitted on samples and their labels."""

    classes_: NDArray[Any]

    @property
    def _sample_weighted(self) -> bool:
        """Whether a sample counts once, as in regression, or once for each of its labels."""
        return False

    @property
    def _counts_weights(self) -> bool:
        """Whether a choice depends on the sum of the weights, as the number of samples."""
        return "auto" in (getattr(self, "ridge", None), getattr(self, "shrinkage", None))

    def _needs_known_labels(self) -> str | None:
        """Return why labels cannot be unknown; None if they can."""
        return None

    @abstractmethod
    def _fit_samples(self, samples: LabelledSamples) -> Results:
        """Compute the fitted attributes from all samples."""

    @abstractmethod
    def _sums(self, X: Any, Y: Any, weight: Array, **given: Any) -> Any:
        """Return the statistic of validated samples, of which those of all batches are added."""

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        """Return label vectors and weights for the scatter."""
        if self._sample_weighted:
            return Weighted(Y, sample_weight)
        return omega_weighted(Y, sample_weight)

    def _extended(self, before: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Add a batch to those before, if there were any."""
        batch = self._batch(X, y, sample_weight, reset=before is None)
        return batch if before is None else before + batch

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, **given: Any) -> Any:
        """Return the sums of a batch; `given` are further arguments of `_sums`."""
        if is_dask(X):
            from skml_kalda._core.dask import batch_of_blocks

            return batch_of_blocks(self, X, y, sample_weight, reset=reset, **given)
        samples = self._validate(X, y, sample_weight, reset=reset, min_samples=1)
        return self._batch_of(samples, **given)

    def _batch_of(self, samples: LabelledSamples, **given: Any) -> Any:
        from skml_kalda._core.streams import Batch

        X, Y, weight = samples
        with np.errstate(over="ignore", invalid="ignore"):  # checked when solved
            sums = self._sums(X, Y.matrix, weight, **given)
        return Batch(sums, Y.classes, Y.columns, floating(X.dtype))

    def _fit_blocks(self, X: Any, y: Any, sample_weight: Any) -> Results:
        """Compute the fitted attributes from all blocks of a dask X."""
        return self._solve_stream(self._extended(None, X, y, sample_weight))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to samples and their labels.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data. Sparse X is never made dense; a dask array or dask dataframe is added
            up block by block on its cluster, where the method allows batches.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form. The columns of a data
            frame name the labels. NaN in a matrix is an unknown label.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each sample: one of weight 2 counts as two. None means one.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if is_dask(X):
            self._set_results(self._fit_blocks(X, y, sample_weight))
        else:
            samples = self._validate(X, y, sample_weight, reset=True, min_samples=2)
            self._set_results(self._fit_samples(samples))
        return self

    @available_if(lambda self: self._needs_all_samples() is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add a batch of samples; after the last one the result is that of `fit` on all.

        The fitted attributes are computed on first use. So a batch costs no more than adding it
        up, and the first batches need not contain every class. The first call after `fit` starts
        over.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The samples of the batch.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch; class
            labels may be new.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each sample: one of weight 2 counts as two. None means one.

        Returns
        -------
        self : object
            The transformer.
        """
        self._set_stream(self._extended(vars(self).get("_stream"), X, y, sample_weight))
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_samples: int
    ) -> LabelledSamples:
        Y = self._validate_labels(y)
        X = self._validate_samples(X, reset=reset, min_samples=min_samples)
        return self._labelled(X, Y, sample_weight, batch=min_samples == 1)

    def _validate_labels(self, y: Any) -> Indicator:
        Y = indicator(gathered(y), allow_unknown=True)
        if reason := self._needs_known_labels():
            check_known(Y, reason)
        return Y

    def _labelled(
        self, X: Any, Y: Indicator, sample_weight: Any, *, batch: bool
    ) -> LabelledSamples:
        """Put validated samples and labels together with their weights."""
        check_consistent_length(X, Y.matrix)
        weight = checked_weights(gathered(sample_weight), X, batch=batch)
        if self._counts_weights:
            warn_on_weights(type(self).__name__, weight)
        if self._sample_weighted:
            Y = Y._replace(matrix=Y.with_unknown()) if batch else Y.filled(weight)
        return LabelledSamples(X, Y, weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class BaseReducer(SupervisedTransformer):
    """Base of all linear reducers.

    A subclass computes its directions from a scatter (`_directions`). If its samples are not
    weighted by their number of labels, it also says how (`_sample_weighted` or `_weigh`).
    """

    components_: Array
    mean_: Array
    eigenvalues_: Array
    n_components: int | None
    # Accuracy of what is solved for by iteration.
    tol: float = TOL
    _reads_blocks = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    @abstractmethod
    def _directions(self, scatter: Scatter) -> Directions:
        """Compute the directions and the fitted attributes of the method."""

    @property
    def _needs_class_means(self) -> bool:
        """Whether no direction is better than another where all class means are equal."""
        return True

    @property
    def _needs_spectrum(self) -> bool:
        """Whether the method needs all eigenvectors of S_t, so that it must be an array."""
        return False

    @property
    def _needs_similar_units(self) -> bool:
        """Whether small features decide, too, although they drown in the rounding of large ones."""
        return False

    def _depends_on_units(self, attributes: Results) -> bool:
        """Whether the directions depend on the units of the features."""
        return True

    def _fit_samples(self, samples: LabelledSamples) -> Results:
        X, Y, weight = samples
        occupied = occupied_columns(Y.matrix.T @ weight, Y.classes)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below, feature by feature
            labels = self._weigh(X, Y.matrix[:, occupied], weight)
            scatter = scatter_of(X, *labels, needs_spectrum=self._needs_spectrum)
        results = self._solve(scatter, Y.classes[occupied], floating(X.dtype))
        # The spreads of sparse features, such as words, differ by how often they occur.
        if isinstance(X, np.ndarray) and self._depends_on_units(results):
            std = np.sqrt(scatter.diagonal / scatter.weight)
            warn_on_units(type(self).__name__, std, getattr(self, "feature_names_in_", None))
        return results

    def _solve(self, scatter: Scatter, classes: NDArray[Any], dtype: np.dtype[Any]) -> Results:
        """Compute the fitted attributes from the scatter of all samples."""
        name, features = type(self).__name__, getattr(self, "feature_names_in_", None)
        check_squares(scatter, features)
        if not scatter.varying.any():
            raise no_direction(name, RANK_OF_DATA)
        if self._needs_similar_units:
            check_units(
                name, np.sqrt(scatter.varying * scatter.diagonal / scatter.weight), features
            )
        if self._needs_class_means:
            check_class_means(name, scatter, self._sample_weighted)
        if self.n_components is None:  # refused before a ridge is chosen, which takes long
            check_labels(scatter.n_features, scatter.n_classes)
        mean = scatter.mean.astype(dtype)
        scatter = replace(scatter.cleaned(), sample_weighted=self._sample_weighted, tol=self.tol)
        G, attributes = self._directions(scatter)
        del scatter  # which may hold copies of the data
        components = np.array(G.T, dtype=dtype, order="C")
        components *= signs(G).astype(dtype)[:, None]
        return {"components_": components, "mean_": mean, "classes_": classes, **attributes}

    def _sums(self, X: Any, Y: Any, weight: Array, **given: Any) -> PrimalScatter:
        return PrimalScatter.of(X, *self._weigh(X, Y, weight))

    def _solve_stream(self, stream: Any) -> Results:
        scatter, classes = stream.occupied()
        return self._solve(scatter, classes, stream.dtype)

    def _fit_blocks(self, X: Any, y: Any, sample_weight: Any) -> Results:
        from skml_kalda._core.dask import check_features, samples_on_workers

        check_features(self, X, reset=True)
        remote = None
        if not (self._needs_spectrum or adds_up(self.n_features_in_, *getattr(y, "shape", ())[1:])):
            remote = samples_on_workers(self, X)
        if remote is None:
            return super()._fit_blocks(X, y, sample_weight)
        Y = self._validate_labels(y)
        return self._fit_samples(self._labelled(remote, Y, sample_weight, batch=False))

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
        X = self._checked_result(X)
        return X @ linalg.pinv(self.components_).T.astype(X.dtype) + self.mean_.astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _reducing(self, default: int) -> int:
        """Return a default number of components that is below the number of features."""
        p = self.n_features_in_
        if self.n_components is not None or default < p or p == 1:
            return default
        warnings.warn(
            f"{type(self).__name__} would by default keep as many directions as X has "
            f"features: {p - 1} of {p} are kept. Pass n_components to choose.",
            UserWarning,
            stacklevel=2,
        )
        return p - 1

    def _number_of_components(self, default: int, limit: int, reason: str) -> int:
        """Check `n_components` against the number of directions that the method has."""
        default = self._reducing(default)
        return number_of_components(type(self).__name__, self.n_components, default, limit, reason)


def check_squares(scatter: Scatter, names: NDArray[Any] | None) -> None:
    """Raise if the weighted squares of some feature are too large or too small for floats."""
    large = ~(scatter.diagonal < _LARGEST_SQUARE)  # also if it is not a number
    with np.errstate(invalid="ignore", over="ignore"):
        small = scatter.varying & (scatter.diagonal < 1 / _LARGEST_SQUARE)
    if (large | small).any() and not 1 / _ORDINARY_WEIGHT < scatter.weight < _ORDINARY_WEIGHT:
        raise ValueError(
            f"sample_weight adds up to {scatter.weight:.3g}, and weighted squares of X overflow: "
            "divide it by its mean."
        )
    check_columns(large, "large", names)
    check_columns(small, "small", names)


def check_class_means(name: str, scatter: Scatter, sample_weighted: bool) -> None:
    """Raise if X and y are uncorrelated, so that all directions are equally good."""
    if not scatter.has_class_means:
        raise no_direction(name, RANK_OF_COVARIANCE if sample_weighted else RANK_OF_CLASSES)


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
        raise ValueError(f"n_components={wanted} must be <= {limit} for {name}: {reason}.")
    return wanted


def chosen_ridge(name: str, ridge: float | Literal["auto"], scatter: Scatter) -> float:
    """Return the ridge as a multiple of the mean eigenvalue of S_t; warn if there is none."""
    chosen = relative_ridge(scatter, ridge)
    if chosen == 0:
        warn_unregularised(name, "ridge", scatter)
    return chosen


def warn_unregularised(name: str, parameter: str, scatter: Scatter) -> None:
    """Warn about a fit without regularisation on too few samples for the number of features."""
    n, p = scatter.n_samples, scatter.n_features
    if n < 3 * p:
        least_norm = " With no more samples than features it also depends on their units."
        warnings.warn(
            f"{name} without regularisation fits noise if there are fewer than three samples per "
            f'feature, and X has {n} samples of {p} features: use {parameter}="auto".'
            f"{least_norm if n <= p else ''}",
            UserWarning,
            stacklevel=2,
        )


def no_direction(name: str, reason: str) -> ValueError:
    """Return the error for data in which a method finds no direction."""
    return ValueError(f"{name}: no discriminative direction found, because {reason} is zero.")
