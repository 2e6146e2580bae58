"""Run a plan: only what is not in the results yet, on several processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from multiprocessing import get_context, parent_process
from os import PathLike
from pathlib import Path
from threading import Thread
from typing import Any

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.cluster import connected, measured_on
from skml_kalda.bench.environment import environment
from skml_kalda.bench.measure import Row, measure
from skml_kalda.bench.plan import Plan, read_plan
from skml_kalda.bench.progress import Progress, Silent
from skml_kalda.bench.results import Journal, Results, read_results
from skml_kalda.bench.sources import Source, find_source, skip_row

__all__ = ["default_output", "run"]

Group = tuple[Sequence[Cell], Source]


def default_output(plan: Plan) -> Path:
    """Give the folder of the results of a plan, under the current one."""
    return Path("bench-results", plan.name)


def run(
    plan: str | PathLike[str] | Plan,
    output: str | PathLike[str] | None = None,
    *,
    jobs: int = 1,
    dask: str | None = None,
    data_home: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Callable[[Sequence[Cell]], Progress] | None = None,
) -> Results:
    """Run a plan, or what is left of it.

    Cells that are in the output folder already are not run again, except failed ones and those
    of a data set whose file has changed. Scores depend neither on `jobs` nor on `dask`.

    Parameters
    ----------
    plan : str, path-like or Plan
        The name of a plan that comes with the package, a TOML file, or a plan.
    output : path-like, optional
        Folder of the results; by default ``bench-results/NAME`` under the current folder.
    jobs : int, default=1
        Number of processes. With more than one, a script that calls this function needs the
        guard ``if __name__ == "__main__"``.
    dask : str, optional
        Address of the scheduler of a Dask cluster, on which the cells are then run instead of on
        this machine. Its workers read data sets by name, from the package or from a folder that
        has the same path as the data home here.
    data_home : path-like, optional
        Where data sets are kept, see `skml_kalda.datasets.get_data_home`.
    fresh : bool, default=False
        Whether to forget the results in the output folder.
    progress : callable, optional
        Given the cells to run, it returns the progress to tell of each row.

    Returns
    -------
    Results
        The results of all cells of the plan.

    Examples
    --------
    >>> import tempfile
    >>> from skml_kalda.bench import run
    >>> from skml_kalda.bench.plan import read_plan
    >>> plan = read_plan("quick").changed(datasets=("emotions",), methods=("MLDA",), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(plan, folder)
    >>> [row["classifier"] for row in results.ok]
    ['1-NN', 'MLkNN', '1-NN', 'MLkNN']
    """
    plan = plan if isinstance(plan, Plan) else read_plan(Path(plan))
    folder = Path(output) if output is not None else default_output(plan)
    with connected(dask) as client, Journal(folder, fresh=fresh) as journal:
        sources = {name: find_source(name, data_home) for name in plan.datasets}
        journal.start(plan, environment())
        for name in (name for name, source in sources.items() if source is None):
            journal.write(skip_row(name, plan.command()))
        cells = _pending(read_results(folder), sources)
        groups = _groups(cells, sources)
        rows = _measured(groups, jobs) if client is None else measured_on(client, groups)
        with (progress or _silent)(cells) as shown:
            for row in rows:
                journal.write(row)
                shown.advance(row)
    return read_results(folder)


def _silent(cells: Sequence[Cell]) -> Progress:
    return Silent()


def _pending(results: Results, sources: Mapping[str, Source | None]) -> list[Cell]:
    hashes = {name: source.sha256 for name, source in sources.items() if source is not None}
    done = {Cell.of(r).key() for r in results.ok if r["sha256"] == hashes.get(r["dataset"])}
    cells = results.plan.cells()
    return [cell for cell in cells if cell.dataset in hashes and cell.key() not in done]


def _groups(cells: Sequence[Cell], sources: Mapping[str, Source | None]) -> list[Group]:
    """Put the cells that share a fit together."""
    groups = [list(group) for _, group in groupby(cells, key=lambda cell: cell.fit().key())]
    found = [(group, sources[group[0].dataset]) for group in groups]
    return [(group, source) for group, source in found if source is not None]


def _measured(groups: Sequence[Group], jobs: int) -> Iterator[Row]:
    if jobs == 1 or len(groups) < 2:
        for group in groups:
            yield from measure(*group)
        return
    # Not forked: a fork of a process whose libraries have started threads may hang.
    with ProcessPoolExecutor(jobs, get_context("spawn"), _die_with_the_run) as pool:
        try:
            for future in as_completed([pool.submit(measure, *group) for group in groups]):
                yield from future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _die_with_the_run() -> None:
    # Ctrl-C reaches the workers too: they end at once and say nothing, the parent speaks.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A killed parent cannot tell its workers, who would wait for work for ever.
    Thread(target=_outlive_not, args=[parent_process()], daemon=True).start()


def _outlive_not(parent: Any) -> None:
    parent.join()
    os._exit(1)
