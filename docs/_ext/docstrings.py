"""Docstrings as reStructuredText wants them, without a change to what a reader of the code sees."""

import re

from sphinx.application import Sphinx

# :ref:`text <label>` and :ref:`label`
_REFERENCE = re.compile(r":ref:`(?:([^`<]+?)\s*<[^`>]+>|([^`]+))`")
# A fitted attribute within the type of another one: ndarray of shape (n_features_in_,)
_ATTRIBUTE = re.compile(r"(?<=[( ])(\w*[a-z]_)(?=[,) ])")


def prepare(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Mark attributes in types as code, and drop labels that only scikit-learn's site knows."""
    if str(getattr(obj, "__module__", "")).startswith("sklearn."):
        text = _REFERENCE.sub(lambda match: match[1] or match[2], "\n".join(lines))
        lines[:] = text.split("\n")
    for number, line in enumerate(lines):
        field, colon, kind = line.partition(" : ")
        if colon and not field.startswith(" "):
            lines[number] = field + colon + _ATTRIBUTE.sub(r"``\1``", kind)


def setup(app: Sphinx) -> dict[str, object]:
    """Connect before numpydoc rewrites the docstring."""
    app.connect("autodoc-process-docstring", prepare, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
