"""Tables and progress as lines of text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from skml_kalda.bench.plan import TUNED, Cell
from skml_kalda.bench.reporting import tables
from skml_kalda.bench.running.results import Results, Row, failures_by_kind
from skml_kalda.bench.scores import MAIN, SCORES


@contextmanager
def show_progress(cells: Sequence[Cell]) -> Iterator[Callable[[Row], None]]:
    """Print a line for each dataset and method that is done, and the first failure of each kind.

    The value is to be called with each row.
    """
    left = Counter((cell.dataset, cell.method) for cell in cells)
    start, failures = time.perf_counter(), set()

    def advance(row: Row) -> None:
        group = row["dataset"], row["method"]
        left[group] -= 1
        if row["status"] == "failed" and (*group, row["error"]) not in failures:
            failures.add((*group, row["error"]))
            print(f"failed: {', '.join(group)}: {row['error'].strip()}", flush=True)
        if not left[group]:
            done, seconds = len(cells) - left.total(), time.perf_counter() - start
            print(f"[{done}/{len(cells)}] {seconds:6.1f} s  {', '.join(group)}", flush=True)

    yield advance


def print_scores(results: Results) -> None:
    """Print one table of methods and main measures, with the paper's numbers."""
    columns: dict[str, Any] = {}
    for score in (*TUNED, *MAIN):
        if score in tables.scores_in(results):
            found = tables.table(results, score)
            best = found.groupby("dataset")["mean"].transform(SCORES[score].best)
            found["text"] = list(map(_with_paper, found.assign(best=best).itertuples()))
            names = map(tables.candidate, found["method"], found["classifier"])
            dimensions = (f", {n}" if n else "" for n in found["dimension"])
            found["method"] = list(map(str.__add__, names, dimensions))
            columns[SCORES[score].title] = found.set_index(["dataset", "method"])["text"]
    if columns:
        paper = any("(" in text for column in columns.values() for text in column)
        note = "; in brackets the paper's, and the difference" if paper else ""
        print(f"\n* is the best of its dataset{note}; {SCORES['accuracy'].label}")
        print(pd.DataFrame(columns).fillna("").reset_index().to_string(index=False))
    if tables.has_swapped_names(results):
        print(tables.SWAPPED)


def _with_paper(row: Any) -> str:
    star = "*" if row.mean == row.best else " "
    paper = "" if pd.isna(row.paper) else f" ({row.paper:.4f}, {row.difference:+.4f})"
    return f"{row.mean:.4f}{star}{paper}"


def print_outcome(results: Results) -> None:
    """Print what was skipped, what failed, and what is left to run."""
    for row in results.skipped:
        print(f"skip: {row['dataset']}: {row['reason']}\n      {row['command']}")
    if results.failed:
        print(f"{len(results.failed)} cells failed:")
    for (dataset, method, error), n in failures_by_kind(results.failed).items():
        print(f"  {n} × {dataset}, {method}: {error}")
    if results.missing:
        print(f"{results.missing} cells have not been run")


def print_comparison(a: Results, b: Results, score: str) -> None:
    """Print two runs side by side."""
    print(f"{SCORES[score].label}: A is {a.folder}, B is {b.folder}")
    number, signed, ratio = "{:.4f}".format, "{:+.4f}".format, "{:.2f}".format
    formats = {"difference": signed, "fit_time_ratio": ratio}
    found = tables.compare(a, b, score)
    print(found.to_string(index=False, float_format=number, formatters=formats, na_rep=""))
