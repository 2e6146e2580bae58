"""Public names in the code of a page lead to their page in the reference."""

from importlib import import_module
from types import ModuleType

from docutils import nodes
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


PUBLIC = _public()


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
