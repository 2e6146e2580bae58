"""A plan that takes a second, and ways to run it."""

import json
import os
import subprocess
import sys
import time

import pytest

from skml_kalda.bench import run
from skml_kalda.bench.methods import _known
from skml_kalda.bench.plan import Plan

TINY = """
title = "Tiny"
datasets = ["emotions"]
methods = ["none", "MLDA"]
classifiers = ["1-NN", "MLkNN"]
folds = 2
"""
TINY_PLAN = Plan(
    "tiny", "Tiny", datasets=("emotions",), methods=("none", "MLDA"), folds=2,
    classifiers=("1-NN", "MLkNN"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_data_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("SKML_KALDA_DATA", str(tmp_path / "home"))


@pytest.fixture
def tiny(tmp_path):
    """The file of a plan: emotions, two methods, two classifiers, two folds."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture
def no_report(monkeypatch):
    """Leave out the report that a run of the command ends with: it takes longer than the run."""
    report = "skml_kalda.bench.reporting.page.report"
    monkeypatch.setattr(report, lambda results: results.folder / "report.html")


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The folder of a run of the tiny plan. Tests that write into it take a copy."""
    folder = tmp_path_factory.mktemp("tiny")
    return run(TINY_PLAN, folder / "out", data_home=folder / "home").folder


def start(*arguments, **options):
    """Start the command in a process of its own, without a terminal."""
    command = [sys.executable, "-m", "skml_kalda.bench", *map(str, arguments)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, **pipes, **options)


def lines_of(path):
    """The whole lines of a results file, as they are on the disk."""
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []


def wait_for_cells(path, n, process):
    """Wait until the file of a running process has so many cells."""
    limit = time.monotonic() + 90
    while len(lines_of(path)) < n + 1:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.02)


def scores_by_cell(rows):
    """The scores of each cell, by what identifies it."""
    names = ("dataset", "method", "classifier", "repeat", "fold")
    return {tuple(row[name] for name in names): row["scores"] for row in rows}


def cells_of(path):
    """The rows of cells in a results file."""
    return [row for row in map(json.loads, lines_of(path)) if row.get("fold") is not None]


THEIR_METHODS = """
import os
import sys

import numpy as np
from sklearn.decomposition import PCA


class Theirs(PCA):
    # Its iterations are numbers of NumPy.
    def fit(self, X, y=None):
        super().fit(X)
        self.n_iter_ = np.array([1, 3], dtype=np.int64)
        return self


class Exits(PCA):
    def fit(self, X, y=None):
        sys.exit("enough")


class Dies(PCA):
    def fit(self, X, y=None):
        os._exit(7)
"""


@pytest.fixture
def their_methods(tmp_path, monkeypatch):
    """Another distribution that registers methods, as pip would have installed it."""
    metadata = tmp_path / "site" / "their_methods-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata.parent / "their_methods.py").write_text(THEIR_METHODS)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1.0\n")
    entries = [f"{name} = their_methods:{name}\n" for name in ("Theirs", "Exits", "Dies")]
    (metadata / "entry_points.txt").write_text("[skmultilearn.transformers]\n" + "".join(entries))
    monkeypatch.syspath_prepend(str(metadata.parent))
    _known.cache_clear()
    yield
    _known.cache_clear()
