"""What may import what."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import skml_kalda

ROOT = Path(__file__).parents[1]


def test_layers_import_downwards_only():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_brings_no_heavy_package():
    """Apart from what scikit-learn imports itself."""
    code = """
import sys, sklearn.base
before = set(sys.modules)
import skml_kalda, skml_kalda.datasets
brought = {name.partition(".")[0] for name in set(sys.modules) - before}
sys.exit(", ".join(brought & {"pandas", "polars", "matplotlib", "rich", "dask"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.stderr.strip()


PACKAGE = ROOT / "skml_kalda"


def test_type_checkers_see_the_names_of_the_table():
    """The names imported for type checkers are those of the table, from the same modules."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {node.names[0].name: node.module for node in block.body}
    table = {name: f"skml_kalda.{module}" for name, module in skml_kalda._PUBLIC.items()}
    assert seen == table | dict.fromkeys(skml_kalda._MODULES, "skml_kalda")


def test_every_public_name_is_there_and_listed():
    for name in skml_kalda.__all__:
        assert getattr(skml_kalda, name).__name__.split(".")[-1] == name
    assert set(skml_kalda.__all__) <= set(dir(skml_kalda))
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        skml_kalda.PCA  # noqa: B018
