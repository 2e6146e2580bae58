"""Pictures show every entry of a table, and every row where it is, with its labels."""

from itertools import chain, pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal

from skml_kalda import MultiLabelKaLDA
from skml_kalda.inspection import (
    LabelProfileDisplay,
    LoadingsDisplay,
    ProjectionDisplay,
    label_profile,
    loadings,
)
from skml_kalda.inspection.displays import NO_LABEL, OTHERS, PALETTE
from tests.inspection.conftest import LABELS, random_table

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]


def pies(display):
    """The colours at each place, in the order they are drawn."""
    found = {}
    colors = map(to_hex, display.wedges_.get_facecolors())
    for place, color in zip(map(tuple, display.wedges_.get_offsets()), colors, strict=True):
        found.setdefault(place, []).append(color)
    return found


def texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def area(polygon):
    """Of a polygon, by the shoelace formula."""
    x, y = polygon.T
    return abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2


def test_each_row_has_a_wedge_for_each_of_its_labels(fitted, frames):
    X, Y = frames
    display = ProjectionDisplay.from_estimator(fitted, X, Y)
    color = dict(zip(LABELS, PALETTE, strict=False))
    drawn = pies(display)
    for place, (_, row) in zip(fitted.transform(X)[:, :2], Y.iterrows(), strict=True):
        expected = [color[name] for name in LABELS if row[name]] or [NO_LABEL]
        assert drawn.pop(tuple(place)) == expected
    assert not drawn


def test_the_wedges_of_a_row_are_equal_parts_of_its_disc():
    display = ProjectionDisplay.from_transformed(SQUARE, [[1, 1, 1], [1, 1, 0], [0, 0, 1], [0] * 3])
    areas = [area(path.vertices) for path in display.wedges_.get_paths()]
    # Rows without a label are drawn first.
    whole = areas[0]
    assert_allclose(areas, whole / np.array([1, 3, 3, 3, 2, 2, 1]), rtol=0.06)
    assert whole == pytest.approx(np.pi / 4, rel=0.06)


def test_frequent_labels_have_a_colour_and_the_others_share_one_wedge():
    Y = [[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    points = [[float(row), 0.0] for row in range(6)]
    display = ProjectionDisplay.from_transformed(points, Y, label_names=LABELS, shown=1)
    drawn, sea = pies(display), PALETTE[0]
    expected = [[sea, OTHERS], [sea], [OTHERS], [OTHERS], [sea], [NO_LABEL]]
    assert [drawn[row, 0.0] for row in range(6)] == expected
    assert [place[0] for place in drawn] == [2, 3, 5, 0, 1, 4], "grey rows lie below"
    assert texts(display) == ["sea (3)", "3 other labels", "no label (1)"]


@pytest.mark.parametrize("components", [None, [0]])
def test_a_single_direction_is_a_histogram(components):
    values = np.array([[0.0], [10.0], [0.02], [9.99], [5.0]])
    display = ProjectionDisplay.from_transformed(values, list("bbaaa"), components=components)
    drawn = pies(display)
    assert {place: color[0] for place, color in drawn.items()} == {
        (0, 1): PALETTE[0], (0, 2): PALETTE[1], (5, 1): PALETTE[0],
        (10, 1): PALETTE[0], (10, 2): PALETTE[1],
    }  # fmt: skip
    assert display.ax_.get_xlabel() == "direction 0"
    assert display.ax_.get_ylabel() == "samples"
    assert all(tick == round(tick) for tick in display.ax_.get_yticks())


def test_the_axes_and_the_look_can_be_given(frames):
    X, Y = frames
    _, (left, right) = plt.subplots(1, 2)
    look = {"colors": ["red", "green", "blue", "black"], "size": 10, "alpha": 0.5}
    kalda = MultiLabelKaLDA().fit(X, Y)
    display = ProjectionDisplay.from_estimator(kalda, X, Y, ax=right, legend=False, **look)
    assert display.ax_ is right
    assert not left.collections
    assert display.legend_ is right.get_legend() is None
    assert_array_equal(display.wedges_.get_sizes(), [10])
    assert display.wedges_.get_alpha() == 0.5
    assert to_hex("red") in set(chain(*pies(display).values()))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        *(
            ({"components": given}, r"components=.* 1 to 2 directions: numbers from 0 to 2")
            for given in [(0, 3), (0, -1), (), (0, 1, 2), ("0", "1"), (0.5, 1)]
        ),
        ({"shown": ["storm"]}, "shown='storm' is neither a number of labels nor.* sea, sun, sand"),
        ({"shown": -1}, "shown=-1 is neither"),
        ({"colors": ["red"]}, "4 labels to show need as many colors, but colors has 1: "),
        ({"label_names": ["sea"]}, "label_names has 1 names, but y has 4 labels"),
    ],
)
def test_wrong_arguments_are_named(kwargs, message, frames):
    X, Y = frames
    with pytest.raises(ValueError, match=message):
        ProjectionDisplay.from_estimator(MultiLabelKaLDA().fit(X, Y), X, Y, **kwargs)
    assert not plt.get_fignums()


