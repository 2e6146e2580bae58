"""The gallery: rows of multi-label data in the plane, a wedge for each of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from skml_kalda.bench.methods import label
from skml_kalda.bench.reporting.drawing.style import PAPER, panels, with_legend
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import Score
from skml_kalda.inspection.displays import OTHERS, PALETTE, draw_wedges

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AREA = 62.0


def draw_gallery(results: Results, score: Score) -> Figure:
    """Draw a panel for each data set and method."""
    rows = [row for row in results.ok if row["classifier"] == results.plan.classifiers[0]]
    drawn, axes = panels(len(rows), width=3.6, height=3.6, columns=2)
    drawn.set_layout_engine("constrained", w_pad=0.12, h_pad=0.06)
    last = {row["dataset"]: row for row in rows}
    for axis, row in zip(axes, rows, strict=True):
        points = _turned(row["points"], last[row["dataset"]]["points"])
        colors = _colors(row)
        sets = [[colors.get(name, OTHERS) for name in names] for names in _label_sets(row)]
        draw_wedges(axis, points, sets, _AREA, edgecolors=PAPER)
        _describe(axis, row, several=len(last) > 1)
    return with_legend(drawn, columns=3)


def _describe(axis: Axes, row: Mapping[str, Any], *, several: bool) -> None:
    of = f" ({row['dataset']})" if several else ""
    axis.set_title(f"{label(row['method'])}{of}", loc="left", weight="bold")
    axis.set_title(f"macro F1 {row['scores']['macro_f1']:.2f}", loc="right")
    axis.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    axis.spines[:].set(visible=True, alpha=0.25)
    for name, color in _colors(row).items():
        axis.scatter([], [], s=_AREA, color=color, label=f"{name}{of}")


def _label_sets(row: Mapping[str, Any]) -> list[list[str]]:
    """Return the names of the labels of each point, or an empty name if it has none."""
    if row.get("classes_of_points"):
        return [[name] for name in row["classes_of_points"]]
    names = row["labels"]
    return [[names[number] for number in each] or [""] for each in row["labels_of_points"]]


def _colors(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a colour for each of the most frequent labels, in the order of the data set."""
    counts = Counter(name for names in _label_sets(row) for name in names)
    del counts[""]
    frequent = {name for name, _ in counts.most_common(len(PALETTE))}
    kept = [name for name in row.get("labels") or sorted(counts) if name in frequent]
    shown = {name for names in _label_sets(row) for name in names}
    rest = {"another label, or none": OTHERS} if shown - set(kept) else {}
    return dict(zip(kept, PALETTE, strict=False)) | rest


def _turned(points: Sequence[Any], like: Sequence[Any]) -> NDArray[Any]:
    """Rotate and mirror points to match others; this changes no distance."""
    here, there = (np.array(each) - np.mean(each, axis=0) for each in (points, like))
    rotation, _ = orthogonal_procrustes(here, there)
    return here @ rotation
