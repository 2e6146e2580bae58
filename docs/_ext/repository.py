"""Links into the repository: ``{test}`tests/x.py::test_y` `` and ``{file}`path` ``.

A link to a test or a file that does not exist is a warning, and so fails the build. Relative
links of a page that leave ``docs`` lead to the repository too, so that a page reads the same there.
"""

import ast
import re
from pathlib import Path

from docutils import nodes
from docutils.nodes import Node, system_message
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_OUTWARD = re.compile(r"\]\((\.\./[^)#\s]+)")
URL = "https://github.com/skml-kalda/skml-kalda/blob/main"


def line_of(path: Path, function: str) -> int | None:
    """Return the line in which a function of a module is defined."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return node.lineno
    return None


class RepositoryRole(SphinxRole):
    """A link to a file of the repository, or with ``::`` to a function in it."""

    def run(self) -> tuple[list[Node], list[system_message]]:
        """Return the link; report a target that does not exist."""
        name, _, function = self.text.partition("::")
        path = ROOT / name
        line = line_of(path, function) if function and path.is_file() else None
        if not path.exists() or (function and line is None):
            message = self.inliner.reporter.warning(f"{self.text} does not exist", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        anchor = f"#L{line}" if line else ""
        link = nodes.reference("", "", refuri=f"{URL}/{name}{anchor}", internal=False)
        link += nodes.literal("", function or name)
        return [link], []


def to_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace relative links to files outside of ``docs`` by links to the repository."""
    folder = (DOCS / docname).parent

    def replaced(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if path.is_relative_to(DOCS) or not path.exists():
            return match[0]
        return f"]({URL}/{path.relative_to(ROOT).as_posix()}"

    source[0] = _OUTWARD.sub(replaced, source[0])


def setup(app: Sphinx) -> dict[str, object]:
    """Register both names of the role, and the rewriting of links."""
    app.connect("source-read", to_repository)
    app.add_role("test", RepositoryRole())
    app.add_role("file", RepositoryRole(), override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
