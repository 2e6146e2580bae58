"""Convert the numbers of a whole block at once, to exactly what ``float`` returns.

Eight digits of a token are read at a time, as one 64-bit word. A decimal of at most 15 digits is an
integer below 2**53 divided by a power of ten. Float64 represents both exactly, so the division is
rounded correctly. NumPy converts every other token.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_WORD = 8
_EXACT_DIGITS = 15
WIDEST = 64
"""The longest token, in bytes, that is compared or converted in bulk."""
_POWERS_OF_TEN = 10.0 ** np.arange(_WORD + 1)
_NUMBER_BYTES = np.isin(np.arange(256), list(b"0123456789+-.eE\0"))
_MINUS, _DOT, _MISSING = b"-.?"


class _Decimals(NamedTuple):
    """The parts of tokens that are decimals."""

    plain: NDArray[np.bool_]
    """Whether a token is a decimal, and short enough to be read exactly."""
    negative: NDArray[np.bool_]
    point: Ints
    """Where the digits before the point end, and how many there are."""
    whole: Ints
    end: Ints
    """Where the digits after the point end, and how many there are."""
    fraction: Ints


class Tokens(NamedTuple):
    """A block of text, and the delimiters around each of its tokens."""

    text: NDArray[np.uint8]
    at: Ints
    """The positions of the bytes that are not digits."""
    kind: NDArray[np.uint8]
    """The bytes at these positions."""
    delimiter: Ints
    """Which of them are delimiters: token i is between delimiter i and delimiter i + 1."""

    def starts(self, token: Ints) -> Ints:
        """Return the position of the first byte of each token."""
        return self.at[self.delimiter[token]] + 1

    def lengths(self, token: Ints) -> Ints:
        """Return the number of bytes of each token."""
        return self.at[self.delimiter[token + 1]] - self.starts(token)

    def strings(self, token: Ints, width: int) -> NDArray[np.bytes_]:
        """Return the tokens as bytes, cut at `width`."""
        windows = np.ndarray((self.text.size - width + 1,), f"V{width}", self.text, strides=(1,))
        chars = windows[self.starts(token)].view(np.uint8)
        chars = chars.reshape(-1, width)
        chars[np.arange(width) >= self.lengths(token)[:, None]] = 0
        return chars.view(f"S{width}").ravel()

    def numbers(
        self, token: Ints | None = None, wanted: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64] | None:
        """Return the tokens, by default all, as numbers, NaN for ``?``.

        Return None if a `wanted` token, by default any, is not a number.
        """
        plain, negative, point, whole, end, fraction = self._decimals(token)
        value = _digits(self.text, point, whole * plain)
        if fraction.any():
            scale = _POWERS_OF_TEN.take(fraction, mode="clip")
            value *= scale
            value += _digits(self.text, end, fraction)
            value /= scale
        if negative.any():
            value = np.where(negative, -value, value)
        if plain.all():
            return value
        where = np.flatnonzero(~plain if wanted is None else ~plain & wanted)
        return self._mend(value, where if token is None else token[where], where)

    def _decimals(self, token: Ints | None) -> _Decimals:
        if token is None:
            edge = self.at[self.delimiter]
            before, after, start, end = self.delimiter[:-1], self.delimiter[1:], edge[:-1], edge[1:]
        else:
            before, after = self.delimiter[token], self.delimiter[token + 1]
            start, end = self.at[before], self.at[after]
        start = start + 1
        negative = (self.kind[before + 1] == _MINUS) & (self.at[before + 1] == start)
        start += negative
        dotted = self.kind[after - 1] == _DOT
        point = np.where(dotted, self.at[after - 1], end)
        whole, fraction = point - start, end - point - dotted
        digits = whole + fraction
        plain = after - before - 1 == negative.astype(np.int8) + dotted
        plain &= (digits > 0) & (digits <= _EXACT_DIGITS) & (np.maximum(whole, fraction) <= _WORD)
        return _Decimals(plain, negative, point, whole, end, fraction)

    def _mend(
        self, value: NDArray[np.float64], token: Ints, where: Ints
    ) -> NDArray[np.float64] | None:
        """Convert the tokens that are not short decimals, which is slower."""
        missing = self.lengths(token) == 1
        missing &= self.text[self.starts(token)] == _MISSING
        value[where[missing]] = np.nan
        where, token = where[~missing], token[~missing]
        if not where.size:
            return value
        width = int(self.lengths(token).max())
        if not 0 < width <= WIDEST:
            return None
        strings = self.strings(token, width)
        if not _NUMBER_BYTES[strings.view(np.uint8)].all():
            return None
        try:
            with np.errstate(over="ignore"):
                value[where] = strings.astype(np.float64)
        except ValueError:
            return None
        return value


def tokenize(block: bytes, delimiters: bytes) -> Tokens:
    """Return the tokens of a block of whole lines."""
    text = np.frombuffer(b"\0" * (_WORD - 1) + b"\n" + block + b"\0" * WIDEST, np.uint8)
    body = text[_WORD - 1 : _WORD + len(block)]
    at = np.flatnonzero((body - ord("0")) > 9)
    kind = body[at]
    is_delimiter = np.zeros(256, bool)
    is_delimiter[list(delimiters)] = True
    return Tokens(text, at + (_WORD - 1), kind, np.flatnonzero(is_delimiter[kind]))


def _digits(text: NDArray[np.uint8], end: Ints, count: Ints) -> NDArray[np.float64]:
    """Return the `count` digits before `end`, at most eight, as a number."""
    if not (count > 1).any():
        return np.where(count == 1, text[end - 1] - float(ord("0")), 0.0)
    word = _words_before(text, end)
    # The first digit is the lowest byte. Clear the bytes before it, then combine neighbours:
    # digits to pairs, pairs to fours, fours to eight.
    ahead = (8 * (_WORD - count)).astype(np.uint64)
    word >>= ahead
    word <<= ahead
    word = (word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(10 * 2**8 + 1) >> np.uint64(8)
    word = (word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(100 * 2**16 + 1) >> np.uint64(16)
    word = (word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(10000 * 2**32 + 1) >> np.uint64(32)
    return word.astype(np.float64)


def _words_before(text: NDArray[np.uint8], end: Ints) -> NDArray[np.uint64]:
    """Return the eight bytes before `end` as a little-endian word, from two aligned words."""
    words = text[: text.size // _WORD * _WORD].view("<u8")
    place = end >> 3
    shift = ((end & 7) << 3).astype(np.uint64)
    # In NumPy a shift by 64 is 0, so an aligned `end` needs no special case.
    return (words[place - 1] >> shift) | (words[place] << (np.uint64(64) - shift))
