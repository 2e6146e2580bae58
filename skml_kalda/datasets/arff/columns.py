"""How the cells of each attribute become numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skml_kalda.datasets.arff.layout import Layout
from skml_kalda.datasets.arff.quoting import is_plain, shown
from skml_kalda.datasets.arff.tokens import WIDEST, Ints, Tokens
from skml_kalda.datasets.errors import ArffError

NUMERIC, IGNORED = 0, -1

_Reader = Callable[[Tokens, Ints], NDArray[np.float64] | None]


@dataclass(frozen=True)
class Nominal:
    """Categories, and the number that each stands for: its value, or its position."""

    categories: tuple[str, ...]
    values: tuple[float, ...]

    def read(self, tokens: Tokens, token: Ints) -> NDArray[np.float64] | None:
        """Return the numbers of the tokens, NaN for ``?``; None if one is not declared."""
        if self._lookup is None:
            return None
        names, values = self._lookup
        strings = tokens.strings(token, names.dtype.itemsize + 1)
        place = np.searchsorted(names, strings)
        place[place == names.size] = 0
        return values[place] if (names[place] == strings).all() else None

    def number(self, text: str | None) -> float | None:
        """Return the number of a category, NaN for a missing one; None if it is not declared."""
        return self._numbers.get(text)

    @cached_property
    def _numbers(self) -> dict[str | None, float]:
        return {None: np.nan, **dict(zip(self.categories, self.values, strict=True))}

    @cached_property
    def _lookup(self) -> tuple[NDArray[np.bytes_], NDArray[np.float64]] | None:
        """The sorted categories that need no quotes, with their numbers; None if one is long."""
        words = zip(self.categories, self.values, strict=True)
        # `bulk` leaves rows with a NUL to `rowwise`: NumPy drops it at the end of a string.
        known = {w.encode(): value for w, value in words if is_plain(w) and "\0" not in w}
        # An unquoted ? is a missing value, even if a category has this name.
        known[b"?"] = np.nan
        if max(map(len, known)) >= WIDEST:
            return None
        names = sorted(known)
        return np.array(names), np.array([known[name] for name in names])


class Words:
    """Free text. Each different text gets the next number, from 1."""

    def __init__(self) -> None:
        self.values = (0.0,)
        # Hashes instead of the texts, which may be long.
        self._numbers: dict[int, float] = {hash(None): np.nan}

    def read(self, tokens: Tokens, token: Ints) -> NDArray[np.float64] | None:
        """Return the numbers of the tokens, NaN for ``?``; None if one needs a closer look."""
        lengths = tokens.lengths(token)
        width = int(lengths.max(initial=1))
        if width > WIDEST or not lengths.all():
            return None
        words, place = np.unique(tokens.strings(token, width), return_inverse=True)
        try:
            texts = [None if word == b"?" else word.decode() for word in words.tolist()]
        except UnicodeDecodeError:
            return None
        return np.array([self.number(text) for text in texts], float)[place]

    def number(self, text: str | None) -> float:
        """Return the number of a text, NaN for a missing one."""
        return self._numbers.setdefault(hash(text), float(len(self._numbers)))


class Columns:
    """The attributes, grouped by the way their cells are read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_attributes = len(layout.attributes)
        groups: dict[Nominal | Words, int] = {}
        self.group = np.full(self.n_attributes, IGNORED)
        """For each attribute NUMERIC, IGNORED, or from 1 the number of its group of words."""
        for i in (*layout.features, *layout.labels):
            words = _words(layout, i)
            self.group[i] = NUMERIC if words is None else groups.setdefault(words, len(groups) + 1)
        self.words = list(groups)
        self._readers: list[_Reader] = [Tokens.numbers, *(words.read for words in groups)]
        self._ignored = np.flatnonzero(self.group == IGNORED)
        self.has_text = bool(self._ignored.size) or any(isinstance(w, Words) for w in groups)
        """Whether some cells may contain any text."""
        self.is_label = np.isin(np.arange(self.n_attributes), layout.labels)
        self.omitted = np.array([self._omitted(group) for group in self.group])
        """What a cell left out of a sparse row stands for: zero, or the first category."""

    def read_table(self, tokens: Tokens, n_rows: int) -> NDArray[np.float64] | None:
        """Read tokens that fill a table; None if a row needs a closer look."""
        shape = (n_rows, self.n_attributes)
        cells = tokens.numbers(wanted=np.broadcast_to(self.group == NUMERIC, shape).ravel())
        if cells is None:
            return None
        cells = cells.reshape(shape)
        first = np.arange(n_rows)[:, None] * self.n_attributes
        for number, words in enumerate(self.words, 1):
            columns = np.flatnonzero(self.group == number)
            part = words.read(tokens, (first + columns).ravel())
            if part is None:
                return None
            cells[:, columns] = part.reshape(n_rows, columns.size)
        if not tokens.lengths((first + self._ignored).ravel()).all():
            return None
        return cells if self._are_labels(cells[:, self.is_label]) else None

    def read(self, tokens: Tokens, token: Ints, column: Ints) -> NDArray[np.float64] | None:
        """Read tokens of the given columns; None if one needs a closer look."""
        group = self.group[column]
        cells = np.zeros(token.size)
        for number, read in enumerate(self._readers):
            where = np.flatnonzero(group == number)
            part = read(tokens, token[where])
            if part is None:
                return None
            cells[where] = part
        return cells if self._are_labels(cells[self.is_label[column]]) else None

    def _are_labels(self, cells: NDArray[np.float64]) -> bool:
        good = ~np.isnan(cells) if self.layout.single else (cells == 0) | (cells == 1)
        return bool(good.all())

    def cell(self, i: int, text: str | None) -> float:
        """Read one cell; raise an ArffError with the reason if that is not possible."""
        group = self.group[i]
        if group == IGNORED:
            return 0.0
        name = shown(self.layout.attributes[i].name)
        if self.is_label[i] and text is None:
            raise ArffError(f"the label {name} is missing")
        value = _number(name, text) if group == NUMERIC else self.words[group - 1].number(text)
        if value is None:
            raise ArffError(f"{shown(str(text))} is not a declared category of {name}")
        if self.is_label[i] and not self.layout.single and value not in (0.0, 1.0):
            raise ArffError(f"the label {name} is {value:g}, neither 0 nor 1")
        return value

    def _omitted(self, group: int) -> float:
        return self.words[group - 1].values[0] if group > NUMERIC else 0.0


def _words(layout: Layout, i: int) -> Nominal | Words | None:
    """Return the words of a nominal or string attribute, None for a numeric one."""
    attribute = layout.attributes[i]
    if attribute.kind == "string":
        return Words()
    if not attribute.categories:
        return None
    values = layout.values(i)
    positions = range(len(attribute.categories))
    return Nominal(attribute.categories, tuple(map(float, positions if values is None else values)))


def _number(name: str, text: str | None) -> float:
    if text is None:
        return np.nan
    try:
        # float() also reads "1_000" and the digits of other scripts, which are not ARFF.
        if "_" in text or not text.isascii():
            raise ValueError
        return float(text)
    except ValueError:
        raise ArffError(f"{shown(text)} is not a number, for {name}") from None
