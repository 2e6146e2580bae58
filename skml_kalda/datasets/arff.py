"""Read ARFF files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.utils import Bunch

from ._assemble import FeatureMap, GrowingArray, dense_parts, sparse_parts
from ._blocks import dense_block, sparse_block, tidy
from ._columns import Columns
from ._header import read_header
from ._layout import Labels, Layout, find_layout
from ._rows import dense_rows, sparse_rows
from ._source import Source, opener

__all__ = ["load_arff"]

T = TypeVar("T")

_ROW = re.compile(rb"^[ \t]*([^\s%])", re.MULTILINE)


class Arff(NamedTuple):
    """A file as read, before it is made into a Bunch."""

    data: Any
    labels: Any
    """Indicators, or the positions of the classes in a single column."""
    layout: Layout
    feature_names: list[str]


def load_arff(
    path: str | PathLike[str],
    *,
    labels: Labels = None,
    sparse_labels: bool = False,
    nominal: str = "onehot",
    ignore: Iterable[str] = (),
) -> Bunch:
    r"""Read an ARFF file, dense or sparse, plain or compressed (.gz, .bz2, .xz).

    Parameters
    ----------
    path : path-like
        The file.
    labels : path-like, list of str, int or None, default=None
        Which attributes are the labels: a Mulan XML file, their names, or their number (n for the
        first n, -n for the last n, as in MEKA). None takes the XML file of the same name beside the
        file, else the ``-C`` of the relation, else the one nominal attribute as class (or the last
        one if it is called "class").
    sparse_labels : bool, default=False
        Whether the {0,1} labels are given as CSR instead of as an array.
    nominal : {"onehot", "error"}, default="onehot"
        What happens to nominal features other than {0,1}, which are always read as numbers: a
        column ``name=category`` each, or an error.
    ignore : iterable of str, default=()
        Attributes to leave out. String and date attributes can only be left out.

    Returns
    -------
    Bunch
        ``data``, an array, or a CSR matrix for sparse ARFF; missing values are NaN.
        ``target``, an integer array of {0,1} labels, CSR if asked for, or a 1-D object array of
        class names. ``feature_names``, and ``target_names``: the labels in the order of the file
        (in the given order for a list of names), or the classes.

    Raises
    ------
    ArffError
        If the file cannot be read, with the file, the line and the reason.

    Notes
    -----
    In sparse ARFF a nominal value that is left out is the first category, not zero.
    ``integer`` attributes are read as numbers, as Weka does: 1.5 stays 1.5.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skml_kalda.datasets import load_arff
    >>> text = "@relation 'toy: -C 2'\n@attribute cat {0,1}\n@attribute dog {0,1}\n"
    >>> text += "@attribute weight numeric\n@data\n1,0,4.2\n0,1,?\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.arff")
    ...     _ = path.write_text(text)
    ...     toy = load_arff(path)
    >>> toy.target_names
    ['cat', 'dog']
    >>> toy.target
    array([[1, 0],
           [0, 1]])
    >>> toy.data
    array([[4.2],
           [nan]])
    """
    return as_bunch(read_arff(path, labels, nominal, ignore), sparse_labels)


def read_arff(
    path: str | PathLike[str],
    labels: Labels = None,
    nominal: str = "onehot",
    ignore: Iterable[str] = (),
) -> Arff:
    """Read an ARFF file into arrays, with its layout."""
    if nominal not in {"onehot", "error"}:
        raise ValueError(f'nominal must be "onehot" or "error", not {nominal!r}')
    if isinstance(ignore, str):
        raise TypeError("ignore must be a list of names, not one string")
    path = Path(path)
    with opener(path)(path, "rb") as stream:
        source = Source(path, stream)
        layout = find_layout(read_header(source), path, labels, nominal, ignore)
        features = FeatureMap(layout)
        data, target = _read_data(source, Columns(layout), features)
    return Arff(data, target, layout, features.names)


def as_bunch(arff: Arff, sparse_labels: bool = False) -> Bunch:
    """Present a file to the user."""
    names = [arff.layout.attributes[i].name for i in arff.layout.labels]
    target = arff.labels
    if arff.layout.single:
        classes = arff.layout.attributes[arff.layout.labels[0]].categories
        names, target = list(classes), np.array(classes, object)[_dense(target).ravel()]
    else:
        target = csr_matrix(target) if sparse_labels else _dense(target)
    return Bunch(
        data=arff.data, target=target, feature_names=arff.feature_names, target_names=names
    )


def _dense(labels: Any) -> Any:
    return labels if isinstance(labels, np.ndarray) else labels.toarray()


def _read_data(source: Source, columns: Columns, features: FeatureMap) -> tuple[Any, Any]:
    blocks = source.blocks()
    for block in blocks:
        if first_row := _ROW.search(block):
            read = _read_sparse if first_row.group(1) == b"{" else _read_dense
            return read(chain([block], blocks), source, columns, features)
    return _read_dense(blocks, source, columns, features)


def _read_dense(
    blocks: Iterable[bytes], source: Source, columns: Columns, features: FeatureMap
) -> tuple[Any, Any]:
    data = GrowingArray(len(features.names), np.float64)
    labels = GrowingArray(len(columns.layout.labels), np.int64)
    for block in blocks:
        cells = _in_bulk(dense_block, block, columns)
        cells = dense_rows(block, columns, source) if cells is None else cells
        data_part, labels_part = dense_parts(cells, columns.layout, features)
        data.append(data_part)
        labels.append(labels_part)
    return data.finish(), labels.finish()


def _read_sparse(
    blocks: Iterable[bytes], source: Source, columns: Columns, features: FeatureMap
) -> tuple[Any, Any]:
    parts = []
    for block in blocks:
        entries = _in_bulk(sparse_block, block, columns)
        entries = sparse_rows(block, columns, source) if entries is None else entries
        parts.append(sparse_parts(entries, columns, features))
    data, labels = zip(*parts, strict=True)
    return vstack(data), vstack(labels)


def _in_bulk(
    read: Callable[[bytes, Columns], T | None], block: bytes, columns: Columns
) -> T | None:
    """Read a block in bulk as it is, else after tidying; None where that cannot be done."""
    cells = read(block, columns)
    if cells is None and b"'" not in block and b'"' not in block:
        cells = read(tidy(block), columns)
    return cells
