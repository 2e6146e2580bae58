"""Load a table of the user's own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Bunch

from skml_kalda.datasets.arff.read import Arff, as_bunch, read_arff
from skml_kalda.datasets.arff.table import attribute_names
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.files import DAMAGED, OPENERS, check_is_file, uncompressed_name
from skml_kalda.datasets.tables.columns import (
    Features,
    classes_of,
    encoding_note,
    indicator_of,
    missing_notes,
)
from skml_kalda.datasets.tables.frames import read_frame
from skml_kalda.datasets.tables.labels import Labels, label_columns, named_columns
from skml_kalda.datasets.tables.npz import read_npz
from skml_kalda.datasets.tables.svmlight import read_svmlight

_FRAMES = (".csv", ".tsv", ".parquet", ".pq")
_SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt")
SUFFIXES = (".arff", *_FRAMES, ".npz", *_SVMLIGHT)
_SHEETS = (".xlsx", ".xls", ".ods")


def load_table(
    path: str | PathLike[str],
    *,
    labels: Labels = None,
    nominal: str = "onehot",
    ignore: Sequence[str] = (),
) -> Bunch:
    r"""Read a multi-label table: ARFF, CSV, TSV, Parquet, NumPy or svmlight.

    Parameters
    ----------
    path : path-like
        The file; its suffix determines the format. ``.arff``, ``.csv``, ``.tsv`` and the suffixes
        of svmlight files may be followed by ``.gz``, ``.bz2`` or ``.xz``.
    labels : str, list of str, int or None, default=None
        Which columns are labels: names ("a,b" or a list), patterns ("label_*"), or a number, n for
        the first n and -n for the last n. For an ARFF file it may also be a Mulan XML file, and
        None means what the file itself says. svmlight files and NumPy archives with features
        and labels need no `labels`.
    nominal : {"onehot", "drop"}, default="onehot"
        Whether columns of words become a column for each word, or are left out. ARFF files
        need "onehot".
    ignore : sequence of str, default=()
        Columns to leave out, of ARFF, CSV, TSV and Parquet files.

    Returns
    -------
    Bunch
        ``data``, an array or a CSR matrix, in which missing values are NaN. ``target``, an integer
        array of {0,1} labels; or a 1-D object array of class names if there is one label column.
        ``feature_names`` and ``target_names``. ``notes``, a list of sentences: what was encoded,
        left out or is missing.

    Raises
    ------
    TableError, ArffError
        If the file cannot be read, with the file, the line or column and the reason.

    Warns
    -----
    UserWarning
        If a column is left out, if the encoding or the decimal mark of a text file is a guess, or
        if `labels` is not used.

    See Also
    --------
    load_arff : All options for ARFF files.

    Notes
    -----
    *CSV, TSV, Parquet.* The first line has the names of the columns. Fields are separated by
    commas, semicolons, tabs or bars, whichever the first line has most of. Text is UTF-8, UTF-16
    with a byte-order mark, or else Windows-1252, with a warning. Numbers may have decimal commas
    or groups of thousands (3,14 or 1.234,5 or 1,234.5); a note says in which columns. Labels are
    0 and 1, true and false, or yes and no. Empty fields, "?" and what pandas reads as missing are
    NaN in features; in labels they are an error. Columns of words are encoded as in `load_arff`:
    those with two words become one column, those with more a column for each word, up to 1000.
    Left out are columns that identify the rows (words of which 90 % or more differ, or numbers that
    count the rows), dates, and columns without values.

    *NumPy.* An archive of `numpy.savez` with the arrays X and Y (or data and target), or one
    matrix of `scipy.sparse.save_npz`, whose first or last columns are labels.

    *svmlight.* Rows ``1,4 3:0.5 17:2``. With a first line that has the numbers of rows, features
    and labels it is a file of the Extreme Classification Repository, where all count from zero.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skml_kalda.datasets import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     _ = path.write_text("weight,coat,is_cat,is_dog\n4.2,long,1,0\n30,short,0,1\n")
    ...     pets = load_table(path, labels="is_*")
    >>> pets.feature_names, pets.target_names
    (['weight', 'coat=short'], ['is_cat', 'is_dog'])
    >>> pets.target
    array([[1, 0],
           [0, 1]])
    >>> pets.notes
    ["column 'coat' holds words: one-hot encoded in 1 column"]
    """
    path = Path(path)
    if nominal not in ("onehot", "drop"):
        raise ValueError(f'nominal must be "onehot" or "drop", not {nominal!r}')
    suffix = Path(uncompressed_name(path)).suffix.lower()
    if suffix not in SUFFIXES:
        advice = "save the sheet as CSV: " if suffix in _SHEETS else ""
        known = ", ".join(SUFFIXES)
        raise TableError(f"{advice}the suffix of the file must be one of {known}", path=path)
    check_is_file(path)
    if suffix == ".arff":
        return _arff(path, labels, nominal, ignore)
    with _naming_damage(path):
        if suffix in _FRAMES:
            return _frame(path, labels, nominal, ignore)
        if suffix == ".npz":
            return _numbers(path, *read_npz(path, labels))
        if labels is not None:
            warnings.warn(
                f"{path.name}: each row names its labels: {labels!r} is not used", stacklevel=2
            )
        return _numbers(path, *read_svmlight(path))


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        if getattr(error, "errno", None) is not None or path.suffix.lower() not in OPENERS:
            raise
        reason = f"the compressed file is damaged or cut off ({error}): copy or compress it again"
        raise TableError(reason, path=path) from error


def _arff(path: Path, labels: Labels, nominal: str, ignore: Sequence[str]) -> Bunch:
    if nominal == "drop":
        reason = 'nominal="drop" is not for ARFF files: name the attributes with ignore'
        raise TableError(reason, path=path)
    arff = read_arff(path, _arff_labels(path, labels), ignore=ignore)
    bunch = as_bunch(arff)
    if bunch.target.ndim == 2 and bunch.target.shape[1] == 1:
        bunch.target = bunch.target.ravel().astype(str).astype(object)
        bunch.target_names = sorted(set(bunch.target))
    bunch.notes = [*_encodings(arff), *missing_notes(arff.data)]
    return bunch


def _encodings(arff: Arff) -> Iterator[str]:
    for i in arff.layout.features:
        name, columns = arff.layout.attributes[i].name, arff.layout.column_names(i)
        if columns != [name]:
            yield encoding_note(name, len(columns))


def _arff_labels(path: Path, labels: Labels) -> Any:
    """Return the labels as `load_arff` takes them; patterns become names."""
    if labels is None or isinstance(labels, int) or str(labels).lower().endswith(".xml"):
        return labels
    names = attribute_names(path)
    return [names[i] for i in label_columns(names, labels, path)]


def _frame(path: Path, labels: Labels, nominal: str, ignore: Sequence[str]) -> Bunch:
    frame, notes = read_frame(path)
    for note in notes:
        warnings.warn(f"{path.name}: {note}", stacklevel=3)
    chosen = label_columns(list(frame.columns), labels, path)
    features = Features(path, nominal, notes=notes)
    left = named_columns(list(frame.columns), ignore, path, "ignore")
    for i in range(frame.shape[1]):
        if i not in {*left, *chosen}:
            features.add(frame.iloc[:, i])
    if len(chosen) == 1:
        target, names = classes_of(frame.iloc[:, chosen[0]], path)
    else:
        target = indicator_of(frame.iloc[:, chosen], path)
        names = [str(frame.columns[i]) for i in chosen]
    return _bunch(features.finish(), target, names, features.names, features.notes)


def _numbers(path: Path, data: Any, target: Any, target_names: list[str]) -> Bunch:
    """Return a table of numbers only, in which none is infinite."""
    values = data.tocoo() if issparse(data) else data
    infinite = np.argwhere(np.isinf(values.data if issparse(data) else values))
    if len(infinite):
        first = int(infinite[0, 0])
        row, column = (values.row[first], values.col[first]) if issparse(data) else infinite[0]
        reason = f"feature {column} of row {row} is {data[row, column]}, not finite"
        raise TableError(f"{reason} (both count from 0)", path=path)
    return _bunch(data, target, target_names, notes=missing_notes(data))


def _bunch(
    data: Any,
    target: Any,
    target_names: list[str],
    feature_names: list[str] | None = None,
    notes: Sequence[str] = (),
) -> Bunch:
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names or [str(number) for number in range(data.shape[1])],
        target_names=target_names,
        notes=list(notes),
    )
