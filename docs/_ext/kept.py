"""Directives that show kept results: no number on the site is written by hand.

``{kept} NAME`` shows what the function of that name in `kept_tables` writes in Markdown;
``{kept-rows} FILE`` shows rows of a file in ``benchmarks/results``; ``{kept-figure} FILE`` shows a
figure of the kept report.
"""

import json
from html import escape
from typing import ClassVar

import kept_tables
from docutils import nodes
from docutils.nodes import Node
from docutils.parsers.rst import directives
from kept_tables import FIGURES, RESULTS, ROOT
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Kept(SphinxDirective):
    """A table or a list from kept results."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """Parse what the function writes, as if it stood on the page."""
        write = kept_tables.PARTS[self.arguments[0]]
        for path in RESULTS.rglob("*.json*"):
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes(write())


class KeptRows(SphinxDirective):
    """Rows of a kept measurement that have all the columns asked for."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[Node]:
        """Write one column for each line of the content, which may rename it: ``key = title``."""
        path = RESULTS / f"{self.arguments[0]}.json"
        self.env.note_dependency(str(path))
        columns = dict(_column(line) for line in self.content)
        rows = json.loads(path.read_text("utf-8"))["rows"]
        text = kept_tables.table(
            list(columns.values()),
            [[row[key] for key in columns] for row in rows if columns.keys() <= row.keys()],
        )
        return self.parse_text_to_nodes(text)


def _column(line: str) -> tuple[str, str]:
    key, _, title = line.partition(" = ")
    return key.strip(), title.strip() or key.strip()


class KeptFigure(SphinxDirective):
    """A figure of the kept report of the bench, with its description as caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[Node]:
        """Put the figure into the page, whose colours it takes; a link opens it by itself."""
        path = FIGURES / self.arguments[0]
        if not path.is_file():
            raise self.error(f"there is no figure {path.relative_to(ROOT)}")
        self.env.note_dependency(str(path))
        # The file has colours of its own, for use outside of a page.
        alone = 'style="background: white; color: black"'
        shown = f'role="img" aria-label="{escape(self.options["alt"])}"'
        drawn = path.read_text("utf-8").replace(alone, shown, 1)
        root = "../" * self.env.docname.count("/")
        link = f'<a class="kept" href="{root}_static/{path.name}">{drawn}</a>'
        caption = nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [nodes.figure("", nodes.raw("", link, format="html"), caption)]


def setup(app: Sphinx) -> dict[str, object]:
    """Register the directives."""
    app.add_directive("kept", Kept)
    app.add_directive("kept-rows", KeptRows)
    app.add_directive("kept-figure", KeptFigure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
