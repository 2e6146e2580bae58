"""CSV, TSV and Parquet files as data frames."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skml_kalda._core.extras import required
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.files import opener

if TYPE_CHECKING:
    import pandas as pd

_SEPARATORS = ",;\t|"


def read_frame(path: Path) -> pd.DataFrame:
    """Read a table; every column has a name of its own."""
    frame = _parquet(path) if _is_parquet(path) else _delimited(path)
    frame.columns = frame.columns.map(str)
    if not len(frame):
        raise TableError("the table has no rows", path=path)
    return frame


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def line_of(path: Path, row: int) -> int | None:
    """Return the line of a row, counted from 0; a Parquet file has no lines."""
    if _is_parquet(path):
        return None
    separator, _ = _header(path)
    with opener(path)(path, "rt", encoding="utf-8-sig", newline="") as stream:
        records: Any = csv.reader(stream, delimiter=separator, skipinitialspace=True)
        # Empty lines are not rows, and a quoted field may span several lines.
        lines = (records.line_num for record in records if record)
        return next(islice(lines, row + 1, None), None)


def _parquet(path: Path) -> pd.DataFrame:
    pd = required("pandas", by="load_table", extra="bench")
    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"reading {path.name} needs pyarrow: pip install pyarrow") from error
    except (ValueError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise TableError(f"this is not a Parquet file ({error})", path=path) from error


def _delimited(path: Path) -> pd.DataFrame:
    pd = required("pandas", by="load_table", extra="bench")
    try:
        separator, header = _header(path)
        with warnings.catch_warnings():
            # Rows with more fields than the header.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, sep=separator, header=0, names=header, encoding="utf-8-sig",
                index_col=False, na_values=["?"], skipinitialspace=True, low_memory=False,
            )  # fmt: skip
    except pd.errors.ParserWarning as error:
        raise _uneven(path, separator, len(header)) or TableError(str(error), path=path) from None
    except pd.errors.ParserError as error:
        line = re.search(r"in line (\d+), saw (\d+)", str(error))
        if line is None:
            raise TableError(str(error), path=path) from error
        reason = f"{line[2]} fields, but the header has {len(header)}"
        raise TableError(reason, path=path, line=int(line[1])) from error
    except UnicodeDecodeError as error:
        raise TableError(f"this is no text in UTF-8 ({error.reason})", path=path) from error
    # A row with too few fields has been filled up.
    if frame.iloc[:, -1].isna().any() and (short := _uneven(path, separator, len(header))):
        raise short
    return frame


def _header(path: Path) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns."""
    with opener(path)(path, "rt", encoding="utf-8-sig", newline="") as stream:
        first = stream.readline()
    if not first.strip():
        raise TableError("the first line should name the columns", path=path, line=1)
    separator = max(_SEPARATORS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator))]
    # pandas writes the index of a data frame into a column without a name.
    names = [name or f"unnamed {number}" for number, name in enumerate(names, start=1)]
    if all(_is_number(name) for name in names):
        reason = f"the first line should name the columns, but it has numbers: {first.strip()[:40]}"
        raise TableError(reason, path=path, line=1)
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise TableError(f"{times} columns are called {name!r}", path=path, line=1)
    return separator, names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _uneven(path: Path, separator: str, n_columns: int) -> TableError | None:
    """Return an error for the first row with another number of fields than the header."""
    with opener(path)(path, "rt", encoding="utf-8-sig", newline="") as stream:
        rows: Any = csv.reader(stream, delimiter=separator, skipinitialspace=True)
        for row in rows:
            if row and len(row) != n_columns:
                reason = f"{len(row)} fields, but the header has {n_columns}"
                return TableError(reason, path=path, line=rows.line_num)
    return None
