"""Blocks of data rows to cells, in bulk where the text is plain, row by row where it is not."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._columns import Columns
from ._numbers import Ints, Tokens, tokenize

__all__ = ["Entries", "dense_block", "sparse_block", "tidy"]

_SPACE_AROUND = re.compile(rb"[ \t]*([{},\n])[ \t]*")
_SPACES = re.compile(rb"[ \t]+")
_DIGITS_OF_INDEX = 8


class Entries(NamedTuple):
    """The cells that a block of sparse rows names."""

    n_rows: int
    row: Ints
    column: Ints
    value: NDArray[np.float64]


def tidy(block: bytes) -> bytes:
    """Take blank lines, comments and needless spaces out of a block without quotes."""
    block = _SPACE_AROUND.sub(rb"\1", _SPACES.sub(b" ", b"\n" + block))
    lines = [line for line in block.split(b"\n") if line and not line.startswith(b"%")]
    return b"\n".join([*lines, b""])


def dense_block(block: bytes, columns: Columns) -> NDArray[np.float64] | None:
    """Read dense rows in bulk; None where a row takes a closer look."""
    if _needs_a_closer_look(block):
        return None
    n_columns = columns.n_attributes
    tokens = tokenize(block, b",\n")
    row_end = np.flatnonzero(tokens.kind[tokens.delimiter] == ord("\n"))
    n_rows = row_end.size - 1
    if not np.array_equal(row_end, np.arange(n_rows + 1) * n_columns):
        return None
    return columns.read_table(tokens, n_rows)


def sparse_block(block: bytes, columns: Columns) -> Entries | None:
    """Read sparse rows in bulk; None where a row takes a closer look."""
    if _needs_a_closer_look(block):
        return None
    tokens = tokenize(block, b"{ ,}\n")
    kind = tokens.kind[tokens.delimiter]
    if not _well_formed(kind, np.diff(tokens.at[tokens.delimiter]) > 1):
        return None
    key = np.flatnonzero(kind[1:] == ord(" "))
    index = _indices(tokens, key, columns.n_attributes)
    if index is None:
        return None
    row_end = np.flatnonzero(kind[1:] == ord("\n"))
    row = np.searchsorted(row_end, key)
    if (np.diff(row * columns.n_attributes + index) <= 0).any():
        return None
    value = columns.read(tokens, key + 1, index)
    return None if value is None else Entries(row_end.size, row, index, value)


def _needs_a_closer_look(block: bytes) -> bool:
    # A NUL would be lost at the end of a fixed-width string.
    return b"'" in block or b'"' in block or b"\0" in block


def _indices(tokens: Tokens, key: Ints, n_attributes: int) -> Ints | None:
    digits = tokens.lengths(key)
    pure = tokens.delimiter[key + 1] - tokens.delimiter[key] == 1
    if not pure.all() or (digits > _DIGITS_OF_INDEX).any():
        return None
    index = tokens.numbers(key)
    if index is None or (index >= n_attributes).any():
        return None
    return index.astype(np.int64)


def _followers() -> NDArray[np.int8]:
    """Tell for each two delimiters if they follow with no word (1) or a word (2) between."""
    follows = np.zeros((256, 256), np.int8)
    for pair in (b"\n{", b"{}", b"}\n"):
        follows[tuple(pair)] = 1
    for pair in (b"{ ", b" ,", b", ", b" }"):
        follows[tuple(pair)] = 2
    return follows.ravel()


_FOLLOWS = _followers()


def _well_formed(kind: NDArray[np.uint8], word_between: NDArray[np.bool_]) -> bool:
    pair = kind[:-1].astype(np.intp) * 256 + kind[1:]
    return bool((_FOLLOWS[pair] == 1 + word_between).all())
