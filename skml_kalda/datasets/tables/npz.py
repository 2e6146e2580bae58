"""NumPy archives: features and labels under their names, or one sparse matrix."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skml_kalda.datasets.errors import TableError
from skml_kalda.datasets.tables.labels import Labels, label_columns

_FEATURES = ("X", "x", "data", "features")
_LABELS = ("Y", "y", "target", "labels")


def read_npz(path: Path, labels: Labels) -> tuple[Any, Any, list[str]]:
    """Return the features, the labels or the classes, and their names."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise TableError(f"this is not an archive of plain arrays ({error})", path=path) from error
    if "format" in arrays:
        return _divided(sparse.csr_matrix(sparse.load_npz(path)), labels, path)
    if labels is not None:
        warnings.warn(
            f"{path.name}: labels have their own array: {labels!r} is not used", stacklevel=3
        )
    X = _one_of(arrays, _FEATURES, "features", path)
    Y = _one_of(arrays, _LABELS, "labels", path)
    if X.ndim != 2 or not np.issubdtype(X.dtype, np.number) or np.iscomplexobj(X):
        reason = f"the features have shape {X.shape} and type {X.dtype}: a matrix of numbers?"
        raise TableError(reason, path=path)
    if Y.ndim not in (1, 2) or len(Y) != len(X):
        reason = f"the features have shape {X.shape}, and the labels {Y.shape}"
        raise TableError(f"{reason}: one row each?", path=path)
    return X.astype(np.float64), *_target(Y, path)


def _one_of(arrays: dict[str, Any], names: tuple[str, ...], what: str, path: Path) -> Any:
    found = [name for name in names if name in arrays]
    if not found:
        reason = f"no array of {what}: one of {', '.join(names)} should be among"
        raise TableError(f"{reason} {', '.join(arrays) or 'its arrays'}", path=path)
    return arrays[found[0]]


def _divided(matrix: sparse.csr_matrix, labels: Labels, path: Path) -> tuple[Any, Any, list[str]]:
    """Divide the columns of one matrix into features and labels."""
    if isinstance(labels, str) or labels is None:
        reason = "one sparse matrix: labels must be a number, n for the first n columns or -n"
        raise TableError(f"{reason} for the last n", path=path)
    chosen = label_columns(list(map(str, range(matrix.shape[1]))), labels, path)
    others = np.setdiff1d(np.arange(matrix.shape[1]), chosen)
    return matrix[:, others].astype(np.float64), *_target(matrix[:, chosen].toarray(), path)


def _target(Y: Any, path: Path) -> tuple[Any, list[str]]:
    if Y.ndim == 1 or Y.shape[1] == 1:
        classes = Y.ravel().astype(str).astype(object)
        return classes, sorted(set(classes))
    if not np.isin(Y, (0, 1)).all():
        row, column = np.argwhere(~np.isin(Y, (0, 1)))[0]
        reason = f"label {column} of row {row} is {Y[row, column]!s}, neither 0 nor 1"
        raise TableError(reason, path=path)
    return Y.astype(np.int64), list(map(str, range(Y.shape[1])))
