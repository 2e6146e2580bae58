"""Figures, drawn from results only."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from scipy.linalg import orthogonal_procrustes

from skml_kalda._core.messages import check_name
from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting import tables
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES, Score
from skml_kalda.inspection import ProjectionDisplay

_COLORS = ("#2f7ed8", "#e0701a", "#2a9d6a", "#a05fc0", "#c9425a", "#8a7a2b")
_MARKERS = ("o", "s", "^", "D", "v", "P")
# Placeholders for the colours of the page's text and of its background: see `svg`.
INK, PAPER = "#123456", "#fedcba"
_STYLE = Path(__file__).parent / "templates" / "figures.mplstyle"
_POINT_AREA = 62.0
# Of panels.
_COLUMNS = 3


def figure_names(results: Results) -> list[str]:
    """Return the names of the figures that the results can show."""
    if not results.ok:
        return []
    if results.plan.kind != "scores":
        return [results.plan.kind]
    if results.plan.dimensions:
        return ["dimension"]
    means = tables.fold_means(results, "accuracy", tables.classifiers_in(results)[0])
    names = ["scores", "ranks"] if rank_methods(means) else ["scores"]
    return [*names, "cost"] if tables.time_ratios(results).shape[1] > 1 else names


def figure(results: Results, name: str | None = None, *, score: str = "accuracy") -> Figure:
    """Draw a figure of a run.

    Parameters
    ----------
    results : Results
        From `run` or `read_results`.
    name : str, optional
        "scores", "ranks", "cost", "dimension", "convergence", "projection" or "gallery", if the
        results can show it; by default the first that they can show.
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
    with mpl.rc_context(fname=_STYLE):
        return draw(results, SCORES[score])


def svg(drawn: Figure, name: str) -> str:
    """Return a figure as an SVG element whose lines and text take the colours of the page.

    The `name` makes its identifiers unique, because one page may hold several figures.
    """
    stream = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": name}, fname=_STYLE):
        drawn.savefig(stream, format="svg", dpi=100, facecolor="none", metadata=nothing)
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    # Nothing refers to the names of groups, which would be those of every figure.
    text = re.sub(r'<g id="[^"]*"', "<g", text.replace(PAPER, "var(--page, white)"))
    # A hundredth of a point is enough, and six digits would treble the size of a page.
    text = re.sub(r'\bd="[^"]*"', lambda path: re.sub(r"(?<=\.\d\d)\d+|\n", "", path[0]), text)
    return re.sub(r'<svg (.*?)width="[^"]*" height="[^"]*"', r"<svg \1", text, count=1, flags=re.S)


