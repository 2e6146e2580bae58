"""A cell: the smallest thing that is measured, and its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
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
    parameters: Mapping[str, Any] = field(hash=False)
    max_rows: int = 0
    """Only so many rows, drawn by the seed; 0 is all of them."""
    tune: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """How the parameters in its grid and k are chosen; empty if they are not."""

    def record(self) -> dict[str, Any]:
        """Give what a row of results says of the cell."""
        # What has a default came later: without it, the cells of older runs stay the same.
        later = [each.name for each in fields(self) if not _is_required(each)]
        return {k: v for k, v in asdict(self).items() if v or k not in later}

    def key(self) -> str:
        """Write the identity: equal for equal cells, in any process and at any time."""
        return json.dumps(self.record(), sort_keys=True)

    def fit(self) -> Cell:
        """Give the identity of what comes before the classifier, shared by several cells."""
        return replace(self, classifier="")

    def random_state(self) -> int:
        """Derive the seed of the reducer from the identity, so that no order matters."""
        return int.from_bytes(hashlib.sha256(self.fit().key().encode()).digest()[:4], "big")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Cell:
        """Read the cell back from a row of results."""
        known = [each.name for each in fields(cls) if _is_required(each) or each.name in row]
        return cls(**{name: row[name] for name in known})


def _is_required(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING
