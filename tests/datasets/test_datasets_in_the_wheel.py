"""A built distribution carries manifests, bundled data, and what the bench reads."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import os, sys
from skml_kalda import datasets
assert datasets.__file__.startswith(sys.prefix), datasets.__file__
assert len(datasets.list_datasets()) == 23
for name, shape in {"emotions": (593, 72), "yeast": (2417, 103), "scene": (2407, 294)}.items():
    assert datasets.load_dataset(name, download=False).data.shape == shape
print("loaded")
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """Build the sdist, and the wheel from the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.slow
def test_sdist_and_wheel_hold_manifests_and_data(distributions):
    (wheel,) = distributions.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert sum(name.startswith("skml_kalda/datasets/manifests/") for name in inside) == 23
    for name in ("emotions.arff.xz", "emotions.xml", "PROVENANCE.md"):
        assert f"skml_kalda/datasets/data/{name}" in inside
    for name in ("plans/quick.toml", "published/multilabel.csv", "reporting/templates/report.html"):
        assert f"skml_kalda/bench/{name}" in inside
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = archive.getnames()
    assert sum("/data_manifests/" in name for name in names) == 23


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(distributions, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (wheel,) = distributions.glob("*.whl")
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
    # No variable and no folder of the checkout may help.
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("SKML", "PYTHON"))
    }
    done = subprocess.run(
        [python, "-c", CODE], cwd=tmp_path, env=clean, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "loaded"
