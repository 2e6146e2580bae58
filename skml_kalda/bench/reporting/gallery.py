"""The gallery: rows of multi-label data in the plane, a wedge for each of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes

from skml_kalda.bench.canvas import PAPER, panels, with_legend
from skml_kalda.bench.methods import label
from skml_kalda.bench.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

__all__ = ["draw_gallery"]

# Okabe and Ito's, which most colour-blind people tell apart, without their black: it would be
# lost on a dark page.
_COLORS = ("#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#f0e442")
_REST = "#9a9a9a"
_AREA = 62.0


def draw_gallery(results: Results, score: str) -> Figure:
    """Draw a panel for each data set and method."""
    rows = [row for row in results.ok if row["classifier"] == results.plan.classifiers[0]]
    drawn, axes = panels(len(rows), width=3.6, height=3.6, columns=2)
    drawn.set_layout_engine("constrained", w_pad=0.12, h_pad=0.06)
    last = {row["dataset"]: row for row in rows}
    for axis, row in zip(axes, rows, strict=True):
        points = _turned(row["points"], last[row["dataset"]]["points"])
        _draw_pies(axis, points, _label_sets(row), _colors(row))
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
    """Name the labels of each point; that of a point without any is empty."""
    if "classes_of_points" in row:
        return [[name] for name in row["classes_of_points"]]
    names = row["labels"]
    return [[names[number] for number in each] or [""] for each in row["labels_of_points"]]


def _colors(row: Mapping[str, Any]) -> dict[str, str]:
    """Give the most frequent labels a colour each, in the order of the data set."""
    counts = Counter(name for names in _label_sets(row) for name in names)
    del counts[""]
    frequent = {name for name, _ in counts.most_common(len(_COLORS))}
    kept = [name for name in row.get("labels", sorted(counts)) if name in frequent]
    shown = {name for names in _label_sets(row) for name in names}
    rest = {"another label, or none": _REST} if shown - set(kept) else {}
    return dict(zip(kept, _COLORS, strict=False)) | rest


def _turned(points: Sequence[Any], like: Sequence[Any]) -> NDArray[Any]:
    """Rotate and mirror points, which changes no distance, to lie as others do."""
    here, there = (np.array(each) - np.mean(each, axis=0) for each in (points, like))
    rotation, _ = orthogonal_procrustes(here, there)
    return here @ rotation


def _draw_pies(
    axis: Axes, points: NDArray[Any], label_sets: Sequence[Sequence[str]], colors: Mapping[str, str]
) -> None:
    """Draw each point as a pie, whole before the next, so that none shows through another."""
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import IdentityTransform

    pies = [
        (_slice(number, len(names)), point, colors.get(name, _REST))
        for point, names in zip(points, label_sets, strict=True)
        for number, name in enumerate(names)
    ]
    paths, offsets, faces = zip(*pies, strict=True)
    wedges = PathCollection(
        paths, sizes=[_AREA], offsets=offsets, offset_transform=axis.transData,
        facecolors=faces, edgecolors=PAPER, linewidths=0.5, clip_on=False,
    )  # fmt: skip
    wedges.set_transform(IdentityTransform())
    axis.add_collection(wedges)
    axis.update_datalim(points)
    axis.margins(0.06)
    axis.autoscale_view()


def _slice(number: int, of: int) -> Path:
    """Cut a disc into equal parts, from the top clockwise, and give one of them."""
    from matplotlib.path import Path

    start, end = (0.25 - (number + step) / of for step in (0, 1))
    angles = 2 * np.pi * np.linspace(start, end, 2 + 16 // of)
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) / 2
    return Path(rim if of == 1 else np.vstack([rim, [0, 0], rim[:1]]))
