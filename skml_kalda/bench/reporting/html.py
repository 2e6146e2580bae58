"""A report as one page of HTML that needs no other file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from itertools import count
from pathlib import Path

from skml_kalda.bench.reporting.document import Block, Code, Entry, Grid, Heading, Picture, Text
from skml_kalda.bench.reporting.drawing.compact import PREFIX

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
"""


def to_html(blocks: Sequence[Block]) -> str:
    """Return the page, with styles, script and figures inside; it asks the network for nothing."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    named = _named(blocks)
    head = _HEAD.format(title=escape(title), style=_file("report.css"))
    body = _with_short_names("\n".join(_sections(named)))
    script = f"<script>\n{_file('report.js')}</script>"
    return f"{head}{_index(named)}\n<main>\n{body}\n</main>\n{script}\n</body>\n</html>\n"


def _with_short_names(page: str) -> str:
    """Give the names in a figure a short beginning: that of `compact` is unique among all files."""
    beginnings = dict.fromkeys(re.findall(rf"<style>\.({PREFIX})c", page))
    short = {long: f"f{_letters(n)}" for n, long in enumerate(beginnings)}
    return re.sub(rf'(?<=[#".])({PREFIX})(?=c?\d)', lambda name: short.get(name[1], name[1]), page)


def _letters(number: int) -> str:
    """Return a number as letters without c, which begins the names of classes."""
    digits = "abdefghijklmnopqrstuvwxyz"
    return (_letters(number // 25 - 1) if number >= 25 else "") + digits[number % 25]


@cache
def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _named(blocks: Sequence[Block]) -> list[Block]:
    """Give every heading below the title an anchor of its own; parts are named after their run."""
    taken: set[str] = set()
    run = ""
    named: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level > 1:
            slug = re.sub(r"\W+", "-", block.text.lower()).strip("-")
            wanted = block.anchor or f"{run}--{slug}"
            run = wanted if block.level == 2 else run
            names = (wanted if n == 1 else f"{wanted}-{n}" for n in count(1))
            anchor = next(name for name in names if name not in taken)
            taken.add(anchor)
            block = Heading(block.text, block.level, anchor, block.folded)
        named.append(block)
    return named


def _index(blocks: Sequence[Block]) -> str:
    """Return the links to all sections and their parts."""
    links = [
        f'<li class="level{b.level}"><a href="#{escape(b.anchor)}">{escape(b.text)}</a></li>'
        for b in blocks
        if isinstance(b, Heading) and b.level > 1
    ]
    buttons = '<button type="button" data-fold="open">unfold all</button>'
    buttons += '<button type="button" data-fold="closed">fold all</button>'
    return (
        '<nav aria-label="Contents"><details open><summary>Contents</summary>'
        f"<ul>{''.join(links)}</ul><p>{buttons}</p></details></nav>"
    )


def _sections(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the blocks; a heading of level 2 begins a section, one of level 3 a part that folds."""
    ends: list[str] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level > 1:
            while len(ends) >= block.level - 1:
                yield ends.pop()
            ends.append("</section>" if block.level == 2 else "</details>")
        yield _block(block)
    yield from reversed(ends)


def _block(block: Block) -> str:
    match block:
        case Heading(text, 1):
            return f"<h1>{escape(text)}</h1>"
        case Heading(text, 2, anchor):
            return f'<section id="{escape(anchor)}">\n<h2>{escape(text)}</h2>'
        case Heading(text, _, anchor, folded):
            state = "" if folded else " open"
            title = f"<summary><h3>{escape(text)}</h3></summary>"
            return f'<details class="part" id="{escape(anchor)}"{state}>{title}'
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Picture():
            return _picture(block)
        case Grid():
            return _grid(block)


def _picture(block: Picture) -> str:
    drawn = _drawn(block.svg, block.caption)
    if block.narrow:
        narrow = _drawn(block.narrow, block.caption)
        drawn = f'<div class="wide">{drawn}</div><div class="narrow">{narrow}</div>'
    return f"<figure>{drawn}<figcaption>{escape(block.caption)}</figcaption></figure>"


def _drawn(svg: str, caption: str) -> str:
    # So that a figure with one panel does not fill the width of the page.
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', svg)[0])
    label = f'role="img" aria-label="{escape(caption)}" style="max-width: {1.6 * width:.0f}px"'
    return svg.replace("<svg ", f"<svg {label} ", 1)


def _grid(block: Grid) -> str:
    # HTML needs no end tags of rows and cells, which would take a fifth of a long page's tables.
    head = "".join(f'<th scope="col">{escape(name)}' for name in block.header)
    rows = "".join(f"<tr>{_row(row)}\n" for row in block.rows)
    table = f"<thead><tr>{head}</thead>\n<tbody>\n{rows}</tbody>"
    # The caption is outside of the table: a table wider than the page scrolls, its caption not.
    name = escape(block.caption)
    scroll = f'<div class="scroll"><table aria-label="{name}">{table}</table></div>'
    return f'<p class="caption">{name}</p>\n{scroll}'


def _row(row: Sequence[Entry]) -> str:
    first = f'<th scope="row">{escape(row[0].text)}{_note(row[0])}'
    return first + "".join(map(_entry, row[1:]))


def _entry(entry: Entry) -> str:
    text = f"<b>{escape(entry.text)}</b>" if entry.best else escape(entry.text)
    kind = ' class="words"' if len(entry.text) > 24 else ""
    return f"<td{kind}>{text}{_note(entry)}"


def _note(entry: Entry) -> str:
    return f"<small>{escape(entry.note)}</small>" if entry.note else ""
