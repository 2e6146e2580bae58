"""Files in svmlight format, with several labels per row."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.files import opener

_HEADER = re.compile(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*")
_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ROW = re.compile(
    rb"\s*(?:%(n)s(?:,%(n)s)*)?(?:\s+qid:\d+)?(?:\s+\d+:%(n)s)*\s*(?:#.*)?" % {b"n": _NUMBER}
)


def read_svmlight(path: Path) -> tuple[Any, Any, list[str]]:
    """Return the features (CSR), the labels or the classes, and their names.

    Rows are "labels feature:value ...", where the labels are numbers with commas between them. In
    files of the Extreme Classification Repository a first line has the numbers of rows, features
    and labels, and both count from zero. Without that line, files in which every row has one
    label have classes.
    """
    with opener(path)(path, "rb") as stream:
        first, rest = stream.readline(), stream.read()
    header = _HEADER.fullmatch(first)
    body = rest if header else first + rest
    n_features = int(header[2]) if header else None
    # Slow to import, so loaded here.
    from sklearn.datasets import load_svmlight_file

    try:
        X, labels = load_svmlight_file(
            BytesIO(body), n_features=n_features, multilabel=True,
            zero_based=True if header else "auto",
        )  # fmt: skip
    except (ValueError, IndexError) as error:
        raise _located(path, body, 2 if header else 1, str(error)) from error
    if header and X.shape[0] != int(header[1]):
        reason = f"the first line says {int(header[1])} rows, and {X.shape[0]} follow"
        raise TableError(reason, path=path)
    if not X.shape[0]:
        raise TableError("the file has no rows", path=path)
    return X, *_target(path, labels, int(header[3]) if header else None)


def _target(path: Path, labels: list[tuple[float, ...]], n_labels: int | None) -> tuple[Any, Any]:
    if n_labels is None and all(len(each) == 1 for each in labels):
        classes = np.array([f"{each[0]:g}" for each in labels], dtype=object)
        return classes, sorted(set(classes))
    found = sorted({label for each in labels for label in each})
    names = found if n_labels is None else list(range(n_labels))
    strange = [label for label in found if n_labels is not None and label not in range(n_labels)]
    if strange:
        reason = f"label {strange[0]:g} is not one of the {n_labels} that the first line says"
        raise TableError(reason, path=path)
    if not found:
        raise TableError("no row has a label", path=path)
    column = {label: i for i, label in enumerate(names)}
    target = np.zeros((len(labels), len(names)), np.int64)
    for row, each in enumerate(labels):
        target[row, [column[label] for label in each]] = 1
    return target, [f"{name:g}" for name in names]


def _located(path: Path, body: bytes, first_line: int, reason: str) -> TableError:
    """Return an error with the line of the first row that cannot be read."""
    for line, row in enumerate(body.splitlines(), start=first_line):
        if not _ROW.fullmatch(row):
            shown = row[:60].decode("utf-8", "replace")
            reason = f"not a row of labels and feature:value pairs: {shown!r}"
            return TableError(reason, path=path, line=line)
    return TableError(reason, path=path)
