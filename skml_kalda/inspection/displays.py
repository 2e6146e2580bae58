"""Pictures of what a fitted reducer has found: its tables, and the projected samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import indicator
from skml_kalda._core.messages import required
from skml_kalda.inspection.tables import label_profile, loadings, names_of_labels, project

# Values are printed if the cells have room for letters of this many points.
_SMALLEST_FONT = 5.0
# The colours of Okabe and Ito, which most colour-blind people can tell apart. Their black is
# left out: it would vanish on a dark page.
PALETTE = ("#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#f0e442")
OTHERS = "#9a9a9a"
NO_LABEL = "#dedede"
# Areas of pies, in points squared: together they cover a part of the axes.
_COVERED, _SMALLEST, _LARGEST = 0.17, 9.0, 62.0
# With more samples than this, pies would be too small, and each sample is a point.
_MOST_PIES = 1000
# Axes less wide than this, in points, have their legend below.
_NARROW = 280.0
# Largest number of stacks in a histogram of pies.
_STACKS = 40


class TableDisplay:
    """Base of the displays of a table whose entries may be positive or negative."""

    _colorbar_label: ClassVar[str]

    def __init__(self, table: Any) -> None:
        self.table = table

    def plot(self, *, ax: Any = None, max_rows: int = 25) -> Self:
        """Draw the table, with the values printed where cells have room for them.

        The rows are sorted by the column of their largest absolute entry, and then by this
        entry. So the rows of a direction stand together, the positive ones on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure that has room for all names. In given axes the
            middle of a long name is left out.
        max_rows : int, default=25
            Number of rows to draw: those with the largest absolute entries.

        Returns
        -------
        self : object
            The display, with the attributes `ax_`, `figure_`, `im_` and `text_`.
        """
        table = _foremost(self.table, max_rows)
        names, values = list(map(str, table.index)), table.to_numpy()
        n_rows, n_columns = values.shape
        longest = max(map(len, names), default=1)
        font = 9.0
        if ax is None:
            size = (1.8 + 0.085 * longest + 0.55 * n_columns, 1.3 + 0.26 * n_rows)
            ax = _new_axes(self, figsize=size)
        else:
            width, height = _points(ax)
            # Names may take this share of the width; a letter is about half as wide as it is high.
            letters = 0.6 * width / 0.55
            font = float(np.clip(min(0.8 * height / n_rows, letters / longest), 5, font))
            longest = min(longest, int(letters / font))
            ax.tick_params(labelsize=font)
        self.ax_, self.figure_ = ax, ax.figure
        limit = np.nanmax(np.abs(values), initial=0) or 1.0
        self.im_ = ax.imshow(values, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto")
        ax.set_yticks(range(n_rows), [_shortened(name, longest) for name in names])
        ax.set_xticks(range(n_columns), table.columns, rotation=90)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        bar = self.figure_.colorbar(self.im_, ax=ax)
        bar.set_label(self._colorbar_label, size=font)
        bar.ax.tick_params(labelsize=font)
        self.figure_.draw_without_rendering()
        width, height = np.divide(_points(ax), (max(n_columns, 1), max(n_rows, 1)))
        if width > 25:
            # As wide as two lines are high: names that lean do not touch.
            ax.tick_params(axis="x", labelrotation=30)
            for text in ax.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
        font = min(8.5, width / 3, 0.8 * height)
        self.text_ = self._print(values, font) if font >= _SMALLEST_FONT else None
        return self

    def _print(self, values: NDArray[Any], size: float) -> NDArray[Any]:
        text = np.empty(values.shape, dtype=object)
        for (row, column), value in np.ndenumerate(values):
            # Black or white, whichever has more contrast.
            red_green_blue = np.power(self.im_.cmap(self.im_.norm(value))[:3], 2.2)
            color = "white" if red_green_blue @ [0.2126, 0.7152, 0.0722] < 0.179 else "black"
            look = {"ha": "center", "va": "center", "color": color, "size": size}
            text[row, column] = self.ax_.text(column, row, f"{value:.2f}", **look)
        return text


class LoadingsDisplay(TableDisplay):
    """Picture of the features that the directions of a reducer are made of.

    Use :meth:`from_estimator` to create one. The argument is kept as an attribute, so that
    :meth:`plot` can draw again with other options.

    Parameters
    ----------
    table : DataFrame of shape (n_features, n_components)
        What to draw, as :func:`loadings` returns it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure that contains them.
    im_ : matplotlib AxesImage
        The coloured cells.
    text_ : ndarray of matplotlib Text, or None
        The printed values, if there are any.

    See Also
    --------
    loadings : The table.
    LabelProfileDisplay : The directions in terms of the labels.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skml_kalda import MultiLabelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import LoadingsDisplay
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> kalda = MultiLabelKaLDA(constraint="none", shrinkage="auto").fit(X, y)
    >>> display = LoadingsDisplay.from_estimator(kalda, X, max_rows=10)
    >>> len(display.ax_.get_yticklabels())
    10
    >>> plt.close(display.figure_)
    """

    _colorbar_label = "loading"

    @classmethod
    def from_estimator(
        cls,
        reducer: Any,
        X: Any = None,
        *,
        components: Sequence[int] | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Compute the loadings of a fitted reducer and draw them.

        Parameters
        ----------
        reducer : fitted transformer, or Pipeline that ends in one
            See :func:`loadings`.
        X : array-like or sparse of shape (n_samples, n_features), default=None
            Samples over which to correlate features and directions. None draws the coefficients.
        components : sequence of int, default=None
            The directions to draw; None means all.
        **plot_kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : LoadingsDisplay
            The display.
        """
        return cls(_columns(loadings(reducer, X), components)).plot(**plot_kwargs)


