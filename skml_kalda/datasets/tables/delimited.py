"""CSV and TSV files: their encoding, their separator, and the way they write numbers."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skml_kalda._core.messages import required
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.files import opener

if TYPE_CHECKING:
    import pandas as pd

_SEPARATORS = ",;\t|"
# Numbers that pandas takes for words, by their decimal mark; the other mark groups thousands.
_NUMBERS = {
    ",": r"[+-]?(\d+|\d{1,3}(\.\d{3})+|(?=,\d))(,\d*)?(e[+-]?\d+)?",
    ".": r"[+-]?(\d+|\d{1,3}(,\d{3})+|(?=\.\d))(\.\d*)?(e[+-]?\d+)?",
}


def read_delimited(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Read a table, and say what was guessed about it."""
    pd = required("pandas", by="load_table", extra="bench")
    encoding = _encoding(path)
    separator, header = _header(path, encoding)
    try:
        with warnings.catch_warnings():
            # Rows with more fields than the header.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path, sep=separator, header=0, names=header, encoding=encoding,
                index_col=False, na_values=["?"], skipinitialspace=True, low_memory=False,
            )  # fmt: skip
    except pd.errors.ParserWarning as error:
        raise _uneven(path) or TableError(str(error), path=path) from None
    except pd.errors.ParserError as error:
        if "EOF inside string" in str(error):
            raise _unclosed(path) from error
        line = re.search(r"in line (\d+), saw (\d+)", str(error))
        if line is None:
            raise TableError(str(error), path=path) from error
        reason = f"{line[2]} fields, but the header has {len(header)}"
        raise TableError(reason, path=path, line=int(line[1])) from error
    # A row with too few fields has been filled up.
    if len(frame) and frame.iloc[:, -1].isna().any() and (short := _uneven(path)):
        raise short
    notes = [] if encoding in ("utf-8-sig", "utf-16") else [_guessed(path, encoding)]
    return frame, notes + _read_numbers(frame, separator)


def _unclosed(path: Path) -> TableError:
    """Return an error for the last row, which begins with the line after the row before it."""
    with _records(path) as records:
        ends = [records.line_num for _ in records]
    reason = 'a quotation mark (") is never closed: close it, or remove it'
    return TableError(reason, path=path, line=[0, *ends][-2] + 1)


def line_in_text(path: Path, row: int) -> int | None:
    """Return the line of a row, counted from 0."""
    with _records(path) as records:
        # Empty lines are not rows, and a quoted field may span several lines.
        lines = (records.line_num for record in records if record)
        return next(islice(lines, row + 1, None), None)


def _encoding(path: Path) -> str:
    with opener(path)(path, "rb") as stream:
        start = stream.read(4096)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start:
        raise TableError("this is not a text file: save the table as CSV", path=path)
    # Every file is Latin-1, so that one of them is found.
    guesses = ("utf-8-sig", "cp1252", "latin-1")
    return next(each for each in guesses if _undecodable(path, each) is None)


def _undecodable(path: Path, encoding: str) -> int | None:
    """Return the number of the first line that is not in this encoding."""
    line = 0
    with opener(path)(path, "rb") as stream:
        try:
            for line, text in enumerate(stream, start=1):  # noqa: B007
                text.decode(encoding)
        except UnicodeDecodeError:
            return line
    return None


def _guessed(path: Path, encoding: str) -> str:
    line = _undecodable(path, "utf-8")
    name = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}[encoding]
    return f"line {line} is not UTF-8: read as {name}; if names look wrong, save the file as UTF-8"


def _header(path: Path, encoding: str) -> tuple[str, list[str]]:
    """Return the separator and the names of the columns."""
    with opener(path)(path, "rt", encoding=encoding, newline="") as stream:
        first = stream.readline()
    if not first.strip():
        empty = "the first line is empty, but it should name the columns"
        raise TableError(empty if first else "the file is empty", path=path, line=1)
    separator = max(_SEPARATORS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator))]
    # pandas writes the index of a data frame into a column without a name.
    names = [name or f"unnamed {number}" for number, name in enumerate(names, start=1)]
    if all(_is_number(name) for name in names):
        reason = f"the first line should name the columns, but it has numbers: {first.strip()[:40]}"
        raise TableError(reason, path=path, line=1)
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        reason = f"{times} columns are called {name!r}: give each a name of its own"
        raise TableError(reason, path=path, line=1)
    return separator, names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def _records(path: Path) -> Iterator[Any]:
    encoding = _encoding(path)
    separator, _ = _header(path, encoding)
    with opener(path)(path, "rt", encoding=encoding, newline="") as stream:
        yield csv.reader(stream, delimiter=separator, skipinitialspace=True)


def _uneven(path: Path) -> TableError | None:
    """Return an error for the first row with another number of fields than the header."""
    with _records(path) as records:
        n_columns = len(next(records))
        for row in records:
            if row and len(row) != n_columns:
                reason = f"{len(row)} fields, but the header has {n_columns}"
                return TableError(reason, path=path, line=records.line_num)
    return None


def _read_numbers(frame: pd.DataFrame, separator: str) -> list[str]:
    """Replace the numbers with decimal commas or grouped thousands, and say in which columns."""
    from pandas.api import types

    # "1,234" is ambiguous: between commas it is a thousand, between semicolons hardly more than 1.
    marks = ".," if separator == "," else ",."
    found: dict[str, list[str]] = {mark: [] for mark in marks}
    for name in frame.columns:
        if types.is_numeric_dtype(frame[name]) or types.is_bool_dtype(frame[name]):
            continue
        words = frame[name].dropna().astype(str).str.strip().str.lower()
        mark = next((each for each in marks if words.str.fullmatch(_NUMBERS[each]).all()), None)
        if mark is not None and len(words):
            frame[name] = _as_numbers(words, mark).reindex(frame.index)
            found[mark].append(name)
    what = {",": "decimal commas", ".": "commas between thousands"}
    return [f"{what[mark]} in {_listed(names)}" for mark, names in found.items() if names]


def _as_numbers(words: pd.Series[Any], decimal: str) -> pd.Series[Any]:
    grouping = "." if decimal == "," else ","
    plain = words.str.replace(grouping, "", regex=False).str.replace(decimal, ".", regex=False)
    return plain.astype("float64")


def _listed(names: list[str], most: int = 5) -> str:
    columns = "column" if len(names) == 1 else "columns"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{columns} {', '.join(map(repr, names[:most]))}{more}"
