"""Two runs do not write into one folder, and a killed one keeps nobody out of it."""

import sys
from contextlib import contextmanager

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.running.results import Journal
from tests.bench.conftest import lines_of, start, wait_for_cells


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


def test_a_finished_journal_lets_the_next_one_in(tmp_path):
    with Journal(tmp_path), pytest.raises(BlockingIOError, match="another run is writing to"):
        Journal(tmp_path)
    with Journal(tmp_path):
        pass
