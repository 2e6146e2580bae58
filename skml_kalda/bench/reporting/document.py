"""What a report consists of, whatever it is written as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Block", "Code", "Entry", "Grid", "Heading", "Picture", "Text"]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title, 2 begins a run."""

    text: str
    level: int
    anchor: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Code:
    """Commands to be copied."""

    text: str


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a grid, perhaps the best of its row, perhaps with a note."""

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
    """A figure; `svg` takes the colours of the page."""

    name: str
    caption: str
    svg: str


Block = Heading | Text | Code | Grid | Picture
