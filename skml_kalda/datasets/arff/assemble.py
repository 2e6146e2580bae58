"""Turn cells into the arrays of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from skml_kalda.datasets.arff.bulk import Entries
from skml_kalda.datasets.arff.columns import Columns
from skml_kalda.datasets.arff.layout import Layout


class FeatureMap:
    """The columns of the data that each attribute fills."""

    def __init__(self, layout: Layout) -> None:
        self.first = np.full(len(layout.attributes), -1)
        """The first column of each attribute, -1 if it is not a feature."""
        self.width = np.ones(len(layout.attributes), np.int64)
        self.one_hot = np.zeros(len(layout.attributes), bool)
        self.names: list[str] = []
        for i in layout.features:
            names = layout.column_names(i)
            self.first[i] = len(self.names)
            self.one_hot[i] = layout.one_hot(i)
            self.width[i] = len(names)
            self.names += names


class GrowingArray:
    """An array that grows in place. Joining a list of blocks would need twice the memory."""

    def __init__(self, n_columns: int, dtype: type) -> None:
        self._rows: NDArray[Any] = np.empty((0, n_columns), dtype)
        self._size = 0

    def append(self, block: NDArray[Any]) -> None:
        """Append the rows of a block."""
        size = self._size + len(block)
        if size > len(self._rows):
            self._resize(size + size // 8)
        self._rows[self._size : size] = block
        self._size = size

    def finish(self) -> NDArray[Any]:
        """Return the rows without spare room."""
        self._resize(self._size)
        return self._rows

    def _resize(self, n_rows: int) -> None:
        self._rows.resize((n_rows, self._rows.shape[1]), refcheck=False)


def dense_parts(
    cells: NDArray[np.float64], layout: Layout, features: FeatureMap
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Split a block of cells into data and labels."""
    labels = cells[:, layout.labels].astype(np.int64)
    if not features.one_hot.any():
        return cells[:, _as_slice(layout.features)], labels
    data = np.zeros((len(cells), len(features.names)))
    plain = [i for i in layout.features if not features.one_hot[i]]
    data[:, features.first[plain]] = cells[:, plain]
    for i in np.flatnonzero(features.one_hot):
        first, missing = features.first[i], np.isnan(cells[:, i])
        here = np.flatnonzero(~missing)
        data[here, first + cells[here, i].astype(np.int64)] = 1
        data[missing, first : first + features.width[i]] = np.nan
    return data, labels


def sparse_parts(
    entries: Entries, columns: Columns, features: FeatureMap
) -> tuple[csr_matrix, csr_matrix]:
    """Split a block of entries into data and labels."""
    n_rows, row, column, value = _with_omitted(entries, columns, features)
    layout = columns.layout
    place = np.full(columns.n_attributes, -1)
    place[list(layout.labels)] = np.arange(len(layout.labels))
    is_label = place[column] >= 0
    shape = (n_rows, len(layout.labels))
    labels = _csr(value[is_label].astype(np.int64), row[is_label], place[column[is_label]], shape)
    is_feature = features.first[column] >= 0
    data = _spread(row[is_feature], column[is_feature], value[is_feature], features)
    return _csr(*data, (n_rows, len(features.names))), labels


def as_target(labels: Any, layout: Layout, sparse_labels: bool) -> Any:
    """Return the labels in the form the user asked for: names of classes, or indicators."""
    if sparse_labels and not layout.single:
        return csr_matrix(labels)
    labels = labels if isinstance(labels, np.ndarray) else labels.toarray()
    if not layout.single:
        return labels
    return np.array(layout.attributes[layout.labels[0]].categories, object)[labels.ravel()]


def _as_slice(positions: tuple[int, ...]) -> slice | list[int]:
    """Return consecutive positions as a slice, which makes no copy."""
    run = slice(positions[0], positions[-1] + 1)
    return run if len(positions) == run.stop - run.start else list(positions)


def _with_omitted(entries: Entries, columns: Columns, features: FeatureMap) -> Entries:
    """Add the nominal cells that sparse rows leave out and that do not stand for zero."""
    named = np.flatnonzero((columns.omitted != 0) | features.one_hot)
    if not named.size:
        return entries
    place = np.full(columns.n_attributes, -1)
    place[named] = np.arange(len(named))
    present = np.zeros((entries.n_rows, len(named)), bool)
    here = place[entries.column] >= 0
    present[entries.row[here], place[entries.column[here]]] = True
    row, which = np.nonzero(~present)
    return Entries(
        entries.n_rows,
        np.concatenate([entries.row, row]),
        np.concatenate([entries.column, named[which]]),
        np.concatenate([entries.value, columns.omitted[named[which]]]),
    )


def _spread(row: Any, column: Any, value: Any, features: FeatureMap) -> tuple[Any, Any, Any]:
    """Turn the categories of one-hot features into columns; a missing value is NaN in each."""
    one_hot = features.one_hot[column]
    missing = one_hot & np.isnan(value)
    here = features.first[column] + np.where(one_hot & ~missing, value, 0).astype(np.int64)
    value = np.where(one_hot & ~missing, 1.0, value)
    if not missing.any():
        return value, row, here
    repeat = np.where(missing, features.width[column], 1)
    first = np.repeat(np.cumsum(repeat) - repeat, repeat)
    step = np.arange(repeat.sum()) - first
    return np.repeat(value, repeat), np.repeat(row, repeat), np.repeat(here, repeat) + step


def _csr(value: Any, row: Any, column: Any, shape: tuple[int, int]) -> csr_matrix:
    matrix = csr_matrix((value, (row, column)), shape=shape)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
