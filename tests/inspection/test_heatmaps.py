"""The pictures of tables show the entries of the table, sorted to be read."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skml_kalda import MultiLabelKaLDA
from skml_kalda.inspection import LabelProfileDisplay, LoadingsDisplay, label_profile, loadings
from tests.conftest import without
from tests.inspection.conftest import random_table

both = pytest.mark.parametrize("display", [LoadingsDisplay, LabelProfileDisplay])


def drawn(display):
    """Entry by names of row and column, in the order they are drawn."""
    rows = [text.get_text() for text in display.ax_.get_yticklabels()]
    columns = [text.get_text() for text in display.ax_.get_xticklabels()]
    values = display.im_.get_array()
    return {
        (row, column): values[i, j]
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }


def test_loadings_display_draws_the_loadings(fitted, frames):
    X, _ = frames
    table = loadings(fitted, X)
    display = LoadingsDisplay.from_estimator(fitted, X)
    assert drawn(display) == table.stack().to_dict()
    assert display.table.equals(table)


def test_label_profile_display_draws_the_profile(fitted, frames):
    X, Y = frames
    table = label_profile(fitted, X, Y)
    assert drawn(LabelProfileDisplay.from_estimator(fitted, X, Y)) == table.stack().to_dict()


def test_coefficients_need_no_rows(frames):
    kalda = MultiLabelKaLDA().fit(*frames)
    assert drawn(LoadingsDisplay.from_estimator(kalda)) == loadings(kalda).stack().to_dict()


@both
def test_rows_with_the_largest_entries_are_drawn(display):
    table = random_table()
    cells = drawn(display(table).plot(max_rows=5))
    largest = table.abs().max(axis=1).nlargest(5).index
    assert {row for row, _ in cells} == set(largest)


@both
def test_rows_of_a_direction_stand_together_the_positive_ones_above(display):
    table = random_table()
    rows = list(dict.fromkeys(row for row, _ in drawn(display(table).plot(max_rows=40))))
    leading = [table.loc[row].abs().idxmax() for row in rows]
    assert leading == sorted(leading)
    for column in table:
        entries = [table.loc[r, column] for r, c in zip(rows, leading, strict=True) if c == column]
        assert len(entries) > 1
        assert entries == sorted(entries, reverse=True)


@both
def test_colours_are_symmetric_about_zero(display):
    table = random_table(3) - 5
    low, high = display(table).plot().im_.get_clim()
    assert -low == high == table.abs().max(axis=None)


@both
def test_values_are_printed_where_they_can_be_read(display):
    table = random_table(3, 2)
    shown = display(table).plot()
    values = [[f"{value:.2f}" for value in row] for row in shown.im_.get_array()]
    assert [[text.get_text() for text in row] for row in shown.text_] == values
    assert display(random_table(3, 13)).plot().text_ is None
    assert display(random_table(3, 13)).plot(include_values=True).text_.shape == (3, 13)
    assert display(table).plot(include_values=False).text_ is None


@pytest.mark.parametrize("cmap", ["PuOr", "coolwarm", "viridis"])
def test_printed_values_contrast_with_their_cell(cmap):
    table = pd.DataFrame({"a": np.linspace(-1, 1, 41)})
    shown = LoadingsDisplay(table).plot(max_rows=41, cmap=cmap)
    for cell, text in zip(shown.im_.get_array().ravel(), shown.text_.ravel(), strict=True):
        background = shown.im_.cmap(shown.im_.norm(cell))[:3]
        assert contrast(background, 1.0 if text.get_color() == "white" else 0.0) > 4.5


def contrast(color, grey):
    """The contrast ratio of the web's accessibility guidelines; 4.5 can be read by most."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    light = np.dot(linear, [0.2126, 0.7152, 0.0722])
    brighter, darker = max(light, grey), min(light, grey)
    return (brighter + 0.05) / (darker + 0.05)


@both
def test_rows_without_values_are_left_out(display):
    table = random_table(4, 2)
    table.iloc[1] = np.nan
    assert {row for row, _ in drawn(display(table).plot())} == {"row 0", "row 2", "row 3"}


@both
def test_a_table_of_zeros_can_be_drawn(display):
    assert_array_equal(display(random_table(3, 2) * 0).plot().im_.get_array(), 0)


def test_directions_can_be_chosen(fitted, frames):
    X, Y = frames
    names = list(fitted.get_feature_names_out())
    display = LoadingsDisplay.from_estimator(fitted, X, components=[2, 0])
    assert list(display.table.columns) == [names[2], names[0]]
    display = LabelProfileDisplay.from_estimator(fitted, X, Y, components=[1])
    assert list(display.table.columns) == [names[1]]
    with pytest.raises(ValueError, match=r"components=\[3\] must be some of the 3 directions"):
        LoadingsDisplay.from_estimator(fitted, X, components=[3])


@both
def test_axes_colour_map_and_colour_bar_can_be_given(display):
    figure, (left, right) = plt.subplots(1, 2)
    shown = display(random_table(3)).plot(ax=right, cmap="coolwarm", colorbar=False)
    assert shown.ax_ is right
    assert shown.figure_ is figure
    assert shown.im_.get_cmap().name == "coolwarm"
    assert figure.axes == [left, right]
    assert len(display(random_table(3)).plot().figure_.axes) == 2


@both
def test_missing_matplotlib_is_named(display, monkeypatch):
    without("matplotlib.pyplot", monkeypatch)
    message = rf'{display.__name__} needs matplotlib: pip install "skml-kalda\[inspection\]"'
    with pytest.raises(ImportError, match=message):
        display(random_table(3)).plot()
