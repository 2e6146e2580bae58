"""Tuning: a cross-validation inside the training rows chooses parameters and k.

A score may be that of the predicted labels, that of their ranking, or the best F1 that one
threshold for all labels reaches on the held-out rows ("macro_f1_tuned").
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ParameterGrid

from skml_kalda._core.names import check_name
from skml_kalda._core.neighbors import neighbor_counts
from skml_kalda._core.thresholds import Average, best_thresholds
from skml_kalda.bench import settings
from skml_kalda.bench.cells import Cell
from skml_kalda.bench.methods import classifies, make_estimator
from skml_kalda.bench.running.failures import FAILURES, described
from skml_kalda.bench.running.folds import splits, standardized
from skml_kalda.bench.running.predicting import LabelClassifier
from skml_kalda.bench.running.reducing import reducer_of
from skml_kalda.bench.scores import MAIN, SCORES, quick_score
from skml_kalda.datasets.manifest import read_manifest

# Scores at the best threshold, and the average of their F1.
_TUNED: Mapping[str, Average] = {"macro_f1_tuned": "macro", "micro_f1_tuned": "micro"}
_OF_RANKING = tuple(name for name, score in SCORES.items() if score.needs_probabilities)
_ALLOWED = {
    "folds": settings.whole(2),
    "grid": settings.GRID,
    "neighbors": settings.wholes(1),
    "score": settings.TEXT_OR_NAMES,
}


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


def tuning_of(tune: Mapping[str, Any], method: str) -> Mapping[str, Any]:
    """Return the part of a plan's tuning for one method; without a grid it chooses only k."""
    return {**tune, "grid": tune["grid"].get(method, {})} if tune else {}


def tuned_by(tune: Mapping[str, Any]) -> list[str]:
    """Return the scores whose mean a tuning maximises."""
    return [tune["score"]] if isinstance(tune["score"], str) else list(tune["score"])


def check_tuning(
    tune: Mapping[str, Any], parameters: Mapping[str, Mapping[str, Any]], datasets: Sequence[str]
) -> None:
    """Raise a ValueError for what cannot be tuned, before any work is done."""
    for name in tune:
        check_name("setting of a tuning", name, _ALLOWED)
    for name, allowed in _ALLOWED.items():
        if name not in tune:
            raise ValueError(f"the tuning of the plan has no {name}")
        allowed.check(f"tune.{name}", tune[name])
    for name in tuned_by(tune):
        check_name("score to tune by", name, [*MAIN, *_TUNED, *_OF_RANKING])
    if not tune["neighbors"]:
        raise ValueError("tune.neighbors is empty: name the numbers of neighbours to choose from")
    for method, grid in tune["grid"].items():
        for setting in ParameterGrid(grid):
            make_estimator(method, {**parameters.get(method, {}), **setting}, 1, 0)
    for name in datasets:
        if read_manifest(name).task != "multilabel":
            raise ValueError(f"tuning is for sets with several labels per row, not for {name}")


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
    scores: list[list[float]] = []
    for setting in settings:
        try:
            found = predicted(cell, setting, A, B, y[train])
            names = tuned_by(cell.tune)
            scores.append([fmean(_score(n, y[test], *each) for n in names) for each in found])
        except FAILURES as error:
            warnings.warn(f"{setting} failed: {described(error).strip()}", stacklevel=2)
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
    if name in _OF_RANKING:
        score = SCORES[name]
        return float(score.function(y, scores)) * (-1 if score.lower_is_better else 1)
    if name not in _TUNED:
        return quick_score(name, y, predicted)
    average = _TUNED[name]
    thresholds = best_thresholds(scores, sparse.csr_array(y), average=average)
    return quick_score(f"{average}_f1", y, scores >= thresholds)
