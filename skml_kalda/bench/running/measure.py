"""Measure a cell: split, standardise, reduce, classify, score."""

from __future__ import annotations

import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits

from skml_kalda._core.thresholds import Average, best_thresholds
from skml_kalda.bench.methods import ITSELF, check_classifier, make_classifier, make_estimator
from skml_kalda.bench.plan import HELD_OUT, Cell
from skml_kalda.bench.running.data import Source, load, published_splits
from skml_kalda.bench.running.fitting import (
    FAILURES,
    LabelClassifier,
    Reduced,
    describe_failure,
    printable,
    reduce,
    splits,
)
from skml_kalda.bench.running.results import Row, failed_row, ok_row
from skml_kalda.bench.running.tuning import Choice, choose
from skml_kalda.bench.scores import scores_of
from skml_kalda.metrics import per_label, propensities

# Scores of single labels are kept of datasets with at most this many.
_MOST_LABELS = 100


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
            row = failed_row(cell, source, "error", describe_failure(error))
    return row | {"warnings": sorted({printable(str(each.message)) for each in caught})}


def _loaded(cell: Cell, source: Source) -> tuple[Any, Any, list[str]]:
    return load(source, cell.classes, cell.max_rows, cell.seed, cell.max_labels)


@lru_cache(maxsize=1)
def _fitted(cell: Cell, source: Source) -> tuple[Reduced, Choice]:
    """Return the reduction of a cell, and the choice of its setting."""
    X, y, _ = _loaded(cell, source)
    train, test = _split(cell, source, X, y)
    choice = choose(cell, X[train], y[train]) if cell.tune else Choice()
    return reduce(cell, choice.parameters, X, y, train, test), choice


def _split(cell: Cell, source: Source, X: Any, y: Any) -> tuple[Any, Any]:
    if cell.kind not in HELD_OUT:
        return slice(None), slice(None)
    if cell.train_rows and (published := published_splits(source)):
        return published[cell.fold]
    seed = cell.seed + cell.repeat
    stratified, train_rows = cell.stratified, cell.train_rows
    found = splits(X, y, cell.folds, seed, stratified=stratified, train_rows=train_rows)
    return found[cell.fold]


@lru_cache(maxsize=1)
def _inner(cell: Cell, source: Source) -> list[Reduced]:
    """Reduce inside the training samples, with a part of them held out for the thresholds."""
    X, y, _ = _loaded(cell, source)
    train, _ = _split(cell, source, X, y)
    _, choice = _fitted(cell, source)
    X, y = X[train], y[train]
    inner = splits(X, y, cell.thresholds, cell.seed + cell.repeat)
    return [reduce(cell, choice.parameters, X, y, *rows) for rows in inner]


def _scored(cell: Cell, source: Source) -> Row:
    rows, choice = _fitted(cell.fit(), source)
    start = time.perf_counter()
    classifier = LabelClassifier.fit(_classifier(cell, choice), rows.train, rows.y_train)
    ready = time.perf_counter()
    predicted = classifier.predict(rows.test)
    done = time.perf_counter()
    thresholds = _thresholds(cell, source) if cell.thresholds and rows.y_test.ndim == 2 else {}
    chances = propensities(rows.y_train) if rows.y_train.ndim == 2 else None
    probability = classifier.scores(rows.test)
    scores = scores_of(rows.y_test, predicted, probability, thresholds, chances)
    if thresholds:
        predicted = probability >= thresholds["macro"]
    names = _loaded(cell, source)[2]
    seconds = {
        "classify_seconds": done - start,
        "train_seconds": rows.train_seconds + ready - start,
        "predict_seconds": rows.transform_seconds + done - ready,
    }
    rounded = {name: round(value, 6) for name, value in seconds.items()}
    labels = _label_f1(rows.y_test, predicted, names)
    return {"scores": scores, **labels, **rows.costs(), **choice.record(), **rounded}


def _label_f1(y: Any, predicted: Any, names: list[str]) -> Row:
    """Return the F1 of each label, unless there are more than a reader would look at."""
    if y.ndim == 1 or y.shape[1] > _MOST_LABELS:
        return {}
    values = per_label(f1_score, y, predicted, zero_division=0.0)
    return {"label_f1": {name: round(v, 4) for name, v in zip(names, values, strict=True)}}


def _classifier(cell: Cell, choice: Choice) -> Any:
    if cell.classifier != ITSELF:
        return make_classifier(check_classifier(cell.classifier, choice.k))
    parameters = {**cell.parameters, **choice.parameters}
    return make_estimator(cell.method, parameters, None, cell.random_state())


def _thresholds(cell: Cell, source: Source) -> dict[str, Any]:
    """Return the thresholds with the best F1 on held-out training samples, by average."""
    inner = _inner(cell.fit(), source)
    _, choice = _fitted(cell.fit(), source)
    scores = [
        LabelClassifier.fit(_classifier(cell, choice), part.train, part.y_train).scores(part.test)
        for part in inner
    ]
    if any(each is None for each in scores):
        return {}
    Y = csr_array(np.vstack([part.y_test for part in inner]))
    held_out = np.vstack(scores)
    averages: tuple[Average, ...] = ("macro", "micro")
    return {each: best_thresholds(held_out, Y, average=each) for each in averages}


def _converged(cell: Cell, source: Source) -> Row:
    """Return the objective after every iteration, and its upper bound."""
    rows, _ = _fitted(cell.fit(), source)
    reducer = rows.reducer
    return {
        **rows.costs(),
        "objective": [float(f"{value:.9g}") for value in reducer.objective_history_],
        "upper_bound": float(reducer.upper_bound_),
        "converged": bool(reducer.converged_),
    }


def _projected(cell: Cell, source: Source) -> Row:
    """Return the first two coordinates of every sample, and its class or its labels."""
    rows, _ = _fitted(cell.fit(), source)
    points, y = np.asarray(rows.test)[:, :2], rows.y_test
    labels: Row = (
        {"classes_of_points": [str(each) for each in y]}
        if y.ndim == 1
        else {"labels_of_points": [np.flatnonzero(row).tolist() for row in y]}
    )
    rounded = [[float(f"{value:.5g}") for value in point] for point in points]
    return {**rows.costs(), "points": rounded, **labels}


def _exhibited(cell: Cell, source: Source) -> Row:
    """Return the points, and the scores of a classifier that sees these two dimensions only."""
    labels = {"labels": _loaded(cell, source)[2]}
    return _projected(cell, source) | _scored(cell, source) | labels


_MEASURES = {
    "scores": _scored,
    "convergence": _converged,
    "projection": _projected,
    "gallery": _exhibited,
}
