"""The gallery shows the points and labels of the results, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.spatial.distance import pdist

from skml_kalda.bench import figure, read_results
from skml_kalda.bench.reporting.figures import INK, PAPER, svg

KEPT = Path(__file__).parents[2] / "benchmarks" / "results" / "bench" / "gallery"


@pytest.fixture(scope="module")
def results():
    return read_results(KEPT)


def pies_of(axis):
    """The place and the colours of each point, in the order they are drawn."""
    (wedges,) = [each for each in axis.collections if len(each.get_offsets()) > 1]
    found = {}
    colors = map(to_hex, wedges.get_facecolors())
    for place, color in zip(map(tuple, wedges.get_offsets()), colors, strict=True):
        found.setdefault(place, []).append(color)
    return found


def test_each_panel_keeps_the_distances_and_gives_each_label_its_wedge(results):
    drawn = figure(results)
    (legend,) = drawn.legends
    names = [text.get_text().rpartition(" (")[0] for text in legend.get_texts()]
    color_of = dict(zip(names, [to_hex(h.get_color()) for h in legend.legend_handles], strict=True))
    for axis, row in zip(drawn.axes, results.ok, strict=True):
        pies = pies_of(axis)
        assert pdist(list(pies)) == pytest.approx(pdist(row["points"]))
        colors = [color_of[name] for name in row["labels"]]
        expected = [[colors[number] for number in numbers] for numbers in row["labels_of_points"]]
        assert list(pies.values()) == expected
        assert len(set(colors)) == 6
        assert axis.get_title("left") == row["method"]
        assert axis.get_title("right") == f"macro F1 {row['scores']['macro_f1']:.2f}"


def test_the_panels_lie_alike(results):
    """Turned or mirrored data would be shown as they were."""
    row = results.ok[0]
    mirrored = {**row, "method": "again", "points": [[-y, -x] for x, y in row["points"]]}
    first, second = figure(replace(results, rows=[mirrored, row])).axes
    assert np.allclose(list(pies_of(first)), list(pies_of(second)))


def test_lines_and_background_are_those_of_the_page(results):
    text = svg(figure(results), "gallery")
    assert INK not in text
    assert PAPER not in text
    assert "stroke: var(--page, white)" in text
    assert "currentColor" in text
