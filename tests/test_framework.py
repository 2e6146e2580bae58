"""The distributions that provide skmultilearn, and the registry of transformers."""

import os
import re
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest
from skmultilearn.adapt import MLkNN, mlknn

from skml_kalda import framework
from skml_kalda.framework import mend_neighbor_classifiers, providers, transformers

ROOT = Path(__file__).parents[1]


def install(folder, name, entry="", module=None):
    """Write what importlib.metadata finds of an installed distribution, and its module."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[skmultilearn.transformers]\n{entry}\n")
    if module is not None:
        (folder / f"{name}.py").write_text(module)


def test_both_distributions_together_are_said_on_import(tmp_path):
    (present,) = providers()
    (absent,) = {"scikit-multilearn-ng", "scikit-multilearn"} - {present}
    install(tmp_path, absent)
    run = subprocess.run(
        [sys.executable, "-c", "import skml_kalda.framework"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "both installed" in run.stderr
    assert "pip uninstall scikit-multilearn scikit-multilearn-ng" in run.stderr


def test_a_transformer_of_a_third_party_is_found(tmp_path, monkeypatch):
    install(tmp_path, "third_party", "Zebra = third_party:Zebra", "class Zebra: pass")
    monkeypatch.syspath_prepend(tmp_path)
    assert "third_party" not in sys.modules
    found = transformers()
    assert found["Zebra"] is sys.modules["third_party"].Zebra
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        ("missing_module:Zebra", None, "missing_module"),
        ("lacking:Zebra", "", "Zebra"),
        ("needy:Zebra", "import no_such_dependency", "no_such_dependency"),
        ("unparsable:Zebra", "class", "invalid syntax"),
    ],
)
def test_a_broken_one_is_named_and_left_out(value, text, message, tmp_path, monkeypatch):
    install(tmp_path, value.partition(":")[0], f"Bad = {value}", text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match=rf"Bad \({value}\).*{message}"):
        found = transformers()
    assert "Bad" not in found
    assert "MultiLabelKaLDA" in found


def test_a_name_taken_twice_is_said(tmp_path, monkeypatch):
    for name in ("one", "two"):
        install(tmp_path, name, f"Twin = {name}:Twin", "class Twin: pass")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.warns(UserWarning, match="Twin .*the name is taken"):
        assert "Twin" in transformers()


def test_mending_lets_the_old_call_through_and_may_be_repeated(monkeypatch):
    class Old(MLkNN):
        def __init__(self, k=10, s=1.0, ignore_first_neighbours=0):
            super().__init__(k, s, ignore_first_neighbours)

    monkeypatch.setattr(mlknn, "MLkNN", Old)
    modules = [framework.import_module(f"skmultilearn.adapt.{name}") for name in ("mlknn", "brknn")]
    for module in modules:
        monkeypatch.setattr(module, "NearestNeighbors", module.NearestNeighbors)
        with pytest.raises(TypeError, match="positional"):
            module.NearestNeighbors(4)
    assert mend_neighbor_classifiers()
    assert mend_neighbor_classifiers()
    assert [module.NearestNeighbors(4).n_neighbors for module in modules] == [4, 4]


@pytest.mark.slow
def test_the_pipelines_run_with_plain_scikit_multilearn(tmp_path):
    """Build an environment with scikit-multilearn 0.2.0 and run test_pipelines.py in it."""
    venv.create(tmp_path / "env", with_pip=True)
    python = str(tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")

    def run(*command):
        done = subprocess.run(
            [python, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    needed = [
        requirement
        for requirement in metadata.requires("skml-kalda")
        if "extra ==" not in requirement and "scikit-multilearn-ng" not in requirement
    ]
    run("pip", "install", "-q", "scikit-multilearn==0.2.0", *needed, "pandas", "pytest")
    run("pip", "install", "-q", "--no-deps", str(ROOT))
    assert "scikit-multilearn-ng" not in run("pip", "list")

    shutil.copy(ROOT / "tests" / "test_pipelines.py", tmp_path)
    report = run("pytest", "-q", "-p", "no:cacheprovider", "test_pipelines.py")
    assert re.search(r"\d{3,} passed", report)
    assert "skipped" not in report
