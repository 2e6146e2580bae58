"""The command from end to end: good plans, failing cells, wrong input."""

import csv
import json
import shutil
import sys

import pytest

from skml_kalda import __version__
from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import plan_names, read_plan
from skml_kalda.cli import main as command
from tests.bench.conftest import cells_of, lines_of


def test_a_tiny_plan_gives_tables_results_and_report(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["run", str(tiny), "--output", str(out), "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    for text in ("1 − Hamming loss", "macro F1", "micro F1", "0.7619", "difference"):
        assert text in shown
    assert shown.rstrip().splitlines()[-1].startswith(f"report: {out / 'report.html'}")
    header = json.loads(lines_of(out / "results.jsonl")[0])
    assert {"python", "numpy", "scikit-learn", "skml_kalda"} <= set(header["environment"])
    rows = cells_of(out / "results.jsonl")
    assert len(rows) == 8
    assert len({row["sha256"] for row in rows}) == 1
    assert "### Scores\n" in (out / "report.md").read_text("utf-8")
    with (out / "scores.csv").open(newline="", encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    assert len(table) == 2 * 2 * len(rows[0]["scores"])
    assert {row["paper"] for row in table} >= {"0.620000", ""}


def test_failed_cells_are_shown_and_run_again(tiny, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    arguments = ["run", str(tiny), "--jobs", "1", "--output", str(out)]
    with monkeypatch.context() as broken:
        broken.setattr("skml_kalda.bench.methods.make_classifier", lambda name: 1 // 0)
        assert main(arguments) == 1
    assert len(read_results(out).failed) == 8
    assert "8 cells failed" in capsys.readouterr().out
    assert "ZeroDivisionError: " in (out / "report.html").read_text("utf-8")
    assert main(arguments) == 0
    assert len(cells_of(out / "results.jsonl")) == 16
    assert len(read_results(out).ok) == 8


@pytest.mark.usefixtures("no_report")
def test_absent_data_sets_are_skipped_with_the_command_that_gets_them(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    absent = ["barcelona", "bibtex", "msrc-mom"]
    options = ["--output", str(out), "--jobs", "1", "--methods", "MLDA"]
    assert main(["run", str(tiny), *options, "--datasets", "emotions", *absent]) == 0
    commands = {row["dataset"]: row["command"] for row in read_results(out).skipped}
    assert commands["barcelona"].startswith("put barcelona.arff into the data home")
    assert commands["bibtex"].startswith("run python -m skml_kalda.datasets fetch bibtex, or put")
    assert commands["msrc-mom"].startswith("run python -m skml_kalda.datasets build msrc, or put")
    assert len(read_results(out).ok) == 4
    assert commands["barcelona"] in " ".join(capsys.readouterr().out.split())
    assert str(tmp_path) not in (out / "results.jsonl").read_text("utf-8")


def test_list_names_plans_methods_and_runs(tiny_run, tmp_path, capsys):
    shutil.copytree(tiny_run, tmp_path / "runs" / "mine")
    assert main(["list", str(tmp_path / "runs")]) == 0
    shown = capsys.readouterr().out
    for text in (*plan_names(), "kaLDA", "mine: 8 cells of tiny, 0 to run"):
        assert text in shown


def test_compare_sets_two_runs_side_by_side(tiny, tiny_run, tmp_path, capsys):
    folders = [tiny_run, tmp_path / "b"]
    run(read_plan(tiny).changed(seed=1), folders[1])
    assert main(["compare", *map(str, folders), "--score", "micro_f1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    chosen = "method == 'MLDA' and classifier == '1-NN'"
    means = [read_results(each).frame().query(chosen)["micro_f1"].mean() for each in folders]
    (line,) = [line.split() for line in lines if "MLDA" in line and "1-NN" in line]
    assert line[-4:-1] == [f"{means[0]:.4f}", f"{means[1]:.4f}", f"{means[1] - means[0]:+.4f}"]


RIVALS = {
    "CatBoost": "catboost",
    "XGBoost": "xgboost",
    "LightGBM": "lightgbm",
    "BOOMER": "mlrl.boosting",
}


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    for method, module in RIVALS.items():
        monkeypatch.setitem(sys.modules, module, None)
        assert main(["run", "quick", "--methods", method]) == 2
        message = capsys.readouterr().err
        assert f" needs {module.partition('.')[0]}" in message
        assert 'pip install "skml-kalda[rivals]"' in message
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("skml_kalda.bench.find_spec", lambda name: None)
    assert main(["list"]) == 2
    message = capsys.readouterr().err
    assert "jinja2, matplotlib, pandas, scikit_posthocs" in message
    assert "[bench]" in message


def test_one_command_for_bench_and_data(capsys):
    for words in (["--version"], ["bench", "--version"], ["data", "--version"]):
        assert command(words) == 0
        assert capsys.readouterr().out == f"skml-kalda {__version__}\n"
    assert command(["data", "list", "--data-home", "nowhere"]) == 0
    assert "absent: put barcelona.arff into the data home" in capsys.readouterr().out
    assert command(["bench", "list"]) == 0
    assert "LogisticRegression" in capsys.readouterr().out
    assert command([]) == 0
    assert command(["bnech"]) == 2
