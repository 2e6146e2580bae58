"""Killed, interrupted and parallel runs lose nothing and change nothing."""

import json
import os
import signal
import sys

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import read_plan
from tests.bench.conftest import cells_of, lines_of, scores_by_cell, start, wait_for_cells


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_run_resumes_and_loses_nothing(long_plan, tiny_run, tmp_path):
    out = tmp_path / "out"
    process = start("run", long_plan, "--output", out, "--jobs", "1")
    wait_for_cells(out / "results.jsonl", 2, process)
    process.kill()
    process.communicate()
    before = lines_of(out / "results.jsonl")
    short = read_plan(long_plan).changed(repeats=1)
    assert read_results(out).missing > 1000
    results = run(short, out)
    assert results.missing == 0
    after = lines_of(out / "results.jsonl")
    assert after[: len(before)] == before
    cells = cells_of(out / "results.jsonl")
    assert len(scores_by_cell(cells)) == len(cells), "a cell was run twice"
    assert scores_by_cell(results.ok) == scores_by_cell(read_results(tiny_run).ok)


def test_a_torn_last_line_is_cut_and_its_cell_run_again(tiny_plan, tmp_path):
    whole = run(tiny_plan, tmp_path)
    path = tmp_path / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert read_results(tmp_path).missing == 1
    again = run(tiny_plan, tmp_path)
    assert scores_by_cell(again.ok) == scores_by_cell(whole.ok)
    assert all(map(json.loads, lines_of(path)))


def test_a_finished_run_is_not_run_again_unless_fresh(tiny_plan, tmp_path):
    run(tiny_plan, tmp_path)
    run(tiny_plan, tmp_path)
    assert len(cells_of(tmp_path / "results.jsonl")) == 4
    run(tiny_plan.changed(seed=3), tmp_path, fresh=True)
    assert {row["seed"] for row in cells_of(tmp_path / "results.jsonl")} == {3}


def test_a_changed_data_file_is_measured_again(tiny_plan, tmp_path):
    run(tiny_plan, tmp_path)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text().replace('"sha256": "', '"sha256": "0'))
    run(tiny_plan, tmp_path)
    assert len(cells_of(path)) == 8


@pytest.mark.slow
def test_the_number_of_jobs_changes_no_score(tmp_path):
    hasty = {"svd_solver": "randomized", "iterated_power": 0, "n_oversamples": 1}
    plan = read_plan("quick").changed(
        datasets=("emotions",), methods=("PCA", "kaLDA"), folds=3, parameters={"PCA": hasty}
    )
    one, two = (run(plan, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2))
    assert scores_by_cell(one.ok) == scores_by_cell(two.ok)
    assert len(one.ok) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups to signal")
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.slow
def test_ctrl_c_leaves_a_resumable_file_and_a_clear_last_line(long_plan, tmp_path, jobs):
    out = tmp_path / "out"
    process = start("run", long_plan, "--output", out, "--jobs", jobs, start_new_session=True)
    wait_for_cells(out / "results.jsonl", 4, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = len(read_results(out).ok)
    assert kept >= 4
    (line,) = err.splitlines()
    assert line.startswith(f"interrupted: {kept} of 3200 cells are kept in {out}")
    assert line.endswith("the same command continues from there")
    assert main(["run", str(long_plan), "--repeats", "2", "--output", str(out), "--jobs", "1"]) == 0
    assert read_results(out).missing == 0
