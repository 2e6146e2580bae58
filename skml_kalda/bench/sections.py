"""The sections of a report, from results only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from skml_kalda.bench.canvas import svg
from skml_kalda.bench.comparison import comparison
from skml_kalda.bench.document import Block, Code, Entry, Grid, Heading, Picture, Text
from skml_kalda.bench.figures import figure, figure_names
from skml_kalda.bench.methods import label
from skml_kalda.bench.paper import SWAPPED
from skml_kalda.bench.results import Results
from skml_kalda.bench.scores import SCORES, short_name
from skml_kalda.bench.spread import spread_grids
from skml_kalda.bench.tables import (
    agreement,
    has_swapped_names,
    lower_is_better,
    main_scores,
    scores_in,
    table,
)
from skml_kalda.datasets.manifest import read_manifest

__all__ = ["document"]

_ABOUT = (
    "Zheng and Ding, “Kernel alignment inspired linear discriminant analysis”, ECML PKDD 2014, "
    "measured again. Scores are means over folds, ± their standard deviation; the best of each "
    "row is bold."
)
_CAPTIONS = {
    "scores": "{score} of each method: mean and standard deviation over the folds, and the "
    "paper's number where it has one.",
    "ranks": "{score}: mean rank across the data sets (1 is best). Methods under one bar are "
    "not told apart by Nemenyi's test at 5 %.",
    "spread": "How the splits of the same rows differ: the mean over the folds of each split.",
    "dimension": "{score} at growing dimension; the dotted line is K − 1.",
    "convergence": "The objective by iteration; thin lines carry the last value on.",
    "projection": "Every row in the first two dimensions; colours and marks are the classes.",
    "gallery": "Rows that the fit has not seen, in two dimensions; a point has a wedge for each "
    "of its labels. Panels are turned and mirrored to lie alike, which changes no distance.",
}


def document(runs: Sequence[Results]) -> list[Block]:
    """Compose the report of one or more runs."""
    return [
        Heading("skml_kalda.bench: the paper's tables and figures", 1),
        Text(_ABOUT),
        *(block for run in runs for block in _run(run)),
    ]


def _run(results: Results) -> Iterator[Block]:
    plan = results.plan
    yield Heading(plan.title, 2, plan.name)
    yield Text(plan.about)
    yield Text(_setting(results))
    yield from _pictures(results)
    if plan.kind == "scores" and results.ok:
        yield from (_by_dimension(results) if plan.dimensions else _scores(results))
    if plan.kind == "convergence":
        yield _objectives(results)
    yield from _absent(results)
    yield Heading("Environment, and how to run it again", 3)
    yield _environment(results)
    yield Code(plan.command())


def _setting(results: Results) -> str:
    plan = results.plan
    counts = f"{len(results.ok)} cells measured, {len(results.failed)} failed"
    counts += f", {results.missing} not run yet." if results.missing else "."
    scale = "standardised on the training rows" if plan.standardize else "as they are"
    if plan.kind != "scores":
        return f"Features {scale}. {counts}"
    folds = f"{plan.repeats} × {plan.folds}-fold cross-validation, seed {plan.seed}"
    drawn = " Of the largest sets only so many rows, drawn at random." if plan.max_rows else ""
    return f"{folds}; features {scale}. {counts}{drawn}"


def _pictures(results: Results) -> Iterator[Block]:
    first, *others = main_scores(results)
    names = figure_names(results)
    more = [("ranks", score) for score in others if "ranks" in names]
    for name, score in [*((name, first) for name in names), *more]:
        salt = "-".join([results.plan.name, name, *([score] if others else [])])
        caption = _CAPTIONS[name].format(score=_capital(short_name(score)))
        yield Picture(salt, caption, svg(figure(results, name, score=score), salt))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _scores(results: Results) -> Iterator[Block]:
    found = {score: table(results, score) for score in scores_in(results)}
    yield from _verdict(results)
    for classifier in results.plan.classifiers:
        yield Heading(f"Scores with {classifier}", 3)
        for score, rows in found.items():
            yield _score_grid(results, rows[rows["classifier"] == classifier], score)
        yield from spread_grids(results, classifier)
        yield from comparison(results, classifier)
    yield _seconds(results)


def _verdict(results: Results) -> Iterator[Block]:
    if has_swapped_names(results):
        yield Text(SWAPPED)
    verdict = agreement(results)
    if verdict.empty:
        return
    yield Heading("Is the paper's ranking confirmed?", 3)
    rows = [[Entry(str(value)) for value in row] for row in verdict.to_numpy()]
    yield Grid("By accuracy, among the methods of the paper", list(verdict.columns), rows)


def _score_grid(results: Results, rows: pd.DataFrame, score: str) -> Grid:
    methods = [name for name in results.plan.methods if name in set(rows["method"])]
    lines = [
        [_set(results, str(name)), *_entries(part.set_index("method"), methods, score)]
        for name, part in rows.groupby("dataset", sort=False)
    ]
    return Grid(_caption(rows, score), ["data set", *map(label, methods)], lines)


def _set(results: Results, name: str) -> Entry:
    drawn, n = results.plan.max_rows.get(name, 0), read_manifest(name).n
    return Entry(name, note=f"{drawn} of {n} rows" if 0 < drawn < n else "")


def _caption(rows: pd.DataFrame, score: str) -> str:
    text = _capital(SCORES[score])
    if rows["paper"].isna().all():
        return text
    alias = {"macro_f1": ", there “micro F1”", "micro_f1": ", there “macro F1”"}.get(score, "")
    return f"{text}; below, the paper's number{alias} and our difference from it"


def _entries(part: pd.DataFrame, methods: Sequence[str], score: str) -> list[Entry]:
    best = part["mean"].min() if lower_is_better(score) else part["mean"].max()
    return [_entry(part.loc[name], best) if name in part.index else Entry("") for name in methods]


def _entry(row: Any, best: float) -> Entry:
    text = f"{row['mean']:.4f} ± {row['sd']:.3f}"
    paper = row["paper"]
    note = "" if pd.isna(paper) else f"paper {paper:.4f}, {row['difference']:+.4f}"
    return Entry(text, bool(row["mean"] == best), note)


def _seconds(results: Results) -> Grid:
    medians = results.frame().groupby(["dataset", "method"], sort=False)["fit_seconds"].median()
    wide = medians.unstack(sort=False)
    rows = [
        [Entry(str(name)), *(Entry(f"{value:.3f}") for value in values)]
        for name, values in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    caption = "Seconds of a fit on one core, median over the folds; other work may have run beside"
    return Grid(caption, ["data set", *map(label, wide.columns)], rows)


def _by_dimension(results: Results) -> Iterator[Block]:
    found = table(results)
    dimensions = [str(value) for value in results.plan.dimensions]
    lines = []
    for (name, method), part in found.groupby(["dataset", "method"], sort=False):
        values = {str(row["dimension"]): row["mean"] for row in part.to_dict("records")}
        entries = [Entry(f"{values[d]:.4f}" if d in values else "") for d in dimensions]
        lines.append([Entry(f"{name}, {method}"), *entries])
    yield Grid("Accuracy by dimension", ["data set, method", *dimensions], lines)


def _objectives(results: Results) -> Grid:
    lines = [
        [
            Entry(f"{row['dataset']}, {row['method']}"),
            *(Entry(f"{row['objective'][end]:.6f}") for end in (0, -1)),
            Entry(f"{row['upper_bound']:.6f}"),
            Entry(str(row["iterations"])),
            Entry("yes" if row["converged"] else "no"),
        ]
        for row in results.ok
    ]
    header = ["data set, method", "J at the start", "J at the end", "bound", "iterations"]
    return Grid("The objective", [*header, "converged"], lines)


def _absent(results: Results) -> Iterator[Block]:
    if results.skipped:
        yield Grid(
            "Skipped",
            ["data set", "why", "what would get it"],
            [[Entry(row[k]) for k in ("dataset", "reason", "command")] for row in results.skipped],
        )
    if results.failed:
        keys = ("dataset", "method", "classifier", "repeat", "fold", "error")
        rows = [[Entry(str(row[k])) for k in keys] for row in results.failed]
        yield Grid("Failed", keys, rows)


def _environment(results: Results) -> Grid:
    """List the last environment, and every other that a resumed run has seen."""
    seen = {str({**each, "started": ""}): each for each in results.environments}
    header = list(results.environments[-1])
    rows = [[Entry(each.get(name, "")) for name in header] for each in seen.values()]
    return Grid("Where it ran", header, rows)
