"""A cell: the smallest thing that is measured, and its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

__all__ = ["HELD_OUT", "Cell"]

# The kinds of cells that hold rows out from the fit, and classify them.
HELD_OUT = ("scores", "gallery")


@dataclass(frozen=True)
class Cell:
    """One data set, method, classifier and fold, with all that its scores depend on."""

    kind: str
    dataset: str
    method: str
    classifier: str
    """Empty where nothing is classified."""
    dimension: int | None
    """Number of components; None is K - 1."""
    standardize: bool
    classes: int
    """Only rows of the first so many classes; 0 is all of them."""
    folds: int
    repeat: int
    fold: int
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def key(self) -> str:
        """Write the identity: equal for equal cells, in any process and at any time."""
        return json.dumps(asdict(self), sort_keys=True)

    def fit(self) -> Cell:
        """Give the identity of what comes before the classifier, shared by several cells."""
        return replace(self, classifier="")

    def random_state(self) -> int:
        """Derive the seed of the reducer from the identity, so that no order matters."""
        return int.from_bytes(hashlib.sha256(self.fit().key().encode()).digest()[:4], "big")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Cell:
        """Read the cell back from a row of results."""
        return cls(**{each.name: row[each.name] for each in fields(cls)})
