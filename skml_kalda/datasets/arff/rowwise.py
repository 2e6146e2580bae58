"""Read data rows one by one: quotes, odd spacing, and the exact reason if a row is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from skml_kalda.datasets.arff.bulk import Entries
from skml_kalda.datasets.arff.columns import Columns
from skml_kalda.datasets.arff.quoting import scan_entries, scan_values, shown
from skml_kalda.datasets.arff.source import Source
from skml_kalda.datasets.errors import ArffError

T = TypeVar("T")


def dense_rows(block: bytes, columns: Columns, source: Source) -> NDArray[np.float64]:
    """Read dense rows one by one."""
    rows = _read(block, columns, source, _dense_row)
    return np.array(rows).reshape(-1, columns.n_attributes)


def sparse_rows(block: bytes, columns: Columns, source: Source) -> Entries:
    """Read sparse rows one by one."""
    rows = _read(block, columns, source, _sparse_row)
    entries = [(i, *cell) for i, row in enumerate(rows) for cell in sorted(row.items())]
    row, column, value = np.array(entries, float).reshape(-1, 3).T
    return Entries(len(rows), row.astype(np.int64), column.astype(np.int64), value.copy())


def _read(
    block: bytes, columns: Columns, source: Source, read_row: Callable[[str, Columns], T]
) -> list[T]:
    """Read each row; an error names the file and the line."""
    rows = []
    for line, text in _rows(block, source):
        try:
            rows.append(read_row(text, columns))
        except ArffError as error:
            raise source.error(error.reason, line) from None
    return rows


def _rows(block: bytes, source: Source) -> Iterator[tuple[int, str]]:
    for line, row in enumerate(block.split(b"\n"), source.line + 1):
        if row.lstrip().startswith(b"%"):
            continue
        try:
            text = row.decode().strip()
        except UnicodeDecodeError:
            raise source.error("not UTF-8 text; convert the file to UTF-8", line) from None
        if text:
            yield line, text


def _dense_row(text: str, columns: Columns) -> list[float]:
    if text.startswith("{"):
        raise ArffError("a sparse row among dense ones")
    n_columns = columns.n_attributes
    row: list[float] = []
    for i, value in enumerate(scan_values(text)):
        if i == n_columns:
            raise ArffError(f"more values than the {n_columns} attributes")
        row.append(columns.cell(i, value))
    if len(row) < n_columns:
        raise ArffError(f"{len(row)} values for {n_columns} attributes")
    return row


def _sparse_row(text: str, columns: Columns) -> dict[int, float]:
    if not (text.startswith("{") and text.endswith("}")):
        raise ArffError(f"expected a sparse row in braces, found {shown(text)}")
    row: dict[int, float] = {}
    body = text[1:-1].strip()
    for i, value in scan_entries(body) if body else ():
        if i >= columns.n_attributes:
            raise ArffError(f"index {i} is out of range: {columns.n_attributes} attributes")
        if i in row:
            raise ArffError(f"index {i} comes twice")
        row[i] = columns.cell(i, value)
    return row
