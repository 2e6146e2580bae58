"""Compact SVG shows what matplotlib's SVG shows."""

import io
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

from skml_kalda.bench.reporting.drawing.compact import compact
from skml_kalda.bench.reporting.drawing.style import style
from skml_kalda.inspection.displays import draw_wedges

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def original():
    drawn = Figure()
    axis = drawn.subplots()
    rng = np.random.default_rng(0)
    axis.plot(rng.random(9), "o-", label="<a> & b")
    draw_wedges(axis, rng.random((40, 2)), [["red", "#0072b2", "green"], ["red"]] * 20, 60)
    axis.legend()
    stream = io.StringIO()
    with style():
        drawn.savefig(stream, format="svg")
    text = stream.getvalue()
    return text[text.index("<svg") :]


def points_of(d):
    """All points that the commands of a path name, in turn."""
    points = []
    for command, numbers in re.findall(r"([A-Zz])([^A-Zz]*)", d):
        values = [float(number) for number in numbers.split()]
        if command in "HV":
            x, y = points[-1]
            values = [values[0], y] if command == "H" else [x, values[0]]
        points += zip(values[::2], values[1::2], strict=True)
    return np.array(points)


def clip_of(each, parents, named):
    """The rectangle that clips an element, from the element itself or a group around it."""
    while each is not None and not each.get("clip-path"):
        each = parents.get(each)
    if each is None:
        return None
    rectangle = named[each.get("clip-path")[5:-1]][0]
    return [round(float(rectangle.get(name)), 1) for name in ("x", "y", "width", "height")]


def polygons(text):
    """All polygons with their styles and clips, after every reference is followed."""
    root = ET.fromstring(text)
    rules = dict(re.findall(r"\.(\w+)\{([^}]*)\}", "".join(root.itertext())))
    named = {each.get("id"): each for each in root.iter() if each.get("id")}
    link = "{http://www.w3.org/1999/xlink}href"
    parents = {child: parent for parent in root.iter() for child in parent}
    found = []
    for each in root.iter():
        target, dx, dy = each, 0.0, 0.0
        if each.tag == f"{SVG}use":
            target = named[(each.get("href") or each.get(link))[1:]]
            dx, dy = float(each.get("x", 0)), float(each.get("y", 0))
        if target.tag != f"{SVG}path" or (each is target and each.get("id")):
            continue
        look = {}
        for styled in (each, target):
            style = styled.get("style") or rules.get(styled.get("class"), "")
            look |= dict(rule.split(": ") for rule in style.split("; ") if rule)
        closed = target.get("d").strip().endswith("z")
        clip = clip_of(each, parents, named)
        found.append((look, closed, clip, points_of(target.get("d")) + np.array([dx, dy])))
    return found


def test_every_polygon_is_where_it_was_with_its_style_and_clip(original):
    before, after = polygons(original), polygons(compact(original, "salt"))
    assert len(before) == len(after) > 80
    for (*look, points), (*new_look, new_points) in zip(before, after, strict=True):
        assert look == new_look
        np.testing.assert_allclose(points, new_points, atol=0.0151)


def test_texts_stay_and_bytes_go(original):
    found = compact(original, "salt")
    texts = [[t.text for t in ET.fromstring(s).iter(f"{SVG}text")] for s in (original, found)]
    assert texts[0] == texts[1]
    assert "<a> & b" in texts[0]
    assert len(found) < len(original) / 3


def test_two_figures_of_a_page_share_no_name(original):
    names = [set(re.findall(r'id="(\w+)"|\.(\w+)\{', compact(original, salt))) for salt in "ab"]
    assert names[0]
    assert not names[0] & names[1] - {("", "")}
