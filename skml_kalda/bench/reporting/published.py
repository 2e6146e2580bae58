"""The published numbers."""

from __future__ import annotations

import csv
from functools import cache

from skml_kalda.bench.names import shipped

__all__ = ["SWAPPED", "published"]

SWAPPED = (
    "The paper swaps the names of the two averages: what it prints as “macro F1” is the standard "
    "micro F1 (pooled over labels) and its “micro F1” the standard macro F1 (mean over labels). "
    "Here both have their standard names, and its numbers stand under these."
)

Published = dict[tuple[str, str, str, str], float]


@cache
def published() -> Published:
    """Give the published value by data set, method, classifier and score (standard name).

    Examples
    --------
    >>> from skml_kalda.bench.paper import published
    >>> published()["yeast", "MLDA", "1-NN", "micro_f1"]
    0.5693
    """
    values: Published = {}
    for path in sorted(shipped("paper").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                key = row["dataset"], row["method"], row["classifier"], row["score"]
                values[key] = float(row["value"])
    return values
