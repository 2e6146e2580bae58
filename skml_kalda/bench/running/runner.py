"""Run a plan: the cells that are not in the results yet, here, in processes or on Dask."""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import metadata
from itertools import groupby
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from skml_kalda import __version__
from skml_kalda._core.messages import required
from skml_kalda.bench.plan import Cell, Plan, describe_files, plan_of_files, read_plan
from skml_kalda.bench.running.data import Source, describe_user_data, find_source
from skml_kalda.bench.running.measure import measure
from skml_kalda.bench.running.results import (
    Journal,
    Results,
    Row,
    failed_row,
    read_results,
    skip_row,
)
from skml_kalda.framework import providers

Group = tuple[Sequence[Cell], Source]
Progress = Callable[[Sequence[Cell]], AbstractContextManager[Callable[[Row], None]]]
# A cell is timed, and limits the threads of its process, so no other may run there meanwhile.
_ONE_AT_A_TIME = Lock()
# Seconds after which idle workers end: those of a run that was killed have nobody to end them.
_PATIENCE = 5


def default_output(plan: Plan) -> Path:
    """Return the folder for the results of a plan, below the current one."""
    return Path("bench-results", plan.slug)


def plan_on(
    plan: str | PathLike[str] | Plan | None,
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    labels: str | int | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
) -> tuple[Plan, Path]:
    """Return a plan on files of the user, and a folder for its results and for no other data's.

    The default is `plan_of_files`.
    """
    files = [files] if isinstance(files, str | PathLike) else files
    data = describe_files(files, labels, ignore)
    of_files = plan_of_files(data)
    if plan is None:
        return of_files, default_output(of_files)
    plan = plan if isinstance(plan, Plan) else read_plan(Path(plan))
    folder = default_output(plan)
    folder = folder.with_name(f"{folder.name}-{of_files.slug}")
    return plan.changed(data=data, datasets=tuple(data)), folder


