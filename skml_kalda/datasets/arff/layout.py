"""Which attributes are features, which are labels, and what their values stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

from skml_kalda.datasets.arff.header import Attribute, Header, shown
from skml_kalda.datasets.errors import ArffError
from skml_kalda.datasets.files import arff_stem

Labels = str | PathLike[str] | Sequence[str] | int | None

MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?[0-9]{1,9})(?:\s|$)")
MOST_CATEGORIES = 1000
"""The most categories of a feature that are one-hot encoded."""
FEWEST_SAMPLES = 10
_SHARE = 0.9
_TRUTH = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}
_OPPOSITES = {"yes": "no", "y": "n", "true": "false", "t": "f", "1": "-1"}


@dataclass(frozen=True)
class Layout:
    """The role of each attribute, by position."""

    attributes: tuple[Attribute, ...]
    features: tuple[int, ...]
    labels: tuple[int, ...]
    single: bool
    """Whether the label is one class attribute instead of {0,1} indicators."""

    def one_hot(self, i: int) -> bool:
        """Whether an attribute becomes a column for each category."""
        categories = self.attributes[i].categories
        return i not in self.labels and not _are_zero_one(categories) and len(categories) != 2

    def values(self, i: int) -> tuple[float, ...] | None:
        """Return the number each category stands for; None if the cells are numbers."""
        categories = self.attributes[i].categories
        if i in self.labels and not self.single and not _are_zero_one(categories):
            return tuple(_TRUTH[category.lower()] for category in categories)
        if (i in self.labels and self.single) or self.one_hot(i):
            return tuple(map(float, range(len(categories))))
        if _are_zero_one(categories):
            return None
        return tuple(float(category == _positive(*categories)) for category in categories)

    def column_names(self, i: int) -> list[str]:
        """Return the names of the columns that a feature takes."""
        name, categories = self.attributes[i].name, self.attributes[i].categories
        if _are_zero_one(categories):
            return [name]
        named = categories if self.one_hot(i) else [_positive(*categories)]
        return [f"{name}={category}" for category in named]


def _are_zero_one(categories: Iterable[str]) -> bool:
    """Whether the categories are 0 and 1; also true for none, as of a numeric attribute."""
    return {"0", "1"}.issuperset(categories)


def _positive(first: str, second: str) -> str:
    """Return the category of two that stands for 1: the affirmative one, or else the second."""
    return first if _OPPOSITES.get(first.lower()) == second.lower() else second


def identifies(n_values: int, n_samples: int) -> bool:
    """Whether a feature with so many values identifies the samples instead of describing them."""
    return n_samples >= FEWEST_SAMPLES and n_values >= _SHARE * n_samples


def find_layout(header: Header, path: Path, labels: Labels, ignore: Iterable[str]) -> Layout:
    """Decide which attributes are labels and which are features."""
    attributes = header.attributes
    positions = {attribute.name: i for i, attribute in enumerate(attributes)}
    ignored = _positions(positions, list(ignore), path, "ignore")
    chosen, single = _labels(header, positions, path, labels)
    nominal = [i for i in chosen if attributes[i].kind == "nominal"]
    single = single or (chosen == nominal[:1] and not _is_indicator(attributes[chosen[0]]))
    for i in () if single else chosen:
        if not _is_indicator(attributes[i]):
            reason = f"the label {shown(attributes[i].name)} is not declared {{0,1}}"
            raise ArffError(reason, path=path)
    features = [i for i in range(len(attributes)) if i not in {*ignored, *chosen}]
    return Layout(attributes, tuple(features), tuple(chosen), single)


def check_features(layout: Layout, path: Path) -> None:
    """Raise an error unless every feature can be turned into numbers."""
    if not layout.features:
        reason = "no feature is left: every attribute is a label or left out"
        raise ArffError(reason, path=path)
    for attribute in (layout.attributes[i] for i in layout.features):
        wrong = ""
        if attribute.kind in {"string", "date"}:
            wrong = f"is a {attribute.kind}: leave it out with"
        elif len(attribute.categories) > MOST_CATEGORIES:
            wrong = f"has {len(attribute.categories)} categories, and at most {MOST_CATEGORIES} "
            wrong += "are one-hot encoded: leave it out with"
        if wrong:
            name = shown(attribute.name)
            raise ArffError(f"the feature {name} {wrong} ignore=[{name}]", path=path)


def _is_indicator(attribute: Attribute) -> bool:
    if attribute.kind == "nominal":
        return {category.lower() for category in attribute.categories} <= set(_TRUTH)
    return attribute.kind == "numeric"


def _labels(
    header: Header, positions: dict[str, int], path: Path, labels: Labels
) -> tuple[list[int], bool]:
    """Return the positions of the labels, and whether they are one class attribute."""
    xml = path.with_name(f"{arff_stem(path)}.xml")
    option = MEKA_OPTION.search(header.relation)
    if labels is None and xml.exists():
        labels = xml
    elif labels is None and option is not None:
        labels = int(option.group(1))
    elif labels is None:
        return [_class_attribute(header.attributes, path)], True
    if isinstance(labels, int) and not isinstance(labels, bool):
        return _counted(len(header.attributes), labels, path), False
    if isinstance(labels, str | PathLike):
        # An XML file may list the labels in any order: keep the order of the ARFF file.
        names = read_label_names(Path(labels))
        return sorted(_positions(positions, names, path, Path(labels).name)), False
    if isinstance(labels, Sequence) and labels:
        return _positions(positions, list(labels), path, "labels"), False
    raise TypeError(f"labels must be an XML file, a list of names or a number, not {labels!r}")


def _counted(n_attributes: int, n_labels: int, path: Path) -> list[int]:
    if not 0 < abs(n_labels) <= n_attributes:
        reason = f"{n_labels} labels asked for, {n_attributes} attributes declared"
        raise ArffError(reason, path=path)
    return list(range(n_attributes))[slice(n_labels) if n_labels > 0 else slice(n_labels, None)]


def _positions(positions: dict[str, int], names: list[str], path: Path, asked_by: str) -> list[int]:
    absent = [name for name in names if name not in positions]
    if absent:
        reason = f"{asked_by} names {shown(str(absent[0]))}, and the file has no such attribute"
        raise ArffError(reason, path=path)
    if len(set(names)) < len(names):
        raise ArffError(f"{asked_by} names an attribute twice", path=path)
    return [positions[name] for name in names]


def _class_attribute(attributes: tuple[Attribute, ...], path: Path) -> int:
    nominal = [i for i, attribute in enumerate(attributes) if attribute.kind == "nominal"]
    if len(nominal) == 1:
        return nominal[0]
    last = len(attributes) - 1
    if nominal and nominal[-1] == last and attributes[last].name.lower() == "class":
        return last
    reason = f"which of {len(nominal)} nominal attributes are the labels? Pass labels= (an XML file"
    raise ArffError(f"{reason}, names, n for the first n or -n for the last n)", path=path)


def read_label_names(path: Path) -> list[str]:
    """Return the label names of a Mulan XML file, nested ones too, with or without namespace."""
    try:
        elements = list(ElementTree.parse(path).iter())
    except ElementTree.ParseError as error:
        reason = f"not well-formed XML ({error})"
        raise ArffError(reason, path=path, line=error.position[0]) from None
    except (LookupError, ValueError) as error:
        # Python's codec of the declared encoding fails, or is unknown to the XML parser.
        reason = f"cannot decode the XML ({error}); convert the file to UTF-8"
        raise ArffError(reason, path=path) from None
    tags = [element.tag.rpartition("}")[2] for element in elements]
    names = [element.get("name", "") for element in elements[1:]]
    if tags[0] != "labels" or set(tags[1:]) != {"label"} or not all(names):
        raise ArffError('not <labels> of <label name="…">', path=path)
    if len(set(names)) < len(names):
        raise ArffError("a label is listed twice", path=path)
    return names
