"""What all figures share: colours, panels, the legend, and the form of the SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from skml_kalda.bench.reporting.drawing.compact import compact

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_COLUMNS: ContextVar[int] = ContextVar("most_columns", default=99)
COLORS = ("#2f7ed8", "#e0701a", "#2a9d6a", "#a05fc0", "#c9425a", "#8a7a2b")
MARKERS = ("o", "s", "^", "D", "v", "P")
# A placeholder for the colour of the page's text: see `svg`.
INK = "#123456"
# A placeholder for the colour of its background.
PAPER = "#fedcba"
_STYLE: Any = {
    "svg.fonttype": "none",
    # Names are shown as they are: a dollar sign does not begin a formula.
    "text.parse_math": False,
    # Figures are measured in the first, and the others are about as wide.
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.facecolor": "none",
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
    ),
    "grid.color": INK,
    "grid.alpha": 0.15,
    "legend.frameon": False,
}


def style(**more: Any) -> AbstractContextManager[None]:
    """Return a context in which figures are drawn and written in the style of the report."""
    import matplotlib as mpl

    return mpl.rc_context(_STYLE | more)


def svg(drawn: Figure, salt: str) -> str:
    """Return a figure as an SVG element whose lines and text take the colours of the page.

    The `salt` makes its identifiers unique, because one page may hold several figures.
    """
    stream = io.StringIO()
    with style(**{"svg.hashsalt": salt}):
        # Without a date, so that the same results give the same bytes.
        drawn.savefig(stream, format="svg", dpi=100, facecolor="none", metadata={"Date": None})
    text = stream.getvalue()
    text = compact(text[text.index("<svg") :], salt)
    text = text.replace(INK, "currentColor").replace(PAPER, "var(--page, white)")
    return re.sub(r'<svg (.*?)width="[^"]*" height="[^"]*"', r"<svg \1", text, count=1, flags=re.S)


@contextmanager
def narrow() -> Iterator[None]:
    """Put panels below one another, for a phone."""
    token = _MOST_COLUMNS.set(1)
    try:
        yield
    finally:
        _MOST_COLUMNS.reset(token)


def panels(
    n: int, *, width: float = 3.1, height: float = 2.4, columns: int = 3
) -> tuple[Figure, Iterator[Axes]]:
    """Make a figure of n panels, at most `columns` in a row."""
    from matplotlib.figure import Figure

    columns = min(n, columns, _MOST_COLUMNS.get())
    rows = -(-n // columns)
    drawn = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for unused in axes[n:]:
        unused.remove()
    return drawn, iter(axes[:n])


def color(number: int) -> str:
    """Return the colour of a series; the seventh has that of the first again."""
    return COLORS[number % len(COLORS)]


def marker(number: int) -> str:
    """Return the marker of a series; the seventh has that of the first again."""
    return MARKERS[number % len(MARKERS)]


def with_legend(drawn: Figure, columns: int = 4) -> Figure:
    """Add one legend above all panels."""
    found = {
        label: handle
        for axis in drawn.axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    columns = min(columns, 2) if _MOST_COLUMNS.get() == 1 else columns
    drawn.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns)
    return drawn