def run(
    plan: str | PathLike[str] | Plan | None = None,
    output: str | PathLike[str] | None = None,
    *,
    data: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    labels: str | int | Sequence[str] | None = None,
    jobs: int = 1,
    dask: str | None = None,
    data_home: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Run a plan, or what is left of it.

    Cells that are in the output folder already are not run again, except failed ones and those
    of a dataset whose file has changed. Scores depend neither on `jobs` nor on `dask`.

    Parameters
    ----------
    plan : str, path-like or Plan, optional
        The name of a plan that comes with the package, a TOML file, or a plan. The methods that
        it names are imported. By default the one that asks which method is best on `data`, or
        "quick" without data.
    output : path-like, optional
        Folder of the results; by default ``bench-results/NAME`` under the current folder.
    data : path-like or sequence of path-like, optional
        Files of your own to run on, of any kind that `skml_kalda.datasets.load_table` reads.
    labels : str, int or sequence of str, optional
        The label columns of these files: names, a pattern such as ``"label_*"``, or how many
        columns come first or, if negative, last.
    jobs : int, default=1
        Number of processes.
    dask : str, optional
        Address of the scheduler of a Dask cluster that runs the cells instead of this machine.
        Its workers read datasets by name, from the package or from a folder with the same path
        as the data home here.
    data_home : path-like, optional
        Folder of the datasets, see `skml_kalda.datasets.get_data_home`.
    fresh : bool, default=False
        Whether to delete the results in the output folder first.
    progress : callable, optional
        Takes the cells to run, and returns a context manager whose value is called with each row.

    Returns
    -------
    Results
        The results of all cells of the plan.

    Examples
    --------
    ``run(data="mine.csv", labels="label_*")`` compares methods on a file of your own. A plan on a
    dataset of the package:

    >>> import tempfile
    >>> from skml_kalda.bench import run
    >>> from skml_kalda.bench.plan import read_plan
    >>> plan = read_plan("quick").changed(datasets=("emotions",), methods=("MLDA",), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(plan, folder)
    >>> [row["classifier"] for row in results.ok]
    ['1-NN', 'MLkNN', '1-NN', 'MLkNN']
    """
    if data is not None:
        plan, default = plan_on(plan, data, labels)
        output = default if output is None else output
    elif labels is not None:
        raise ValueError("labels are for a file: name it with data")
    else:
        plan = plan if isinstance(plan, Plan) else read_plan(Path(plan or "quick"))
    plan = plan.with_methods()
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    folder = Path(output) if output is not None else default_output(plan)
    # A file that cannot be read ends the run before anything is written.
    found = describe_user_data(plan)
    connected = nullcontext() if dask is None else _connected(dask)
    with connected as client, Journal(folder, fresh=fresh) as journal:
        sources = {name: find_source(name, data_home, plan.data) for name in plan.datasets}
        header = {"plan": asdict(plan), "environment": environment(), "data": found}
        journal.write(header)
        for name in (name for name, source in sources.items() if source is None):
            journal.write(skip_row(name))
        cells = _pending(read_results(folder), sources)
        measured = _measured(_groups(cells, sources), client, jobs)
        shown = nullcontext(lambda _: None) if progress is None else progress(cells)
        with closing(measured) as rows, shown as advance:
            for row in rows:
                journal.write(row)
                advance(row)
    return read_results(folder)


def environment() -> dict[str, str]:
    """Return versions, system and time; nothing that identifies the machine or its user."""
    return {
        "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "skml_kalda": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")},
        **providers(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": str(cpu_count()),
    }


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


def _measured(groups: list[Group], client: Any, jobs: int) -> Generator[Row, None, None]:
    if client is not None:
        yield from _on_dask(groups, client)
    elif min(jobs, len(groups)) > 1:
        yield from _in_processes(groups, jobs)
    else:
        yield from (measure(cell, source) for cells, source in groups for cell in cells)


def _in_processes(groups: list[Group], jobs: int) -> Iterator[Row]:
    """Yield the rows of groups of cells as processes have measured them.

    When a process dies, joblib ends the others and does not say what it was doing. At most the
    first `jobs` of the unfinished groups were in work: each of their cells is measured alone.
    """
    left = dict(enumerate(groups))
    while left:
        tasks = (delayed(_numbered)(number, *left[number]) for number in list(left))
        # No batches, and no task before its turn: those in work are the first ones.
        options = {"batch_size": 1, "pre_dispatch": "n_jobs", "idle_worker_timeout": _PATIENCE}
        parallel = Parallel(jobs, "loky", "generator_unordered", **options)
        try:
            for number, rows in parallel(tasks):
                del left[number]
                yield from rows
        except TerminatedWorkerError:
            for cells, source in [left.pop(number) for number in list(left)[:jobs]]:
                for cell in cells:
                    yield from _measured_alone(cell, source)


def _numbered(number: int, cells: Sequence[Cell], source: Source) -> Any:
    # Ctrl-C reaches the workers too. They end silently; the parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return number, [measure(cell, source) for cell in cells]


def _measured_alone(cell: Cell, source: Source) -> list[Row]:
    """Measure a cell in a process of its own, which may die."""
    try:
        # With one job joblib would start no process.
        ((_, rows),) = Parallel(2, "loky")([delayed(_numbered)(0, [cell], source)])
    except TerminatedWorkerError as error:
        codes = str(error).partition("exit codes of the workers are ")[2].partition("\n")[0]
        text = f"the worker process died: {codes} (out of memory, if it was killed)"
        return [failed_row(cell, source, "died", text)]
    return list(rows)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, and check that its workers have this package."""
    distributed = required("distributed", by=f"dask={address!r}", extra="dask")
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r}: is it running, and is this the address "
            f"that it printed? ({error})"
        ) from error
    with client:
        versions = set(client.run(_version).values())
        if versions != {__version__}:
            raise ImportError(
                f"the Dask workers at {address!r} need skml_kalda {__version__}, as here; found: "
                f"{', '.join(sorted(versions)) or 'no workers'}"
            )
        yield client


def _version() -> str:
    return __version__


def _on_dask(groups: list[Group], client: Any) -> Iterator[Row]:
    """Yield the rows of groups of cells as a cluster has measured them.

    Not by the Dask backend of joblib, which waits forever for a task that kills its workers.
    Workers receive cells and names, never data.
    """
    from distributed import as_completed

    # A worker has another current folder, so it needs an absolute path. Closing the client, as
    # Ctrl-C does, cancels what is left.
    groups = [(cells, replace(source, home=source.home.absolute())) for cells, source in groups]
    futures = {client.submit(_measured_there, *group, pure=False): group for group in groups}
    for future in as_completed(futures, loop=client.loop):
        cells, source = futures[future]
        if future.status == "finished":
            yield from future.result()
        elif future.status == "error":
            # A worker lacks the file, or was killed several times: the other cells go on.
            error = str(future.exception())
            yield from (failed_row(cell, source, "error", error) for cell in cells)
        else:
            raise ConnectionResetError("the Dask cluster went away")


def _measured_there(cells: Sequence[Cell], source: Source) -> list[Row]:
    with _ONE_AT_A_TIME:
        if not source.is_the_same_here():
            raise FileNotFoundError(
                f"the worker does not have this file of {source.name} in {source.home}: workers "
                "read datasets by name, so put the same files into that folder on every machine"
            )
        return [measure(cell, source) for cell in cells]
