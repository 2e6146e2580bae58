"""What may import what."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_layers_import_downwards_only():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", ["pandas", "polars", "matplotlib", "rich", "dask"])
def test_import_brings_no_heavy_package(package):
    """Apart from what scikit-learn imports itself."""
    code = f"""
import sys, sklearn.base
if {package!r} not in sys.modules:
    import skml_kalda, skml_kalda.datasets
    sys.exit({package!r} in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
