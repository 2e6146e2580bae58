"""Figures, from results only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skml_kalda.bench.canvas import COLORS, INK, MARKERS, panels, style, with_legend
from skml_kalda.bench.gallery import draw_gallery
from skml_kalda.bench.methods import label
from skml_kalda.bench.names import check_name
from skml_kalda.bench.ranks import Ranking, rank_methods
from skml_kalda.bench.results import Results
from skml_kalda.bench.scores import MAIN, SCORES, short_name
from skml_kalda.bench.spread import split_means
from skml_kalda.bench.tables import fold_means, lower_is_better, scores_in, table
from skml_kalda.datasets.manifest import read_manifest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figure", "figure_names"]


def figure_names(results: Results) -> list[str]:
    """Name the figures that the results can show."""
    if not results.ok:
        return []
    if results.plan.kind != "scores":
        return [results.plan.kind]
    if results.plan.dimensions:
        return ["dimension"]
    if results.plan.repeats > 1 and len(results.plan.datasets) == len(results.plan.methods) == 1:
        return ["spread"]
    rankable = rank_methods(fold_means(results, "accuracy", results.plan.classifiers[0]))
    return ["scores", "ranks"] if rankable else ["scores"]


def figure(results: Results, name: str | None = None, *, score: str = "accuracy") -> Figure:
    """Draw a figure of a run.

    Parameters
    ----------
    results : Results
        From `run` or `read_results`.
    name : str, optional
        "scores", "ranks", "spread", "dimension", "convergence", "projection" or "gallery":
        one that the results can show; by default the first of them.
    score : str, default="accuracy"
        The score of "scores", "ranks" and "dimension".

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    names = figure_names(results)
    if not names:
        raise ValueError(f"the results in {results.folder} have no cell to draw")
    check_name("score", score, SCORES)
    draw = _DRAW[check_name("figure of these results", name or names[0], names)]
    with style():
        return draw(results, score)


def _scores(results: Results, score: str) -> Figure:
    """Ours with the deviation over the folds, and the paper's, for each method."""
    found = table(results, score)
    methods = list(results.plan.methods)[::-1]
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = panels(len(groups), height=0.9 + 0.24 * len(methods))
    for axis, (name, part) in zip(axes, groups, strict=True):
        for number, (classifier, rows) in enumerate(part.groupby("classifier", sort=False)):
            y = rows["method"].map(methods.index) + 0.16 * number
            style: dict[str, Any] = {"color": COLORS[number], "fmt": MARKERS[number], "ms": 4}
            axis.errorbar(
                rows["mean"], y, xerr=rows["sd"], lw=1, label=f"here, {classifier}", **style
            )
            if rows["paper"].notna().any():
                axis.plot(rows["paper"], y, "D", mfc="none", mec=COLORS[4], label="paper")
        axis.set(title=name, yticks=range(len(methods)), yticklabels=map(label, methods))
        axis.grid(axis="x")
    drawn.supxlabel(SCORES[score], fontsize=9)
    return with_legend(drawn)


def _ranks(results: Results, score: str) -> Figure:
    """Critical-difference diagrams, one for each classifier."""
    drawn, axes = panels(len(results.plan.classifiers), width=4.6, height=2.6)
    for axis, classifier in zip(axes, results.plan.classifiers, strict=True):
        ranking = rank_methods(
            fold_means(results, score, classifier), ascending=lower_is_better(score)
        )
        axis.set_title(classifier)
        if ranking is not None:
            _draw_ranking(axis, ranking)
    drawn.supxlabel(f"mean rank by {short_name(score)}", fontsize=9)
    return drawn


def _draw_ranking(axis: Axes, ranking: Ranking) -> None:
    k = len(ranking.mean_ranks)
    axis.set(xlim=(1 - 0.4 * k, 1.4 * k), ylim=(-1.6 - 0.4 * k, 2.2), xticks=[], yticks=[])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.plot([1, k], [0, 0], color=INK, lw=1)
    for place in range(1, k + 1):
        axis.text(place, 0.15, str(place), ha="center")
    _draw_methods(axis, ranking)
    for number, (low, high) in enumerate(ranking.cliques()):
        y = -0.3 - 0.25 * number
        axis.plot([low - 0.04, high + 0.04], [y, y], color=COLORS[0], lw=3)
    axis.plot([1, 1 + ranking.critical_difference], [1.1, 1.1], color=INK, lw=1.5, marker="|")
    axis.text(1, 1.3, f"critical difference {ranking.critical_difference:.2f}")


