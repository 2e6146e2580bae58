"""Read blocks of plain data rows in bulk. `rowwise` reads the others."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skml_kalda.datasets.arff.columns import Columns
from skml_kalda.datasets.arff.tokens import Ints, Tokens, tokenize

_SPACE_AROUND = re.compile(rb"[ \t]*([{},\n])[ \t]*")
_SPACES = re.compile(rb"[ \t]+")
_SPACE_BEYOND_ASCII = re.compile(r"[^\S\x00-\x7f]")
_ODD_SPACES = b"\x0b\x0c\x1c\x1d\x1e\x1f"
_DIGITS_OF_INDEX = 8


class Entries(NamedTuple):
    """The cells that a block of sparse rows lists."""

    n_rows: int
    row: Ints
    column: Ints
    value: NDArray[np.float64]


def tidy(block: bytes) -> bytes:
    """Remove blank lines, comments and needless spaces from a block without quotes."""
    block = _SPACE_AROUND.sub(rb"\1", _SPACES.sub(b" ", b"\n" + block))
    lines = [line for line in block.split(b"\n") if line and not line.startswith(b"%")]
    return b"\n".join([*lines, b""])


def dense_block(block: bytes, columns: Columns) -> NDArray[np.float64] | None:
    """Read dense rows in bulk; None if a row needs a closer look."""
    if not _is_plain(block, columns, _ODD_SPACES + b" \t{}"):
        return None
    n_columns = columns.n_attributes
    tokens = tokenize(block, b",\n")
    row_end = np.flatnonzero(tokens.kind[tokens.delimiter] == ord("\n"))
    n_rows = row_end.size - 1
    if not np.array_equal(row_end, np.arange(n_rows + 1) * n_columns):
        return None
    return columns.read_table(tokens, n_rows)


def sparse_block(block: bytes, columns: Columns) -> Entries | None:
    """Read sparse rows in bulk; None if a row needs a closer look."""
    if not _is_plain(block, columns, _ODD_SPACES + b"\t"):
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


def _is_plain(block: bytes, columns: Columns, odd: bytes) -> bool:
    """Whether a block has no quotes or comments, and no odd characters in columns of text."""
    # A fixed-width string of NumPy drops a NUL at its end.
    odd = b"'\"\0" + (odd if columns.has_text else b"")
    if any(char in block for char in odd) or block.startswith(b"%") or b"\n%" in block:
        return False
    return not columns.has_text or _is_plain_text(block)


def _is_plain_text(block: bytes) -> bool:
    """Whether a block is UTF-8, without spaces of other scripts."""
    try:
        return block.isascii() or not _SPACE_BEYOND_ASCII.search(block.decode())
    except UnicodeDecodeError:
        return False


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
    """Return for pairs of delimiters 1 if no word is between, 2 if one is, 0 if not allowed."""
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
