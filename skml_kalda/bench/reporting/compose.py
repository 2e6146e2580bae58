"""The sections of a report, made from results only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING

from skml_kalda.bench.command import command_of
from skml_kalda.bench.reporting.document import (
    Block,
    Code,
    Entry,
    Grid,
    Heading,
    Picture,
    Text,
    capitalized,
)
from skml_kalda.bench.reporting.drawing.figures import figure, figure_names
from skml_kalda.bench.reporting.drawing.style import narrow, svg
from skml_kalda.bench.reporting.score_tables import score_tables
from skml_kalda.bench.reporting.summary import summary
from skml_kalda.bench.reporting.tables import main_scores, table
from skml_kalda.bench.running.result_rows import failures_by_kind
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# In inches: at most a panel and a half.
_FITS_A_PHONE = 5.0
_ABOUT = (
    "Made by skml_kalda.bench. Scores are means over folds, ± their standard deviation; the best "
    "of each row is bold."
)
_CAPTIONS = {
    "scores": "{score} of each method: mean and standard deviation over the folds{paper}.",
    "ranks": "{score}: mean rank across the data sets (1 is best). Nemenyi's test at 5 % finds no "
    "difference between methods under one bar.",
    "cost": "{score} against the time to train, as a ratio to the fastest: best is above and left.",
    "spread": "How the splits of the same rows differ: the mean over the folds of each split.",
    "dimension": "{score} by dimension of the subspace; the dotted line is K − 1.",
    "convergence": "The objective by iteration; thin lines extend the last value.",
    "projection": "Every row in the first two dimensions; colours and markers show the classes.",
    "gallery": "Held-out rows in two dimensions; each point has a wedge for each of its labels. "
    "Panels are rotated and mirrored to match one another, which changes no distance.",
}


def document(runs: Sequence[Results]) -> list[Block]:
    """Compose the report of one or more runs."""
    chapters = zip(runs, _anchors(runs), strict=True)
    title = runs[0].plan.title if len(runs) == 1 else "The paper's tables and figures, and more"
    return [
        Heading(title, 1),
        Text(_ABOUT),
        *(
            block
            for run, anchor in chapters
            for block in _run(run, anchor, run.plan.title if len(runs) > 1 else "Results")
        ),
    ]


def _anchors(runs: Sequence[Results]) -> list[str]:
    """Name the parts of a page and the files of its figures; runs of one plan get numbers."""
    anchors: list[str] = []
    for slug in (run.plan.slug for run in runs):
        names = chain([slug], (f"{slug}-{number}" for number in count(2)))
        anchors.append(next(name for name in names if name not in anchors))
    return anchors


def _run(results: Results, anchor: str, title: str) -> Iterator[Block]:
    plan = results.plan
    scored = plan.kind == "scores" and bool(results.ok)
    yield Heading(title, 2, anchor)
    yield Heading("Summary", 3)
    yield Text(_setting(results))
    if scored and not plan.dimensions:
        yield from summary(results)
    yield Text(plan.about)
    yield from _own_data(results)
    if results.ok:
        yield Heading("Figures", 3)
    yield from _pictures(results, anchor)
    if scored:
        yield from score_tables(results)
    if plan.kind == "convergence":
        yield _objectives(results)
    yield from _absent(results)
    yield Heading("Environment, and the command to run it again", 3, folded=True)
    yield _environment(results)
    yield Code(command_of(plan))


def _own_data(results: Results) -> Iterator[Block]:
    for name in (name for name in results.plan.datasets if name in results.data):
        card = results.data[name]
        notes = "".join(f" {capitalized(note)}." for note in card["notes"])
        size = f"{card['rows']} rows, {card['features']} features, {card['labels']} {card['kind']}"
        yield Text(f"{name}: {size}.{notes}")


def _setting(results: Results) -> str:
    plan = results.plan
    sets = plan.datasets[0] if len(plan.datasets) == 1 else f"{len(plan.datasets)} data sets"
    methods = plan.methods[0] if len(plan.methods) == 1 else f"{len(plan.methods)} methods"
    counts = f"{len(results.ok)} cells measured, {len(results.failed)} failed"
    counts += f", {results.missing} not run yet." if results.missing else "."
    scale = "standardised on the training rows" if plan.standardize else "as they are"
    if plan.kind != "scores":
        return f"{methods} on {sets}. Features {scale}. {counts}"
    folds = f"{plan.repeats} × {plan.folds}-fold cross-validation, seed {plan.seed}"
    if set(plan.datasets) <= set(plan.train_rows):
        folds = f"{plan.repeats * plan.folds} random splits, seed {plan.seed}"
    drawn = " The largest sets are random samples of their rows." if plan.max_rows else ""
    return f"{methods} on {sets}: {folds}; features {scale}. {counts}{drawn}"


def _pictures(results: Results, anchor: str) -> Iterator[Block]:
    first, *others = main_scores(results)
    names = figure_names(results)
    more = [("ranks", score) for score in others if "ranks" in names]
    for name, score in [*((name, first) for name in names), *more]:
        words = [anchor, name, *([score.replace("_", "-")] if others else [])]
        paper = table(results, score)["paper"].notna().any()
        beside = ", and the paper's number where it has one" if paper else ""
        caption = _CAPTIONS[name].format(score=capitalized(SCORES[score].title), paper=beside)
        file_name = "-".join(words)
        wide = figure(results, name, score=score)
        yield Picture(
            file_name,
            caption,
            svg(wide, file_name),
            _narrow(results, name, score, file_name) if _is_wide(wide) else "",
        )


def _is_wide(drawn: Figure) -> bool:
    return bool(drawn.get_figwidth() > _FITS_A_PHONE)


def _narrow(results: Results, name: str, score: str, file_name: str) -> str:
    """Draw the panels of a figure below one another."""
    with narrow():
        return svg(figure(results, name, score=score), f"{file_name}-narrow")


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
            ["data set", "why", "how to get it"],
            [[Entry(row[k]) for k in ("dataset", "reason", "command")] for row in results.skipped],
        )
    if results.failed:
        rows = [
            [*map(Entry, kind[:2]), Entry(str(len(found))), Entry(kind[2])]
            for kind, found in failures_by_kind(results.failed).items()
        ]
        yield Grid("Failed", ["data set", "method", "cells", "error"], rows)


def _environment(results: Results) -> Grid:
    """List the last environment, and every other one that a resumed run has used."""
    seen = {str({**each, "started": ""}): each for each in results.environments}
    header = list(results.environments[-1])
    rows = [[Entry(each.get(name, "")) for name in header] for each in seen.values()]
    return Grid("Where it ran", header, rows)
