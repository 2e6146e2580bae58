"""CSV, TSV and Parquet files: read by pandas, their columns made features and labels."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.messages import required
from skml_kalda.datasets.arff.layout import FEWEST_SAMPLES, MOST_CATEGORIES, identifies
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
# 2024-12-31, also with a time; 31.12.2024, 12/31/24.
_DATE = r"\d{4}-\d\d?-\d\d?([ T]\d\d?:\d\d.*)?|\d\d?([./])\d\d?\2(\d\d){1,2}"
_TRUTH = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}


class Frame:
    """A table as a data frame, the lines of its samples, and what was guessed to read it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[int] | None = None
        self.notes: list[str] = []
        pd = required("pandas", by="load_table", extra="bench")
        if path.suffix.lower() in {".parquet", ".pq"}:
            self.frame = self._parquet(pd)
        else:
            self.frame = self._delimited(pd)
        self.names = [str(name) for name in self.frame.columns]
        if not len(self.frame):
            raise TableError("the table has no rows", path=path)

    def _parquet(self, pd: Any) -> Any:
        try:
            return pd.read_parquet(self.path)
        except ImportError:
            raise
        except Exception as error:  # whatever pandas and pyarrow raise
            reason = f"this is not a Parquet file ({error})"
            raise TableError(reason, path=self.path) from error

    def _delimited(self, pd: Any) -> Any:
        encoding = self._encoding()
        separator, header = self._scan(encoding)
        try:
            frame = pd.read_csv(
                self.path, sep=separator, header=0, names=header, index_col=False,
                encoding=encoding, encoding_errors="replace", na_values=["?"],
                skipinitialspace=True, low_memory=False,
            )  # fmt: skip
        except pd.errors.ParserError as error:
            raise TableError(str(error), path=self.path) from error
        self._read_numbers(frame, separator)
        return frame

    def _encoding(self) -> str:
        with opener(self.path)(self.path, "rb") as stream:
            content = stream.read()
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in content:
            raise TableError("this is not a text file: save the table as CSV", path=self.path)
        try:
            content.decode()
        except UnicodeDecodeError:
            advice = "if names look wrong, save the file as UTF-8"
            self.notes.append(f"not UTF-8: read as Windows-1252; {advice}")
            return "cp1252"
        return "utf-8-sig"

    def _scan(self, encoding: str) -> tuple[str, list[str]]:
        """Return separator and column names, and note the line of every row.

        pandas fills up rows that are too short, and does not say on which line a row is.
        """
        with opener(self.path)(
            self.path, "rt", encoding=encoding, errors="replace", newline=""
        ) as stream:
            first = stream.readline()
            separator = max(_SEPARATORS, key=first.count)
            header = self._header(next(csv.reader([first], delimiter=separator), []))
            self.lines, end = [], 1
            records = csv.reader(stream, delimiter=separator, skipinitialspace=True, strict=True)
            try:
                for record in records:
                    end = records.line_num + 1
                    if record and len(record) != len(header):
                        reason = f"{len(record)} fields, but the header has {len(header)}"
                        raise TableError(reason, path=self.path, line=end)
                    # Empty lines are not rows, and a quoted field may span several lines.
                    self.lines += [end] if record else []
            except csv.Error as error:
                reason = f'a quotation mark (") is not closed, or misplaced ({error})'
                raise TableError(reason, path=self.path, line=end + 1) from error
        return separator, header

    def _header(self, names: list[str]) -> list[str]:
        # pandas writes the index of a data frame into a column without a name.
        names = [name.strip() or f"unnamed {i}" for i, name in enumerate(names, start=1)]
        name, times = Counter(names or [""]).most_common(1)[0]
        if not names or names == ["unnamed 1"]:
            reason = "the first line is empty, but it should name the columns"
        elif all(re.fullmatch(_NUMBERS["."], name.lower()) for name in names):
            reason = "the first line should name the columns, but it has numbers"
        elif times > 1:
            reason = f"{times} columns are called {name!r}: rename all but one"
        else:
            return names
        raise TableError(reason, path=self.path, line=1)

    def _read_numbers(self, frame: pd.DataFrame, separator: str) -> None:
        """Replace the words that are numbers with decimal commas or grouped thousands."""
        # "1,234" is ambiguous: between commas it is a thousand, between semicolons just over 1.
        marks = ".," if separator == "," else ",."
        found: dict[str, list[str]] = {}
        for name in frame.columns[[dtype.kind not in "biufc" for dtype in frame.dtypes]]:
            words = frame[name].dropna().astype(str).str.strip().str.lower()
            fitting = [mark for mark in marks if words.str.fullmatch(_NUMBERS[mark]).all()]
            if len(words) and fitting:
                plain = words.str.replace("." if fitting[0] == "," else ",", "", regex=False)
                numbers = plain.str.replace(",", ".", regex=False).astype("float64")
                frame[name] = numbers.reindex(frame.index)
                found.setdefault(fitting[0], []).append(repr(name))
        for mark, names in found.items():
            what = "decimal commas" if mark == "," else "commas between thousands"
            self.notes.append(f"{what} in {', '.join(names)}")

    def _error(self, reason: str, row: Any) -> TableError:
        return TableError(reason, path=self.path, line=self.lines[row] if self.lines else None)

    def features(self, columns: list[int]) -> tuple[Any, list[str], list[str]]:
        """Return the columns as numbers, their names, and notes on what was done to get them."""
        arrays, names, notes = [], [], []
        for i in columns:
            name, column = self.names[i], self.frame.iloc[:, i]
            if reason := self._useless(name, column):
                notes.append(f"column {name!r} is left out because {reason}")
                warnings.warn(f"{self.path.name}: {notes[-1]}", stacklevel=4)
            elif _is_numeric(column):
                arrays.append(column.to_numpy(np.float64, na_value=np.nan)[:, np.newaxis])
                names.append(name)
            else:
                words = column.astype(str).to_numpy(object)[:, np.newaxis]
                categories = sorted(column.dropna().astype(str).unique())
                categories = categories[1:] if len(categories) == 2 else categories
                encoded = (words == categories).astype(np.float64)
                encoded[column.isna()] = np.nan
                arrays.append(encoded)
                names += [f"{name}={each}" for each in categories]
                notes.append(encoding_note(name, len(categories)))
        if not arrays:
            reason = "no feature is left: every column is a label or left out"
            raise TableError(reason, path=self.path)
        return np.hstack(arrays), names, notes

    def _useless(self, name: str, column: pd.Series[Any]) -> str:
        """Return why a feature is left out, if it is; TableError if its values are wrong."""
        known = column.dropna().astype(str)
        n_values = known.nunique()
        if not n_values:
            return "it has no values"
        if _is_numeric(column):
            values = column.to_numpy(np.float64, na_value=np.nan)
            for row in np.flatnonzero(np.isinf(values)):
                raise self._error(f"column {name!r}: {values[row]} is not finite", row)
            counts = len(values) >= FEWEST_SAMPLES and (np.diff(values) == 1).all()
            return "it numbers the samples" if counts else ""
        if _holds_lists(column):
            return "it holds lists"
        if column.dtype.kind in "mM" or known.str.fullmatch(_DATE).all():
            return "it holds dates or times"
        self._check_words(name, column)
        if identifies(n_values, len(known)):
            found = f"{n_values} different values in {len(known)} samples"
            return f"it identifies the samples: it has {found}"
        return f"it holds {n_values} different words" if n_values > MOST_CATEGORIES else ""

    def _check_words(self, name: str, column: pd.Series[Any]) -> None:
        """Raise an error for a column of numbers in which a few fields are words."""
        from pandas import to_numeric

        numbers = to_numeric(column.astype(str), errors="coerce")
        wrong = np.flatnonzero(numbers.isna() & column.notna())
        if len(wrong) and 2 * numbers.notna().sum() >= column.notna().sum():
            reason = f"column {name!r}: {str(column.iloc[wrong[0]])[:40]!r} is not a number"
            reason += ": correct it, empty the field, or ignore the column"
            raise self._error(reason, wrong[0])

    def labels(self, columns: list[int]) -> tuple[NDArray[Any], list[str]]:
        """Return the labels as 0 and 1, or the classes if there is one column; and their names."""
        for i in columns:
            for row in np.flatnonzero(self.frame.iloc[:, i].isna()):
                reason = f"label {self.names[i]!r} has no value: fill it in, or remove the row"
                raise self._error(reason, row)
        if len(columns) == 1:
            return self._classes(columns[0])
        indicator = np.column_stack([self._zero_one(i) for i in columns])
        return indicator, [self.names[i] for i in columns]

    def _classes(self, i: int) -> tuple[NDArray[Any], list[str]]:
        column = self.frame.iloc[:, i]
        if _holds_lists(column):
            reason = f"column {self.names[i]!r} holds lists: make each label a column of 0 and 1"
            raise TableError(reason, path=self.path)
        words = column.astype(str).to_numpy(object)
        if column.dtype.kind == "f":
            words = np.array([word.removesuffix(".0") for word in words], object)
        if len(set(words)) == 1:
            reason = f"column {self.names[i]!r} has one class only: {words[0]}"
            raise TableError(reason, path=self.path)
        return words, sorted(set(words))

    def _zero_one(self, i: int) -> NDArray[np.int64]:
        column = self.frame.iloc[:, i]
        values = column.astype(str).str.strip().str.lower().map(_TRUTH)
        for row in np.flatnonzero(values.isna()):
            reason = f"label {self.names[i]!r}: {str(column.iloc[row])[:40]!r} is neither 0 nor 1"
            reason += "; also true or false, yes or no. A column of classes must be the only label"
            raise self._error(reason, row)
        return values.to_numpy(np.int64)


def _is_numeric(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "biuf"


def _holds_lists(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_list_like

    return column.dtype.kind == "O" and bool(column.map(is_list_like).any())


def encoding_note(name: str, n_columns: int) -> str:
    """Return the note about a column of words."""
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    return f"column {name!r} holds words: one-hot encoded in {columns}"
