"""Results: a file of JSON lines, one for each cell, that only grows."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from skml_kalda.bench.plan import Cell, Plan
from skml_kalda.bench.running.data import Source
from skml_kalda.datasets.manifest import read_manifest

if TYPE_CHECKING:
    import pandas as pd

FILE_NAME = "results.jsonl"
Row = dict[str, Any]

# Every row has all of these; None stands for what was not measured. A skipped dataset has a row
# without a cell. The `reason` of a failure is "error" or "died", that of a skipped dataset a
# sentence, whose `command` makes it available. `classify_seconds` are to fit the classifier and to
# predict, `train_seconds` to fit everything, and `predict_seconds` to project and classify the test
# samples. Points have one class each, or the numbers of their labels.
_FIELDS = (
    "status", "reason", "error", "command", *(each.name for each in fields(Cell)), "sha256",
    "scores", "label_f1", "n_components", "iterations",
    "fit_seconds", "transform_seconds", "classify_seconds", "train_seconds", "predict_seconds",
    "chosen", "chosen_k", "inner_score", "tune_seconds",
    "objective", "upper_bound", "converged",
    "points", "classes_of_points", "labels_of_points", "labels", "warnings",
)  # fmt: skip


def printable(text: str) -> str:
    r"""Replace control characters and lone surrogates by their escapes; no file can hold these.

    Examples
    --------
    >>> from skml_kalda.bench.running.results import printable
    >>> print(printable("caf\udce9 \x1b[31m"))
    caf\udce9 \x1b[31m
    """
    odd = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
    return re.sub(odd, lambda found: found[0].encode("unicode_escape").decode(), text)


def _complete(record: Mapping[str, Any]) -> Row:
    """Return a row with all fields, from one that an older version may have written."""
    return {**dict.fromkeys(_FIELDS), **record}


def ok_row(cell: Cell, source: Source, measured: Mapping[str, Any]) -> Row:
    """Return the row of a cell that was measured."""
    return _complete({"status": "ok", **asdict(cell), "sha256": source.sha256, **measured})


def failed_row(cell: Cell, source: Source, reason: str, error: str) -> Row:
    """Return the row of a cell that failed: by an "error", or its process "died"."""
    found = {"reason": reason, "error": printable(error), "warnings": []}
    return ok_row(cell, source, found) | {"status": "failed"}


def skip_row(name: str) -> Row:
    """Return the row of an absent dataset."""
    manifest = read_manifest(name)
    reason = f"its file is not here (origin: {manifest.origin})"
    found = {"dataset": name, "reason": reason, "command": manifest.how_to_get()}
    return _complete({"status": "skip", **found})


def failures_by_kind(rows: Iterable[Row]) -> dict[tuple[str, str, str], int]:
    """Count failed rows by dataset, method and error, in the order of the first of each kind."""
    counts: dict[tuple[str, str, str], int] = {}
    for row in rows:
        kind = row["dataset"], row["method"], row["error"].strip()
        counts[kind] = counts.get(kind, 0) + 1
    return counts


class Journal:
    """The file of a run, open for writing; every line is flushed at once.

    It is locked while it is open: two runs cannot write to one file. The system releases the lock
    when the process ends, however it ends.
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        if folder.is_file():
            raise FileExistsError(f"{folder} is a file: choose another folder for the results")
        folder.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = (folder / FILE_NAME).open("a+b")
        try:
            _lock(self._stream)
        except (BlockingIOError, PermissionError):
            self._stream.close()
            raise BlockingIOError(
                f"another run is writing to {folder}: wait until it ends, or give this one an "
                "output folder of its own"
            ) from None
        self._stream.seek(0)
        # A killed run may have left a part of one more line.
        self._stream.truncate(0 if fresh else self._stream.read().rfind(b"\n") + 1)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a line."""
        # A lone surrogate becomes its JSON escape.
        text = json.dumps(record, ensure_ascii=False)
        self._stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _lock(stream: IO[bytes]) -> None:
    """Lock an open file; an OSError says that another process holds it."""
    if sys.platform == "win32":
        import msvcrt

        # No other process can read locked bytes, so lock one beyond the end of any file.
        stream.seek(2**30)
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
        The datasets that were absent, as rows with the same keys.
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
        """The number of cells still to run, not counting those of skipped datasets."""
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
    """Read the results of a run, finished or not. Nothing that they name is imported.

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
    last = starts[-1]
    try:
        # Older runs have settings that there are no more.
        known = {each.name for each in fields(Plan)}
        plan = Plan(**{name: v for name, v in records[last]["plan"].items() if name in known})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}, line {last}: {error}") from error
    data = records[last].get("data") or {}
    # A cell may have been run again, for instance after a failure: the last row counts.
    found = {
        Cell.of(record).key(): record
        for record in records.values()
        if record.get("status") in ("ok", "failed") and _is_current(record, data)
    }
    return Results(
        folder=path.parent,
        plan=plan,
        environments=[records[line]["environment"] for line in starts],
        rows=[_complete(found[cell.key()]) for cell in plan.cells() if cell.key() in found],
        skipped=[
            _complete(record)
            for line, record in records.items()
            if line > last and record.get("status") == "skip"
        ],
        data=data,
    )


def _is_current(record: Row, data: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a row is of the user's file as the last run found it."""
    # Older headers do not say what the file was.
    sha256 = data.get(record["dataset"], {}).get("sha256")
    return sha256 in (None, record["sha256"])


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
        if "plan" in record:
            parts = record["plan"], record.get("environment"), *(record.get("data") or {}).values()
            is_sound = "status" not in record and all(isinstance(each, dict) for each in parts)
        elif record.get("status") == "skip":
            is_sound = isinstance(record.get("dataset"), str)
        else:
            Cell.of(record).key()
            is_known = record.get("status") in ("ok", "failed") and isinstance(
                record["dataset"], str
            )
            is_sound = is_known and record["fold"] is not None and "sha256" in record
            is_sound &= isinstance(record.get("scores") or {}, dict)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return record if is_sound else None
