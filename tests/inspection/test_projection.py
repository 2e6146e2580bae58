"""The picture shows every row where it is, with its labels, and nothing else."""

from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import MultiLabelKaLDA
from skml_kalda.inspection import ProjectionDisplay
from skml_kalda.inspection.wedges import NO_LABEL, OTHERS, PALETTE
from tests.conftest import without
from tests.inspection.conftest import LABELS

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


def test_the_first_wedge_starts_at_the_top_and_the_next_follow_clockwise():
    display = ProjectionDisplay.from_transformed(SQUARE[:2], [[1, 1, 1, 1], [1, 0, 0, 0]])
    corners = [np.sign(path.vertices.mean(axis=0)).tolist() for path in display.wedges_.get_paths()]
    assert corners[:4] == [[1, 1], [1, -1], [-1, -1], [-1, 1]]


def test_rows_that_were_transformed_before_give_the_same_picture(fitted, frames):
    X, Y = frames
    display = ProjectionDisplay.from_estimator(fitted, X, Y)
    Z = pd.DataFrame(fitted.transform(X), columns=fitted.get_feature_names_out())
    again = ProjectionDisplay.from_transformed(Z, Y)
    assert pies(again) == pies(display)
    assert texts(again) == texts(display)
    assert (again.ax_.get_xlabel(), again.ax_.get_ylabel()) == tuple(Z.columns[:2])


def test_other_directions_can_be_drawn(frames):
    X, Y = frames
    pipeline = make_pipeline(StandardScaler(), MultiLabelKaLDA()).fit(X, Y)
    display = ProjectionDisplay.from_estimator(pipeline, X, Y, components=(2, 0))
    assert_array_equal(display.points, pipeline.transform(X)[:, [2, 0]])
    assert display.ax_.get_xlabel() == "multilabelkalda2"
    assert display.ax_.get_ylabel() == "multilabelkalda0"


def test_distances_are_true(frames):
    X, Y = frames
    display = ProjectionDisplay.from_estimator(MultiLabelKaLDA().fit(X, Y), X, Y)
    display.figure_.draw_without_rendering()
    (x0, y0), (x1, y1) = display.ax_.transData.transform([[0, 0], [1, 1]])
    assert x1 - x0 == pytest.approx(y1 - y0)


def test_frequent_labels_have_a_colour_and_the_others_share_one_wedge():
    Y = [[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 1], [0, 0, 1, 0]]
    Y = [*Y, [1, 0, 0, 0], [0, 0, 0, 0]]
    points = [[float(row), 0.0] for row in range(6)]
    display = ProjectionDisplay.from_transformed(points, Y, label_names=LABELS, shown=1)
    drawn = pies(display)
    assert [drawn[row, 0.0] for row in range(6)] == [
        [PALETTE[0], OTHERS],
        [PALETTE[0]],
        [OTHERS],
        [OTHERS],
        [PALETTE[0]],
        [NO_LABEL],
    ]
    assert [place[0] for place in drawn] == [2, 3, 5, 0, 1, 4], "grey rows lie below"
    assert texts(display) == ["sea (3)", "3 other labels", "no label (1)"]


def test_labels_to_show_can_be_named(frames):
    X, Y = frames
    display = ProjectionDisplay.from_estimator(
        MultiLabelKaLDA().fit(X, Y), X, Y, shown=["snow", "sun"]
    )
    counts = Y.sum()
    assert texts(display)[:3] == [
        f"sun ({counts['sun']})", f"snow ({counts['snow']})", "2 other labels",
    ]  # fmt: skip
    assert texts(display.plot(shown="sea"))[0] == f"sea ({counts['sea']})"


def test_of_many_labels_seven_have_a_colour():
    Y = np.eye(20)
    Y[:, 12] = 1
    display = ProjectionDisplay.from_transformed(np.random.default_rng(0).normal(size=(20, 2)), Y)
    assert texts(display) == [
        *(f"{number} (1)" for number in range(6)), "12 (20)", "13 other labels",
    ]  # fmt: skip
    assert set(chain(*pies(display).values())) == {*PALETTE, OTHERS}


