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


def test_measured_failed_and_skipped_rows_have_one_shape(tiny_plan, tmp_path):
    wrong = {"MLDA": {"n_components": 1000}}
    plan = tiny_plan.changed(datasets=("emotions", "barcelona"), parameters=wrong)
    results = run(plan, tmp_path)
    assert (len(results.ok), len(results.failed), len(results.skipped)) == (2, 2, 1)
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
    b"3",
    b"[]",
    b"null",
    b"\x00" * 40,
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"status": "ok", "fold": 0}',
    b'{"status": "ok"}',
    b'{"status": "odd", "dataset": "emotions"}',
    b'{"plan": 3, "environment": {}}',
    b'{"plan": {"name": "tiny"}}',
    b'{"plan": {"name": "tiny"}, "environment": {}, "status": "ok"}',
    b'{"plan": {"name": "tiny"}, "environment": {}, "data": {"mine": 3}}',
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the results of a whole run."""
    return run(TINY_PLAN, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("rubbish", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_in_the_middle_is_told_by_its_line_and_its_cell_run_again(
    rubbish, whole, tiny_plan, tmp_path
):
    path = tmp_path / "results.jsonl"
    lines = (whole.folder / "results.jsonl").read_bytes().split(b"\n")
    lines[2] = rubbish
    path.write_bytes(b"\n".join(lines))
    with pytest.warns(UserWarning, match=r"results\.jsonl is damaged at line 3: "):
        assert read_results(tmp_path).missing == 1
    with pytest.warns(UserWarning, match="damaged at line 3"):
        again = run(tiny_plan, tmp_path)
    assert again.missing == 0
    assert scores_by_cell(again.ok) == scores_by_cell(whole.ok)
    assert path.read_bytes().split(b"\n")[: len(lines) - 1] == lines[:-1], "only appended to"


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


@contextmanager
def running(plan, out, jobs):
    """A process in the middle of a run, killed in the end."""
    process = start("run", plan, "--output", out, "--jobs", jobs)
    try:
        wait_for_cells(out / "results.jsonl", 2, process)
        yield process
    finally:
        process.kill()
        # Its workers hold the same pipes: this ends when they have ended too.
        process.communicate(timeout=60)


def test_a_second_run_is_told_to_go_elsewhere_and_changes_nothing(
    long_plan, tiny, tmp_path, capsys
):
    out = tmp_path / "out"
    with running(long_plan, out, jobs=1) as process:
        before = lines_of(out / "results.jsonl")
        for options in ([], ["--fresh"]):
            assert main(["run", str(tiny), "--output", str(out), "--jobs", "1", *options]) == 2
            message = capsys.readouterr().err
            assert message.startswith(f"error: another run is writing to {out}: wait until it ends")
            assert "output folder of its own" in message
        assert read_results(out).plan.name == "long"
        wait_for_cells(out / "results.jsonl", len(before) + 4, process)
    assert lines_of(out / "results.jsonl")[: len(before)] == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.slow
def test_a_killed_run_leaves_neither_a_lock_nor_its_workers(long_plan, tiny_plan, tmp_path):
    with running(long_plan, tmp_path / "out", jobs=2):
        pass
    assert run(tiny_plan, tmp_path / "out").missing == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["results.jsonl"]
