"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skml_kalda.bench.reporting.document import Block, Code, Entry, Grid, Heading, Picture, Text

FIGURES = "figures"
# Names and messages may hold anything: marks of Markdown, HTML, the mathematics of some viewers.
# An underscore inside a word is no mark.
_MARKS = re.compile(r"[\\`*\[\]<>|&~$]|(?<![^\W_])_|_(?![^\W_])")
# What would make a paragraph a heading, a list, a quotation or a rule.
_OPENING = re.compile(r"^(?=[#+=-])|^(\d+)(?=[.)])")


def to_markdown(blocks: Sequence[Block]) -> str:
    """Return the report; its figures are files beside it."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escaped(text)}"
        case Text(text):
            return _paragraph(text)
        case Code(text):
            return _code(text)
        case Picture(name, caption):
            return f"![{escaped(caption)}]({FIGURES}/{name}.svg)"
        case Grid():
            return _grid(block)


def escaped(text: str) -> str:
    r"""Return a text in one line that Markdown shows as it is.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.markdown import escaped
    >>> print(escaped("a|b `c` <script>"))
    a\|b \`c\` \<script\>
    """
    return " ".join(_MARKS.sub(r"\\\g<0>", text).split())


def _paragraph(text: str) -> str:
    return _OPENING.sub(r"\1\\", escaped(text))


def _code(text: str) -> str:
    """Fence the text by more backticks than it has anywhere."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}console\n{text}\n{fence}"


def _grid(block: Grid) -> str:
    lines = [list(map(escaped, block.header)), ["---"] * len(block.header)]
    lines += [list(map(_entry, row)) for row in block.rows]
    table = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([f"{_paragraph(block.caption)}:", "", *table])


def _entry(entry: Entry) -> str:
    text = f"**{escaped(entry.text)}**" if entry.best else escaped(entry.text)
    return f"{text}<br>{escaped(entry.note)}" if entry.note else text
