"""What all reducers share: checked rows and labels, batches, and results computed once."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skml_kalda._core.arrays import Array, canonical, checked_weights, in_blocks, whole_checks
from skml_kalda._core.dask import gathered, is_dask, lazy_on_dask
from skml_kalda._core.kernels.samples import RowSample
from skml_kalda._core.labels import Indicator, check_known, indicator
from skml_kalda._core.streams import Results, Rows, Stream

T = TypeVar("T")


class Fitted(Generic[T]):
    """A fitted attribute of a reducer, one of its results."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, reducer: None, owner: type) -> Self: ...
    @overload
    def __get__(self, reducer: Any, owner: type) -> T: ...
    def __get__(self, reducer: Any, owner: type) -> Any:
        return self if reducer is None else reducer._results()[self._name]


@lazy_on_dask
class StreamedTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the transformers whose rows may come in batches.

    The results of a stream are computed on first access and kept as one object: see `Stream`.
    """

    _state: Results | Stream[Any]
    """The results of `fit`, or the batches of `partial_fit`."""
    # Whether dense rows are checked block by block where they are read, not before.
    _reads_blocks: ClassVar[bool] = False

    @abstractmethod
    def _solve_batch(self, batch: Any) -> Results:
        """Compute the fitted attributes from the batches so far."""

    @abstractmethod
    def _project(self, X: Any) -> Array:
        """Transform validated rows."""

    def _needs_all_rows(self) -> str | None:
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
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False, **checks)
        return self._project(X)

    def _results(self) -> Results:
        """Return the fitted attributes; compute them if batches were added since."""
        state = self._state
        return state.results(self._solve_batch) if isinstance(state, Stream) else state

    def _batches_before(self) -> Any:
        """Return what `partial_fit` has added up so far; None if `fit` was called since."""
        state = vars(self).get("_state")
        return state.batch if isinstance(state, Stream) else None

    def _validate_rows(self, X: Any, *, reset: bool, min_samples: int) -> Any:
        whole = whole_checks(in_blocks(X) and self._reads_blocks and self._needs_all_rows() is None)
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = validate_data(
                self, X, accept_sparse="csr", ensure_min_samples=min_samples, reset=reset, **whole
            )
        return canonical(X)

    def _sample(self, X: Any, y: Any, sample_weight: Any, seed: Any, *, size: int) -> RowSample:
        """Draw from the rows of a block that have positive weight: X and their weights."""
        X = self._validate_rows(X, reset=False, min_samples=1)
        weight = row_weights(sample_weight, X, batch=True)
        rows = np.flatnonzero(weight)
        return RowSample.of(size, (X[rows], weight[rows]), np.random.default_rng(seed))

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        return transformer_tags(super().__sklearn_tags__())

    def __getattr__(self, name: str) -> Any:
        # Only reached for missing attributes: a fitted one before fit, or a method that
        # `available_if` hides, for which the message says why.
        reason = self._needs_all_rows() if name == "partial_fit" else None
        why = f": {reason}" if reason else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}")


class SupervisedReducer(StreamedTransformer):
    """Base of the reducers, which are fitted on rows and their labels."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    n_components: int | None
    classes_ = Fitted[NDArray[Any]]()

    @property
    def _counts_rows_once(self) -> bool:
        """Whether a row counts once, as in regression, or once for each of its labels."""
        return False

    def _needs_known_labels(self) -> str | None:
        """Return why labels cannot be unknown; None if they can."""
        return None

    @abstractmethod
    def _solve_rows(self, rows: Rows) -> Results:
        """Compute the fitted attributes from all rows."""

    @abstractmethod
    def _extended(self, before: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Add a batch to those before, if there were any."""

    def _solve_blocks(self, X: Any, y: Any, sample_weight: Any) -> Results:
        """Compute the fitted attributes from all blocks of a dask X."""
        return self._solve_batch(self._extended(None, X, y, sample_weight))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data. Sparse X is never made dense; a dask array or dask dataframe is added
            up block by block on its cluster, where the method allows batches.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form. The columns of a data
            frame name the labels. NaN in a matrix is an unknown label.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        if is_dask(X):
            self._state = self._solve_blocks(X, y, sample_weight)
        else:
            rows = self._validate(X, y, sample_weight, reset=True, min_samples=2)
            self._state = self._solve_rows(rows)
        return self

    @available_if(lambda self: self._needs_all_rows() is None)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a batch of rows; after the last one the result is that of `fit` on all.

        The directions are computed on first access. So a batch costs no more than adding it
        up, and the first batches need not contain every class. The first call after
        `fit` starts over.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The rows of the batch.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch; class
            labels may be new.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The reducer.
        """
        self._state = Stream(self._extended(self._batches_before(), X, y, sample_weight))
        return self

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_samples: int
    ) -> Rows:
        Y = self._validate_labels(y)
        X = self._validate_rows(X, reset=reset, min_samples=min_samples)
        return self._labelled(X, Y, sample_weight, batch=min_samples == 1)

    def _validate_labels(self, y: Any) -> Indicator:
        Y = indicator(gathered(y), allow_unknown=True)
        if reason := self._needs_known_labels():
            check_known(Y, reason)
        return Y

    def _labelled(self, X: Any, Y: Indicator, sample_weight: Any, *, batch: bool) -> Rows:
        """Put validated rows and labels together with their weights."""
        check_consistent_length(X, Y.matrix)
        weight = row_weights(gathered(sample_weight), X, batch=batch)
        if self._counts_rows_once:
            Y = Y._replace(matrix=Y.with_unknown()) if batch else Y.filled(weight)
        return Rows(X, Y, weight)

    def __sklearn_tags__(self) -> Tags:
        return reducer_tags(super().__sklearn_tags__())


def row_weights(sample_weight: Any, X: Any, *, batch: bool) -> Array:
    """Return the weights of rows; a batch may have none of positive weight."""
    if batch and np.ndim(sample_weight) == 1 and not np.any(sample_weight):
        # Not an error here: the next batch may have rows of positive weight.
        check_consistent_length(X, sample_weight)
        return np.zeros(X.shape[0])
    return checked_weights(sample_weight, X)


def reducer_tags(tags: Tags) -> Tags:
    """Set the tags that all reducers share."""
    tags.target_tags.required = True
    tags.target_tags.multi_output = True
    return transformer_tags(tags)


def transformer_tags(tags: Tags) -> Tags:
    """Set the tags that all transformers share."""
    tags.input_tags.sparse = True
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags
