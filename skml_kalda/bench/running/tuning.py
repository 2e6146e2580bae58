"""Tuning: a cross-validation inside the training rows chooses parameters and k."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ParameterGrid

from skml_kalda._core.names import check_name
from skml_kalda._core.neighbors import neighbor_votes
from skml_kalda.bench import settings
from skml_kalda.bench.cells import Cell
from skml_kalda.bench.methods import make_estimator
from skml_kalda.bench.running.failures import FAILURES, described
from skml_kalda.bench.running.folds import splits, standardized
from skml_kalda.bench.running.reducing import reducer_of
from skml_kalda.bench.scores import MAIN, quick_score
from skml_kalda.datasets.manifest import read_manifest

_ALLOWED = {
    "folds": settings.whole(2),
    "grid": settings.GRID,
    "neighbors": settings.wholes(1),
    "score": settings.TEXT,
}


@dataclass(frozen=True)
class Choice:
    """The chosen parameters and k; empty where nothing is tuned."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None
    score: float = float("nan")
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the fields of a row of results that describe the choice."""
        if self.k is None:
            return {}
        return {
            "chosen": dict(self.parameters),
            "chosen_k": self.k,
            "inner_score": self.score,
            "tune_seconds": round(self.seconds, 6),
        }


def tuning_of(tune: Mapping[str, Any], method: str) -> Mapping[str, Any]:
    """Return the part of a plan's tuning for one method; without a grid it chooses only k."""
    return {**tune, "grid": tune["grid"].get(method, {})} if tune else {}


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
    check_name("score to tune by", tune["score"], MAIN)
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
    see the same inner folds.
    """
    start = time.perf_counter()
    settings = list(ParameterGrid(cell.tune["grid"]))
    sizes = sorted(cell.tune["neighbors"])
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
    labels = sparse.csr_array(y[train])
    scores = []
    for setting in settings:
        try:
            a, b = _reduced(cell, setting, A, B, y[train])
        except FAILURES as error:
            warnings.warn(f"{setting} failed: {described(error).strip()}", stacklevel=2)
            scores.append([np.nan] * len(cell.tune["neighbors"]))
            continue
        votes = neighbor_votes(a, labels, b, cell.tune["neighbors"])
        scores.append([quick_score(cell.tune["score"], y[test], found) for _, found in votes])
    return np.array(scores)


def _reduced(cell: Cell, setting: Mapping[str, Any], A: Any, B: Any, y: Any) -> tuple[Any, Any]:
    reducer = reducer_of(cell, setting, y)
    if reducer is None:
        return A, B
    reducer.fit(A, y)
    return reducer.transform(A), reducer.transform(B)
