"""Figures, made from results only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from skml_kalda._core.messages import check_name
from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting.costs import draw_costs, time_ratios
from skml_kalda.bench.reporting.drawing.gallery import draw_gallery
from skml_kalda.bench.reporting.drawing.rank_diagram import draw_ranks
from skml_kalda.bench.reporting.drawing.spread import split_means
from skml_kalda.bench.reporting.drawing.style import (
    COLORS,
    INK,
    color,
    marker,
    panels,
    style,
    with_legend,
)
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import classifiers_in, fold_means, scores_in, size_of, table
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import MAIN, SCORES, Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_names(results: Results) -> list[str]:
    """Return the names of the figures that the results can show."""
    if not results.ok:
        return []
    if results.plan.kind != "scores":
        return [results.plan.kind]
    if results.plan.dimensions:
        return ["dimension"]
    if results.plan.repeats > 1 and len(results.plan.datasets) == len(results.plan.methods) == 1:
        return ["spread"]
    rankable = rank_methods(fold_means(results, "accuracy", classifiers_in(results)[0]))
    names = ["scores", "ranks"] if rankable else ["scores"]
    return [*names, "cost"] if time_ratios(results).shape[1] > 1 else names


def figure(results: Results, name: str | None = None, *, score: str = "accuracy") -> Figure:
    """Draw a figure of a run.

    Parameters
    ----------
    results : Results
        From `run` or `read_results`.
    name : str, optional
        "scores", "ranks", "cost", "spread", "dimension", "convergence", "projection" or
        "gallery", if the results can show it; by default the first that they can show.
    score : str, default="accuracy"
        The score of "scores", "ranks", "cost" and "dimension".

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> import tempfile
    >>> from skml_kalda.bench import figure, run
    >>> from skml_kalda.bench.plan import Plan
    >>> plan = Plan("mine", "Mine", datasets=("emotions",), methods=("MLDA",), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drawn = figure(run(plan, folder), score="macro_f1")
    >>> drawn.savefig("scores.svg")  # doctest: +SKIP
    """
    names = figure_names(results)
    if not names:
        raise ValueError(f"the results in {results.folder} have no cell to draw")
    check_name("score", score, SCORES)
    draw = _DRAW[check_name("figure of these results", name or names[0], names)]
    with style():
        return draw(results, SCORES[score])


def _scores(results: Results, score: Score) -> Figure:
    """Draw our score with its deviation over the folds, and the paper's, for each method."""
    found = table(results, score.name)
    methods = list(results.plan.methods)[::-1]
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = panels(len(groups), height=0.9 + 0.24 * len(methods))
    for axis, (name, part) in zip(axes, groups, strict=True):
        for number, (classifier, rows) in enumerate(part.groupby("classifier", sort=False)):
            y = rows["method"].map(methods.index) + 0.16 * number
            look: dict[str, Any] = {"color": color(number), "fmt": marker(number), "ms": 4}
            name_of_series = "no other classifier" if classifier == ITSELF else str(classifier)
            axis.errorbar(rows["mean"], y, xerr=rows["sd"], lw=1, label=name_of_series, **look)
            if rows["paper"].notna().any():
                axis.plot(rows["paper"], y, "D", mfc="none", mec=COLORS[4], label="paper")
        axis.set(title=name, yticks=range(len(methods)), yticklabels=map(label, methods))
        axis.grid(axis="x")
    drawn.supxlabel(score.label, fontsize=9)
    return with_legend(drawn)


def _spread(results: Results, score: Score) -> Figure:
    """Draw a histogram over the splits for each of the main scores."""
    shown = [name for name in MAIN if name in scores_in(results)]
    drawn, axes = panels(len(shown))
    for axis, name in zip(axes, shown, strict=True):
        for number, classifier in enumerate(results.plan.classifiers):
            splits = split_means(results, name, classifier)
            look: dict[str, Any] = {"color": color(number)}
            axis.hist(splits, bins="auto", alpha=0.45, label=f"splits, {classifier}", **look)
            axis.axvline(splits.mean(), label=f"their mean, {classifier}", **look)
        for paper in table(results, name)["paper"].dropna():
            axis.axvline(paper, color=COLORS[4], ls="--", label="paper")
        axis.set(title=SCORES[name].title)
        axis.locator_params(axis="x", nbins=4)
    drawn.supylabel("number of splits", fontsize=9)
    return with_legend(drawn)


def _dimension(results: Results, score: Score) -> Figure:
    found = table(results, score.name)
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = panels(len(groups))
    for axis, (name, part) in zip(axes, groups, strict=True):
        for number, (method, rows) in enumerate(part.groupby("method", sort=False)):
            line = "-" if number == 0 else "--"
            axis.plot(rows["dimension"], rows["mean"], line, color=color(number), label=method)
        full = size_of(results, str(name))["labels"] - 1
        if full <= found["dimension"].max():
            axis.axvline(full, color=INK, lw=0.8, ls=":", label="K − 1")
        axis.set(title=name)
        axis.grid()
    drawn.supxlabel("dimension of the subspace", fontsize=9)
    drawn.supylabel(score.title, fontsize=9)
    return with_legend(drawn)


def _convergence(results: Results, score: Score) -> Figure:
    drawn, axes = panels(len({row["dataset"] for row in results.ok}))
    names = list(results.plan.methods)
    by_name = dict(zip(dict.fromkeys(row["dataset"] for row in results.ok), axes, strict=True))
    for row in results.ok:
        axis, number = by_name[row["dataset"]], names.index(row["method"])
        values = row["objective"]
        line = axis.plot(values, color=color(number), label=row["method"])
        # A short history fills only a corner of the panel: a line extends its last value.
        axis.axhline(values[-1], color=line[0].get_color(), lw=0.6, alpha=0.6)
        if number == 0:
            axis.axhline(row["upper_bound"], color=INK, lw=1, ls="--", label="upper bound")
        axis.set(title=row["dataset"])
        axis.grid(visible=True)
    drawn.supxlabel("iteration", fontsize=9)
    drawn.supylabel("J", fontsize=9)
    return with_legend(drawn)


def _projection(results: Results, score: Score) -> Figure:
    drawn, axes = panels(len(results.ok))
    for axis, row in zip(axes, results.ok, strict=True):
        points = np.array(row["points"])
        # Rows with several labels: those with the same ones form a class.
        classes = row["classes_of_points"] or [str(each) for each in row["labels_of_points"]]
        for number, each in enumerate(dict.fromkeys(classes)):
            x, y = points[np.array(classes) == each].T
            look: dict[str, Any] = {"color": color(number), "marker": marker(number)}
            # As an image: thousands of markers would make the page large.
            axis.scatter(x, y, s=9, alpha=0.75, rasterized=True, **look)
        axis.set(title=f"{row['dataset']}, {row['method']}")
        axis.tick_params(labelsize=7)
    return drawn


_DRAW: dict[str, Callable[[Results, Score], Figure]] = {
    "scores": _scores,
    "ranks": draw_ranks,
    "cost": draw_costs,
    "spread": _spread,
    "dimension": _dimension,
    "convergence": _convergence,
    "projection": _projection,
    "gallery": draw_gallery,
}
