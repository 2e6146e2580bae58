"""Published results of others beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import pandas as pd

from skml_kalda.bench.methods import label
from skml_kalda.bench.reporting.document import Block, Entry, Grid, Heading
from skml_kalda.bench.reporting.published import FOLDER
from skml_kalda.bench.reporting.tables import table
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES


@cache
def published_outside() -> pd.DataFrame:
    """Return the published results: dataset, method, train_rows, score, value and source.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.outside import published_outside
    >>> rows = published_outside().query("dataset == 'bibtex' and score == 'precision_at_1'")
    >>> rows.set_index("method")["value"].idxmax()
    'SLEEC'
    """
    return pd.read_csv(FOLDER / "outside" / "outside.csv")


def outside_tables(results: Results) -> Iterator[Block]:
    """Yield a table for each data set that a plan splits as the published results did."""
    found = published_outside()
    shown = [name for name in results.plan.datasets if results.plan.train_rows.get(name)]
    grids = [_grid(results, name, found[found["dataset"] == name]) for name in shown]
    grids = [grid for grid in grids if grid.rows]
    if grids:
        yield Heading("Published results beside ours", 3)
        yield from grids


def _grid(results: Results, name: str, theirs: pd.DataFrame) -> Grid:
    scores = list(dict.fromkeys(theirs["score"]))
    groups = theirs.groupby(["source", "method", "train_rows"], sort=False)
    rows = [
        [Entry(str(method), note=str(source)), Entry(str(n)), *_published(part, scores)]
        for (source, method, n), part in groups
    ]
    titles = [SCORES[score].label for score in scores]
    caption = (
        f"{name}: as published, and here ({results.plan.folds} random splits, mean ± standard "
        "deviation)"
    )
    header = ["method", "training rows", *titles]
    return Grid(caption, header, [*rows, *_ours(results, name, scores)])


def _published(part: pd.DataFrame, scores: Sequence[str]) -> list[Entry]:
    values = part.set_index("score")["value"]
    return [Entry(f"{values[score]:.4g}" if score in values else "–") for score in scores]


def _ours(results: Results, name: str, scores: Sequence[str]) -> Iterator[list[Entry]]:
    tables = [table(results, score) for score in scores]
    train = Entry(str(results.plan.train_rows[name]))
    for method in results.plan.methods:
        rows = [t[(t["dataset"] == name) & (t["method"] == method)] for t in tables]
        if all(len(part) for part in rows):
            means = [f"{part['mean'].iloc[0]:.4f} ± {part['sd'].iloc[0]:.3f}" for part in rows]
            yield [Entry(label(method), best=True, note="here"), train, *map(Entry, means)]
