"""Tables and progress on a terminal, or as plain text elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
from rich import box, progress
from rich.console import Console
from rich.table import Table

from skml_kalda.bench.plan import TUNED, Cell
from skml_kalda.bench.reporting.tables import (
    SWAPPED,
    candidate,
    compare,
    has_swapped_names,
    scores_in,
    table,
)
from skml_kalda.bench.running.results import Results, Row, failures_by_kind
from skml_kalda.bench.scores import MAIN, SCORES


def make_console() -> Console:
    """Make a console; where there is no terminal, it has a fixed width."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 120
    return console


@contextmanager
def show_progress(cells: Sequence[Cell], console: Console) -> Iterator[Callable[[Row], None]]:
    """Show a live bar on a terminal, elsewhere a line for each dataset and method that is done.

    The value is to be called with each row. The first failure of each kind is printed.
    """
    left = Counter((cell.dataset, cell.method) for cell in cells)
    start, failures = time.perf_counter(), set()
    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        *progress.Progress.get_default_columns()[1:],
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("starting", total=len(cells))

    def advance(row: Row) -> None:
        group = row["dataset"], row["method"]
        left[group] -= 1
        if row["status"] == "failed" and (*group, row["error"]) not in failures:
            failures.add((*group, row["error"]))
            console.print(f"failed: {', '.join(group)}: {row['error'].strip()}", soft_wrap=True)
        if not (left[group] or console.is_terminal):
            done, seconds = len(cells) - left.total(), time.perf_counter() - start
            line = f"[{done}/{len(cells)}] {seconds:6.1f} s  {', '.join(group)}"
            console.print(line, soft_wrap=True)
        bar.update(task, advance=1, description=f"{', '.join(group):<24}")

    with bar:
        yield advance


def print_scores(console: Console, results: Results) -> None:
    """Print one table of methods and main measures, with the paper's numbers."""
    columns: dict[str, Any] = {}
    for score in (SCORES[name] for name in (*TUNED, *MAIN) if name in scores_in(results)):
        found = table(results, score.name)
        best = found.groupby("dataset")["mean"].transform(score.best)
        found["text"] = list(map(_with_paper, found.assign(best=best).itertuples()))
        columns[score.title] = found.set_index(["dataset", "method", "classifier", "dimension"])
    lines = [
        [
            str(dataset),
            candidate(method, classifier) + (f", {dimension}" if dimension else ""),
            *(str(column["text"].get(key, "")) for column in columns.values()),
        ]
        for key in next(iter(columns.values()), pd.DataFrame()).index
        for dataset, method, classifier, dimension in [key]
    ]
    paper = any(column["paper"].notna().any() for column in columns.values())
    note = "; in brackets the paper's, and the difference" if paper else ""
    title = f"Scores  (* is the best of its dataset{note}; {SCORES['accuracy'].label})"
    if lines:
        _print(console, title, ["dataset", "method", *columns], lines)
    if has_swapped_names(results):
        console.print(SWAPPED)


def _with_paper(row: Any) -> str:
    star = "*" if row.mean == row.best else " "
    paper = "" if pd.isna(row.paper) else f" ({row.paper:.4f}, {row.difference:+.4f})"
    return f"{row.mean:.4f}{star}{paper}"


def print_outcome(console: Console, results: Results) -> None:
    """Print what was skipped, what failed, and what is left to run."""
    for row in results.skipped:
        console.print(f"skip: {row['dataset']}: {row['reason']}\n      {row['command']}")
    if results.failed:
        console.print(f"{len(results.failed)} cells failed:")
    for (dataset, method, error), n in failures_by_kind(results.failed).items():
        console.print(f"  {n} × {dataset}, {method}: {error}", soft_wrap=True)
    if results.missing:
        console.print(f"{results.missing} cells have not been run")


def print_comparison(console: Console, a: Results, b: Results, score: str) -> None:
    """Print two runs side by side."""
    lines = [
        [
            *map(str, [*names, dimension]),
            *(f"{first:.4f}", f"{second:.4f}", f"{difference:+.4f}"),
            "" if pd.isna(ratio) else f"{ratio:.2f}",
        ]
        for *names, dimension, first, second, difference, ratio in compare(a, b, score).to_numpy()
    ]
    header = ["dataset", "classifier", "method", "dimension", "A", "B", "B − A", "fit time B / A"]
    _print(console, f"{SCORES[score].label}: A is {a.folder}, B is {b.folder}", header, lines)


def _print(
    console: Console, title: str, header: Sequence[str], lines: Iterable[Sequence[str]]
) -> None:
    console.print(title, soft_wrap=True)
    grid = Table(box=box.SIMPLE_HEAD)
    for name in header:
        grid.add_column(name)
    last = None
    for name, *others in lines:
        grid.add_row("" if name == last else name, *others)
        last = name
    console.print(grid)
