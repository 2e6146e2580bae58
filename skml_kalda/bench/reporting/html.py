"""A report as one page of HTML that needs no other file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from skml_kalda.bench.reporting.document import Block, Code, Entry, Grid, Heading, Picture, Text


def to_html(blocks: Sequence[Block]) -> str:
    """Return the page, with styles and figures inside; it asks the network for nothing."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        + "\n".join(_block(block, blocks) for block in blocks)
        + "\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text("utf-8")


def _block(block: Block, blocks: Sequence[Block]) -> str:
    match block:
        case Heading(text, 1):
            return f"<h1>{escape(text)}</h1>\n{_contents(blocks)}"
        case Heading(text, level, anchor):
            mark = f' id="{escape(anchor)}"' if anchor else ""
            return f"<h{level}{mark}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Picture():
            return _picture(block)
        case Grid():
            return _grid(block)


def _contents(blocks: Sequence[Block]) -> str:
    chapters = [b for b in blocks if isinstance(b, Heading) and b.anchor]
    links = [f'<a href="#{escape(b.anchor)}">{escape(b.text)}</a>' for b in chapters]
    return f"<nav>{''.join(links)}</nav>" if len(links) > 1 else ""


def _picture(block: Picture) -> str:
    # So that a figure with one panel does not fill the width of the page.
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', block.svg)[0])
    label = (
        f'role="img" aria-label="{escape(block.caption)}" style="max-width: {1.6 * width:.0f}px"'
    )
    drawn = block.svg.replace("<svg ", f"<svg {label} ", 1)
    caption = f"<figcaption>{escape(block.caption)}</figcaption>"
    return f'<figure><div class="scroll">{drawn}</div>{caption}</figure>'


def _grid(block: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.header)
    rows = "".join(f"<tr>{_row(row)}</tr>\n" for row in block.rows)
    table = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>"
    # The caption is outside of the table: a table wider than the page scrolls, its caption not.
    name = escape(block.caption)
    scroll = f'<div class="scroll"><table aria-label="{name}">{table}</table></div>'
    return f'<p class="caption">{name}</p>\n{scroll}'


def _row(row: Sequence[Entry]) -> str:
    first = f'<th scope="row">{escape(row[0].text)}{_note(row[0])}</th>'
    return first + "".join(map(_entry, row[1:]))


def _entry(entry: Entry) -> str:
    text = f"<b>{escape(entry.text)}</b>" if entry.best else escape(entry.text)
    kind = "words" if len(entry.text) > 24 else "number"
    return f'<td class="{kind}">{text}{_note(entry)}</td>'


def _note(entry: Entry) -> str:
    return f"<small>{escape(entry.note)}</small>" if entry.note else ""
