"""How scores spread over the splits of a repeated cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from skml_kalda.bench.methods import label
from skml_kalda.bench.reporting.document import Entry, Grid, capitalized
from skml_kalda.bench.reporting.tables import rows_with, scores_in
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import MAIN, SCORES


def split_means(results: Results, score: str, classifier: str) -> pd.Series[float]:
    """Return the mean over the folds of each split, by data set, method and repeat."""
    frame = results.frame()
    frame = rows_with(frame, classifier)
    return frame.groupby(["dataset", "method", "repeat"], sort=False)[score].mean()


def spread(results: Results, score: str, classifier: str) -> pd.DataFrame:
    """Tabulate how a score varies from split to split; a split is one set of folds.

    Parameters
    ----------
    results : Results
        The results of a plan with several repeats.
    score, classifier : str
        The names of a score and of a classifier.

    Returns
    -------
    pandas.DataFrame
        By data set and method: the mean over the splits, their standard deviation, the standard
        error of the mean, and the score of the first split alone.
    """
    splits = split_means(results, score, classifier)
    return splits.groupby(["dataset", "method"], sort=False).agg(["mean", "std", "sem", "first"])


def spread_grids(results: Results, classifier: str) -> Iterator[Grid]:
    """Yield one grid for each main score: a row for each data set, a column for each method."""
    if results.plan.repeats == 1:
        return
    methods = results.plan.methods
    for score in (score for score in MAIN if score in scores_in(results)):
        found = spread(results, score, classifier)
        rows = [
            [Entry(str(name)), *_entries(part.droplevel(0), methods)]
            for name, part in found.groupby(level=0, sort=False)
        ]
        yield Grid(_caption(results, score), ["data set", *map(label, methods)], rows)


def _caption(results: Results, score: str) -> str:
    return (
        f"{capitalized(SCORES[score].label)} over {results.plan.repeats} splits of the same rows: "
        "mean ± its standard error; below, the standard deviation over the splits and the result "
        f"of the split with seed {results.plan.seed} alone"
    )


def _entries(part: pd.DataFrame, methods: Sequence[str]) -> list[Entry]:
    return [_entry(part.loc[name]) if name in part.index else Entry("") for name in methods]


def _entry(row: Any) -> Entry:
    note = f"sd {row['std']:.4f}, alone {row['first']:.4f}"
    return Entry(f"{row['mean']:.4f} ± {row['sem']:.4f}", note=note)
