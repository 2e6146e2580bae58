"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from skml_kalda.bench.document import Block, Code, Entry, Grid, Heading, Picture, Text

__all__ = ["FIGURES", "to_markdown"]

FIGURES = "figures"


def to_markdown(blocks: Sequence[Block]) -> str:
    """Write the report; its figures are files beside it."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Code(text):
            return f"```console\n{text}\n```"
        case Picture(name, caption):
            return f"![{caption}]({FIGURES}/{name}.svg)"
        case Grid():
            return _grid(block)


def _grid(block: Grid) -> str:
    lines = [list(map(_cell, block.header)), ["---"] * len(block.header)]
    lines += [list(map(_entry, row)) for row in block.rows]
    return "\n".join([f"{block.caption}:", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _entry(entry: Entry) -> str:
    text = f"**{_cell(entry.text)}**" if entry.best else _cell(entry.text)
    return f"{text}<br>{entry.note}" if entry.note else text


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())