def test_limits_follow_the_data_and_distances_are_true():
    points = np.random.default_rng(0).normal(size=(50, 2)) * [5, 1]
    _, ax = plt.subplots(figsize=(4, 4))
    ProjectionDisplay.from_transformed(points, [0, 1] * 25, ax=ax, axis_names=["a", "b"])
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    scales = []
    for (low, high), values, pixels in zip(
        (ax.get_xlim(), ax.get_ylim()), points.T, ax.get_window_extent().size, strict=True
    ):
        assert high - low == pytest.approx(1.12 * np.ptp(values))
        scales.append(pixels / (high - low))
    assert scales[0] == pytest.approx(scales[1])


@pytest.mark.parametrize("width", [3.3, 7])
@pytest.mark.parametrize("legend", [True, "right", "below"])
def test_the_legend_has_its_place_and_is_not_cut(width, legend):
    figure, ax = plt.subplots(figsize=(width, 3), layout="compressed")
    points = np.random.default_rng(0).normal(size=(60, 2))
    names = [f"a label {k}" for k in range(5)]
    labels = np.arange(60) % 5
    display = ProjectionDisplay.from_transformed(
        points, labels, label_names=names, ax=ax, legend=legend
    )
    figure.canvas.draw()
    (left, bottom), (right, top) = display.legend_.get_window_extent().get_points()
    assert min(left, bottom) >= 0
    assert right <= figure.bbox.width
    below = legend == "below" or (legend is True and width < 4)
    assert top <= ax.get_xaxis().get_tightbbox().y0 if below else left >= ax.bbox.x1


def test_thousands_of_samples_are_points_in_the_colour_of_their_rarest_label():
    Y = np.zeros((1200, 3), int)
    Y[:, 0], Y[:100, 1], Y[:10, 2] = 1, 1, 1
    points = np.random.default_rng(0).normal(size=Y.shape)
    display = ProjectionDisplay.from_transformed(points, Y)
    found = [color for (color,) in pies(display).values()]
    assert [found.count(color) for color in PALETTE[:3]] == [1100, 90, 10]


@pytest.mark.parametrize("size", [(3.3, 3), (3.3, 6), (12, 4), None])
def test_nothing_in_a_table_overlaps(size):
    table = random_table(rows=20, columns=8)
    table.index = [f"a long name of the feature with number {k}" for k in range(20)]
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    display = LoadingsDisplay(table).plot(ax=ax)
    display.figure_.canvas.draw()
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert len(set(names)) == 20
    rows = [text.get_window_extent() for text in display.ax_.get_yticklabels()]
    columns = [text.get_window_extent() for text in display.ax_.get_xticklabels()]
    assert min(box.x0 for box in rows) >= 0
    assert all(a.y0 >= b.y1 - 1 for a, b in pairwise(rows))
    if narrow := size in ((3.3, 3), (3.3, 6)):
        assert all(a.x1 <= b.x0 + 1 for a, b in pairwise(columns))
    cell = display.ax_.bbox.size / [8, 20]
    assert (display.text_ is None) == narrow
    for text in [] if display.text_ is None else display.text_.flat:
        assert (text.get_window_extent().size <= cell).all()


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


TABLES = {LoadingsDisplay: loadings, LabelProfileDisplay: label_profile}


@both
def test_displays_draw_their_tables(display, fitted, frames):
    given = frames if display is LabelProfileDisplay else frames[:1]
    table = TABLES[display](fitted, *given)
    shown = display.from_estimator(fitted, *given)
    assert drawn(shown) == table.stack().to_dict()
    assert shown.table.equals(table)
    chosen = display.from_estimator(fitted, *given, components=[2, 0])
    assert chosen.table.equals(table.iloc[:, [2, 0]])
    with pytest.raises(ValueError, match=r"components=\[3\] must be 1 to 3 directions"):
        display.from_estimator(fitted, *given, components=[3])


@both
def test_large_rows_are_drawn_by_direction_the_positive_ones_above(display):
    table = random_table()
    cells = drawn(display(table).plot(max_rows=5))
    assert {row for row, _ in cells} == set(table.abs().max(axis=1).nlargest(5).index)
    rows = list(dict.fromkeys(row for row, _ in drawn(display(table).plot(max_rows=40))))
    leading = [table.loc[row].abs().idxmax() for row in rows]
    assert leading == sorted(leading)
    for column in table:
        entries = [table.loc[r, column] for r, c in zip(rows, leading, strict=True) if c == column]
        assert len(entries) > 1
        assert entries == sorted(entries, reverse=True)
