"""Rows in the plane, each a pie with a wedge for each of its labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skml_kalda._core.arrays import Array
from skml_kalda._core.messages import required

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

# The colours of Okabe and Ito, which most colour-blind people can tell apart. Their black is
# left out: it would vanish on a dark page.
PALETTE = ("#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#f0e442")
OTHERS = "#9a9a9a"
NO_LABEL = "#dedede"
# Largest number of stacks in a histogram of pies.
_STACKS = 40


def pyplot(caller: str) -> Any:
    """Import matplotlib, which `caller` needs."""
    return required("matplotlib.pyplot", by=caller, extra="inspection", library="matplotlib")


def draw_wedges(
    ax: Axes, points: ArrayLike, colors: Sequence[Sequence[str]], size: float, **style: Any
) -> PathCollection:
    """Draw each point as a pie, finished before the next one begins.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to draw.
    points : array-like of shape (n, 2)
        The centres.
    colors : sequence of n sequences of str
        The colours of the wedges of each point, from the top clockwise; at least one each.
    size : float
        Area of a pie in points squared.
    **style
        Passed to :class:`matplotlib.collections.PathCollection`, such as `edgecolors`.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import IdentityTransform

    paths = [_wedge(number, len(each)) for each in colors for number in range(len(each))]
    offsets = np.repeat(np.asarray(points), [len(each) for each in colors], axis=0)
    faces = [color for each in colors for color in each]
    # Thinner lines for smaller pies, or they would cover their wedges.
    style = {"linewidths": size**0.5 / 16, "clip_on": False, **style}
    wedges = PathCollection(
        paths,
        sizes=[size],
        offsets=offsets,
        offset_transform=ax.transData,
        facecolors=faces,
        **style,
    )
    wedges.set_transform(IdentityTransform())
    ax.add_collection(wedges)
    ax.update_datalim(offsets)
    ax.margins(0.06)
    ax.autoscale_view()
    return wedges


def chosen_labels(Y: Any, names: Sequence[str], shown: Any) -> list[int]:
    """Return the columns of the labels to show: the most frequent ones, or those named."""
    if isinstance(shown, Integral) and int(shown) >= 0:
        return np.argsort(-Y.sum(axis=0), kind="stable")[:shown].tolist()
    wanted = list(shown) if np.iterable(shown) and not isinstance(shown, str) else [shown]
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(
            f"shown={unknown[0]!r} is neither a number of labels nor one of the labels: "
            f"{', '.join(names)}."
        )
    return [names.index(name) for name in wanted]


def label_colors(Y: Any, shown: Sequence[int], colors: Sequence[str]) -> dict[int, str]:
    """Return a colour for each label to show that has rows, in the order of the columns."""
    present = [label for label in sorted(shown) if Y[:, [label]].sum() > 0]
    if len(present) > len(colors):
        raise ValueError(
            f"{len(present)} labels to show need as many colors, but colors has {len(colors)}: "
            "pass more colors, or show fewer labels."
        )
    return dict(zip(present, colors, strict=False))


def color_sets(Y: Any, color_of: dict[int, str]) -> list[list[str]]:
    """Return the colours of each row of an indicator matrix: one for all labels not shown."""
    sets = []
    for labels in np.split(Y.indices, Y.indptr[1:-1]):
        found = [color_of[label] for label in labels if label in color_of]
        others = [OTHERS] if len(found) < len(labels) else []
        sets.append(found + others or [NO_LABEL])
    return sets


def stacked(values: Array, layers: Sequence[int]) -> Array:
    """Stack points with nearly the same value, those of the first layer at the bottom."""
    width = np.ptp(values) / _STACKS or 1.0
    place = np.round(values / width)
    order = np.lexsort((np.asarray(layers), place))
    bottom = np.searchsorted(place[order], place[order])
    height = np.empty(len(values))
    height[order] = np.arange(1, len(values) + 1) - bottom
    return np.column_stack([place * width, height])


@cache
def _wedge(number: int, of: int) -> Path:
    """Return one of the equal parts of a disc of unit diameter, counted from the top clockwise."""
    from matplotlib.path import Path

    start, end = (0.25 - (number + step) / of for step in (0, 1))
    angles = 2 * np.pi * np.linspace(start, end, 2 + 16 // of)
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) / 2
    return Path(rim if of == 1 else np.vstack([rim, [0, 0], rim[:1]]))
