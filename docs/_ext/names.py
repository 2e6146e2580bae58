"""Public names in the code of a page lead to their page in the reference, also scikit-learn's."""

import re
import zlib
from importlib import import_module
from pathlib import Path
from types import ModuleType

from docutils import nodes
from sklearn import model_selection
from sklearn.utils.discovery import all_estimators, all_functions
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PARTS = ("bench", "datasets", "framework", "inspection", "metrics", "model_selection")


def _public() -> dict[str, str]:
    """Return the full name of each public class and function, by what stands on a page."""
    found = {}
    for module in ("skml_kalda", *(f"skml_kalda.{part}" for part in PARTS)):
        members = import_module(module)
        for name in members.__all__:
            if not isinstance(getattr(members, name), ModuleType):
                found[f"{module}.{name}".removeprefix("skml_kalda.")] = f"{module}.{name}"
                # `run`, `table` and `report` of the bench are words of every day.
                if module != "skml_kalda.bench":
                    found[name] = f"{module}.{name}"
    return found


# The full name has no private module in it, as in the import that users write.
SPLITTERS = [each for each in vars(model_selection).items() if each[0] in model_selection.__all__]
SCIKIT_LEARN = {
    name: re.sub(r"\._\w+", "", found.__module__) + "." + name
    for name, found in [*all_estimators(), *all_functions(), *SPLITTERS]
}
# Functions of scikit-learn such as `config_context` are linked by their full names alone.
PUBLIC = {name: full for name, full in SCIKIT_LEARN.items() if name[0].isupper()} | _public()


def write_inventory(path: Path) -> str:
    """Write where scikit-learn's site has its names, so that the build needs no network."""
    head = "# Sphinx inventory version 2\n# Project: sklearn\n# Version: \n# zlib\n"
    lines = [
        f"{full} py:{kind} 1 modules/generated/{full}.html#$ -"
        for name, full in SCIKIT_LEARN.items()
        for kind in ("class" if name[0].isupper() else "function",)
    ]
    # What docstrings that are inherited refer to.
    lines.append("meta-estimator std:term 1 glossary.html#term-$ -")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head.encode() + zlib.compress("\n".join(lines).encode() + b"\n"))
    return str(path)


class LinkNames(SphinxTransform):
    """Turn code such as ``KernelKaLDA(n_components=2)`` into a link."""

    default_priority = 500

    def apply(self) -> None:
        """Wrap every literal that begins with a public name, outside of links and titles."""
        for node in list(self.document.findall(nodes.literal)):
            name = node.astext().partition("(")[0]
            if name not in PUBLIC or _within(node, nodes.title, nodes.reference):
                continue
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=PUBLIC[name], refdoc=self.env.docname
            )
            node.replace_self(link)
            link += node


def _within(node: nodes.Node, *kinds: type[nodes.Node]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, (*kinds, addnodes.pending_xref)):
            return True
    return False


def setup(app: Sphinx) -> dict[str, object]:
    """Register the transform."""
    app.add_transform(LinkNames)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
