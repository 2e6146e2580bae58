"""The numbers of the paper."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

SWAPPED = (
    "The paper swaps the names of the two averages: its “macro F1” is the standard micro F1 "
    "(pooled over labels) and its “micro F1” is the standard macro F1 (mean over labels). "
    "Here both have their standard names, also where the paper's numbers are shown."
)

FOLDER = Path(__file__).parents[1] / "published"

Published = dict[tuple[str, str, str, str], float]


@cache
def published() -> Published:
    """Return the published values by data set, method, classifier and score (standard name).

    Examples
    --------
    >>> from skml_kalda.bench.reporting.published import published
    >>> published()["yeast", "MLDA", "1-NN", "micro_f1"]
    0.5693
    """
    values: Published = {}
    for path in sorted(FOLDER.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                key = row["dataset"], row["method"], row["classifier"], row["score"]
                values[key] = float(row["value"])
    return values
