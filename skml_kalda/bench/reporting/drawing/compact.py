"""Compact SVG: what matplotlib writes, without what a page does not need."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import groupby
from xml.etree import ElementTree as ET

# How the names of a figure begin.
PREFIX = "f[0-9a-f]{5}"
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_REFERENCE = re.compile(r"#([^)]+)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_POLYGON = re.compile(r"M (\S+ \S+)((?:\s+L \S+ \S+)+)\s*(z?)\s*")
# Beside the letter of a command.
_SPACE = re.compile(r"(?<=[a-zA-Z]) | (?=[a-zA-Z])")
# Lines along an axis.
_LEVEL = re.compile(r"M(\S+) (\S+)L(\S+) \2$")
_UPRIGHT = re.compile(r"M(\S+) (\S+)L\1 (\S+)$")
# A shape that is shorter than this, or rarer, is not worth a name.
_LONG, _OFTEN = 40, 3
_COORDINATES = ("d", "x", "y", "width", "height", "transform")


def compact(text: str, salt: str) -> str:
    """Return an SVG element that looks the same in a fraction of the bytes.

    Numbers are rounded to a hundredth of a point, names that nothing refers to and groups that
    say nothing are left out, and each style and each frequent shape is written once. Names and
    classes begin with letters that depend on `salt`, because one page may hold several figures.
    """
    ET.register_namespace("", _SVG)
    root = ET.fromstring(text)
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    prefix = "f" + hashlib.sha256(salt.encode()).hexdigest()[:5]
    _share_shapes(root)
    _share_looks(root)
    for each in root.iter():
        _shorten(each)
    _rename(root, prefix)
    _share_styles(root, prefix)
    _flatten(root)
    _gather(root)
    _flatten(root)
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _share_shapes(root: ET.Element) -> None:
    """Draw each frequent shape once, and refer to it where it stands again."""
    found: dict[str, list[tuple[ET.Element, str]]] = {}
    for path in root.iter(f"{{{_SVG}}}path"):
        polygon = _POLYGON.fullmatch(path.get("d", ""))
        if polygon is not None and not {"id", "clip-path", "transform"}.intersection(path.attrib):
            found.setdefault(_relative(*polygon.groups()), []).append((path, polygon[1]))
    shapes = ET.SubElement(root, f"{{{_SVG}}}defs")
    for shape, places in found.items():
        if len(shape) < _LONG or len(places) < _OFTEN:
            continue
        ET.SubElement(shapes, f"{{{_SVG}}}path", {"d": shape, "id": shape})
        for path, start in places:
            x, y = start.split()
            path.tag = f"{{{_SVG}}}use"
            del path.attrib["d"]
            path.attrib |= {"href": f"#{shape}", "x": x, "y": y}


def _share_looks(root: ET.Element) -> None:
    """Write a style with the shape instead of with every use of that shape."""
    shapes = {path.get("id"): path for path in root.iter(f"{{{_SVG}}}path") if path.get("id")}
    uses: dict[tuple[str, str], list[ET.Element]] = {}
    for use in root.iter(f"{{{_SVG}}}use"):
        use.set("href", use.attrib.pop(f"{{{_LINK}}}href", use.get("href", "")))
        uses.setdefault((use.attrib["href"], use.get("style", "")), []).append(use)
    looks = ET.SubElement(root, f"{{{_SVG}}}defs")
    for (link, style), places in uses.items():
        shape = shapes[link[1:]]
        # The style of the shape itself takes precedence over that of its use.
        both = "; ".join(filter(None, (style, shape.get("style"))))
        ET.SubElement(looks, shape.tag, {**shape.attrib, "style": both, "id": f"{link} {both}"})
        for use in places:
            use.attrib.pop("style", None)
            use.set("href", f"#{link} {both}")
    for definitions in list(root.iter(f"{{{_SVG}}}defs"))[:-1]:
        for path in definitions.findall(f"{{{_SVG}}}path"):
            definitions.remove(path)


def _relative(start: str, lines: str, end: str) -> str:
    """Return a polygon with its first point at zero."""
    x, y = map(float, start.split())
    points = [tuple(map(float, each.split())) for each in lines.split("L")[1:]]
    return "M0 0" + "".join(f"L{a - x:.2f} {b - y:.2f}" for a, b in points) + end


def _shorten(each: ET.Element) -> None:
    """Round coordinates, and drop space between elements and turns by no angle."""
    link = each.attrib.pop(f"{{{_LINK}}}href", None)
    if link is not None:
        each.set("href", link)
    for name in set(_COORDINATES).intersection(each.attrib):
        each.set(name, " ".join(_NUMBER.sub(_rounded, each.attrib[name]).split()))
    if "d" in each.attrib:
        level = _LEVEL.sub(r"M\1 \2H\3", _SPACE.sub("", each.attrib["d"]))
        each.set("d", _UPRIGHT.sub(r"M\1 \2V\3", level))
    if each.get("transform", "").startswith("rotate(-0 "):
        del each.attrib["transform"]
    for part in ("text", "tail"):
        if not (getattr(each, part) or "").strip():
            setattr(each, part, None)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _rename(root: ET.Element, prefix: str) -> None:
    """Number the names that something refers to, and drop the others."""
    used: dict[str, str] = {}
    for each in root.iter():
        for value in (each.get("href", ""), each.get("clip-path", "")):
            for name in [] if value.startswith("data:") else _REFERENCE.findall(value):
                used.setdefault(name, f"{prefix}{len(used)}")
    for each in root.iter():
        name = each.attrib.pop("id", "")
        if name in used:
            each.set("id", used[name])
        for attribute in ("href", "clip-path"):
            value = each.get(attribute, "data:")
            if not value.startswith("data:"):
                each.set(attribute, _REFERENCE.sub(lambda found: f"#{used[found[1]]}", value))


def _share_styles(root: ET.Element, prefix: str) -> None:
    """Write each style once: the most frequent ones get the shortest names."""
    counts = Counter(each.get("style") for each in root.iter() if each.get("style"))
    names = {style: f"{prefix}c{n}" for n, (style, _) in enumerate(counts.most_common())}
    for each in root.iter():
        style = each.attrib.pop("style", None)
        if style:
            each.set("class", names[style])
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
    shared = ET.Element(f"{{{_SVG}}}style")
    shared.text = rules
    root.insert(0, shared)


def _gather(parent: ET.Element) -> None:
    """Clip neighbours of the same clip path together."""
    children: list[ET.Element] = []
    for clip, some in groupby(parent, key=_clip_of):
        members = list(some)
        if clip is not None and len(members) > 1:
            for each in members:
                del each.attrib["clip-path"]
            group = ET.Element(f"{{{_SVG}}}g", {"clip-path": clip})
            group.extend(members)
            members = [group]
        children.extend(members)
    parent[:] = children
    for child in parent:
        _gather(child)


def _clip_of(each: ET.Element) -> str | None:
    # A clip path moves with the element that it clips.
    return None if each.get("transform") else each.get("clip-path")


def _flatten(parent: ET.Element) -> None:
    """Put the content of groups that say nothing in their place, and drop empty definitions."""
    children: list[ET.Element] = []
    for child in parent:
        _flatten(child)
        if child.tag == f"{{{_SVG}}}defs" and not len(child):
            continue
        is_idle = child.tag == f"{{{_SVG}}}g" and not child.attrib
        children.extend(child if is_idle else [child])
    parent[:] = children
