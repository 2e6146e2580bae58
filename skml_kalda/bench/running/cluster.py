"""Cells on a Dask cluster: connect, check the workers, and yield their rows as they are done.

Workers receive cells and names, never data. They read a set by its name, from the package or from
the data home of the caller, which has to exist on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from skml_kalda import __version__
from skml_kalda.bench.cells import Cell
from skml_kalda.bench.running.data import Source, find_source, own_data
from skml_kalda.bench.running.measure import measure
from skml_kalda.bench.running.result_rows import Row, failed_row

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE = "10s"
# A cell is timed, and limits the threads of its process, so no other may run beside it there.
_ONE_AT_A_TIME = Lock()


def connected(address: str | None) -> AbstractContextManager[Client | None]:
    """Connect to a scheduler and check its workers; without an address there is no cluster."""
    return nullcontext() if address is None else _connected(address)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    if find_spec("distributed") is None:
        raise ImportError(
            'a Dask cluster needs dask and distributed: pip install "skml-kalda[dask]" (in a '
            'checkout: pip install ".[bench,dask]")'
        )
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r}: is it running, and is this the address "
            f"that it printed? ({error})"
        ) from error
    with client:
        _check_workers(client, address)
        yield client


def _check_workers(client: Client, address: str) -> None:
    try:
        versions = set(client.run(_version).values())
    except ImportError as error:
        raise ImportError(
            f"the workers at {address!r} do not have this package: {error}"
        ) from error
    if not versions:
        raise ConnectionError(f"the Dask scheduler at {address!r} has no workers: start some")
    if versions != {__version__}:
        raise ImportError(
            f"the workers at {address!r} have skml_kalda {', '.join(sorted(versions))}, and here "
            f"it is {__version__}: scores may differ"
        )


def _version() -> str:
    return __version__


def measured_on(client: Client, groups: Sequence[tuple[Sequence[Cell], Source]]) -> Iterator[Row]:
    """Measure groups of cells on a cluster, and yield their rows as they are done."""
    from distributed import as_completed

    # A worker has another current folder, so it needs an absolute path. Closing the client, as
    # Ctrl-C does, cancels what is left.
    groups = [(cells, replace(source, home=source.home.absolute())) for cells, source in groups]
    futures = {client.submit(_measure_there, *group, pure=False): group for group in groups}
    for future in as_completed(futures, loop=client.loop):
        yield from _rows(future, *futures[future])


def _rows(future: Any, cells: Sequence[Cell], source: Source) -> list[Row]:
    if future.status == "finished":
        rows: list[Row] = future.result()
        return rows
    if future.status != "error":
        raise ConnectionResetError("the Dask cluster went away")
    # A worker lacks the file, or was killed several times: the other cells go on.
    return [failed_row(cell, source, "error", str(future.exception())) for cell in cells]


def _measure_there(cells: Sequence[Cell], source: Source) -> list[Row]:
    with _ONE_AT_A_TIME:
        there = find_source(source.name, source.home, own_data(source))
        if there is None or there.sha256 != source.sha256:
            what = "no file" if there is None else "another file"
            raise FileNotFoundError(
                f"the worker has {what} of {source.name} in {source.home}: workers read data sets "
                "by name, so put the same files into that folder on every machine"
            )
        return [measure(cell, source) for cell in cells]