class LabelProfileDisplay(TableDisplay):
    """Picture of where the labels lie in the directions of a reducer.

    Use :meth:`from_estimator` to create one. The argument is kept as an attribute, so that
    :meth:`plot` can draw again with other options.

    Parameters
    ----------
    table : DataFrame of shape (n_labels, n_components)
        What to draw, as :func:`label_profile` returns it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure that contains them.
    im_ : matplotlib AxesImage
        The coloured cells.
    text_ : ndarray of matplotlib Text, or None
        The printed values, if there are any.

    See Also
    --------
    label_profile : The table.
    ProjectionDisplay : The samples in two of the directions.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skml_kalda import KernelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import LabelProfileDisplay
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> kalda = KernelKaLDA(random_state=0).fit(X, y)
    >>> display = LabelProfileDisplay.from_estimator(kalda, X, y)
    >>> display.table.shape
    (6, 6)
    >>> plt.close(display.figure_)
    """

    _colorbar_label = "in standard deviations"

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
        """Compute the label profile of a fitted reducer and draw it.

        Parameters
        ----------
        reducer : fitted transformer, or Pipeline that ends in one
            Any object with a `transform` method.
        X : array-like or sparse of shape (n_samples, n_features)
            The data.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        components : sequence of int, default=None
            The directions to draw; None means all.
        label_names : sequence of str, default=None
            See :func:`label_profile`.
        **plot_kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display : LabelProfileDisplay
            The display.
        """
        profile = label_profile(reducer, X, y, label_names=label_names)
        return cls(_columns(profile, components)).plot(**plot_kwargs)


