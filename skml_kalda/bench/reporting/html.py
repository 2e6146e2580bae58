"""A report as one page of HTML that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from skml_kalda.bench.document import Block, Code, Entry, Grid, Heading, Picture, Text

__all__ = ["to_html"]

_STYLE = """
:root { color-scheme: light dark; --page: #fcfcfb; --ink: #1c2024; --soft: #5d6670; --line: #dcdfe3;
  --band: #f2f4f6; --best: #1d62b5; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e4e7ea; --soft: #9aa4ae;
  --line: #343a41; --band: #1e2328; --best: #7db8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.5rem 1rem 4rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 3.5rem; padding-top: .8rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin-top: 2rem; }
p { max-width: 46rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
a { color: var(--best); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
p.caption, figcaption { color: var(--soft); font-size: .9rem; margin: 1.4rem 0 .3rem; }
th, td { padding: .3rem .55rem; text-align: left; vertical-align: top; }
th { white-space: nowrap; }
tbody th, thead th:first-child { position: sticky; left: 0; background: inherit; }
thead tr { background: var(--page); }
tbody tr:nth-child(even) { background: var(--page); }
td.number { white-space: nowrap; }
td.words { min-width: 9rem; }
thead th { border-bottom: 2px solid var(--line); }
tbody tr:nth-child(odd) { background: var(--band); }
td b { color: var(--best); }
small { display: block; color: var(--soft); }
figure { margin: 1.2rem 0; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { margin-top: .3rem; max-width: 46rem; }
pre { background: var(--band); padding: .7rem 1rem; overflow-x: auto; border-radius: 6px; }
@media (max-width: 40rem) { body { padding-top: .5rem; } figure .scroll svg { min-width: 30rem; } }
"""


def to_html(blocks: Sequence[Block]) -> str:
    """Write the page: styles and figures are inside, no address is asked for anything."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(_block(block, blocks) for block in blocks)
        + "\n</body>\n</html>\n"
    )


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
    # A figure of one panel is not blown up to the width of the page.
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
    # The caption is no part of the table, which may be wider than the page and scroll.
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
