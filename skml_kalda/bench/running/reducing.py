"""Reduce: standardise, fit the reducer of a cell to training rows, project test rows."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.methods import classifies, make_estimator
from skml_kalda.bench.running.folds import n_classes, standardized, without_missing


@dataclass(frozen=True)
class Reduced:
    """A fitted reducer, None if there is none, and the projected rows with their labels."""

    reducer: Any
    train: Any
    test: Any
    y_train: Any
    y_test: Any
    fit_seconds: float
    transform_seconds: float
    """For the test rows."""
    train_seconds: float
    """To fit, and to project the training rows for a classifier."""

    def costs(self) -> dict[str, Any]:
        """Return the fields of a row of results that describe the reduction."""
        # Some reducers count the iterations of each component.
        iterations = getattr(self.reducer, "n_iter_", None)
        return {
            "n_components": self.test.shape[1],
            "fit_seconds": round(self.fit_seconds, 6),
            "transform_seconds": round(self.transform_seconds, 6),
            "iterations": None if iterations is None else int(np.max(iterations)),
        }


def reduce(
    cell: Cell, setting: Mapping[str, Any], X: Any, y: Any, train: Any, test: Any
) -> Reduced:
    """Fit the reducer of a cell to the training rows, with a setting of its parameters."""
    A, B = without_missing(X[train], X[test])
    A, B = standardized(A, B) if cell.standardize else (A, B)
    reducer = reducer_of(cell, setting, y[train], A.shape[1])
    start = time.perf_counter()
    if reducer is not None:
        reducer.fit(A, y[train])
    fitted = time.perf_counter()
    if reducer is not None:
        B = reducer.transform(B)
    transformed = time.perf_counter()
    if reducer is not None:
        A = reducer.transform(A)
    done = time.perf_counter()
    seconds = fitted - start, transformed - fitted, fitted - start + done - transformed
    return Reduced(reducer, A, B, y[train], y[test], *seconds)


def reducer_of(
    cell: Cell, setting: Mapping[str, Any], y: Any, n_features: int = sys.maxsize
) -> Any:
    """Make the reducer of a cell, with K - 1 components unless the cell has another number.

    There are never more components than features. Return None for no reduction, and for a method
    that classifies by itself. A tuned reducer keeps its own default number of components, which
    adapts to the rows: in a small inner fold, two labels may always occur together.
    """
    if classifies(cell.method, cell.parameters):
        return None
    n_components = cell.dimension or (
        None if cell.tune else min(max(n_classes(y) - 1, 1), n_features)
    )
    parameters = {**cell.parameters, **setting}
    return make_estimator(cell.method, parameters, n_components, cell.random_state())
