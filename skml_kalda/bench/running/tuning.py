"""Tuning: a cross-validation inside the training samples chooses parameters and k.

A score may be that of the predicted labels, that of their ranking, or the best F1 that one
threshold for all labels reaches on the held-out samples ("macro_f1_tuned").
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ParameterGrid

from skml_kalda._core.neighbors import neighbor_counts
from skml_kalda._core.thresholds import Average, best_thresholds
from skml_kalda.bench.methods import classifies, make_estimator
from skml_kalda.bench.plan import TUNED, Cell
from skml_kalda.bench.running.fitting import (
    FAILURES,
    LabelClassifier,
    describe_failure,
    reducer_of,
    splits,
    standardized,
)
from skml_kalda.bench.scores import SCORES


@dataclass(frozen=True)
class Choice:
    """The chosen parameters and k; empty where nothing is tuned.

    A method that classifies by itself has no k.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None
    score: float = float("nan")
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the fields of a row of results that describe the choice."""
        if np.isnan(self.score):
            return {}
        return {
            "chosen": dict(self.parameters),
            **({} if self.k is None else {"chosen_k": self.k}),
            "inner_score": self.score,
            "tune_seconds": round(self.seconds, 6),
        }


def choose(cell: Cell, X: Any, y: Any) -> Choice:
    """Choose the setting and k with the best mean score over the inner folds.

    Ties go to the first setting in the order of scikit-learn's `ParameterGrid`, and to the fewest
    neighbours. A setting that fails on a fold is not chosen, and a warning says why. All methods
    see the same inner folds. A single candidate needs no choice, and gets no score.
    """
    start = time.perf_counter()
    settings = list(ParameterGrid(cell.tune["grid"]))
    by_itself = classifies(cell.method, cell.parameters)
    sizes = [None] if by_itself else sorted(cell.tune["neighbors"])
    if len(settings) == len(sizes) == 1:
        return Choice(settings[0], sizes[0])
    inner = splits(X, y, cell.tune["folds"], cell.seed + cell.repeat)
    scores = np.mean([_scores(cell, settings, X, y, *rows) for rows in inner], axis=0)
    if np.isnan(scores).all():
        raise ValueError(f"every setting of {cell.method} failed on some inner fold: see warnings")
    setting, size = np.unravel_index(np.nanargmax(scores), scores.shape)
    seconds = time.perf_counter() - start
    return Choice(settings[setting], sizes[size], float(scores[setting, size]), seconds)


def _scores(
    cell: Cell, settings: Sequence[Mapping[str, Any]], X: Any, y: Any, train: Any, test: Any
) -> NDArray[np.float64]:
    """Score every setting (rows) and number of neighbours (columns) on one inner fold."""
    A, B = standardized(X[train], X[test]) if cell.standardize else (X[train], X[test])
    by_itself = classifies(cell.method, cell.parameters)
    predicted, columns = (_by_itself, 1) if by_itself else (_votes, len(cell.tune["neighbors"]))
    tuned_by = cell.tune["score"]
    names = [tuned_by] if isinstance(tuned_by, str) else tuned_by
    scores: list[list[float]] = []
    for setting in settings:
        try:
            found = predicted(cell, setting, A, B, y[train])
            scores.append([fmean(_score(name, y[test], *each) for name in names) for each in found])
        except FAILURES as error:
            warnings.warn(f"{setting} failed: {describe_failure(error)}", stacklevel=2)
            scores.append([np.nan] * columns)
    return np.array(scores)


def _votes(
    cell: Cell, setting: Mapping[str, Any], A: Any, B: Any, y: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield the predicted labels of B and their scores, for each number of neighbours."""
    reducer = reducer_of(cell, setting, y)
    if reducer is not None:
        reducer.fit(A, y)
        A, B = reducer.transform(A), reducer.transform(B)
    for k, counts in neighbor_counts(A, sparse.csr_array(y), B, cell.tune["neighbors"]):
        yield 2 * counts > k, counts


def _by_itself(
    cell: Cell, setting: Mapping[str, Any], A: Any, B: Any, y: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield what a method that classifies by itself predicts for B, and its scores."""
    parameters = {**cell.parameters, **setting}
    classifier = make_estimator(cell.method, parameters, None, cell.random_state())
    fitted = LabelClassifier.fit(classifier, A, y)
    yield fitted.predict(B), fitted.scores(B)


def _score(name: str, y: Any, predicted: Any, scores: Any) -> float:
    score = SCORES[name]
    if score.needs_probabilities:
        return float(score.function(y, scores)) * (-1 if score.lower_is_better else 1)
    if name in TUNED:
        average = cast(Average, TUNED[name])
        predicted = scores >= best_thresholds(scores, sparse.csr_array(y), average=average)
    return float(score.function(y, predicted))
