"""The tables of scores in a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting.comparison import comparison
from skml_kalda.bench.reporting.costs import time_grids
from skml_kalda.bench.reporting.document import Block, Entry, Grid, Heading, Text, capitalized
from skml_kalda.bench.reporting.drawing.spread import spread_grids
from skml_kalda.bench.reporting.outside import outside_tables
from skml_kalda.bench.reporting.published import SWAPPED
from skml_kalda.bench.reporting.tables import (
    agreement,
    classifiers_in,
    has_swapped_names,
    rows_with,
    scores_in,
    size_of,
    table,
)
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import MAIN, SCORES, Score

_FIRST = {*MAIN, "macro_f1_tuned", "micro_f1_tuned"}


def score_tables(results: Results) -> Iterator[Block]:
    """Yield the tables of a run with scores."""
    yield from _by_dimension(results) if results.plan.dimensions else _by_score(results)


def _by_score(results: Results) -> Iterator[Block]:
    found = {score: table(results, score) for score in scores_in(results)}
    yield from _verdict(results)
    yield from outside_tables(results)
    for classifier in classifiers_in(results):
        after = "" if classifier == ITSELF else f" with {classifier}"
        grids = {
            score: _score_grid(results, rows_with(rows, classifier), SCORES[score])
            for score, rows in found.items()
        }
        yield Heading(f"Scores{after}", 3)
        yield from (grid for score, grid in grids.items() if score in _FIRST)
        yield from spread_grids(results, classifier)
        yield from comparison(results, classifier)
        if len(grids) > len(_FIRST.intersection(grids)):
            yield Heading(f"More measures{after}", 3, folded=True)
            yield from (grid for score, grid in grids.items() if score not in _FIRST)
    yield Heading("Time", 3)
    yield from time_grids(results)


def _verdict(results: Results) -> Iterator[Block]:
    if has_swapped_names(results):
        yield Text(SWAPPED)
    verdict = agreement(results)
    if verdict.empty:
        return
    yield Heading("Is the paper's ranking confirmed?", 3)
    rows = [[Entry(str(value)) for value in row] for row in verdict.to_numpy()]
    yield Grid("By accuracy, among the methods of the paper", list(verdict.columns), rows)


def _score_grid(results: Results, rows: pd.DataFrame, score: Score) -> Grid:
    methods = [name for name in results.plan.methods if name in set(rows["method"])]
    lines = [
        [_set(results, str(name)), *_entries(part.set_index("method"), methods, score)]
        for name, part in rows.groupby("dataset", sort=False)
    ]
    return Grid(_caption(rows, score), ["data set", *map(label, methods)], lines)


def _set(results: Results, name: str) -> Entry:
    drawn, n = results.plan.max_rows.get(name, 0), size_of(results, name)["rows"]
    return Entry(name, note=f"{drawn} of {n} rows" if 0 < drawn < n else "")


def _caption(rows: pd.DataFrame, score: Score) -> str:
    text = capitalized(score.label)
    if rows["paper"].isna().all():
        return text
    alias = {"macro_f1": " (there “micro F1”)", "micro_f1": " (there “macro F1”)"}
    return (
        f"{text}; below, the paper's number{alias.get(score.name, '')} and our difference from it"
    )


def _entries(part: pd.DataFrame, methods: Sequence[str], score: Score) -> list[Entry]:
    best = score.best(part["mean"])
    return [_entry(part.loc[name], best) if name in part.index else Entry("") for name in methods]


def _entry(row: Any, best: float) -> Entry:
    text = f"{row['mean']:.4f} ± {row['sd']:.3f}"
    paper = row["paper"]
    note = "" if pd.isna(paper) else f"paper {paper:.4f}, {row['difference']:+.4f}"
    return Entry(text, bool(row["mean"] == best), note)


def _by_dimension(results: Results) -> Iterator[Block]:
    found = table(results)
    dimensions = [str(value) for value in results.plan.dimensions]
    lines = []
    for (name, method), part in found.groupby(["dataset", "method"], sort=False):
        values = {str(row["dimension"]): row["mean"] for row in part.to_dict("records")}
        entries = [Entry(f"{values[d]:.4f}" if d in values else "") for d in dimensions]
        lines.append([Entry(f"{name}, {method}"), *entries])
    yield Grid("Accuracy by dimension", ["data set, method", *dimensions], lines)
