"""Projected rows in the plane, coloured by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import indicator
from skml_kalda.inspection.tables import check_components, names_of_labels, project
from skml_kalda.inspection.wedges import (
    NO_LABEL,
    OTHERS,
    PALETTE,
    chosen_labels,
    color_sets,
    draw_wedges,
    label_colors,
    pyplot,
    stacked,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend

# Up to this many rows, pies have their full size in points squared; with more they are smaller.
_FEW_ROWS, _LARGEST, _SMALLEST = 200, 62.0, 22.0


class ProjectionDisplay:
    """Projected rows, each drawn as a pie with a wedge for each of its labels.

    Use :meth:`from_estimator` or :meth:`from_transformed` to create one. All arguments are kept
    as attributes, so that :meth:`plot` can draw again with other options.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2) or (n_samples, 1)
        The rows in the directions to draw.
    labels : sparse array of shape (n_samples, n_labels)
        Indicator matrix of the labels.
    label_names : sequence of str
        Names of the labels.
    axis_names : sequence of str
        Names of the directions to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure that contains them.
    wedges_ : matplotlib PathCollection
        The wedges of all rows.
    legend_ : matplotlib Legend or None
        The legend, if there is one.

    See Also
    --------
    LabelProfileDisplay : Where the labels lie in more than two directions.
    LoadingsDisplay : Which features the directions are made of.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skml_kalda import MultiLabelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import ProjectionDisplay
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> kalda = MultiLabelKaLDA(constraint="none", shrinkage="auto").fit(X, y)
    >>> display = ProjectionDisplay.from_estimator(kalda, X, y)
    >>> display.ax_.get_xlabel()
    'multilabelkalda0'
    >>> plt.close(display.figure_)
    """

    ax_: Axes
    figure_: Figure | SubFigure
    wedges_: PathCollection
    legend_: Legend | None

    def __init__(
        self, points: Array, labels: Any, *, label_names: Sequence[str], axis_names: Sequence[str]
    ) -> None:
        self.points = points
        self.labels = labels
        self.label_names = label_names
        self.axis_names = axis_names

    def plot(
        self,
        *,
        ax: Axes | None = None,
        shown: int | Sequence[str] = len(PALETTE),
        colors: Sequence[str] = PALETTE,
        size: float | None = None,
        legend: bool = True,
        **wedge_kwargs: Any,
    ) -> Self:
        """Draw the rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Both axes of two directions get the same
            scale, so that distances are true.
        shown : int or sequence of str, default=7
            The labels that get a colour of their own: this many of the most frequent ones, or
            those with these names. All other labels of a row share one grey wedge.
        colors : sequence of str, default=Okabe and Ito's palette
            The colours to use, at least one for each label shown. Most colour-blind people can
            tell the seven of the default apart.
        size : float, default=None
            Area of a pie in points squared; None makes it smaller for more rows.
        legend : bool, default=True
            Whether to add a legend, to the right of the axes.
        **wedge_kwargs : dict
            Passed to :class:`matplotlib.collections.PathCollection`.

        Returns
        -------
        self : ProjectionDisplay
            The display, with the attributes `ax_`, `figure_`, `wedges_` and `legend_`.
        """
        plt = pyplot("ProjectionDisplay")
        chosen = chosen_labels(self.labels, self.label_names, shown)
        color_of = label_colors(self.labels, chosen, colors)
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        wedge_kwargs = {"edgecolors": "white", **wedge_kwargs}
        size = _area(len(self.points)) if size is None else size
        points, sets = self._rows(color_of)
        self.wedges_ = draw_wedges(ax, points, sets, size, **wedge_kwargs)
        self._name_axes(ax)
        self.legend_ = self._add_legend(ax, color_of, sets) if legend else None
        return self

    @classmethod
    def from_estimator(
        cls,
        reducer: Any,
        X: Any,
        y: Any,
        *,
        components: Sequence[int] | None = None,
        label_names: Sequence[str] | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Transform rows and draw them.

        Parameters
        ----------
        reducer : fitted transformer, or Pipeline that ends in one
            Any object with a `transform` method.
        X : array-like or sparse of shape (n_samples, n_features)
            The data.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        components : sequence of one or two int, default=None
            The directions to draw; None means the first two. One direction, or the only one,
            is drawn as a histogram made of pies.
        label_names : sequence of str, default=None
            Names of the labels. None means the column names of a data frame, or the class
            labels, or the column numbers.
        **plot_kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ProjectionDisplay
            The display.
        """
        rows, names = project(reducer, X)
        return cls._from_rows(rows, names, y, components, label_names, plot_kwargs)

    @classmethod
    def from_transformed(
        cls,
        X_transformed: Any,
        y: Any,
        *,
        components: Sequence[int] | None = None,
        label_names: Sequence[str] | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Draw rows that have already been transformed, by any method.

        Parameters
        ----------
        X_transformed : array-like of shape (n_samples, n_components)
            The transformed rows. The columns of a data frame give the names of the axes.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        components : sequence of one or two int, default=None
            The columns to draw; None means the first two.
        label_names : sequence of str, default=None
            See :meth:`from_estimator`.
        **plot_kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : ProjectionDisplay
            The display.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from skml_kalda.inspection import ProjectionDisplay
        >>> points = [[0, 0], [1, 0], [0, 1]]
        >>> display = ProjectionDisplay.from_transformed(points, ["sea", "sun", "sea"])
        >>> [text.get_text() for text in display.legend_.get_texts()]
        ['sea (2)', 'sun (1)']
        >>> plt.close(display.figure_)
        """
        rows = check_array(X_transformed, dtype=np.float64, input_name="X_transformed")
        columns = getattr(X_transformed, "columns", range(rows.shape[1]))
        names = [name if isinstance(name, str) else f"direction {name}" for name in columns]
        return cls._from_rows(rows, names, y, components, label_names, plot_kwargs)

    @classmethod
    def _from_rows(
        cls,
        rows: Array,
        names: Sequence[str],
        y: Any,
        components: Sequence[int] | None,
        label_names: Sequence[str] | None,
        plot_kwargs: dict[str, Any],
    ) -> Self:
        n = rows.shape[1]
        wanted = range(min(n, 2)) if components is None else components
        chosen = check_components(wanted, n, at_most=2)
        labels = indicator(y, allow_unknown=True)
        check_consistent_length(rows, labels.matrix)
        display = cls(
            rows[:, chosen],
            labels.matrix,
            label_names=names_of_labels(y, labels.classes, label_names),
            axis_names=[names[column] for column in chosen],
        )
        return display.plot(**plot_kwargs)

    def _rows(self, color_of: dict[int, str]) -> tuple[Array, list[list[str]]]:
        """Return the points and the colours of their wedges, in the order of drawing."""
        sets = color_sets(self.labels, color_of)
        points = self.points
        if points.shape[1] == 1:
            layers = [*color_of.values(), OTHERS, NO_LABEL]
            points = stacked(points[:, 0], [layers.index(each[0]) for each in sets])
        # Rows whose labels have no colour of their own lie below the others.
        colored = [not {OTHERS, NO_LABEL}.issuperset(each) for each in sets]
        order = np.argsort(colored, kind="stable")
        return points[order], [sets[row] for row in order]

    def _name_axes(self, ax: Axes) -> None:
        if len(self.axis_names) == 1:
            ax.set(xlabel=self.axis_names[0], ylabel="rows")
            ax.locator_params(axis="y", integer=True)
        else:
            ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
            ax.set_aspect("equal", adjustable="datalim")

    def _add_legend(self, ax: Axes, color_of: dict[int, str], sets: list[list[str]]) -> Legend:
        from matplotlib.lines import Line2D

        counts = self.labels.sum(axis=0)
        entries = {f"{self.label_names[k]} ({counts[k]:.0f})": c for k, c in color_of.items()}
        if any(OTHERS in each for each in sets):
            entries[f"{np.count_nonzero(counts) - len(color_of)} other labels"] = OTHERS
        if [NO_LABEL] in sets:
            entries[f"no label ({sets.count([NO_LABEL])})"] = NO_LABEL
        handles = [
            Line2D([], [], marker="o", linestyle="", markersize=7, color=color, label=text)
            for text, color in entries.items()
        ]
        return ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)


def _area(n_rows: int) -> float:
    return max(_SMALLEST, _LARGEST * min(1.0, (_FEW_ROWS / n_rows) ** 0.5))