class ProjectionDisplay:
    """Projected samples, each drawn as a pie with a wedge for each of its labels.

    Use :meth:`from_estimator` or :meth:`from_transformed` to create one. All arguments are kept
    as attributes, so that :meth:`plot` can draw again with other options.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2) or (n_samples, 1)
        The samples in the directions to draw.
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
        The wedges of all samples.
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
        ax: Any = None,
        shown: int | Sequence[str] = len(PALETTE),
        colors: Sequence[str] = PALETTE,
        size: float | None = None,
        legend: bool | str = True,
        **wedge_kwargs: Any,
    ) -> Self:
        """Draw the samples.

        More than 1000 are drawn as points, each in the colour of the least frequent of its labels
        that have one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure. Both axes of two directions get the same
            scale, so that distances are true.
        shown : int or sequence of str, default=7
            The labels that get a colour of their own: this many of the most frequent ones, or
            those with these names. All other labels of a sample share one grey wedge.
        colors : sequence of str, default=Okabe and Ito's palette
            The colours to use, at least one for each label shown. Most colour-blind people can
            tell the seven of the default apart.
        size : float, default=None
            Area of a pie in points squared; None makes it smaller for more samples.
        legend : bool or str, default=True
            Where to put the legend: "right" of the axes, "below" them, or a location inside them
            such as "upper left". True means right, or below axes less than 4 inches wide; False
            means none.
        **wedge_kwargs : dict
            Passed to :class:`matplotlib.collections.PathCollection`.

        Returns
        -------
        self : ProjectionDisplay
            The display, with the attributes `ax_`, `figure_`, `wedges_` and `legend_`.
        """
        color_of = self._colors(shown, colors)
        if ax is None:
            width, height = np.ptp(self.points, axis=0)[[0, -1]]
            shape = height / width if width and len(self.axis_names) == 2 else 1
            ax = _new_axes(self, figsize=(6.4, np.clip(0.8 + 4.2 * shape, 2.4, 6.4)))
        self.ax_, self.figure_ = ax, ax.figure
        wedge_kwargs = {"edgecolors": "white", **wedge_kwargs}
        points, sets = self._samples(color_of)
        if size is None:
            size = np.clip(_COVERED * np.prod(_points(ax)) / len(points), _SMALLEST, _LARGEST)
        if len(points) > _MOST_PIES:
            wedge_kwargs = {"linewidths": 0, "rasterized": True, **wedge_kwargs}
        self.wedges_ = draw_wedges(ax, points, sets, size, **wedge_kwargs)
        ax.set(xlabel=self.axis_names[0], ylabel=[*self.axis_names, "samples"][1])
        if len(self.axis_names) == 1:
            ax.locator_params(axis="y", integer=True)
        else:
            ax.set_aspect("equal", adjustable="box")
        self.legend_ = self._add_legend(ax, color_of, sets, legend) if legend else None
        return self

    @classmethod
    def from_estimator(cls, reducer: Any, X: Any, y: Any, **kwargs: Any) -> Self:
        """Transform samples and draw them.

        Parameters
        ----------
        reducer : fitted transformer, or Pipeline that ends in one
            Any object with a `transform` method.
        X : array-like or sparse of shape (n_samples, n_features)
            The data.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        **kwargs : dict
            Passed to :meth:`from_transformed`: `components`, `label_names`, `axis_names` (by
            default the names that the reducer gives its directions), and options of :meth:`plot`.

        Returns
        -------
        display : ProjectionDisplay
            The display.
        """
        projected, names = project(reducer, X)
        return cls.from_transformed(projected, y, **{"axis_names": names, **kwargs})

    @classmethod
    def from_transformed(
        cls,
        X_transformed: Any,
        y: Any,
        *,
        components: Sequence[int] | None = None,
        label_names: Sequence[str] | None = None,
        axis_names: Sequence[str] | None = None,
        **plot_kwargs: Any,
    ) -> Self:
        """Draw samples that have already been transformed, by any method.

        Parameters
        ----------
        X_transformed : array-like of shape (n_samples, n_components)
            The transformed samples.
        y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form.
        components : sequence of one or two int, default=None
            The columns to draw; None means the first two.
        label_names : sequence of str, default=None
            See :meth:`from_estimator`.
        axis_names : sequence of str, default=None
            Names of all columns. None means those of a data frame, or numbers.
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
        points = check_array(X_transformed, dtype=np.float64, input_name="X_transformed")
        n = points.shape[1]
        columns = getattr(X_transformed, "columns", range(n)) if axis_names is None else axis_names
        wanted = range(min(n, 2)) if components is None else components
        chosen = _checked_components(wanted, n, at_most=2)
        columns = [each if isinstance(each, str) else f"direction {each}" for each in columns]
        labels = indicator(y, allow_unknown=True)
        check_consistent_length(points, labels.matrix)
        display = cls(
            points[:, chosen],
            labels.matrix,
            label_names=names_of_labels(y, labels.classes, label_names),
            axis_names=[columns[each] for each in chosen],
        )
        return display.plot(**plot_kwargs)

    def _colors(self, shown: Any, colors: Sequence[str]) -> dict[int, str]:
        """Return a colour for each label to show that has samples, in the order of the columns."""
        counts, names = self.labels.sum(axis=0), self.label_names
        if isinstance(shown, Integral) and int(shown) >= 0:
            chosen = np.argsort(-counts, kind="stable")[:shown].tolist()
        else:
            wanted = list(shown) if np.iterable(shown) and not isinstance(shown, str) else [shown]
            if unknown := [name for name in wanted if name not in names]:
                raise ValueError(
                    f"shown={unknown[0]!r} is neither a number of labels nor one of the labels: "
                    f"{', '.join(names)}."
                )
            chosen = [names.index(name) for name in wanted]
        present = [label for label in sorted(chosen) if counts[label] > 0]
        if len(present) > len(colors):
            raise ValueError(
                f"{len(present)} labels to show need as many colors, but colors has "
                f"{len(colors)}: pass more colors, or show fewer labels."
            )
        return dict(zip(present, colors, strict=False))

    def _samples(self, color_of: dict[int, str]) -> tuple[Array, list[list[str]]]:
        """Return the points and the colours of their wedges, in the order of drawing."""
        sets, counts = [], self.labels.sum(axis=0)
        for labels in np.split(self.labels.indices, self.labels.indptr[1:-1]):
            shown = [label for label in labels if label in color_of]
            others = [OTHERS] if len(shown) < len(labels) else []
            if len(self.points) > _MOST_PIES and shown:
                shown, others = [min(shown, key=counts.__getitem__)], []
            sets.append([color_of[label] for label in shown] + others or [NO_LABEL])
        points = self.points
        if points.shape[1] == 1:
            layers = [*color_of.values(), OTHERS, NO_LABEL]
            points = _stacked(points[:, 0], [layers.index(each[0]) for each in sets])
        # Samples whose labels have no colour of their own lie below the others.
        colored = [not {OTHERS, NO_LABEL}.issuperset(each) for each in sets]
        order = np.argsort(colored, kind="stable")
        return points[order], [sets[sample] for sample in order]

    def _add_legend(
        self, ax: Any, color_of: dict[int, str], sets: list[list[str]], place: bool | str
    ) -> Any:
        from matplotlib.lines import Line2D
        from matplotlib.transforms import ScaledTranslation

        counts = self.labels.sum(axis=0)
        entries = {f"{self.label_names[k]} ({counts[k]:.0f})": c for k, c in color_of.items()}
        if any(OTHERS in each for each in sets):
            entries[f"{np.count_nonzero(counts) - len(color_of)} other labels"] = OTHERS
        if [NO_LABEL] in sets:
            entries[f"no label ({sets.count([NO_LABEL])})"] = NO_LABEL
        dot = partial(Line2D, [], [], marker="o", linestyle="", markersize=7)
        handles = [dot(color=color, label=text) for text, color in entries.items()]
        room = _points(ax)[0]
        is_narrow = room < _NARROW
        style: dict[str, Any] = {
            "handles": handles,
            "frameon": False,
            "fontsize": "small" if is_narrow else "medium",
            "handletextpad": 0.1,
            "columnspacing": 0.8,
        }
        if place == "right" or (place is True and not is_narrow):
            return ax.legend(loc="upper left", bbox_to_anchor=(1, 1), **style)
        if place == "below" or place is True:
            # Below the numbers and the name of the axis.
            down = ScaledTranslation(0, -0.45, ax.figure.dpi_scale_trans)
            style |= {"bbox_to_anchor": (0.5, 0), "bbox_transform": ax.transAxes + down}
            width = (4.4 if is_narrow else 5.3) * max(map(len, entries), default=0) + 25
            return ax.legend(loc="upper center", ncols=max(1, int(1.29 * room / width)), **style)
        return ax.legend(loc=place, **style)


