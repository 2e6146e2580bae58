"""The parts of a report, independent of its format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title, level 2 begins a run, level 3 a part that can fold."""

    text: str
    level: int
    anchor: str = ""
    folded: bool = False
    """Whether the part is folded at first."""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Commands to copy."""

    text: str


@dataclass(frozen=True)
class Entry:
    """One entry of a grid: bold if it is the best of its row, perhaps with a note below."""

    text: str
    best: bool = False
    note: str = ""


@dataclass(frozen=True)
class Grid:
    """A table with its caption; the first column names the rows."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]


@dataclass(frozen=True)
class Picture:
    """A figure; its `svg` takes the colours of the page, its `name` is that of its file."""

    name: str
    caption: str
    svg: str
    narrow: str = ""
    """The same with its panels below one another, if it has several in a row."""


Block = Heading | Text | Code | Grid | Picture


def capitalized(text: str) -> str:
    """Return a text with its first letter in upper case and the others as they are."""
    return text[:1].upper() + text[1:]
