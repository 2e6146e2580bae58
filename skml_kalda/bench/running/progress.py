"""Progress: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, Self

from skml_kalda.bench.cells import Cell

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Progress", "Silent", "make_progress"]


class Progress(AbstractContextManager["Progress"], Protocol):
    """Something that is told of every row."""

    def advance(self, row: dict[str, Any]) -> None:
        """Take note of a row."""


class Silent(Progress):
    """No progress shown."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def advance(self, row: dict[str, Any]) -> None:
        """Do nothing."""


class PlainLines(Silent):
    """One line for each data set and method that is done, and one for each failure."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        self._left = Counter((cell.dataset, cell.method) for cell in cells)
        self._total = len(cells)
        self._console = console
        self._start = time.perf_counter()

    def advance(self, row: dict[str, Any]) -> None:
        """Print a line if the method is done on the data set."""
        group = row["dataset"], row["method"]
        self._left[group] -= 1
        if row["status"] == "failed":
            self._print(f"failed: {row['dataset']}, {row['method']}: {row['error'].strip()}")
        if not self._left[group]:
            done = self._total - self._left.total()
            seconds = time.perf_counter() - self._start
            self._print(f"[{done}/{self._total}] {seconds:6.1f} s  {group[0]}, {group[1]}")

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class Live(Silent):
    """A bar with the time that is left."""

    def __init__(self, cells: Sequence[Cell], console: Console) -> None:
        from rich import progress

        self._console = console
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
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

    def advance(self, row: dict[str, Any]) -> None:
        """Move the bar; failures stay to be read above it."""
        text = f"{row['dataset']}, {row['method']}"
        if row["status"] == "failed":
            self._console.print(f"failed: {text}: {row['error'].strip()}", markup=False)
        self._bar.update(self._task, advance=1, description=f"{text:<24}")


def make_progress(cells: Sequence[Cell], console: Console) -> Progress:
    """Choose by what the console is."""
    return Live(cells, console) if console.is_terminal else PlainLines(cells, console)
