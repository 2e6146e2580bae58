"""What may import what."""

import subprocess
import sys
from importlib.metadata import entry_points
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
sys.exit(", ".join(brought & {"pandas", "polars", "matplotlib", "dask"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.stderr.strip()


def test_the_stub_is_the_only_registry():
    """Names, the type checker's and the entry points: all are read from one file."""
    public = {name: getattr(skml_kalda, name) for name in skml_kalda.__all__}
    reducers = {
        name for name, it in public.items() if isinstance(it, type) and "reducers" in it.__module__
    }
    points = entry_points(group="skmultilearn.transformers")
    ours = {point.name for point in points if point.value.startswith("skml_kalda:")}
    assert ours == reducers
    assert len(ours) > 10


def test_every_public_name_is_there_and_listed():
    for name in skml_kalda.__all__:
        assert getattr(skml_kalda, name).__name__.split(".")[-1] == name
    assert set(skml_kalda.__all__) <= set(dir(skml_kalda))
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        skml_kalda.PCA  # noqa: B018
