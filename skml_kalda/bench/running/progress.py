"""Progress: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, Self

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.running.result_rows import Row, kind_of_failure

if TYPE_CHECKING:
    from rich.console import Console


class Progress(AbstractContextManager["Progress"], Protocol):
    """Receives every row as it is measured."""

    def advance(self, row: Row) -> None:
        """Show that a row is done."""


class Silent(Progress):
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def advance(self, row: Row) -> None:
        """Do nothing."""

    def is_new(self, row: Row) -> bool:
        """Whether a failure is the first of its kind: the others are only counted, at the end."""
        kinds = vars(self).setdefault("_failures", set())
        is_new = kind_of_failure(row) not in kinds
        kinds.add(kind_of_failure(row))
        return bool(is_new)


class PlainLines(Silent):
    """Prints a line for each data set and method that is done, and one for each failure."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        self._left = Counter((cell.dataset, cell.method) for cell in cells)
        self._total = len(cells)
        self._console = console
        self._start = time.perf_counter()

    def advance(self, row: Row) -> None:
        """Print a line if the method is done on the data set."""
        group = row["dataset"], row["method"]
        self._left[group] -= 1
        if row["status"] == "failed" and self.is_new(row):
            self._print(_failure(row))
        if not self._left[group]:
            done = self._total - self._left.total()
            seconds = time.perf_counter() - self._start
            self._print(f"[{done}/{self._total}] {seconds:6.1f} s  {group[0]}, {group[1]}")

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class Live(Silent):
    """Shows a bar with the time that is left."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        from rich import progress

        self._console = console
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=len(cells))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def advance(self, row: Row) -> None:
        """Move the bar; failures are printed above it."""
        if row["status"] == "failed" and self.is_new(row):
            self._console.print(_failure(row), markup=False)
        text = f"{row['dataset']}, {row['method']}"
        self._bar.update(self._task, advance=1, description=f"{text:<24}")


def _failure(row: Row) -> str:
    return f"failed: {row['dataset']}, {row['method']}: {row['error'].strip()}"


def make_progress(cells: Sequence[Cell], console: Console) -> Progress:
    """Return the progress that suits the console."""
    return Live(cells, console) if console.is_terminal else PlainLines(cells, console)
