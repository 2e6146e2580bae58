"""What methods cost: times as ratios to the fastest, and scores against them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting.document import Entry, Grid
from skml_kalda.bench.reporting.drawing.style import color, marker, panels, with_legend
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {"train_seconds": "Time to train", "predict_seconds": "Time to predict the test rows"}


def candidate(method: str, classifier: str) -> str:
    """Return the name of a method with the classifier that follows it."""
    return label(method) if classifier in (ITSELF, "") else f"{label(method)} + {classifier}"


def with_candidates(results: Results) -> pd.DataFrame:
    """Return the cells that did not fail, with a column "candidate"."""
    frame = results.frame()
    # Runs of older versions have the times of the reducer, and those of the classifier together.
    if frame["train_seconds"].isna().any():
        old = frame["fit_seconds"] + frame["classify_seconds"]
        frame["train_seconds"] = frame["train_seconds"].astype(float).fillna(old)
    names = map(candidate, frame["method"], frame["classifier"])
    return frame.assign(candidate=list(names))


def time_ratios(results: Results, kind: str = "train_seconds") -> pd.DataFrame:
    """Return the median time over the folds as a ratio to the fastest on each data set.

    Parameters
    ----------
    results : Results
        The results of a plan with scores.
    kind : {"train_seconds", "predict_seconds"}, default="train_seconds"
        To fit everything, or to project and classify the test rows.

    Returns
    -------
    pandas.DataFrame
        A row for each data set, a column for each method and classifier; empty if the results
        have no such times.
    """
    frame = with_candidates(results).dropna(subset=[kind])
    if frame.empty:
        return pd.DataFrame()
    times = frame.groupby(["dataset", "candidate"], sort=False)[kind].median().unstack(sort=False)
    times = times.clip(lower=1e-6)
    return times.div(times.min(axis=1), axis=0)


def time_grids(results: Results) -> Iterator[Grid]:
    """Yield a table for each kind of time."""
    for kind, title in _TITLES.items():
        ratios = time_ratios(results, kind)
        rows = [
            [Entry(str(name)), *(Entry("" if pd.isna(v) else ratio_text(v)) for v in values)]
            for name, values in zip(ratios.index, ratios.to_numpy(), strict=True)
        ]
        if rows:
            caption = f"{title}, as a ratio to the fastest on one core; other work may have run"
            yield Grid(f"{caption} at the same time", ["data set", *ratios.columns], rows)


def ratio_text(value: float) -> str:
    """Return a ratio with two digits or more.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.costs import ratio_text
    >>> ratio_text(1.04), ratio_text(12.3), ratio_text(1234.5)
    ('1.0', '12', '1234')
    """
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def draw_costs(results: Results, score: Score) -> Figure:
    """Draw the score of each method against its time to train, a panel for each data set."""
    ratios = time_ratios(results)
    means = (
        with_candidates(results).groupby(["dataset", "candidate"], sort=False)[score.name].mean()
    )
    drawn, axes = panels(len(ratios))
    for axis, name in zip(axes, ratios.index, strict=True):
        for number, each in enumerate(ratios.columns):
            if (name, each) in means.index:
                # Six colours with the same marker, then the next marker.
                look: dict[str, Any] = {"color": color(number), "marker": marker(number // 6)}
                x, y = ratios.loc[name, each], means[name, each]
                axis.plot(x, y, ls="", ms=6, label=each, **look)
        axis.set(title=str(name), xscale="log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.margins(0.1)
        axis.grid(visible=True)
    drawn.supxlabel("time to train, as a ratio to the fastest", fontsize=9)
    drawn.supylabel(score.title, fontsize=9)
    columns = max(1, int(drawn.get_figwidth() / 2.6))
    # Room for the legend, which would otherwise be taken from the panels.
    drawn.set_figheight(drawn.get_figheight() + 0.18 * -(-ratios.shape[1] // columns))
    return with_legend(drawn, columns)
