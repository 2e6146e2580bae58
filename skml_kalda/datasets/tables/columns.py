"""Columns of a data frame as features and labels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from skml_kalda.datasets.arff.identifiers import FEWEST_ROWS, SHARE
from skml_kalda.datasets.arff.layout import MOST_CATEGORIES
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.tables.frames import line_of

if TYPE_CHECKING:
    import pandas as pd

# 2024-12-31, also with a time; 31.12.2024, 12/31/24.
_DATE = r"\d{4}-\d\d?-\d\d?([ T]\d\d?:\d\d.*)?|\d\d?([./])\d\d?\2(\d\d){1,2}"
_TRUTH = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}


@dataclass
class Features:
    """The features of a table as numbers, and what was done to get them."""

    path: Path
    nominal: str
    arrays: list[NDArray[np.float64]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, column: pd.Series[Any]) -> None:
        """Add the feature or the features of a column, or say why it is left out."""
        from pandas.api import types

        name = str(column.name)
        if column.isna().all():
            self._leave_out(name, "it has no values")
        elif types.is_bool_dtype(column) or types.is_numeric_dtype(column):
            self._add_numbers(name, column)
        elif _holds_times(column):
            self._leave_out(name, "it holds dates or times")
        else:
            self._add_words(name, column)

    def _add_numbers(self, name: str, column: pd.Series[Any]) -> None:
        if np.iscomplexobj(column):
            reason = f"column {name!r} holds complex numbers: ignore it"
            raise TableError(reason, path=self.path)
        values = column.to_numpy(np.float64, na_value=np.nan)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            reason = f"column {name!r}: {values[row]} is not finite"
            raise TableError(reason, path=self.path, line=line_of(self.path, row))
        if len(values) >= FEWEST_ROWS and (np.diff(values) == 1).all():
            self._leave_out(name, "it numbers the rows")
            return
        self.arrays.append(values[:, np.newaxis])
        self.names.append(name)

    def _add_words(self, name: str, column: pd.Series[Any]) -> None:
        self._check_words(name, column)
        words = column.astype(str).where(column.notna())
        categories = sorted(words.dropna().unique())
        known = int(words.notna().sum())
        if known >= FEWEST_ROWS and len(categories) >= SHARE * known:
            found = f"{len(categories)} different values in {known} rows"
            self._leave_out(name, f"it identifies the rows: it has {found}")
        elif self.nominal == "drop":
            self._leave_out(name, "it holds words")
        elif len(categories) > MOST_CATEGORIES:
            self._leave_out(name, f"it holds {len(categories)} different words")
        else:
            self._one_hot(name, words.to_numpy(object), categories)

    def _one_hot(self, name: str, words: NDArray[Any], categories: list[str]) -> None:
        shown = categories[1:] if len(categories) == 2 else categories
        missing = np.array([word != word or word is None for word in words])
        encoded = np.column_stack([words == each for each in shown]).astype(np.float64)
        encoded[missing] = np.nan
        self.arrays.append(encoded)
        self.names += [f"{name}={each}" for each in shown]
        self.notes.append(encoding_note(name, len(shown)))

    def _check_words(self, name: str, column: pd.Series[Any]) -> None:
        """Raise an error for a column of numbers in which a few fields are words."""
        from pandas import to_numeric

        known = column.dropna()
        numbers = to_numeric(known.astype(str), errors="coerce")
        if not numbers.isna().any() or 2 * numbers.notna().sum() < len(known):
            return
        row = known.index.get_loc(numbers.isna().idxmax())
        row = int(np.flatnonzero(column.notna())[row])
        reason = f"column {name!r}: {str(column.iloc[row])[:40]!r} is not a number"
        reason += ": correct it, empty the field, or ignore the column"
        raise TableError(reason, path=self.path, line=line_of(self.path, row))

    def _leave_out(self, name: str, reason: str) -> None:
        note = f"column {name!r} is left out because {reason}"
        self.notes.append(note)
        warnings.warn(f"{self.path.name}: {note}", stacklevel=6)

    def finish(self) -> NDArray[np.float64]:
        """Return the features, one column each."""
        if not self.arrays:
            reason = "no feature is left: every column is a label or left out"
            raise TableError(reason, path=self.path)
        data = np.hstack(self.arrays)
        self.notes += missing_notes(data)
        return data


def encoding_note(name: str, n_columns: int) -> str:
    """Return the note about a column of words."""
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    return f"column {name!r} holds words: one-hot encoded in {columns}"


def missing_notes(data: Any) -> list[str]:
    """Return the note about missing values, if there are any."""
    n_missing = int(np.isnan(data.data if issparse(data) else data).sum())
    size = data.shape[0] * data.shape[1]
    return [f"{n_missing} of {size} values are missing"] if n_missing else []


def _holds_times(column: pd.Series[Any]) -> bool:
    from pandas.api import types

    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return True
    return bool(column.dropna().astype(str).str.fullmatch(_DATE).all())


def classes_of(column: pd.Series[Any], path: Path) -> tuple[NDArray[Any], list[str]]:
    """Return the class of each row, and the names of the classes."""
    _check_known(column, path)
    values = column.to_numpy()
    if np.issubdtype(values.dtype, np.floating) and (values == np.round(values)).all():
        values = values.astype(np.int64)
    words = values.astype(str).astype(object)
    if len(set(words)) == 1:
        raise TableError(f"column {column.name!r} has one class only: {words[0]}", path=path)
    return words, sorted(set(words))


def indicator_of(frame: pd.DataFrame, path: Path) -> NDArray[np.int64]:
    """Return the labels of each row as 0 and 1."""
    return np.column_stack([_zero_one(frame.iloc[:, i], path) for i in range(frame.shape[1])])


def _zero_one(column: pd.Series[Any], path: Path) -> NDArray[np.int64]:
    _check_known(column, path)
    words = column.astype(str).str.strip().str.lower()
    wrong = ~words.isin(list(_TRUTH)).to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        reason = f"label {column.name!r}: {str(column.iloc[row])[:40]!r} is neither 0 nor 1"
        reason += "; also true or false, yes or no. A column of classes must be the only label"
        raise TableError(reason, path=path, line=line_of(path, row))
    return np.array([_TRUTH[word] for word in words])


def _check_known(column: pd.Series[Any], path: Path) -> None:
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        reason = f"label {column.name!r} has no value: fill it in, or remove the row"
        raise TableError(reason, path=path, line=line_of(path, row))
