"""Make every public reducer an entry point of the group that scikit-multilearn's users read."""

import ast
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReducersAsEntryPoints(MetadataHookInterface):
    """The registry of reducers is `skml_kalda/__init__.pyi`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the classes in `skml_kalda.reducers` to the metadata of the distribution."""
        stub = Path(self.root, "skml_kalda", "__init__.pyi").read_text(encoding="utf-8")
        names = [
            alias.name
            for node in ast.parse(stub).body
            if isinstance(node, ast.ImportFrom)
            and str(node.module).startswith("skml_kalda.reducers")
            for alias in node.names
            if alias.name[0].isupper()
        ]
        points = {name: f"skml_kalda:{name}" for name in names}
        metadata["entry-points"] = {"skmultilearn.transformers": points}