def test_labels_without_rows_are_not_mentioned():
    display = ProjectionDisplay.from_transformed(
        SQUARE, [[1, 0, 0], [1, 0, 1], [0, 0, 1], [1, 0, 0]]
    )
    assert texts(display) == ["0 (3)", "2 (2)"]


@pytest.mark.parametrize("components", [None, [0]])
def test_a_single_direction_is_a_histogram(components):
    values = [0.0, 10.0, 0.02, 9.99, 5.0]
    display = ProjectionDisplay.from_transformed(
        np.reshape(values, (5, 1)), ["b", "b", "a", "a", "a"], components=components
    )
    drawn = pies(display)
    assert {place: color[0] for place, color in drawn.items()} == {
        (0, 1): PALETTE[0], (0, 2): PALETTE[1], (5, 1): PALETTE[0],
        (10, 1): PALETTE[0], (10, 2): PALETTE[1],
    }  # fmt: skip
    assert display.ax_.get_xlabel() == "direction 0"
    assert display.ax_.get_ylabel() == "rows"
    assert all(tick == round(tick) for tick in display.ax_.get_yticks())


def test_equal_values_of_a_single_direction_are_one_stack():
    display = ProjectionDisplay.from_transformed(np.ones((3, 1)), ["a", "b", "a"])
    assert sorted(pies(display)) == [(1, 1), (1, 2), (1, 3)]


def test_the_axes_and_the_look_can_be_given(frames):
    X, Y = frames
    figure, (left, right) = plt.subplots(1, 2)
    display = ProjectionDisplay.from_estimator(
        MultiLabelKaLDA().fit(X, Y), X, Y,
        ax=right, colors=["red", "green", "blue", "black"], size=10, legend=False, alpha=0.5,
    )  # fmt: skip
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.collections
    assert display.legend_ is None
    assert right.get_legend() is None
    assert_array_equal(display.wedges_.get_sizes(), [10])
    assert display.wedges_.get_alpha() == 0.5
    assert to_hex("red") in set(chain(*pies(display).values()))


def test_more_rows_have_smaller_pies():
    rng = np.random.default_rng(0)
    sizes = []
    for n in (100, 1000, 10_000):
        Z, y = rng.normal(size=(n, 2)), rng.integers(2, size=n)
        sizes += ProjectionDisplay.from_transformed(Z, y).wedges_.get_sizes().tolist()
    assert sizes[0] > sizes[1] > sizes[2] > 10


def test_sparse_labels_and_class_names(frames):
    X, Y = frames
    kalda = MultiLabelKaLDA().fit(X, Y)
    dense = ProjectionDisplay.from_estimator(kalda, X, Y.to_numpy())
    by_column = ProjectionDisplay.from_estimator(kalda, X, sparse.csc_matrix(Y.to_numpy()))
    assert pies(by_column) == pies(dense)
    classes = ProjectionDisplay.from_transformed(SQUARE, pd.Series(["b", "a", "b", "b"]))
    assert texts(classes) == ["a (1)", "b (3)"]


@pytest.mark.parametrize("components", [(0, 3), (0, -1), (), (0, 1, 2), ("0", "1"), (0.5, 1)])
def test_directions_that_are_not_there_are_refused(components, frames):
    X, Y = frames
    kalda = MultiLabelKaLDA().fit(X, Y)
    with pytest.raises(ValueError, match=r"components=.* one or 2 of the 3 directions: .* 0 to 2"):
        ProjectionDisplay.from_estimator(kalda, X, Y, components=components)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
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


def test_wrong_rows_are_named():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ProjectionDisplay.from_transformed(SQUARE, ["a", "b"])
    with pytest.raises(ValueError, match="X_transformed contains NaN"):
        ProjectionDisplay.from_transformed([[np.nan, 1.0]], ["a"])


def test_missing_matplotlib_is_named(monkeypatch):
    without("matplotlib.pyplot", monkeypatch)
    message = r'ProjectionDisplay needs matplotlib: pip install "skml-kalda\[inspection\]"'
    with pytest.raises(ImportError, match=message):
        ProjectionDisplay.from_transformed(SQUARE, ["a", "b", "a", "b"])
