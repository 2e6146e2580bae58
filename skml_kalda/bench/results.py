"""Results: one JSON line per cell, only ever appended to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.lock import lock
from skml_kalda.bench.plan import Plan

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FILE_NAME", "Journal", "Results", "read_results"]

FILE_NAME = "results.jsonl"
_IN_USE = (
    "another run is writing to {}: wait until it ends, or give this one an output folder of its own"
)


class Journal:
    """The file of a run, open for writing; every line is on its way to the disk at once.

    It is locked as long as it is open: the lines of two runs would not make one.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = (folder / FILE_NAME).open("a+b")
        try:
            lock(self._stream)
        except BlockingIOError:
            self._stream.close()
            raise BlockingIOError(_IN_USE.format(folder)) from None
        self._stream.truncate(0 if fresh else _end_of_last_line(self._stream))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a line."""
        self._stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
        self._stream.flush()

    def start(self, plan: Plan, environment: Mapping[str, str]) -> None:
        """Append the header of a run."""
        self.write({"plan": asdict(plan), "environment": environment})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _end_of_last_line(stream: IO[bytes]) -> int:
    """Tell where the whole lines end; what follows, a killed run left of its last one."""
    stream.seek(0)
    return stream.read().rfind(b"\n") + 1


@dataclass(frozen=True)
class Results:
    """What is known of a run.

    Attributes
    ----------
    folder : pathlib.Path
        Where it is kept.
    plan : Plan
        What was to be run, by the last header.
    environments : list of dict
        Where it ran, one for each start.
    rows : list of dict
        The cells of the plan that were measured, in the order of the plan.
    skipped : list of dict
        The data sets that were not there.
    """

    folder: Path
    plan: Plan
    environments: list[dict[str, str]]
    rows: list[dict[str, Any]]
    skipped: list[dict[str, Any]]

    @property
    def ok(self) -> list[dict[str, Any]]:
        """The rows of cells that did not fail."""
        return [row for row in self.rows if row["status"] == "ok"]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of cells that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    @property
    def missing(self) -> int:
        """The number of cells that have not been run, those of skipped data sets apart."""
        away = {row["dataset"] for row in self.skipped}
        wanted = sum(cell.dataset not in away for cell in self.plan.cells())
        return wanted - sum(row["dataset"] not in away for row in self.rows)

    def frame(self) -> pd.DataFrame:
        """Give the cells that did not fail as a data frame, a column for each score.

        A dimension of 0 is K - 1.
        """
        import pandas as pd

        flat = [
            {**row, "dimension": row["dimension"] or 0, **row.get("scores", {})} for row in self.ok
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
        The plan, the environment and the rows.
    """
    path = Path(path)
    path = path / FILE_NAME if path.is_dir() else path
    records = _records(path)
    starts = [number for number, record in enumerate(records) if "plan" in record]
    if not starts:
        raise ValueError(f"{path} holds no run: its first line should be a header")
    plan = Plan.of(records[starts[-1]]["plan"])
    # Of a cell that was run again, as a failed one is, the last row counts.
    found = {Cell.of(record).key(): record for record in records if "fold" in record}
    return Results(
        folder=path.parent,
        plan=plan,
        environments=[records[number]["environment"] for number in starts],
        rows=[found[cell.key()] for cell in plan.cells() if cell.key() in found],
        skipped=[record for record in records[starts[-1] :] if record.get("status") == "skip"],
    )


def _records(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text("utf-8").split("\n")
    try:
        # What follows the last line break was being written when the run was killed.
        return [json.loads(line) for line in lines[:-1]]
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
