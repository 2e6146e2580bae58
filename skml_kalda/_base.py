"""What all reducers share: a reducer only gives directions."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

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
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    validate_data,
)

from skml_kalda._batch import Batch
from skml_kalda._blocks import floating, in_blocks, projected, whole_checks
from skml_kalda._dask import batch_of_blocks, gathered, is_dask, lazy_on_dask
from skml_kalda._grassmann import with_signs
from skml_kalda._labels import (
    Indicator,
    Weighted,
    indicator,
    occupied_columns,
    omega_weighted,
    row_weighted,
)
from skml_kalda._scatter import AnyScatter, Array, Scatter, scatter_of


@lazy_on_dask
class BaseReducer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of all linear reducers.

    A subclass gives its directions from a scatter (`_directions`) and, where its rows are
    not weighted by their number of labels, its weights (`_counts_rows_once`,
    or `_weigh`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    n_components: int | None
    components_: Array
    mean_: Array
    _stream: Batch
    """The batches that partial_fit has added up."""

    @abstractmethod
    def _directions(self, scatter: AnyScatter) -> Array:
        """Compute G, of shape (p, k), and set the fitted attributes of the method."""

    # Whether a row counts once, as in regression, or once for each of its labels.
    _counts_rows_once: ClassVar[bool] = False

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        weighted = row_weighted if self._counts_rows_once else omega_weighted
        return weighted(Y, sample_weight)

    def _why_no_stream(self) -> str:
        """Say why batches cannot be added up, if they cannot."""
        return ""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data. Sparse X is never made dense; a dask array or dask dataframe is added
            up block by block on its cluster, where the method allows batches.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each row; None means one.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        if is_dask(X):
            batch = self._batch(X, y, sample_weight, reset=True)
            self._forget()
            self._settle(*batch.occupied(), batch.dtype)
            return self
        X, Y, sample_weight = self._validate(X, y, sample_weight, reset=True, min_samples=2)
        occupied = occupied_columns(Y.matrix.T @ sample_weight, Y.classes)
        scatter = scatter_of(X, *self._weigh(X, Y.matrix[:, occupied], sample_weight))
        self._forget()
        self._settle(scatter, Y.classes[occupied], floating(X.dtype))
        return self

    @available_if(lambda self: not self._why_no_stream())
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a batch of rows; after the last one the result is that of `fit` on all.

        The directions are computed when they are first asked for, so that a batch costs no
        more than adding it up, and the first ones need not hold every class. The first
        call after `fit` starts anew.

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
        first = "_stream" not in vars(self)
        batch = self._batch(X, y, sample_weight, reset=first)
        stream = batch if first else self._stream + batch
        self._drop_results()
        self._stream = stream
        return self

    def transform(self, X: Any) -> Any:
        """Project X on the directions.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : array of shape (n_samples, n_components)
            The projected data, dense. For dask X a dask array that nobody has computed yet,
            or a dask dataframe after ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), reset=False, **whole_checks(in_blocks(X))
        )
        return self._project(X)

    def _project(self, X: Any) -> Array:
        dtype = floating(X.dtype)
        # Centred after the projection: X is neither copied nor made dense.
        offset = (self.mean_ @ self.components_.T).astype(dtype, copy=False)
        return projected(X, self.components_.astype(dtype, copy=False), offset)

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

    def __sklearn_is_fitted__(self) -> bool:
        return "components_" in vars(self) or "_stream" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        return reducer_tags(super().__sklearn_tags__())

    def __getattr__(self, name: str) -> Any:
        # Only reached for attributes that are not there: the results of a stream of
        # batches are computed when one of them is first asked for. What ends in "_in_"
        # is of the input, and looked for by scikit-learn at every batch.
        pending = "_stream" in vars(self) and "_results" not in vars(self)
        if pending and name.endswith("_") and not name.startswith("_") and name[-4:] != "_in_":
            self._settle(*self._stream.occupied(), self._stream.dtype)
            return getattr(self, name)
        reason = f": {self._why_no_stream()}" if name == "partial_fit" else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{reason}")

    def _validate(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, min_samples: int
    ) -> tuple[Any, Indicator, Array]:
        Y = indicator(gathered(y))
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            ensure_min_samples=min_samples,
            reset=reset,
            **whole_checks(in_blocks(X) and not self._why_no_stream()),
        )
        check_consistent_length(X, Y.matrix)
        return X, Y, _row_weights(gathered(sample_weight), X, batch=min_samples == 1)

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        if is_dask(X):
            return batch_of_blocks(self, X, y, sample_weight, reset=reset)
        X, Y, sample_weight = self._validate(X, y, sample_weight, reset=reset, min_samples=1)
        columns = Y.matrix.shape[1] if Y.is_matrix else None
        scatter = Scatter.of(X, *self._weigh(X, Y.matrix, sample_weight))
        return Batch(scatter, Y.classes, columns, floating(X.dtype))

    def _settle(self, scatter: AnyScatter, classes: NDArray[Any], dtype: np.dtype[Any]) -> None:
        """Compute the directions of all rows seen."""
        before = set(vars(self))
        if scatter.is_constant:
            raise self._no_direction("the rank of the centred data")
        G = self._directions(scatter)
        self.components_ = np.ascontiguousarray(with_signs(G).T, dtype=dtype)
        self.mean_ = scatter.mean.astype(dtype)
        self.classes_ = classes
        self._results = set(vars(self)) - before

    def _drop_results(self) -> None:
        for name in self.__dict__.pop("_results", ()):
            delattr(self, name)

    def _forget(self) -> None:
        self._drop_results()
        self.__dict__.pop("_stream", None)

    @property
    def _called(self) -> str:
        """The name that errors about the data give."""
        return type(self).__name__

    def _no_direction(self, reason: str) -> ValueError:
        return ValueError(f"{self._called} finds no direction in X: {reason} is zero.")

    def _number_of_components(self, default: int, limit: int, reason: str) -> int:
        """Check `n_components` against what the method can give."""
        if limit < 1:
            raise self._no_direction(reason)
        if self.n_components is None:
            return min(default, limit)
        if self.n_components > limit:
            raise ValueError(
                f"n_components={self.n_components} is more than {self._called} can give "
                f"on these data: at most {limit}, which is {reason}. Pass a smaller n_components."
            )
        return self.n_components


def _row_weights(sample_weight: Any, X: Any, *, batch: bool) -> Array:
    if batch and np.ndim(sample_weight) == 1 and not np.any(sample_weight):
        # Rows of no weight: an error if there are no others, but the next batch may have them.
        check_consistent_length(X, sample_weight)
        return np.zeros(X.shape[0])
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def reducer_tags(tags: Tags) -> Tags:
    """Set what scikit-learn may expect of every reducer."""
    tags.target_tags.required = True
    tags.target_tags.multi_output = True
    tags.input_tags.sparse = True
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags
