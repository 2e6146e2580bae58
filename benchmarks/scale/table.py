"""The kept measurements of scale as tables: all in results/scale.md, some in docs/scale.md.

Run from the root of the project after the measurements: ``python -m benchmarks.scale.table``.
A test checks that docs/scale.md shows the kept results.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from benchmarks.common import RESULTS, markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
PARTS = {
    "rows": "Samples in batches",
    "features": "Features, sparse",
    "wide": "Wide sparse text, at two shrinkages",
    "labels": "Labels",
    "many-labels": "Tens of thousands of labels",
    "kernels": "Kernels of many samples",
    "forms": "Products with X against the p × p array",
    "sets": "Datasets, from the reducer to the neighbours",
}


def kept(part):
    """Return the rows of one kept measurement."""
    return json.loads((RESULTS / f"scale-{part}.json").read_text())["rows"]


def cell(value):
    """Write a value; a ratio has three digits."""
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def markdown(rows):
    """Write one table for each run of rows with the same columns."""
    groups = groupby(rows, key=lambda row: tuple(row))
    tables = [
        markdown_table(columns, [[cell(value) for value in row.values()] for row in group])
        for columns, group in groups
    ]
    return "\n".join(tables)


def picked(part, *columns):
    """Write some columns of the rows that have all of them."""
    names = ("method", "data", *columns)
    rows = [row for row in kept(part) if set(names) <= set(row)]
    return markdown([{name: row[name] for name in names} for row in rows])


def folded(title, *tables):
    """Write tables as a part of the page that opens on request."""
    return f":::{{dropdown}} {title}\n" + "\n".join(tables) + ":::\n"


def summary():
    """Write the tables of docs/scale.md."""
    memory = next(key for key in kept("rows")[0] if key.startswith("peak memory"))
    ratios = ("time / TruncatedSVD", "time / Ridge")
    added = "peak added beyond the directions / CSR matrix"
    scores = ("micro F1", "macro F1", "fit and neighbours / no reduction")
    return "\n".join(
        [
            folded(
                "More samples than memory",
                picked("rows", "exponent in n", memory, "time at the most rows / IncrementalPCA"),
                picked("rows", "time / partial_fit of the same rows", "peak memory / file"),
            ),
            folded("Wide sparse text", picked("wide", "shrinkage", *ratios, added)),
            folded(
                "Many features or labels",
                picked("features", "exponent in p", "exponent of memory in p"),
                picked("labels", "exponent in K", "exponent of memory in K"),
                picked("many-labels", "time / TruncatedSVD", "peak added, GiB"),
            ),
            folded(
                "Kernels and neighbours of many samples",
                picked("kernels", "time / kernel blocks and Gram matrix"),
                nearest(),
            ),
            folded("Datasets, from the reducer to the neighbours", picked("sets", *scores)),
        ]
    )


def nearest():
    """Write the table of the neighbour search."""
    names = ("what", "rows", "features", "dimensions", "ratio", "recall")
    rows = [
        {name: row.get(name, row["features"] if name == "dimensions" else None) for name in names}
        for part in ("tree", "full", "index")
        for row in json.loads((RESULTS / f"speed-nearest-{part}.json").read_text())["rows"]
    ]
    return markdown(rows)


def with_summary(page):
    """Return the page with the summary between its two marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + summary() + END + rest.split(END)[1]


def main():
    whole = "\n".join(f"## {title}\n\n{markdown(kept(part))}" for part, title in PARTS.items())
    head = "# Scale, measured\n\nRatios and growth exponents, each from one run on one thread.\n\n"
    (RESULTS / "scale.md").write_text(head + whole)
    PAGE.write_text(with_summary(PAGE.read_text()))


if __name__ == "__main__":
    main()
