"""Load a table of the user's own: its format, its labels, and what was done to read it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from fnmatch import fnmatchcase
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from skml_kalda._core.messages import did_you_mean
from skml_kalda.datasets.arff.read import header_of, read_arff
from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.files import check_is_file, naming_damage, opener, uncompressed_name
from skml_kalda.datasets.frames import Frame, encoding_note

Labels = str | int | Sequence[str] | None

_FRAMES = (".csv", ".tsv", ".parquet", ".pq")
_SUFFIXES = (".arff", *_FRAMES, ".npz", ".svm", ".svmlight", ".libsvm", ".txt")
_FEATURE_ARRAYS = ("X", "x", "data", "features")
_LABEL_ARRAYS = ("Y", "y", "target", "labels")
MOST_UNNAMED = 2**22
"""As many features or labels a file may have of which it gives only the number."""
_XC_HEADER = re.compile(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s*")
# Each digit can be matched in one way only, or a wrong row would take exponential time.
_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_SVMLIGHT_ROW = re.compile(
    rb"\s*(?:%(n)s(?:,%(n)s)*)?(?:\s+qid:\d+)?(?:\s+\d+:%(n)s)*\s*(?:#.*)?" % {b"n": _NUMBER}
)


def load_table(
    path: str | PathLike[str], *, labels: Labels = None, ignore: Sequence[str] = ()
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
    Left out are columns that identify the samples (words of which 90 % or more differ, or numbers
    that count them), dates, and columns without values.

    *NumPy.* An archive of `numpy.savez` with the arrays X and Y (or data and target).

    *svmlight.* Rows ``1,4 3:0.5 17:2``. With a first line that has the numbers of samples, features
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
    suffix = Path(uncompressed_name(path)).suffix.lower()
    if suffix not in _SUFFIXES:
        advice = "save the sheet as CSV: " if suffix in (".xlsx", ".xls", ".ods") else ""
        known = ", ".join(_SUFFIXES)
        raise TableError(f"{advice}the suffix of the file must be one of {known}", path=path)
    check_is_file(path)
    if suffix == ".arff":
        return _arff(path, labels, ignore)
    with naming_damage(path, TableError):
        if suffix in _FRAMES:
            return _frame(path, labels, ignore)
        if suffix == ".npz":
            return _numbers(path, *_read_npz(path, labels))
        return _numbers(path, *_read_svmlight(path, labels))


def _arff(path: Path, labels: Labels, ignore: Sequence[str]) -> Bunch:
    if not (labels is None or isinstance(labels, int) or str(labels).lower().endswith(".xml")):
        names = [attribute.name for attribute in header_of(path).attributes]
        labels = [names[i] for i in _label_columns(names, labels, path)]
    bunch, layout = read_arff(path, labels, ignore=ignore)
    target, target_names = bunch.target, bunch.target_names
    if target.ndim == 2 and target.shape[1] == 1:
        target, target_names = _classes(target)
    columns = {layout.attributes[i].name: layout.column_names(i) for i in layout.features}
    notes = [encoding_note(name, len(c)) for name, c in columns.items() if c != [name]]
    return _bunch(bunch.data, target, bunch.feature_names, target_names, notes)


def _frame(path: Path, labels: Labels, ignore: Sequence[str]) -> Bunch:
    table = Frame(path)
    for note in table.notes:
        warnings.warn(f"{path.name}: {note}", stacklevel=3)
    chosen = _label_columns(table.names, labels, path)
    left = {*_named_columns(table.names, ignore, path, "ignore"), *chosen}
    others = [i for i in range(len(table.names)) if i not in left]
    data, feature_names, notes = table.features(others)
    target, target_names = table.labels(chosen)
    return _bunch(data, target, feature_names, target_names, [*table.notes, *notes])


def _numbers(path: Path, data: Any, target: Any, target_names: list[str]) -> Bunch:
    """Return a table of numbers only, in which none is infinite."""
    if np.isinf(data.data if sparse.issparse(data) else data).any():
        cells = sparse.coo_matrix(data)
        first = np.flatnonzero(np.isinf(cells.data))[0]
        reason = f"feature {cells.col[first]} of row {cells.row[first]} is {cells.data[first]}"
        raise TableError(f"{reason}, not finite (both count from 0)", path=path)
    return _bunch(data, target, _numbered(data.shape[1], "features", path), target_names, [])


def _numbered(count: int, what: str, path: Path) -> list[str]:
    """Return the names of columns that have only numbers, so that a short file can ask for many."""
    if count > max(MOST_UNNAMED, size := path.stat().st_size):
        reason = f"{count} {what} in a file of {size} bytes: is one of its numbers wrong?"
        raise TableError(reason, path=path)
    return list(map(str, range(count)))


def _bunch(data: Any, target: Any, names: list[str], classes: list[str], notes: list[str]) -> Bunch:
    n_missing = int(np.isnan(data.data if sparse.issparse(data) else data).sum())
    if n_missing:
        notes = [*notes, f"{n_missing} of {data.shape[0] * data.shape[1]} values are missing"]
    return Bunch(data=data, target=target, feature_names=names, target_names=classes, notes=notes)


def _warn_if_used(path: Path, why: str, labels: Labels) -> None:
    if labels is not None:
        warnings.warn(f"{path.name}: {why}: labels={labels!r} is not used", stacklevel=4)


def parse_labels(text: str | None) -> str | int | None:
    """Return the labels that an option of a command line names.

    Examples
    --------
    >>> from skml_kalda.datasets.tables import parse_labels
    >>> parse_labels("-6"), parse_labels("label_*")
    (-6, 'label_*')
    """
    return int(text) if text is not None and re.fullmatch(r"[+-]?\d+", text) else text


def _label_columns(names: Sequence[str], labels: Labels, path: Path) -> list[int]:
    """Return the positions of the label columns."""
    if labels is None or labels == "" or isinstance(labels, bool):
        reason = "which columns are labels? Pass names ('a,b'), a pattern ('label_*'), or a"
        raise TableError(f"{reason} number: n for the first n, -n for the last n", path=path)
    if not isinstance(labels, int):
        found = _named_columns(names, labels, path, "labels")
    elif 0 < abs(labels) <= len(names):
        found = list(range(len(names)))[slice(labels) if labels > 0 else slice(labels, None)]
    else:
        reason = f"labels is {labels}, but the table has {len(names)} columns"
        raise TableError(reason, path=path)
    if len(found) == len(names):
        raise TableError("every column is a label: no feature is left", path=path)
    return found


def _named_columns(
    names: Sequence[str], given: str | Sequence[str], path: Path, option: str
) -> list[int]:
    """Return the positions of the columns with these names or patterns."""
    if isinstance(given, str):
        # A name that contains a comma can be given in a list, or alone.
        given = [given] if given in names else [each.strip() for each in given.split(",")]
    found: dict[int, None] = {}
    for pattern in given:
        matches = [i for i, name in enumerate(names) if name == pattern]
        matches = matches or [i for i, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not matches:
            shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            verb = "matches" if set(pattern) & set("*?[") else "is called"
            reason = f"no column {verb} {pattern!r} (in {option}){did_you_mean(pattern, names)}"
            raise TableError(f"{reason} (columns: {shown})", path=path)
        found |= dict.fromkeys(matches)
    return list(found)


def _read_npz(path: Path, labels: Labels) -> tuple[Any, Any, list[str]]:
    """Return the features, the labels or the classes, and their names."""
    with path.open("rb") as stream:
        try:
            archive = np.load(stream, allow_pickle=False)
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
            for name in (name for name in arrays if arrays[name].dtype.kind in "SU"):
                arrays[name] = arrays[name].astype(str).astype(object)
        except Exception as error:  # whatever zipfile, zlib, tokenize and NumPy raise
            reason = f"this is not an archive of plain arrays ({error})"
            raise TableError(reason, path=path) from error
    _warn_if_used(path, "labels have their own array", labels)
    X = _one_of(arrays, _FEATURE_ARRAYS, "features", path)
    Y = _one_of(arrays, _LABEL_ARRAYS, "labels", path)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        reason = f"the features have shape {X.shape} and type {X.dtype}: a matrix of numbers?"
        raise TableError(reason, path=path)
    if Y.ndim not in (1, 2) or len(Y) != len(X):
        reason = f"the features have shape {X.shape}, and the labels {Y.shape}"
        raise TableError(f"{reason}: one row each?", path=path)
    return X.astype(np.float64), *_target(Y, path)


def _one_of(arrays: dict[str, Any], names: tuple[str, ...], what: str, path: Path) -> Any:
    for name in names:
        if name in arrays:
            return arrays[name]
    reason = f"no array of {what}: one of {', '.join(names)} should be among"
    raise TableError(f"{reason} {', '.join(arrays) or 'its arrays'}", path=path)


def _target(Y: Any, path: Path) -> tuple[Any, list[str]]:
    if Y.ndim == 1 or Y.shape[1] == 1:
        return _classes(Y)
    for row, column in np.argwhere(~np.isin(Y, (0, 1)))[:1]:
        reason = f"label {column} of row {row} is {Y[row, column]!s}, neither 0 nor 1"
        raise TableError(reason, path=path)
    return Y.astype(np.int64), _numbered(Y.shape[1], "labels", path)


def _classes(Y: Any) -> tuple[Any, list[str]]:
    classes = Y.ravel().astype(str).astype(object)
    return classes, sorted(set(classes))


def _read_svmlight(path: Path, labels: Labels) -> tuple[Any, Any, list[str]]:
    """Return the features (CSR), the labels or the classes, and their names.

    Rows are "labels feature:value ...", where the labels are numbers with commas between them. In
    files of the Extreme Classification Repository a first line has the numbers of samples,
    features and labels, and both count from zero. Without that line, files in which every sample
    has one label have classes.
    """
    _warn_if_used(path, "each sample names its labels", labels)
    with opener(path)(path, "rb") as stream:
        lines = stream.readlines()
    header = _XC_HEADER.fullmatch(lines[0]) if lines else None
    rows = lines[1:] if header else lines
    # Slow to import, so loaded here.
    from sklearn.datasets import load_svmlight_file

    try:
        X, _ = load_svmlight_file(
            BytesIO(b"".join(rows)), n_features=int(header[2]) if header else None,
            multilabel=True, zero_based=True if header else "auto",
        )  # fmt: skip
    except (ValueError, IndexError, OverflowError) as error:
        for line, row in enumerate(rows, start=2 if header else 1):
            if not _SVMLIGHT_ROW.fullmatch(row):
                shown = row[:60].decode("utf-8", "replace").rstrip()
                reason = f"not a row of labels and feature:value pairs: {shown!r}"
                raise TableError(reason, path=path, line=line) from error
        raise TableError(str(error), path=path) from error
    if header and X.shape[0] != int(header[1]):
        reason = f"the first line says {int(header[1])} rows, and {X.shape[0]} follow"
        raise TableError(reason, path=path)
    if not X.shape[0]:
        raise TableError("the file has no rows", path=path)
    return X, *_svmlight_target(path, rows, int(header[3]) if header else None)


def _svmlight_target(path: Path, rows: list[bytes], n_labels: int | None) -> tuple[Any, list[str]]:
    """Return the labels as they stand in the file, which float64 does not hold exactly."""
    starts = [cells[0] for row in rows if (cells := row.partition(b"#")[0].split(maxsplit=1))]
    labels = ["" if b":" in start else start.decode() for start in starts]
    if n_labels is None and all(labels) and not any("," in each for each in labels):
        return np.array(labels, dtype=object), sorted(set(labels), key=_by_value)
    label_sets = [set(each.split(",")) if each else set() for each in labels]
    found = set().union(*label_sets)
    if not found:
        raise TableError("no row has a label", path=path)
    if n_labels is None:
        names = sorted(found, key=_by_value)
    else:
        names = _numbered(n_labels, "labels", path)
    for strange in sorted(found.difference(names)):
        reason = f"label {strange} is not one of the {n_labels} that the first line says"
        raise TableError(reason, path=path)
    target = np.zeros((len(label_sets), len(names)), np.int64)
    column = {label: i for i, label in enumerate(names)}
    for row, each in enumerate(label_sets):
        target[row, [column[label] for label in each]] = 1
    return target, names


def _by_value(label: str) -> tuple[float, str]:
    return float(label), label
