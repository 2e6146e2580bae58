"""An open ARFF file: its layout, and its rows part by part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from skml_kalda.datasets.arff import identifiers
from skml_kalda.datasets.arff.assemble import FeatureMap, dense_parts, sparse_parts
from skml_kalda.datasets.arff.bulk import dense_block, sparse_block, tidy
from skml_kalda.datasets.arff.columns import Columns
from skml_kalda.datasets.arff.header import Header, read_header
from skml_kalda.datasets.arff.layout import Labels, Layout, check_features, find_layout
from skml_kalda.datasets.arff.rowwise import dense_rows, sparse_rows
from skml_kalda.datasets.arff.source import Source
from skml_kalda.datasets.files import opener

T = TypeVar("T")

_ROW = re.compile(rb"^[ \t]*([^\s%])", re.MULTILINE)


def check_options(nominal: str, ignore: Iterable[str]) -> None:
    """Raise an error if an option is wrong for any file."""
    if nominal not in {"onehot", "error"}:
        raise ValueError(f'nominal must be "onehot" or "error", not {nominal!r}')
    if isinstance(ignore, str):
        raise TypeError("ignore must be a list of names, not one string")


@contextmanager
def open_arff(path: Path, labels: Labels, nominal: str, ignore: Iterable[str]) -> Iterator[Table]:
    """Open an ARFF file and decide the role of each of its attributes."""
    with _open(path) as (source, header):
        layout = find_layout(header, path, labels, ignore)
        layout, left_out = _without_identifiers(layout, path)
        check_features(layout, path, nominal)
        yield Table(source, layout, left_out)


@contextmanager
def _open(path: Path) -> Iterator[tuple[Source, Header]]:
    with opener(path)(path, "rb") as stream:
        source = Source(path, stream)
        yield source, read_header(source)


def attribute_names(path: Path) -> list[str]:
    """Return the names of all attributes, in the order of the file."""
    with _open(path) as (_, header):
        return [attribute.name for attribute in header.attributes]


def _without_identifiers(layout: Layout, path: Path) -> tuple[Layout, list[str]]:
    """Leave out the features that identify the rows, which takes a look at the rows."""
    tallies = identifiers.suspects(layout)
    if tallies:
        with _open(path) as (source, _):
            table = Table(source, identifiers.as_words(layout, tallies))
            identifiers.count(table.parts(), tallies)
    return identifiers.without(layout, tallies)


class Table:
    """The data section of an open file. It is read once, from front to back."""

    def __init__(self, source: Source, layout: Layout, left_out: Iterable[str] = ()) -> None:
        self.columns = Columns(layout)
        self.features = FeatureMap(layout)
        self.left_out = tuple(f"{source.path}: {message}" for message in left_out)
        """A message for each feature that was left out because it identifies the rows."""
        self._source = source
        self._blocks = source.blocks()
        self.is_sparse = self._starts_with_a_brace()

    def _starts_with_a_brace(self) -> bool:
        for block in self._blocks:
            if first_row := _ROW.search(block):
                self._blocks = chain([block], self._blocks)
                return first_row.group(1) == b"{"
        return False

    def parts(self) -> Iterator[tuple[Any, Any]]:
        """Yield data and labels of a few rows at a time, as CSR or arrays."""
        read = self._read_sparse if self.is_sparse else self._read_dense
        return map(read, self._blocks)

    def _read_dense(self, block: bytes) -> tuple[Any, Any]:
        cells = _in_bulk(dense_block, block, self.columns)
        cells = dense_rows(block, self.columns, self._source) if cells is None else cells
        return dense_parts(cells, self.columns.layout, self.features)

    def _read_sparse(self, block: bytes) -> tuple[Any, Any]:
        entries = _in_bulk(sparse_block, block, self.columns)
        entries = sparse_rows(block, self.columns, self._source) if entries is None else entries
        return sparse_parts(entries, self.columns, self.features)


def _in_bulk(
    read: Callable[[bytes, Columns], T | None], block: bytes, columns: Columns
) -> T | None:
    """Read a block in bulk, tidied if need be; None if its rows need a closer look."""
    cells = read(block, columns)
    if cells is None and b"'" not in block and b'"' not in block:
        cells = read(tidy(block), columns)
    return cells
