"""`transform` on dask data, which computes nothing."""

from __future__ import annotations

from copy import copy
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from skml_kalda._core.dask.blocks import is_array, is_dask
from skml_kalda._core.dask.fitting import check_features
from skml_kalda._core.streams import Stream

C = TypeVar("C", bound=type[Any])


def lazy_on_dask(cls: C) -> C:
    """Make `transform` of a class lazy on dask data: it maps the blocks and computes nothing.

    This decorates the class and not its methods, because scikit-learn wraps the methods (for
    `set_output`) when the class is created, and its wrapper would compute the result.
    """
    transform, fit_transform = cls.transform, cls.fit_transform

    @wraps(transform)
    def transform_any(self: Any, X: Any) -> Any:
        return _transform_blocks(self, X) if is_dask(X) else transform(self, X)

    @wraps(fit_transform)
    def fit_transform_any(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if is_dask(X):
            return self.fit(X, y, **fit_params).transform(X)
        return fit_transform(self, X, y, **fit_params)

    cls.transform, cls.fit_transform = transform_any, fit_transform_any
    return cls


def _transform_blocks(reducer: Any, X: Any) -> Any:
    from dask import array, delayed

    check_is_fitted(reducer)
    check_features(reducer, X, reset=False)
    names = reducer.get_feature_names_out()
    rows = X if is_array(X) else X.to_dask_array()
    rows = rows.rechunk({1: -1})
    meta = np.empty((0, len(names)), np.float32 if rows.dtype == np.float32 else np.float64)
    projected = array.map_blocks(
        _project,
        rows,
        reducer=delayed(_bare(reducer)),
        empty=meta,
        chunks=(rows.chunks[0], (len(names),)),
        dtype=meta.dtype,
        meta=meta,
    )
    return _in_container(reducer, projected, X, names)


def _project(rows: Any, reducer: Any, empty: NDArray[Any]) -> Any:
    return reducer.transform(rows) if rows.shape[0] else empty


def _bare(reducer: Any) -> Any:
    """Return a copy for the workers: no stream of batches, no feature names, array output."""
    bare = copy(reducer)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(bare).pop(name, None)
    if isinstance(vars(bare).get("_state"), Stream):
        bare._state = reducer._results()
    return bare.set_output(transform="default")


def _in_container(reducer: Any, projected: Any, X: Any, names: NDArray[Any]) -> Any:
    """Return the container that `set_output` asks for; dask has no polars collection."""
    container = _get_output_config("transform", reducer)["dense"]
    if container == "default":
        return projected
    if container != "pandas":
        raise ValueError(
            f"set_output(transform={container!r}) has no counterpart for dask data: use "
            '"default" for a dask array or "pandas" for a dask dataframe.'
        )
    from dask import dataframe

    index = None if is_array(X) else X.index
    return dataframe.from_dask_array(projected, columns=list(names), index=index)
