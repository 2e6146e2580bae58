"""Rows of results: one shape, whether a cell was measured, failed or was skipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from skml_kalda.bench.cells import Cell
from skml_kalda.bench.running.data import Source, how_to_get
from skml_kalda.bench.running.failures import printable
from skml_kalda.datasets.manifest import read_manifest

Row = dict[str, Any]

# Every row has all of these; None stands for what was not measured.
_FIELDS = (
    "status",  # "ok", "failed" or "skip"
    "reason",  # of a failure "error", "timeout" or "died"; of a skipped data set a sentence
    "error",  # the message of a failure
    "command",  # that makes a skipped data set available
    *(each.name for each in fields(Cell)),  # a skipped data set has a row without a cell
    "sha256",  # of the data file
    "scores",
    "n_components",
    "iterations",
    "fit_seconds",
    "transform_seconds",
    "classify_seconds",  # to fit the classifier and to predict
    "train_seconds",  # to fit everything
    "predict_seconds",  # to project and classify the test rows
    "chosen",  # parameters that the tuning chose
    "chosen_k",
    "inner_score",
    "tune_seconds",
    "objective",  # by iteration
    "upper_bound",
    "converged",
    "points",
    "classes_of_points",  # one class for each point, or
    "labels_of_points",  # the numbers of its labels, whose names are
    "labels",
    "warnings",
)


def complete(record: Mapping[str, Any]) -> Row:
    """Return a row with all fields, from one that an older version may have written."""
    return {**dict.fromkeys(_FIELDS), **record}


def ok_row(cell: Cell, source: Source, measured: Mapping[str, Any]) -> Row:
    """Return the row of a cell that was measured."""
    return complete({"status": "ok", **asdict(cell), "sha256": source.sha256, **measured})


def failed_row(cell: Cell, source: Source, reason: str, error: str) -> Row:
    """Return the row of a cell that failed: by an "error", a "timeout", or its process "died"."""
    found = {"reason": reason, "error": printable(error), "warnings": []}
    return ok_row(cell, source, found) | {"status": "failed"}


def kind_of_failure(row: Row) -> tuple[str, str, str]:
    """Return what the failures of one setting have in common: data set, method and error."""
    return row["dataset"], row["method"], row["error"].strip()


def failures_by_kind(rows: Iterable[Row]) -> dict[tuple[str, str, str], list[Row]]:
    """Group failed rows by `kind_of_failure`, in the order of the first of each kind."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(kind_of_failure(row), []).append(row)
    return groups


def skip_row(name: str, command: str) -> Row:
    """Return the row of an absent data set; `command` is the one that was run."""
    manifest = read_manifest(name)
    return complete(
        {
            "status": "skip",
            "dataset": name,
            "reason": f"its file is not here (origin: {manifest.origin})",
            "command": how_to_get(manifest, command),
        }
    )


def is_cell(record: Mapping[str, Any]) -> bool:
    """Whether a record of a results file is the row of a cell."""
    return record.get("fold") is not None
