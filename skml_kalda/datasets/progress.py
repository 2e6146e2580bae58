"""Progress of long work, shown on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def show_progress(what: str, done: float, total: float, unit: str = "", end: bool = False) -> None:
    """Overwrite the line with how much is done; `end` begins a new line."""
    if sys.stderr.isatty():
        digits = 1 if unit else 0
        amount = f"{done:.{digits}f} of {total:.{digits}f}{unit} ({done / total:.0%})"
        print(f"\r{what}: {amount}", end="\n" if end else "", file=sys.stderr, flush=True)


def announce(what: str) -> None:
    """Announce work whose progress is not known."""
    if sys.stderr.isatty():
        print(what, file=sys.stderr, flush=True)


def counted(items: Sequence[T], what: str) -> Iterator[T]:
    """Iterate, and show how many of the items are done."""
    for number, item in enumerate(items, 1):
        yield item
        show_progress(what, number, len(items), end=number == len(items))
