"""Tables on a terminal, or as plain text elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from skml_kalda.bench.methods import label
from skml_kalda.bench.reporting.published import SWAPPED
from skml_kalda.bench.reporting.tables import compare, has_swapped_names, scores_in, table
from skml_kalda.bench.running.result_rows import failures_by_kind
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import MAIN, SCORES, Score

_PLAIN_WIDTH = 120


def make_console() -> Console:
    """Make a console; where there is no terminal, it has a fixed width."""
    console = Console(highlight=False, markup=False)
    return (
        console
        if console.is_terminal
        else Console(width=_PLAIN_WIDTH, highlight=False, markup=False)
    )


def print_scores(console: Console, results: Results) -> None:
    """Print accuracy, macro F1 and micro F1, with the paper's numbers beside ours."""
    for score in (SCORES[name] for name in MAIN if name in scores_in(results)):
        found = _with_best(table(results, score.name), score)
        columns = _columns(found, dict.fromkeys(found["classifier"]))
        parts = found.groupby(["dataset", "method", "dimension"], sort=False)
        lines = [_line(key, part, columns) for key, part in parts]
        header = [name if field == "mean" else field for name, field in columns]
        title = f"{score.label}  (* is the best of its data set)"
        _print(console, title, ["data set", "method", *header], lines)
    if has_swapped_names(results):
        console.print(SWAPPED)


def _with_best(found: pd.DataFrame, score: Score) -> pd.DataFrame:
    groups = found.groupby("dataset")["mean"]
    return found.assign(best=found["mean"] == groups.transform(score.best))


def _columns(found: pd.DataFrame, classifiers: Iterable[str]) -> list[tuple[str, str]]:
    """Return a column for each classifier, and two for the paper where it has numbers."""
    with_paper = set(found.dropna(subset=["paper"])["classifier"])
    fields = ("mean", "paper", "difference")
    return [(c, f) for c in classifiers for f in fields if f == "mean" or c in with_paper]


def _line(key: Any, part: pd.DataFrame, columns: Sequence[tuple[str, str]]) -> list[str]:
    dataset, method, dimension = key
    at = f", {dimension}" if dimension else ""
    rows = part.set_index("classifier")
    return [
        dataset,
        label(method) + at,
        *(_number(rows.loc[name], field) if name in rows.index else "" for name, field in columns),
    ]


def _number(row: Any, field: str) -> str:
    if pd.isna(row[field]):
        return ""
    if field == "difference":
        return f"{row[field]:+.4f}"
    star = "*" if field == "mean" and row["best"] else " "
    return f"{row[field]:.4f}{star}"


def print_outcome(console: Console, results: Results) -> None:
    """Print what was skipped, what failed, and what is left to run."""
    for row in results.skipped:
        console.print(f"skip: {row['dataset']}: {row['reason']}\n      {row['command']}")
    if results.failed:
        console.print(f"{len(results.failed)} cells failed:")
    for (dataset, method, error), rows in failures_by_kind(results.failed).items():
        console.print(f"  {len(rows)} × {dataset}, {method}: {error}", soft_wrap=True)
    if results.missing:
        console.print(f"{results.missing} cells have not been run")


def print_comparison(console: Console, a: Results, b: Results, score: str) -> None:
    """Print two runs side by side."""
    found = compare(a, b, score)
    formats: list[Callable[[Any], str]] = [
        str,
        str,
        str,
        str,
        "{:.4f}".format,
        "{:.4f}".format,
        "{:+.4f}".format,
        _ratio,
    ]
    lines = [
        [write(value) for write, value in zip(formats, row, strict=True)]
        for row in found.itertuples(index=False)
    ]
    header = ["data set", "classifier", "method", "dimension", "A", "B", "B − A", "fit time B / A"]
    _print(console, f"{SCORES[score].label}: A is {a.folder}, B is {b.folder}", header, lines)


def _ratio(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"


def _print(
    console: Console, title: str, header: Sequence[str], lines: Iterable[Sequence[str]]
) -> None:
    console.print(title)
    grid = Table(box=box.SIMPLE_HEAD)
    for number, name in enumerate(header):
        grid.add_column(name, justify="left" if number < 2 else "right")
    last = None
    for name, *others in lines:
        grid.add_row("" if name == last else name, *others)
        last = name
    console.print(grid)
