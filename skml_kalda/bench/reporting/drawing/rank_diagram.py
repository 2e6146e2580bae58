"""Critical-difference diagrams: mean ranks on an axis, bars over methods that do not differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting.drawing.style import COLORS, INK, panels
from skml_kalda.bench.reporting.ranks import Ranking, rank_methods
from skml_kalda.bench.reporting.tables import classifiers_in, fold_means
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_ranks(results: Results, score: Score) -> Figure:
    """Draw a diagram for each classifier."""
    classifiers = classifiers_in(results)
    drawn, axes = panels(len(classifiers), width=4.6, height=2.6)
    for axis, classifier in zip(axes, classifiers, strict=True):
        means = fold_means(results, score.name, classifier)
        ranking = rank_methods(means, ascending=score.lower_is_better)
        axis.set_title("" if classifier == ITSELF else classifier)
        if ranking is not None:
            _draw_ranking(axis, ranking)
    drawn.supxlabel(f"mean rank by {score.title}", fontsize=9)
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
    """Write the better half of the methods on the left, the others on the right."""
    k = len(ranking.mean_ranks)
    for number, (method, rank) in enumerate(ranking.mean_ranks.items()):
        left = number < (k + 1) // 2
        height = -1.2 - (number if left else k - 1 - number) * 0.8
        end = 0.7 if left else k + 0.3
        axis.plot([rank, rank, end], [0, height, height], color=INK, lw=0.8)
        text = f" {label(str(method))} {rank:.2f} "
        axis.text(end, height, text, ha="right" if left else "left", va="center")
