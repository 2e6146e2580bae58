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
MANIFESTS = {path.name for path in (ROOT / "data_manifests").glob("*.toml")}
CODE = """
import sys
from skml_kalda import datasets
assert datasets.__file__.startswith(sys.prefix), datasets.__file__
shapes = [datasets.load_dataset(name).data.shape for name in ("emotions", "yeast", "scene")]
assert shapes == [(593, 72), (2417, 103), (2407, 294)]
print(len(datasets.list_datasets()))
"""


@pytest.mark.slow
def test_a_distribution_holds_manifests_and_data_and_works_in_an_empty_environment(tmp_path):
    # The wheel is built from the sdist.
    command = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    for name in ("emotions.arff.xz", "emotions.xml", "PROVENANCE.md"):
        assert f"skml_kalda/datasets/data/{name}" in inside
    for name in ("plans/quick.toml", "published/multilabel.csv", "reporting/templates/report.html"):
        assert f"skml_kalda/bench/{name}" in inside
    with tarfile.open(sdist) as archive:
        assert {Path(n).name for n in archive.getnames() if "/data_manifests/" in n} == MANIFESTS
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
    # No variable and no folder of the checkout may help.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SKML", "PYTHON"))}
    command = [python, "-c", CODE]
    found = subprocess.run(command, cwd=tmp_path, env=clean, check=True, capture_output=True)
    assert int(found.stdout) == len(MANIFESTS)