def _points(ax: Any) -> Any:
    """Return the width and the height of axes, in points."""
    return ax.get_window_extent().size * 72 / ax.figure.dpi


def _shortened(name: str, n: int) -> str:
    """Return a name with its middle left out if it has more than n characters."""
    return name if len(name) <= n else f"{name[: n // 2]}…{name[len(name) + 1 - n + n // 2 :]}"


def _columns(table: Any, components: Sequence[int] | None) -> Any:
    """Return the columns of the chosen directions."""
    if components is None:
        return table
    return table.iloc[:, _checked_components(components, table.shape[1])]


def _foremost(table: Any, n: int) -> Any:
    """Return the n rows with the largest entries, those of a column together."""
    known = table.dropna()
    values = known.to_numpy()
    column = np.abs(values).argmax(axis=1)
    entry = values[np.arange(len(values)), column]
    largest = np.argsort(-np.abs(entry), kind="stable")[:n]
    order = np.lexsort((-entry[largest], column[largest]))
    return known.iloc[largest[order]]


def _checked_components(components: Sequence[Any], n: int, at_most: int | None = None) -> list[int]:
    """Return the numbers of the directions to draw as a list, each one between 0 and n - 1."""
    chosen, most = list(components), at_most or n
    if not 1 <= len(chosen) <= most or not set(chosen) <= set(range(n)):
        raise ValueError(
            f"components={components!r} must be 1 to {most} directions: numbers from 0 to {n - 1}."
        )
    return chosen


def _new_axes(display: Any, **options: Any) -> Any:
    """Return the axes of a new figure."""
    by = type(display).__name__
    plt = required("matplotlib.pyplot", by=by, extra="inspection", library="matplotlib")
    return plt.subplots(layout="compressed", **options)[1]


def draw_wedges(
    ax: Any, points: ArrayLike, colors: Sequence[Sequence[str]], size: float, **style: Any
) -> Any:
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


def _stacked(values: Array, layers: Sequence[int]) -> Array:
    """Stack points with nearly the same value, those of the first layer at the bottom."""
    width = np.ptp(values) / _STACKS or 1.0
    place = np.round(values / width)
    order = np.lexsort((np.asarray(layers), place))
    bottom = np.searchsorted(place[order], place[order])
    height = np.empty(len(values))
    height[order] = np.arange(1, len(values) + 1) - bottom
    return np.column_stack([place * width, height])


@cache
def _wedge(number: int, of: int) -> Any:
    """Return one of the equal parts of a disc of unit diameter, counted from the top clockwise."""
    from matplotlib.path import Path

    start, end = (0.25 - (number + step) / of for step in (0, 1))
    angles = 2 * np.pi * np.linspace(start, end, 2 + 16 // of)
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) / 2
    return Path(rim if of == 1 else np.vstack([rim, [0, 0], rim[:1]]))
