"""Which attributes are features, which are labels, and what their cells stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from skml_kalda.datasets.arff.header import Attribute, Header
from skml_kalda.datasets.arff.mulan import read_label_names
from skml_kalda.datasets.arff.quoting import shown
from skml_kalda.datasets.arff.source import arff_stem
from skml_kalda.datasets.errors import ArffError

Labels = str | PathLike[str] | Sequence[str] | int | None

MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(-?[0-9]{1,9})(?:\s|$)")
MOST_CATEGORIES = 1000
"""The most categories of a feature that are one-hot encoded."""
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
        """Whether a feature needs a column per category."""
        return bool(self.attributes[i].categories) and self.values(i) is None

    def values(self, i: int) -> tuple[float, ...] | None:
        """Return the number each category stands for; None if it stands for its position."""
        categories = self.attributes[i].categories
        if i in self._label_positions:
            return None if self.single else tuple(_TRUTH[c.lower()] for c in categories)
        if _are_zero_one(categories):
            return tuple(map(float, categories))
        if len(categories) == 2:
            return tuple(float(category == _positive(*categories)) for category in categories)
        return None

    def column_names(self, i: int) -> list[str]:
        """Return the names of the columns that a feature takes."""
        name, categories = self.attributes[i].name, self.attributes[i].categories
        if _are_zero_one(categories):
            return [name]
        named = [_positive(*categories)] if len(categories) == 2 else categories
        return [f"{name}={category}" for category in named]

    @cached_property
    def _label_positions(self) -> frozenset[int]:
        return frozenset(self.labels)


def _are_zero_one(categories: Iterable[str]) -> bool:
    """Whether the categories are 0 and 1; also true for none, as of a numeric attribute."""
    return {"0", "1"}.issuperset(categories)


def _positive(first: str, second: str) -> str:
    """Return the category of two that stands for 1: the affirmative one, or else the second."""
    return first if _OPPOSITES.get(first.lower()) == second.lower() else second


def find_layout(header: Header, path: Path, labels: Labels, ignore: Iterable[str]) -> Layout:
    """Decide which attributes are labels and which are features."""
    attributes = header.attributes
    positions = {attribute.name: i for i, attribute in enumerate(attributes)}
    ignored = set(_positions(positions, list(ignore), path, "ignore"))
    chosen, single = _labels(header, positions, path, labels)
    kinds = [attributes[i].kind for i in chosen]
    single = single or (kinds == ["nominal"] and not _is_indicator(attributes[chosen[0]]))
    for i in () if single else chosen:
        if not _is_indicator(attributes[i]):
            reason = f"the label {shown(attributes[i].name)} is not declared {{0,1}}"
            raise ArffError(reason, path=path)
    taken = ignored.union(chosen)
    features = [i for i in range(len(attributes)) if i not in taken]
    return Layout(attributes, tuple(features), tuple(chosen), single)


def check_features(layout: Layout, path: Path, nominal: str) -> None:
    """Raise an error unless every feature can be turned into numbers."""
    if not layout.features:
        reason = "no feature is left: every attribute is a label or left out"
        raise ArffError(reason, path=path)
    for i in layout.features:
        attribute = layout.attributes[i]
        name, n_categories = shown(attribute.name), len(attribute.categories)
        if attribute.kind in {"string", "date"}:
            advice = f"leave it out with ignore=[{name}]"
            raise ArffError(f"the feature {name} is a {attribute.kind}: {advice}", path=path)
        if nominal == "error" and not _are_zero_one(attribute.categories):
            advice = f'use nominal="onehot" or ignore=[{name}]'
            raise ArffError(f"the feature {name} is nominal: {advice}", path=path)
        if n_categories > MOST_CATEGORIES:
            reason = f"the feature {name} has {n_categories} categories, and at most"
            advice = f"{MOST_CATEGORIES} are one-hot encoded: leave it out with ignore=[{name}]"
            raise ArffError(f"{reason} {advice}", path=path)


def _is_indicator(attribute: Attribute) -> bool:
    if attribute.kind == "nominal":
        return {category.lower() for category in attribute.categories} <= set(_TRUTH)
    return attribute.kind == "numeric"


def _labels(
    header: Header, positions: dict[str, int], path: Path, labels: Labels
) -> tuple[list[int], bool]:
    """Return the positions of the labels, and whether they are one class attribute."""
    beside = path.with_name(f"{arff_stem(path)}.xml")
    option = MEKA_OPTION.search(header.relation)
    if labels is None and not beside.exists() and option is None:
        return [_class_attribute(header.attributes, path)], True
    if labels is None:
        labels = beside if option is None or beside.exists() else int(option.group(1))
    if isinstance(labels, int) and not isinstance(labels, bool):
        return _count(len(header.attributes), labels, path), False
    if isinstance(labels, str | PathLike):
        # An XML file may list the labels in any order: keep the order of the ARFF file.
        names = read_label_names(Path(labels))
        return sorted(_positions(positions, names, path, Path(labels).name)), False
    if isinstance(labels, Sequence) and labels:
        return _positions(positions, list(labels), path, "labels"), False
    raise TypeError(f"labels must be an XML file, a list of names or a number, not {labels!r}")


def _count(n_attributes: int, n_labels: int, path: Path) -> list[int]:
    if not 0 < abs(n_labels) <= n_attributes:
        reason = f"{n_labels} labels asked for, {n_attributes} attributes declared"
        raise ArffError(reason, path=path)
    first = 0 if n_labels > 0 else n_attributes + n_labels
    return list(range(first, first + abs(n_labels)))


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
