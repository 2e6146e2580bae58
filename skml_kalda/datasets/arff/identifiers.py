"""Features that identify the rows instead of describing them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from skml_kalda.datasets.arff.header import Attribute
from skml_kalda.datasets.arff.layout import Layout

SHARE = 0.9
FEWEST_ROWS = 10
MOST_ROWS = 100_000


@dataclass
class Tally:
    """The different values of a feature in the rows seen so far; missing ones do not count."""

    position: int
    n_categories: float
    """The number of declared categories, infinity for a string."""
    n_rows: int = 0
    values: set[float] = field(default_factory=set)

    def add(self, cells: NDArray[np.float64]) -> None:
        """Add the cells of some rows."""
        known = cells[~np.isnan(cells)]
        self.n_rows += known.size
        self.values.update(np.unique(known).tolist())

    def may_identify(self) -> bool:
        """Whether there are enough categories for nearly every row seen to differ."""
        return self.n_categories >= SHARE * self.n_rows

    def identifies(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.n_rows >= FEWEST_ROWS and len(self.values) >= SHARE * self.n_rows


def suspects(layout: Layout) -> list[Tally]:
    """Return an empty tally for each feature that may turn out to be an identifier."""
    tallies = [Tally(i, _n_values(layout.attributes[i])) for i in layout.features]
    return [tally for tally in tallies if tally.n_categories >= SHARE * FEWEST_ROWS]


def _n_values(attribute: Attribute) -> float:
    return inf if attribute.kind == "string" else len(attribute.categories)


def as_words(layout: Layout, tallies: Iterable[Tally]) -> Layout:
    """Return the layout that reads only these features, each as free text."""
    attributes = list(layout.attributes)
    for tally in tallies:
        attributes[tally.position] = Attribute(attributes[tally.position].name, "string")
    positions = tuple(tally.position for tally in tallies)
    return Layout(tuple(attributes), positions, (), single=False)


def count(parts: Iterator[tuple[Any, Any]], tallies: list[Tally]) -> None:
    """Count the values in as many rows as are needed to decide, at most `MOST_ROWS`."""
    n_rows = 0
    for data, _ in parts:
        cells = data.toarray() if issparse(data) else data
        open_ones = [(i, tally) for i, tally in enumerate(tallies) if tally.may_identify()]
        for i, tally in open_ones:
            tally.add(cells[:, i])
        n_rows += len(cells)
        if n_rows >= MOST_ROWS or not open_ones:
            return


def without(layout: Layout, tallies: Iterable[Tally]) -> tuple[Layout, list[str]]:
    """Return the layout without the identifiers, and a message for each of them."""
    found = [tally for tally in tallies if tally.identifies()]
    positions = {tally.position for tally in found}
    kept = tuple(i for i in layout.features if i not in positions)
    return replace(layout, features=kept), [_message(layout, tally) for tally in found]


def _message(layout: Layout, tally: Tally) -> str:
    name = layout.attributes[tally.position].name
    return (
        f"the feature {name!r} is left out because it identifies the rows: it has "
        f"{len(tally.values)} different values in {tally.n_rows} rows. "
        f"Pass ignore=[{name!r}] to silence this warning."
    )
