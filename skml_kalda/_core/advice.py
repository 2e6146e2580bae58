"""Warnings that advise the user: once for a search, and at the line that called fit."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.arrays import Array

_PACKAGES = ("skml_kalda", "sklearn", "joblib")
# The functions that fit an estimator to one fold: no public interface tells it that it is in one.
_FOLDS = {
    ("sklearn.model_selection._validation", "_fit_and_score"),
    ("sklearn.model_selection._validation", "_fit_and_predict"),
    ("skml_kalda.model_selection.thresholds", "_of_split"),
    ("skml_kalda.reducers.kalda.search.base", "_fold_scores"),
}
# Spreads that differ by less than this factor do not make one feature drown the others.
_WILD = 100.0


def advise(message: str) -> None:
    """Warn the caller of this package, unless it fits an estimator to one fold of a search.

    The fit on all rows that follows a search gives the same advice, once.
    """
    frame: Any = sys._getframe()
    level, outside = 1, 0
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if (module, frame.f_code.co_name) in _FOLDS:
            return
        if not outside and module.partition(".")[0] not in _PACKAGES:
            outside = level
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=outside or 1)


def advise_on_units(name: str, spread: Array, features: NDArray[Any] | None) -> None:
    """Advise to standardise features of wildly different spread.

    Parameters
    ----------
    name : str
        The class in use, whose result depends on the units of the features.
    spread : array of shape (p,)
        Standard deviations of the features.
    features : array of shape (p,) or None
        Their names.
    """
    varying = np.flatnonzero(spread > 0)
    if len(varying) < 2 or spread.max() <= _WILD * np.quantile(spread[varying], 0.25):
        return
    ends = varying[np.argmin(spread[varying])], np.argmax(spread)
    names = [f"column {i}" if features is None else repr(features[i]) for i in ends]
    least, most = (f"{spread[i]:.2g} ({name})" for i, name in zip(ends, names, strict=True))
    advise(
        f"{name} depends on the units of the features, and their standard deviations in X range "
        f"from {least} to {most}: standardise them first, for example with "
        "sklearn.preprocessing.StandardScaler."
    )
