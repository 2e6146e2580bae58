"""Measure a cell: split, standardise, reduce, classify, score."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from skml_kalda.bench.cells import HELD_OUT, Cell
from skml_kalda.bench.methods import check_classifier, make_classifier
from skml_kalda.bench.running.data import Source, label_names, load
from skml_kalda.bench.running.failures import FAILURES, described, printable
from skml_kalda.bench.running.folds import splits, standardized
from skml_kalda.bench.running.rows import Row, failed_row, ok_row
from skml_kalda.bench.running.tuning import Choice, choose, reducer_of
from skml_kalda.bench.scores import scores_of


def measure(cell: Cell, source: Source) -> Row:
    """Measure a cell; an exception of its method becomes a failed row.

    Cells that share a fit are best measured one after the other: the last fit is kept.
    """
    # One thread: sums in another order could break a tie between neighbours differently, and the
    # scores would depend on the number of jobs.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row = ok_row(cell, source, _MEASURES[cell.kind](cell, source))
        except FAILURES as error:
            row = failed_row(cell, source, "error", described(error))
    return row | {"warnings": sorted({printable(str(each.message)) for each in caught})}


@dataclass(frozen=True)
class _Fitted:
    """A fitted reducer, and the projected rows."""

    reducer: Any
    train: Any
    test: Any
    y_train: Any
    y_test: Any
    k: int | None
    costs: Row


@lru_cache(maxsize=1)
def _fitted(cell: Cell, source: Source) -> _Fitted:
    X, y = load(source, cell.classes, cell.max_rows, cell.seed)
    train, test = _split(cell, X, y)
    choice = choose(cell, X[train], y[train]) if cell.tune else Choice()
    X_train, X_test = standardized(X[train], X[test]) if cell.standardize else (X[train], X[test])
    reducer = reducer_of(cell, choice.parameters, y[train])
    start = time.perf_counter()
    if reducer is not None:
        reducer.fit(X_train, y[train])
    fitted = time.perf_counter()
    if reducer is not None:
        X_test = reducer.transform(X_test)
    transformed = time.perf_counter()
    if reducer is not None:
        X_train = reducer.transform(X_train)
    seconds = {"fit_seconds": fitted - start, "transform_seconds": transformed - fitted}
    costs = _costs(reducer, X_test, seconds) | choice.record()
    return _Fitted(reducer, X_train, X_test, y[train], y[test], choice.k, costs)


def _split(cell: Cell, X: Any, y: Any) -> tuple[Any, Any]:
    if cell.kind not in HELD_OUT:
        return slice(None), slice(None)
    return splits(X, y, cell.folds, cell.seed + cell.repeat)[cell.fold]


def _costs(reducer: Any, projected: Any, seconds: dict[str, float]) -> Row:
    # Some reducers count the iterations of each component.
    iterations = getattr(reducer, "n_iter_", None)
    return {
        "n_components": projected.shape[1],
        **{name: round(value, 6) for name, value in seconds.items()},
        "iterations": None if iterations is None else int(np.max(iterations)),
    }


def _scored(cell: Cell, source: Source) -> Row:
    fitted = _fitted(cell.fit(), source)
    start = time.perf_counter()
    classifier = make_classifier(check_classifier(cell.classifier, fitted.k))
    classifier.fit(fitted.train, fitted.y_train)
    predicted = classifier.predict(fitted.test)
    seconds = time.perf_counter() - start
    scores = scores_of(fitted.y_test, predicted, classifier.predict_proba(fitted.test))
    return {"scores": scores, **fitted.costs, "classify_seconds": round(seconds, 6)}


def _converged(cell: Cell, source: Source) -> Row:
    """Return the objective after every iteration, and its upper bound."""
    fitted = _fitted(cell.fit(), source)
    reducer = fitted.reducer
    return {
        **fitted.costs,
        "objective": [float(f"{value:.9g}") for value in reducer.objective_history_],
        "upper_bound": float(reducer.upper_bound_),
        "converged": bool(reducer.converged_),
    }


def _projected(cell: Cell, source: Source) -> Row:
    """Return the first two coordinates of every row, and its class or its labels."""
    fitted = _fitted(cell.fit(), source)
    points = np.asarray(fitted.test)[:, :2]
    return {
        **fitted.costs,
        "points": [[float(f"{value:.5g}") for value in point] for point in points],
        **_labels_of_points(fitted.y_test),
    }


def _labels_of_points(y: Any) -> Row:
    if y.ndim == 1:
        return {"classes_of_points": [str(label) for label in y]}
    return {"labels_of_points": [np.flatnonzero(row).tolist() for row in y]}


def _exhibited(cell: Cell, source: Source) -> Row:
    """Return the points, and the scores of a classifier that sees these two dimensions only."""
    labels = {"labels": label_names(source)}
    return _projected(cell, source) | _scored(cell, source) | labels


_MEASURES = {
    "scores": _scored,
    "convergence": _converged,
    "projection": _projected,
    "gallery": _exhibited,
}