def _panels(
    n: int, *, width: float = 3.1, height: float = 2.4, columns: int = _COLUMNS
) -> tuple[Figure, Iterator[Axes]]:
    """Make a figure of n panels, at most `columns` in a row."""
    columns = min(n, columns)
    rows = -(-n // columns)
    drawn = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for unused in axes[n:]:
        unused.remove()
    return drawn, iter(axes[:n])


def _color(number: int) -> str:
    return _COLORS[number % len(_COLORS)]


def _look(number: int, marker: int) -> dict[str, Any]:
    return {"color": _color(number), "marker": _MARKERS[marker % len(_MARKERS)], "ls": ""}


def _finished(drawn: Figure, x: str, y: str = "", columns: int = 4) -> Figure:
    """Name the axes, and add one legend above all panels."""
    drawn.supxlabel(x, fontsize=9)
    drawn.supylabel(y, fontsize=9)
    found = {
        text: handle
        for axis in drawn.axes
        for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns)
    return drawn


def _scores(results: Results, score: Score) -> Figure:
    """Draw our score with its deviation over the folds, and the paper's, for each method."""
    found = tables.table(results, score.name)
    methods = list(results.plan.methods)[::-1]
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = _panels(len(groups), height=0.9 + 0.24 * len(methods))
    for place, (axis, (name, part)) in enumerate(zip(axes, groups, strict=True)):
        for number, (classifier, rows) in enumerate(part.groupby("classifier", sort=False)):
            y = rows["method"].map(methods.index) + 0.16 * number * (classifier != ITSELF)
            series = "no other classifier" if classifier == ITSELF else str(classifier)
            look = {"elinewidth": 1, "ms": 4, "label": series, **_look(number, number)}
            axis.errorbar(rows["mean"], y, xerr=rows["sd"], **look)
            if rows["paper"].notna().any():
                axis.plot(rows["paper"], y, "D", mfc="none", mec=_color(4), label="paper")
        axis.set(title=name, yticks=range(len(methods)), yticklabels=map(label, methods))
        axis.tick_params(labelleft=place % _COLUMNS == 0)
        axis.locator_params(axis="x", nbins=4)
        axis.grid(axis="x")
    return _finished(drawn, score.title)


def _ranks(results: Results, score: Score) -> Figure:
    """Draw the mean rank of each method for each classifier, with half the critical difference."""
    classifiers = tables.classifiers_in(results)
    drawn, axes = _panels(
        len(classifiers), width=4.6, height=1.2 + 0.2 * len(results.plan.methods), columns=2
    )
    for axis, classifier in zip(axes, classifiers, strict=True):
        means = tables.fold_means(results, score.name, classifier)
        ranking = rank_methods(means, ascending=score.lower_is_better)
        if ranking is None:
            continue
        ranks, half = ranking.mean_ranks, ranking.critical_difference / 2
        y = range(len(ranks))
        axis.errorbar(ranks, y, xerr=half, fmt="o", ms=5, lw=1.5, color=_color(0))
        # What the best one cannot be told from.
        axis.axvspan(ranks.iloc[0] + half, ranks.iloc[0] - half, color=_color(0), alpha=0.12, lw=0)
        names = [f"{label(str(name))}  {rank:.1f}" for name, rank in ranks.items()]
        axis.set(yticks=y, yticklabels=names, xlim=(0, len(ranks) + 1))
        axis.invert_yaxis()
        axis.grid(axis="x")
        axis.set_title("" if classifier == ITSELF else classifier)
    drawn.supxlabel(f"mean rank by {score.title}", fontsize=9)
    return drawn


def _costs(results: Results, score: Score) -> Figure:
    """Draw the score of each method against its time to train, a panel for each dataset."""
    ratios = tables.time_ratios(results)
    groups = tables.with_candidates(results).groupby(["dataset", "candidate"], sort=False)
    means = groups[score.name].mean()
    drawn, axes = _panels(len(ratios))
    for axis, name in zip(axes, ratios.index, strict=True):
        for number, each in enumerate(ratios.columns):
            if (name, each) in means.index:
                x, y = ratios.loc[name, each], means[name, each]
                # Six colours with the same marker, then the next marker.
                axis.plot(x, y, ms=6, label=each, **_look(number, number // 6))
        axis.set(title=str(name), xscale="log")
        axis.xaxis.set_major_locator(LogLocator(numticks=4))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.margins(0.1)
        axis.grid(visible=True)
    columns = max(1, int(drawn.get_figwidth() / 2.6))
    # Room for the legend, which would otherwise be taken from the panels.
    drawn.set_figheight(drawn.get_figheight() + 0.18 * -(-ratios.shape[1] // columns))
    return _finished(drawn, "time to train, as a ratio to the fastest", score.title, columns)


def _dimension(results: Results, score: Score) -> Figure:
    found = tables.table(results, score.name)
    groups = list(found.groupby("dataset", sort=False))
    drawn, axes = _panels(len(groups))
    for axis, (name, part) in zip(axes, groups, strict=True):
        for number, (method, rows) in enumerate(part.groupby("method", sort=False)):
            line = "-" if number == 0 else "--"
            axis.plot(rows["dimension"], rows["mean"], line, color=_color(number), label=method)
        full = tables.size_of(results, str(name))["labels"] - 1
        if full <= found["dimension"].max():
            axis.axvline(full, color=INK, lw=0.8, ls=":", label="K − 1")
        axis.set(title=name)
        axis.grid()
    return _finished(drawn, "dimension of the subspace", score.title)


def _convergence(results: Results, score: Score) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in results.ok))
    drawn, axes = _panels(len(datasets))
    by_name = dict(zip(datasets, axes, strict=True))
    names = list(results.plan.methods)
    for row in results.ok:
        axis, number = by_name[row["dataset"]], names.index(row["method"])
        values = row["objective"]
        axis.plot(values, color=_color(number), label=row["method"])
        # A short history fills only a corner of the panel: a line extends its last value.
        axis.axhline(values[-1], color=_color(number), lw=0.6, alpha=0.6)
        if number == 0:
            axis.axhline(row["upper_bound"], color=INK, lw=1, ls="--", label="upper bound")
        axis.set(title=row["dataset"])
        axis.grid(visible=True)
    return _finished(drawn, "iteration", "J")


def _projection(results: Results, score: Score) -> Figure:
    drawn, axes = _panels(len(results.ok))
    for axis, row in zip(axes, results.ok, strict=True):
        points = np.array(row["points"])
        # Samples with several labels: those with the same ones form a class.
        classes = row["classes_of_points"] or [str(each) for each in row["labels_of_points"]]
        for number, each in enumerate(dict.fromkeys(classes)):
            x, y = points[np.array(classes) == each].T
            # As an image: thousands of markers would make the page large.
            axis.plot(x, y, ms=3, alpha=0.75, rasterized=True, **_look(number, number))
        axis.set(title=f"{row['dataset']}, {row['method']}")
        axis.tick_params(labelsize=7)
    return drawn


def _gallery(results: Results, score: Score) -> Figure:
    """Draw a panel for each dataset and method, with a wedge for each label of a sample."""
    rows = [row for row in results.ok if row["classifier"] == results.plan.classifiers[0]]
    drawn, axes = _panels(len(rows), width=3.6, height=3.6, columns=2)
    drawn.set_layout_engine("constrained", w_pad=0.12, h_pad=0.06)
    last = {row["dataset"]: row for row in rows}
    legend: dict[str, Any] = {}
    for axis, row in zip(axes, rows, strict=True):
        # Rotate and mirror the points to match the last panel; this changes no distance.
        points, like = (
            np.array(each["points"]) - np.mean(each["points"], axis=0)
            for each in (row, last[row["dataset"]])
        )
        rotation, _ = orthogonal_procrustes(points, like)
        y, names = row["classes_of_points"], None
        if y is None:
            names = row["labels"]
            y = np.array([np.isin(range(len(names)), each) for each in row["labels_of_points"]])
        display = ProjectionDisplay.from_transformed(
            points @ rotation, y, label_names=names, ax=axis, size=_POINT_AREA, edgecolors=PAPER
        )
        of = f" ({row['dataset']})" if len(last) > 1 else ""
        own: Any = display.legend_
        texts = (f"{text.get_text()}{of}" for text in own.get_texts())
        legend |= dict(zip(texts, own.legend_handles, strict=True))
        own.remove()
        axis.set_title(f"{label(row['method'])}{of}", loc="left", weight="bold")
        axis.set_title(f"macro F1 {row['scores']['macro_f1']:.2f}", loc="right")
        axis.set(xticks=[], yticks=[], xlabel="", ylabel="", adjustable="datalim")
        axis.spines[:].set(visible=True, alpha=0.25)
    drawn.legend([*legend.values()], [*legend], loc="outside upper center", ncols=3)
    return drawn


_DRAW: dict[str, Callable[[Results, Score], Figure]] = {
    "scores": _scores,
    "ranks": _ranks,
    "cost": _costs,
    "dimension": _dimension,
    "convergence": _convergence,
    "projection": _projection,
    "gallery": _gallery,
}
