"""Tables of features or labels by directions, as pictures."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skml_kalda.inspection.tables import check_components, label_profile, loadings
from skml_kalda.inspection.wedges import pyplot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage

# Values are printed in tables of at most this many columns; in wider ones they would be too small.
_FEW_COLUMNS = 12


class TableDisplay(ABC):
    """Base of the displays of a table whose entries may be positive or negative."""

    _colorbar_label: ClassVar[str]

    ax_: Axes
    figure_: Figure | SubFigure
    im_: AxesImage
    text_: NDArray[Any] | None

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table

    def plot(
        self,
        *,
        ax: Axes | None = None,
        max_rows: int = 25,
        include_values: bool | None = None,
        cmap: Any = "PuOr",
        colorbar: bool = True,
    ) -> Self:
        """Draw the table.

        The rows are sorted by the column of their largest absolute entry, and then by this
        entry. So the rows of a direction stand together, the positive ones on top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        max_rows : int, default=25
            Number of rows to draw: those with the largest absolute entries.
        include_values : bool, default=None
            Whether to print the values; None prints them in up to 12 columns.
        cmap : str or matplotlib Colormap, default="PuOr"
            A diverging colour map. Colour-blind people can read the default.
        colorbar : bool, default=True
            Whether to add the colour bar.

        Returns
        -------
        self : object
            The display, with the attributes `ax_`, `figure_`, `im_` and `text_`.
        """
        plt = pyplot(type(self).__name__)
        table = _foremost(self.table, max_rows)
        if ax is None:
            _, ax = plt.subplots(figsize=_figure_size(table), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        values = table.to_numpy()
        limit = np.nanmax(np.abs(values), initial=0) or 1.0
        self.im_ = ax.imshow(values, cmap=cmap, vmin=-limit, vmax=limit, aspect="auto")
        _name_cells(ax, table)
        few = len(table.columns) <= _FEW_COLUMNS
        self.text_ = (
            self._print(values) if (few if include_values is None else include_values) else None
        )
        if colorbar:
            self.figure_.colorbar(self.im_, ax=ax, label=self._colorbar_label)
        return self

    def _print(self, values: NDArray[Any]) -> NDArray[Any]:
        text = np.empty(values.shape, dtype=object)
        for (row, column), value in np.ndenumerate(values):
            color = _ink(self.im_.cmap(self.im_.norm(value)))
            text[row, column] = self.ax_.text(
                column, row, f"{value:.2f}", ha="center", va="center", color=color, size="small"
            )
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
            Rows over which to correlate features and directions. None draws the coefficients.
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
    ProjectionDisplay : The rows in two of the directions.

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

    _colorbar_label = "mean of the label's rows, in standard deviations"

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


def _columns(table: pd.DataFrame, components: Sequence[int] | None) -> pd.DataFrame:
    """Return the columns of the chosen directions."""
    if components is None:
        return table
    return table.iloc[:, check_components(components, table.shape[1])]


def _foremost(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return the n rows with the largest entries, those of a column together."""
    known = table.dropna()
    values = known.to_numpy()
    column = np.abs(values).argmax(axis=1)
    entry = values[np.arange(len(values)), column]
    kept = np.argsort(-np.abs(entry), kind="stable")[:n]
    order = np.lexsort((-entry[kept], column[kept]))
    return known.iloc[kept[order]]


def _figure_size(table: pd.DataFrame) -> tuple[float, float]:
    rows, columns = table.shape
    return 3.5 + 0.55 * columns, 1.2 + 0.26 * rows


def _name_cells(ax: Axes, table: pd.DataFrame) -> None:
    ax.set_yticks(range(len(table.index)), table.index)
    ax.set_xticks(
        range(len(table.columns)), table.columns, rotation=30, ha="right", rotation_mode="anchor"
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _ink(background: Any) -> str:
    """Return black or white, whichever has more contrast with a colour."""
    luminance = np.dot([0.2126, 0.7152, 0.0722], np.power(background[:3], 2.2))
    return "white" if luminance < 0.179 else "black"
