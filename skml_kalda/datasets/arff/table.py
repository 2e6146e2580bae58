"""An open ARFF file: its layout, and its rows part by part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ._assemble import FeatureMap, dense_parts, sparse_parts
from ._blocks import dense_block, sparse_block, tidy
from ._columns import Columns
from ._header import read_header
from ._layout import Labels, find_layout
from ._rows import dense_rows, sparse_rows
from ._source import Source, opener

__all__ = ["Table", "check_options", "open_arff"]

T = TypeVar("T")

_ROW = re.compile(rb"^[ \t]*([^\s%])", re.MULTILINE)


def check_options(nominal: str, ignore: Iterable[str]) -> None:
    """Refuse options that no file could make sense of."""
    if nominal not in {"onehot", "error"}:
        raise ValueError(f'nominal must be "onehot" or "error", not {nominal!r}')
    if isinstance(ignore, str):
        raise TypeError("ignore must be a list of names, not one string")


@contextmanager
def open_arff(path: Path, labels: Labels, nominal: str, ignore: Iterable[str]) -> Iterator[Table]:
    """Open an ARFF file and read its header."""
    with opener(path)(path, "rb") as stream:
        source = Source(path, stream)
        layout = find_layout(read_header(source), path, labels, nominal, ignore)
        yield Table(source, Columns(layout), FeatureMap(layout))


class Table:
    """The data section of an open file, which is read once from front to back."""

    def __init__(self, source: Source, columns: Columns, features: FeatureMap) -> None:
        self.columns = columns
        self.features = features
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
        """Give data and labels of a few rows at a time, CSR or arrays."""
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
    """Read a block in bulk as it is, else after tidying; None where that cannot be done."""
    cells = read(block, columns)
    if cells is None and b"'" not in block and b'"' not in block:
        cells = read(tidy(block), columns)
    return cells