def _draw_methods(axis: Axes, ranking: Ranking) -> None:
    """Write the better half of the methods on the left, the other on the right."""
    k = len(ranking.mean_ranks)
    for number, (method, rank) in enumerate(ranking.mean_ranks.items()):
        left = number < (k + 1) // 2
        height = -1.2 - (number if left else k - 1 - number) * 0.8
        end = 0.7 if left else k + 0.3
        axis.plot([rank, rank, end], [0, height, height], color=INK, lw=0.8)
        text = f" {label(str(method))} {rank:.2f} "
        axis.text(end, height, text, ha="right" if left else "left", va="center")


def _spread(results: Results, score: str) -> Figure:
    """How often which score came out of the splits, for each of the main scores."""
    shown = [score for score in MAIN if score in scores_in(results)]
    drawn, axes = panels(len(shown))
    for axis, each in zip(axes, shown, strict=True):
        for number, classifier in enumerate(results.plan.classifiers):
            splits = split_means(results, each, classifier)
            color = COLORS[number]
            axis.hist(splits, bins="auto", color=color, alpha=0.45, label=f"splits, {classifier}")
            axis.axvline(splits.mean(), color=color, label=f"their mean, {classifier}")
        for paper in table(results, each)["paper"].dropna():
            axis.axvline(paper, color=COLORS[4], ls="--", label="paper")
        axis.set(title=SCORES[each].split(" (")[0])
        axis.locator_params(axis="x", nbins=4)
    drawn.supylabel("number of splits", fontsize=9)
    return with_legend(drawn)


def _dimension(results: Results, score: str) -> Figure:
    found = table(results, score)
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = panels(len(groups))
    for axis, (name, part) in zip(axes, groups, strict=True):
        for number, (method, rows) in enumerate(part.groupby("method", sort=False)):
            line = "-" if number == 0 else "--"
            axis.plot(rows["dimension"], rows["mean"], line, color=COLORS[number], label=method)
        full = read_manifest(str(name)).K - 1
        if full <= found["dimension"].max():
            axis.axvline(full, color=INK, lw=0.8, ls=":", label="K − 1")
        axis.set(title=name)
        axis.grid()
    drawn.supxlabel("dimension of the subspace", fontsize=9)
    drawn.supylabel(short_name(score), fontsize=9)
    return with_legend(drawn)


def _convergence(results: Results, score: str) -> Figure:
    drawn, axes = panels(len({row["dataset"] for row in results.ok}))
    names = list(results.plan.methods)
    by_name = dict(zip(dict.fromkeys(row["dataset"] for row in results.ok), axes, strict=True))
    for row in results.ok:
        axis, number = by_name[row["dataset"]], names.index(row["method"])
        values = row["objective"]
        line = axis.plot(values, color=COLORS[number], label=row["method"])
        # A short history is a corner of the panel: its end is carried on, so that it is seen.
        axis.axhline(values[-1], color=line[0].get_color(), lw=0.6, alpha=0.6)
        if number == 0:
            axis.axhline(row["upper_bound"], color=INK, lw=1, ls="--", label="upper bound")
        axis.set(title=row["dataset"])
        axis.grid(visible=True)
    drawn.supxlabel("iteration", fontsize=9)
    drawn.supylabel("J", fontsize=9)
    return with_legend(drawn)


def _projection(results: Results, score: str) -> Figure:
    drawn, axes = panels(len(results.ok))
    for axis, row in zip(axes, results.ok, strict=True):
        points, labels = np.array(row["points"]), np.array(row["classes_of_points"])
        for number, each in enumerate(dict.fromkeys(row["classes_of_points"])):
            x, y = points[labels == each].T
            style: dict[str, Any] = {"color": COLORS[number], "marker": MARKERS[number]}
            # As an image: thousands of marks would make the page heavy.
            axis.scatter(x, y, s=9, alpha=0.75, rasterized=True, **style)
        axis.set(title=f"{row['dataset']}, {row['method']}")
        axis.tick_params(labelsize=7)
    return drawn


_DRAW = {
    "scores": _scores,
    "ranks": _ranks,
    "spread": _spread,
    "dimension": _dimension,
    "convergence": _convergence,
    "projection": _projection,
    "gallery": draw_gallery,
}
