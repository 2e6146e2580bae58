"""Methods of another distribution: found without a change here, and their failures contained."""

import re

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import Plan
from tests.bench.conftest import cells_of

pytestmark = pytest.mark.usefixtures("their_methods")


def plan_of(*methods):
    """One cell for each method."""
    return Plan("a", "A", kind="gallery", dimensions=(2,), datasets=("emotions",), methods=methods)


def test_a_reducer_of_another_distribution_appears_in_the_bench(tmp_path, monkeypatch, capsys):
    """Only its module and its entry point are added, as an installation would."""
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 0
    (methods,) = re.findall("^methods: (.*)", capsys.readouterr().out, flags=re.M)
    assert "Theirs" in methods.split(", ")
    options = ["--datasets", "emotions", "--folds", "2", "--classifiers", "1-NN", "--jobs", "1"]
    assert main(["run", "quick", "--methods", "PCA", "Theirs", *options]) == 0
    assert "Theirs" in capsys.readouterr().out
    rows = read_results(tmp_path / "bench-results" / "quick").ok
    assert [row["method"] for row in rows] == ["PCA", "PCA", "Theirs", "Theirs"]
    scores = [row["scores"] for row in rows]
    assert scores[:2] == scores[2:], "theirs is PCA"
    assert [row["iterations"] for row in rows] == [None, None, 3, 3]


def test_sys_exit_in_a_method_is_a_failure_of_its_cell(tmp_path):
    results = run(plan_of("Exits", "Theirs"), tmp_path / "out")
    assert [row["method"] for row in results.ok] == ["Theirs"]
    (error,) = [row["error"] for row in results.failed]
    assert error.strip() == "SystemExit: enough"


@pytest.mark.slow
def test_a_method_that_kills_its_process_fails_alone(tmp_path):
    out = tmp_path / "out"
    results = run(plan_of("Dies", "Theirs"), out, jobs=2)
    assert [row["method"] for row in results.ok] == ["Theirs"]
    (row,) = results.failed
    assert (row["method"], row["reason"]) == ("Dies", "died")
    expected = "the worker process died: {EXIT(7)} (out of memory, if it was killed)"
    assert row["error"] == expected
    assert len(cells_of(out / "results.jsonl")) == 2
