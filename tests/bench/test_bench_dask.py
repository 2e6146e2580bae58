"""Runs on a Dask cluster are the runs on this machine."""

import logging
import threading

import pytest
from distributed import LocalCluster

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.running import runner
from skml_kalda.bench.running.data import Source
from tests.bench.conftest import TINY_PLAN, cells_of, scores_by_cell


def local_cluster(n_workers):
    """Workers of two threads each, in this process: a start costs nothing."""
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=2,
        processes=False,
        protocol="tcp",
        silence_logs=logging.CRITICAL,
        dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    )


@pytest.fixture(scope="module")
def address():
    with local_cluster(2) as cluster:
        yield cluster.scheduler_address


@pytest.mark.usefixtures("no_report")
def test_scores_are_those_of_a_local_run_and_resumable(tiny, tiny_run, tmp_path, capsys, address):
    local = read_results(tiny_run)
    first = run(TINY_PLAN.changed(methods=("none",)), tmp_path / "out", dask=address)
    assert len(first.ok) == 4
    assert main(["run", str(tiny), "--output", str(tmp_path / "out"), "--dask", address]) == 0
    shown = capsys.readouterr().out
    assert f"Tiny: 8 cells, on {address}" in shown
    assert "emotions, MLDA" in shown
    assert scores_by_cell(read_results(tmp_path / "out").ok) == scores_by_cell(local.ok)
    assert len(cells_of(tmp_path / "out" / "results.jsonl")) == 8, "a cell was run twice"


def test_a_process_measures_one_cell_at_a_time(tmp_path, monkeypatch, address):
    busy, measure = threading.Lock(), runner.measure

    def alone(*cell):
        assert busy.acquire(blocking=False)
        try:
            return measure(*cell)
        finally:
            busy.release()

    monkeypatch.setattr(runner, "measure", alone)
    assert not run(TINY_PLAN, tmp_path, dask=address).failed


def test_cells_of_a_data_set_that_a_worker_lacks_fail_and_the_others_go_on(
    tmp_path, monkeypatch, address
):
    plan = TINY_PLAN.changed(datasets=("emotions", "scene"), methods=("none",))
    there = Source.is_the_same_here
    monkeypatch.setattr(
        Source, "is_the_same_here", lambda self: self.name == "scene" and there(self)
    )
    results = run(plan, tmp_path / "out", dask=address, data_home="home")
    assert {row["dataset"] for row in results.failed} == {"emotions"}
    assert "the worker does not have this file of emotions in " in results.failed[0]["error"]


@pytest.mark.slow
def test_a_cluster_that_goes_away_ends_the_run_with_what_is_kept(tiny, tmp_path, capsys):
    out, gone = tmp_path / "out", local_cluster(1)
    options = ["--repeats", "400", "--output", str(out), "--dask", gone.scheduler_address]
    path = out / "results.jsonl"
    watch = threading.Thread(target=_close_after, args=(gone, path, 4), daemon=True)
    watch.start()
    assert main(["run", str(tiny), *options]) == 1
    watch.join()
    assert "error: the Dask cluster went away: " in capsys.readouterr().err


def _close_after(cluster, path, n):
    while not path.exists() or path.read_bytes().count(b"\n") < n + 1:
        threading.Event().wait(0.05)
    cluster.close()
