"""A cell: the smallest unit that is measured, and its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from typing import Any

# The kinds of cells that hold out rows from the fit and classify them.
HELD_OUT = ("scores", "gallery")


@dataclass(frozen=True)
class Cell:
    """One data set, method, classifier and fold, with everything that its scores depend on."""

    kind: str
    dataset: str
    method: str
    classifier: str
    """Empty where nothing is classified."""
    dimension: int | None
    """Number of components; None means K - 1."""
    standardize: bool
    classes: int
    """Use only the rows of the first so many classes; 0 means all."""
    folds: int
    repeat: int
    fold: int
    seed: int
    parameters: Mapping[str, Any] = field(hash=False)
    max_rows: int = 0
    """Use only so many rows, drawn by the seed; 0 means all."""
    train_rows: int = 0
    """Training rows of a random split; 0 means folds."""
    tune: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """How to choose the parameters in its grid and k; empty if nothing is tuned."""
    thresholds: int = 0
    """Folds inside the training rows that tune thresholds for F1; 0 means no tuned F1."""
    stratified: bool = False
    """Whether all folds have the same share of every label."""

    def record(self) -> dict[str, Any]:
        """Return what identifies the cell."""
        # Fields with a default were added later. Leaving them out where they are empty keeps the
        # identity that the cell has in older results.
        later = [each.name for each in fields(self) if not _is_required(each)]
        return {k: v for k, v in asdict(self).items() if v or k not in later}

    def key(self) -> str:
        """Return the identity as text: equal for equal cells, in any process and at any time."""
        return json.dumps(self.record(), sort_keys=True)

    def fit(self) -> Cell:
        """Return the cell without its classifier: cells that agree in it share a fit."""
        return replace(self, classifier="")

    def random_state(self) -> int:
        """Derive the seed of the reducer from the identity, so that the order has no effect."""
        return int.from_bytes(hashlib.sha256(self.fit().key().encode()).digest()[:4], "big")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Cell:
        """Return the cell of a row of results."""
        known = [f.name for f in fields(cls) if _is_required(f) or row.get(f.name) is not None]
        return cls(**{name: row[name] for name in known})


def _is_required(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING
