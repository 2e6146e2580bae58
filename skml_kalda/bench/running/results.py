"""Results: a file of JSON lines, one for each cell, that only grows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from skml_kalda._core.lock import lock
from skml_kalda.bench.cells import Cell
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.running.result_rows import Row, complete, is_cell

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "results.jsonl"


class Journal:
    """The file of a run, open for writing; every line is flushed at once.

    It is locked while it is open: two runs cannot write to one file.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        if folder.is_file():
            raise FileExistsError(f"{folder} is a file: choose another folder for the results")
        folder.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = (folder / FILE_NAME).open("a+b")
        try:
            lock(self._stream)
        except BlockingIOError:
            self._stream.close()
            raise BlockingIOError(
                f"another run is writing to {folder}: wait until it ends, or give this one an "
                "output folder of its own"
            ) from None
        self._stream.truncate(0 if fresh else _end_of_last_line(self._stream))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a line."""
        # A lone surrogate becomes its JSON escape.
        text = json.dumps(record, ensure_ascii=False)
        self._stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
        self._stream.flush()

    def start(
        self, plan: Plan, environment: Mapping[str, str], data: Mapping[str, Any] | None = None
    ) -> None:
        """Append the header of a run; `data` describes the files of the user."""
        self.write({"plan": asdict(plan), "environment": environment, "data": data or {}})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _end_of_last_line(stream: IO[bytes]) -> int:
    """Return where the complete lines end; a killed run may have left a part of one more."""
    stream.seek(0)
    return stream.read().rfind(b"\n") + 1


@dataclass(frozen=True)
class Results:
    """The results of a run.

    Attributes
    ----------
    folder : pathlib.Path
        The folder that holds them.
    plan : Plan
        What to run, from the last header.
    environments : list of dict
        Where it ran, one entry for each start.
    rows : list of dict
        The cells of the plan that were measured or failed, in the order of the plan. All rows
        have the same keys; None stands for what was not measured.
    skipped : list of dict
        The data sets that were absent, as rows with the same keys.
    data : dict
        By name: what the user's own files hold.
    """

    folder: Path
    plan: Plan
    environments: list[dict[str, str]]
    rows: list[Row]
    skipped: list[Row]
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def ok(self) -> list[Row]:
        """The rows of cells that did not fail."""
        return [row for row in self.rows if row["status"] == "ok"]

    @property
    def failed(self) -> list[Row]:
        """The rows of cells that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    @property
    def missing(self) -> int:
        """The number of cells still to run, not counting those of skipped data sets."""
        away = {row["dataset"] for row in self.skipped}
        wanted = sum(cell.dataset not in away for cell in self.plan.cells())
        return wanted - sum(row["dataset"] not in away for row in self.rows)

    def frame(self) -> pd.DataFrame:
        """Return the cells that did not fail as a data frame, with a column for each score.

        A dimension of 0 means K - 1.
        """
        import pandas as pd

        flat = [
            {**row, "dimension": row["dimension"] or 0, **(row.get("scores") or {})}
            for row in self.ok
        ]
        return pd.DataFrame(flat)


def read_results(path: str | PathLike[str]) -> Results:
    """Read the results of a run, finished or not.

    Parameters
    ----------
    path : path-like
        The output folder of the run, or the file in it.

    Returns
    -------
    Results
        The plan, the environments and the rows.

    Warns
    -----
    UserWarning
        If lines of the file are damaged. They are left out, so the next run measures their
        cells again. A partial last line, which a killed run leaves, is no damage.

    Examples
    --------
    >>> import tempfile
    >>> from skml_kalda.bench import read_results, run
    >>> from skml_kalda.bench.plan import Plan
    >>> plan = Plan("mine", "Mine", datasets=("emotions",), methods=("OCM", "MLDA"), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run(plan, folder)
    ...     results = read_results(folder)
    >>> results.plan.name, len(results.ok), results.missing
    ('mine', 4, 0)
    """
    path = Path(path)
    path = path / FILE_NAME if path.is_dir() else path
    records = _records(path)
    starts = [line for line, record in records.items() if "plan" in record]
    if not starts:
        raise ValueError(f"{path} holds no run: it should begin with a header")
    plan = _plan(path, starts[-1], records)
    data = records[starts[-1]].get("data") or {}
    # A cell may have been run again, for instance after a failure: the last row counts.
    found = {
        Cell.of(record).key(): record
        for record in records.values()
        if is_cell(record) and _is_current(record, data)
    }
    return Results(
        folder=path.parent,
        plan=plan,
        environments=[records[line]["environment"] for line in starts],
        rows=[complete(found[cell.key()]) for cell in plan.cells() if cell.key() in found],
        skipped=[
            complete(record)
            for line, record in records.items()
            if line > starts[-1] and record.get("status") == "skip"
        ],
        data=data,
    )


def _is_current(record: Row, data: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a row is of the user's file as the last run found it."""
    # Older headers do not say what the file was.
    sha256 = data.get(record["dataset"], {}).get("sha256")
    return sha256 in (None, record["sha256"])


def _plan(path: Path, line: int, records: Mapping[int, Row]) -> Plan:
    try:
        return Plan.of(records[line]["plan"])
    except ValueError as error:
        raise ValueError(f"{path}, line {line}: {error}") from error


def _records(path: Path) -> dict[int, Row]:
    """Return the sound records by line number, and warn of the damaged ones."""
    # What follows the last line break was being written when the run was killed.
    lines = path.read_bytes().split(b"\n")[:-1]
    records = {number: _record(line) for number, line in enumerate(lines, start=1)}
    damaged = [number for number, record in records.items() if record is None]
    if damaged:
        shown = ", ".join(map(str, damaged[:5])) + (", ..." if len(damaged) > 5 else "")
        warnings.warn(
            f"{path} is damaged at line {shown}: what was there is left out, and a run measures "
            "the missing cells again",
            stacklevel=3,
        )
    return {number: record for number, record in records.items() if record is not None}


def _record(line: bytes) -> Row | None:
    """Return the header or row in a line, None if it is damaged."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and _is_sound(record) else None


def _is_sound(record: Row) -> bool:
    if "plan" in record:
        return all(isinstance(record.get(name), dict) for name in ("plan", "environment"))
    if record.get("status") == "skip":
        return isinstance(record.get("dataset"), str)
    return record.get("status") in ("ok", "failed") and _has_cell(record)


def _has_cell(record: Row) -> bool:
    try:
        Cell.of(record).key()
    except (KeyError, TypeError):
        return False
    return is_cell(record) and "sha256" in record
