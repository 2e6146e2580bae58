"""CSV, TSV and Parquet files as data frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skml_kalda._core.messages import required
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.tables.delimited import line_in_text, read_delimited

if TYPE_CHECKING:
    import pandas as pd


def read_frame(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a table, in which every column has a name of its own, and say what was guessed."""
    frame, notes = (_parquet(path), []) if _is_parquet(path) else read_delimited(path)
    frame.columns = frame.columns.map(str)
    if not len(frame):
        raise TableError("the table has no rows", path=path)
    return frame, notes


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in {".parquet", ".pq"}


def line_of(path: Path, row: int) -> int | None:
    """Return the line of a row, counted from 0; a Parquet file has no lines."""
    return None if _is_parquet(path) else line_in_text(path, row)


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
