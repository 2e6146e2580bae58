"""Worker processes: their rows as they are measured, and a time limit for each cell.

Not a pool of `concurrent.futures`: that cannot end one worker without losing all others, and
returns the cells that share a fit all at once, so that a limit could not hold for each of them.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.methods import method_names
from skml_kalda.bench.running.data import Source
from skml_kalda.bench.running.measure import measure
from skml_kalda.bench.running.result_rows import Row, failed_row

Group = tuple[Sequence[Cell], Source]
# Not forked: a fork of a process whose libraries have started threads may hang.
_SPAWN = get_context("spawn")


def measured_by_workers(groups: Sequence[Group], jobs: int, timeout: float) -> Iterator[Row]:
    """Measure groups of cells on several processes, and yield their rows as they are done.

    A cell that takes more than `timeout` seconds (0 means no limit), or whose process dies, fails;
    the other cells of its group are measured by a new process.
    """
    waiting = deque(groups)
    workers = [_Worker(timeout) for _ in range(min(jobs, len(groups)))]
    try:
        while waiting or any(worker.cells for worker in workers):
            for worker in workers:
                if waiting and not worker.cells:
                    worker.give(*waiting.popleft())
            yield from _next_rows([worker for worker in workers if worker.cells])
    finally:
        for worker in workers:
            worker.kill()


def _next_rows(workers: Sequence[_Worker]) -> Iterator[Row]:
    """Wait until a worker answers or is late, and yield the rows that follow from it."""
    left = min(worker.deadline for worker in workers) - time.monotonic()
    answered = wait([w.connection for w in workers], None if math.isinf(left) else max(0.0, left))
    for worker in workers:
        if worker.connection in answered:
            yield from worker.receive()
        elif time.monotonic() > worker.deadline:
            yield worker.give_up()


class _Worker:
    """A process that measures one group of cells at a time; it is started when needed."""

    connection: Connection[Any, Any]

    def __init__(self, timeout: float) -> None:
        self.cells: deque[Cell] = deque()
        self.deadline = math.inf
        self._timeout = timeout or math.inf
        self._process: Any = None
        self._is_ready = False

    def give(self, cells: Sequence[Cell], source: Source) -> None:
        """Let the process measure the cells of a group."""
        self.cells.extend(cells)
        self._source = source
        if self._process is not None and self._process.is_alive():
            self._send()
        else:
            self._start()

    def receive(self) -> Iterator[Row]:
        """Take what the process has sent: a row, or that it is ready, or that it has died."""
        try:
            row = self.connection.recv()
        except (EOFError, OSError):
            yield self._died()
            return
        if row is None:
            self._is_ready = True
            self._send()
        else:
            self._next_cell()
            yield row

    def give_up(self) -> Row:
        """End the process, whose cell has taken too long."""
        return self._fail("timeout", f"timeout: not done after {self._timeout:g} seconds")

    def kill(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self.connection.close()
            self._process = None

    def _start(self) -> None:
        self.connection, there = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_work, args=[there])
        self._process.start()
        there.close()
        # The limit is for cells, not for the imports of a new process.
        self._is_ready, self.deadline = False, math.inf

    def _send(self) -> None:
        # The connection of a process that has just died is found to be closed when it is read.
        with suppress(OSError):
            self.connection.send((list(self.cells), self._source))
        self.deadline = time.monotonic() + self._timeout

    def _next_cell(self) -> Cell:
        self.deadline = time.monotonic() + self._timeout
        return self.cells.popleft()

    def _died(self) -> Row:
        self._process.join()
        code = self._process.exitcode
        if not self._is_ready:
            raise ChildProcessError(
                f"a worker process ended with exit code {code} before its first cell: a script "
                'that calls run with several jobs or a timeout needs if __name__ == "__main__"'
            )
        hint = f" (signal {-code}; out of memory?)" if code < 0 else ""
        return self._fail("died", f"the worker process died with exit code {code}{hint}")

    def _fail(self, reason: str, error: str) -> Row:
        """Record the failure of the first cell, and go on with the others in a new process."""
        self.kill()
        row = failed_row(self._next_cell(), self._source, reason, error)
        if self.cells:
            self._start()
        return row


def _work(connection: Connection[Any, Any]) -> None:
    """Measure groups until the connection closes: the life of a worker process."""
    # Ctrl-C reaches the workers too. They end silently; the parent reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A parent that is killed cannot end its workers, which would otherwise wait forever.
    Thread(target=_end_with, args=[parent_process()], daemon=True).start()
    method_names()  # Import the methods before the time of the first cell runs.
    connection.send(None)
    with suppress(EOFError):
        while True:
            cells, source = connection.recv()
            for cell in cells:
                connection.send(measure(cell, source))


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
