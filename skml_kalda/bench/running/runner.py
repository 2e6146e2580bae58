"""Run a plan: the cells that are not in the results yet."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.command import command_of
from skml_kalda.bench.plan import Plan, read_plan
from skml_kalda.bench.running.cluster import connected, measured_on
from skml_kalda.bench.running.data import Source, find_source
from skml_kalda.bench.running.environment import environment
from skml_kalda.bench.running.measure import measure
from skml_kalda.bench.running.own_cards import own_cards
from skml_kalda.bench.running.progress import Progress, Silent
from skml_kalda.bench.running.result_rows import Row, skip_row
from skml_kalda.bench.running.results import Journal, Results, read_results
from skml_kalda.bench.running.workers import Group, measured_by_workers


def default_output(plan: Plan) -> Path:
    """Return the folder for the results of a plan, below the current one."""
    return Path("bench-results", plan.slug)


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
        Number of processes. With more than one, or with a plan that has a `timeout`, a script
        that calls this function needs the guard ``if __name__ == "__main__"``.
    dask : str, optional
        Address of the scheduler of a Dask cluster that runs the cells instead of this machine.
        Its workers read data sets by name, from the package or from a folder with the same path
        as the data home here.
    data_home : path-like, optional
        Folder of the data sets, see `skml_kalda.datasets.get_data_home`.
    fresh : bool, default=False
        Whether to delete the results in the output folder first.
    progress : callable, optional
        Takes the cells to run, and returns an object that is told of each row.

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
    _check_where(plan, jobs, dask)
    folder = Path(output) if output is not None else default_output(plan)
    # A file that cannot be read ends the run before anything is written.
    cards = own_cards(plan)
    with connected(dask) as client, Journal(folder, fresh=fresh) as journal:
        sources = {name: find_source(name, data_home, plan.data) for name in plan.datasets}
        journal.start(plan, environment(), cards)
        for name in (name for name, source in sources.items() if source is None):
            journal.write(skip_row(name, command_of(plan)))
        cells = _pending(read_results(folder), sources)
        measured = _measured(_groups(cells, sources), client, jobs, plan.timeout)
        with closing(measured) as rows, (progress or _silent)(cells) as shown:
            for row in rows:
                journal.write(row)
                shown.advance(row)
    return read_results(folder)


def _check_where(plan: Plan, jobs: int, dask: str | None) -> None:
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if dask is not None and plan.timeout:
        raise ValueError(
            f"a timeout (of {plan.timeout:g} seconds) is for runs on this machine: a Dask cluster "
            "cannot end a cell; run with timeout 0 there"
        )


def _silent(cells: Sequence[Cell]) -> Progress:
    return Silent()


def _pending(results: Results, sources: Mapping[str, Source | None]) -> list[Cell]:
    hashes = {name: source.sha256 for name, source in sources.items() if source is not None}
    done = {Cell.of(r).key() for r in results.ok if r["sha256"] == hashes.get(r["dataset"])}
    cells = results.plan.cells()
    return [cell for cell in cells if cell.dataset in hashes and cell.key() not in done]


def _groups(cells: Sequence[Cell], sources: Mapping[str, Source | None]) -> list[Group]:
    """Group the cells that share a fit."""
    groups = [list(group) for _, group in groupby(cells, key=lambda cell: cell.fit().key())]
    found = [(group, sources[group[0].dataset]) for group in groups]
    return [(group, source) for group, source in found if source is not None]


def _measured(
    groups: Sequence[Group], client: Any, jobs: int, timeout: float
) -> Generator[Row, None, None]:
    if client is not None:
        yield from measured_on(client, groups)
    elif timeout or min(jobs, len(groups)) > 1:
        yield from measured_by_workers(groups, jobs, timeout)
    else:
        yield from (measure(cell, source) for cells, source in groups for cell in cells)
