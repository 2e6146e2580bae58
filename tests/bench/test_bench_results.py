"""Results: rows of one shape, damage told of and measured again, no run lost or mixed."""

import json
import os
import signal
import sys
from contextlib import contextmanager

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import read_plan
from tests.bench.conftest import (
    TINY_PLAN,
    cells_of,
    lines_of,
    scores_by_cell,
    start,
    wait_for_cells,
)


def test_measured_failed_and_skipped_rows_have_one_shape(tmp_path):
    wrong = {"MLDA": {"n_components": 1000}}
    plan = TINY_PLAN.changed(datasets=("emotions", "barcelona"), parameters=wrong)
    results = run(plan, tmp_path)
    assert (len(results.ok), len(results.failed), len(results.skipped)) == (4, 4, 1)
    written = [json.loads(line) for line in lines_of(tmp_path / "results.jsonl")[1:]]
    assert {row["status"] for row in written} == {"ok", "failed", "skip"}
    assert len({tuple(row) for row in written}) == 1
    failed, skipped = results.failed[0], results.skipped[0]
    assert failed["reason"] == "error"
    assert failed["scores"] is failed["fit_seconds"] is failed["iterations"] is None
    assert skipped["method"] is skipped["fold"] is skipped["error"] is None


RUBBISH = [
    b"{]",
    b"",
    b"[]",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"status": "ok", "fold": 0}',
    b'{"status": "odd", "dataset": "emotions"}',
    b'{"plan": 3, "environment": {}}',
    b'{"plan": {"name": "tiny"}}',
    b'{"plan": {"name": "tiny"}, "environment": {}, "status": "ok"}',
    b'{"plan": {"name": "tiny"}, "environment": {}, "data": {"mine": 3}}',
]


@pytest.mark.parametrize("rubbish", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_told_by_its_line_and_its_cell_run_again(rubbish, tiny_run, tmp_path):
    path = tmp_path / "results.jsonl"
    lines = (tiny_run / "results.jsonl").read_bytes().split(b"\n")
    lines[2] = rubbish
    path.write_bytes(b"\n".join(lines))
    with pytest.warns(UserWarning, match=r"results\.jsonl is damaged at line 3: "):
        assert read_results(tmp_path).missing == 1
    with pytest.warns(UserWarning, match="damaged at line 3"):
        again = run(TINY_PLAN, tmp_path)
    assert again.missing == 0
    assert scores_by_cell(again.ok) == scores_by_cell(read_results(tiny_run).ok)
    assert path.read_bytes().split(b"\n")[: len(lines) - 1] == lines[:-1], "only appended to"


@contextmanager
def running(plan, out, jobs=1):
    """A process in the middle of a long run, killed in the end."""
    options = ["--output", out, "--repeats", "400", "--jobs", str(jobs)]
    process = start("run", plan, *options, start_new_session=True)
    try:
        wait_for_cells(out / "results.jsonl", 2, process)
        yield process
    finally:
        process.kill()
        # Its workers hold the same pipes: this ends when they have ended too.
        process.communicate(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_run_loses_nothing_and_leaves_neither_a_lock_nor_workers(
    tiny, tiny_run, tmp_path, jobs
):
    out = tmp_path / "out"
    with running(tiny, out, jobs):
        pass
    before = lines_of(out / "results.jsonl")
    assert read_results(out).missing > 1000
    results = run(read_plan(tiny), out)
    assert results.missing == 0
    assert lines_of(out / "results.jsonl")[: len(before)] == before
    cells = cells_of(out / "results.jsonl")
    assert len(scores_by_cell(cells)) == len(cells), "a cell was run twice"
    assert scores_by_cell(results.ok) == scores_by_cell(read_results(tiny_run).ok)
    assert [path.name for path in out.iterdir()] == ["results.jsonl"]


def test_a_torn_last_line_is_cut_and_its_cell_run_again(tiny_run, tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes((tiny_run / "results.jsonl").read_bytes()[:-40])
    assert read_results(tmp_path).missing == 1
    assert scores_by_cell(run(TINY_PLAN, tmp_path).ok) == scores_by_cell(read_results(tiny_run).ok)
    assert all(map(json.loads, lines_of(path)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups to signal")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.slow
def test_ctrl_c_leaves_a_resumable_file_and_a_clear_last_line(tiny, tmp_path, jobs):
    out = tmp_path / "out"
    with running(tiny, out, jobs) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = err.splitlines()
    kept = len(read_results(out).ok)
    assert line.startswith(f"interrupted: {kept} of 3200 cells are kept in {out}")
    assert line.endswith("the same command continues from there")
    assert main(["run", str(tiny), "--repeats", "2", "--output", str(out), "--jobs", "1"]) == 0
    assert read_results(out).missing == 0


def test_a_second_run_is_told_to_go_elsewhere_and_changes_nothing(tiny, tmp_path, capsys):
    out = tmp_path / "out"
    with running(tiny, out) as process:
        before = lines_of(out / "results.jsonl")
        for options in ([], ["--fresh"]):
            assert main(["run", str(tiny), "--output", str(out), "--jobs", "1", *options]) == 2
            message = capsys.readouterr().err
            assert message.startswith(f"error: another run is writing to {out}: wait until it ends")
            assert "output folder of its own" in message
        assert read_results(out).plan.repeats == 400
        wait_for_cells(out / "results.jsonl", len(before) + 4, process)
    assert lines_of(out / "results.jsonl")[: len(before)] == before
