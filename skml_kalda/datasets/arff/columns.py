"""How the cells of a data section are read, attribute by attribute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._errors import ArffError
from ._layout import Layout
from ._numbers import WIDEST, Ints, Tokens
from ._quoting import shown

__all__ = ["Columns", "Nominal"]

NUMERIC, IGNORED = 0, -1

_Reader = Callable[[Tokens, Ints], NDArray[np.float64] | None]


@dataclass(frozen=True)
class Nominal:
    """Categories, and the number that each stands for: its value, or its position."""

    categories: tuple[str, ...]
    values: tuple[float, ...]

    def read(self, tokens: Tokens, token: Ints) -> NDArray[np.float64] | None:
        """Give the numbers of the tokens, ``?`` as NaN; None where one is not declared."""
        names, values = self._lookup
        width = names.dtype.itemsize + 1
        if width > WIDEST:
            return None
        strings = tokens.strings(token, width)
        place = np.searchsorted(names, strings)
        place[place == names.size] = 0
        return values[place] if (names[place] == strings).all() else None

    @cached_property
    def numbers(self) -> dict[str | None, float]:
        """What each category stands for; None, a missing value, for NaN."""
        return {None: np.nan, **dict(zip(self.categories, self.values, strict=True))}

    @cached_property
    def _lookup(self) -> tuple[NDArray[np.bytes_], NDArray[np.float64]]:
        # An unquoted ? is a missing value even where a category is called so.
        known = {c.encode(): v for c, v in zip(self.categories, self.values, strict=True)}
        known[b"?"] = np.nan
        names = sorted(known)
        return np.array(names), np.array([known[name] for name in names])


class Columns:
    """The attributes grouped by the way their cells are read."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.n_attributes = len(layout.attributes)
        groups: dict[Nominal, int] = {}
        self.group = np.full(self.n_attributes, IGNORED)
        """For each attribute NUMERIC, IGNORED, or from 1 the number of its nominal group."""
        for i in (*layout.features, *layout.labels):
            self.group[i] = NUMERIC
            if categories := layout.attributes[i].categories:
                nominal = Nominal(categories, _values(layout, i))
                self.group[i] = groups.setdefault(nominal, len(groups) + 1)
        self.nominal = list(groups)
        self._readers: list[_Reader] = [Tokens.numbers, *(nominal.read for nominal in groups)]
        self.is_label = np.isin(np.arange(self.n_attributes), layout.labels)
        self.omitted = np.array([self._omitted(group) for group in self.group])
        """What a cell left out of a sparse row stands for: zero, or the first category."""

    def read_table(self, tokens: Tokens, n_rows: int) -> NDArray[np.float64] | None:
        """Read tokens that fill a table in bulk; None where it takes a closer look."""
        shape = (n_rows, self.n_attributes)
        cells = tokens.numbers(wanted=np.broadcast_to(self.group == NUMERIC, shape).ravel())
        if cells is None:
            return None
        cells = cells.reshape(shape)
        first = np.arange(n_rows)[:, None] * self.n_attributes
        for number, nominal in enumerate(self.nominal, 1):
            columns = np.flatnonzero(self.group == number)
            part = nominal.read(tokens, (first + columns).ravel())
            if part is None:
                return None
            cells[:, columns] = part.reshape(n_rows, columns.size)
        return cells if self._are_labels(cells[:, self.is_label]) else None

    def read(self, tokens: Tokens, token: Ints, column: Ints) -> NDArray[np.float64] | None:
        """Read tokens of the given columns in bulk; None where it takes a closer look."""
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
        """Read one cell, with the reason where that cannot be done."""
        group = self.group[i]
        if group == IGNORED:
            return 0.0
        name = shown(self.layout.attributes[i].name)
        if self.is_label[i] and text is None:
            raise ArffError(f"the label {name} is missing")
        value = _number(name, text) if group == NUMERIC else self._category(i, text)
        if self.is_label[i] and not self.layout.single and value not in (0.0, 1.0):
            raise ArffError(f"the label {name} is {value:g}, neither 0 nor 1")
        return value

    def _omitted(self, group: int) -> float:
        return self.nominal[group - 1].values[0] if group > NUMERIC else 0.0

    def _category(self, i: int, text: str | None) -> float:
        numbers = self.nominal[self.group[i] - 1].numbers
        if text not in numbers:
            name = shown(self.layout.attributes[i].name)
            raise ArffError(f"{shown(str(text))} is not a declared category of {name}")
        return numbers[text]


def _values(layout: Layout, i: int) -> tuple[float, ...]:
    values = layout.values(i)
    positions = range(len(layout.attributes[i].categories))
    return tuple(map(float, positions if values is None else values))


def _number(name: str, text: str | None) -> float:
    if text is None:
        return np.nan
    try:
        # float() also knows "1_000" and digits of other scripts, which are no ARFF numbers.
        if "_" in text or not text.isascii():
            raise ValueError
        return float(text)
    except ValueError:
        raise ArffError(f"{shown(text)} is not a number, for {name}") from None
