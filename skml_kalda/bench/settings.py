"""What the settings of a plan may be: their types and ranges, as messages name them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skml_kalda.bench.running.failures import printable


@dataclass(frozen=True)
class Allowed:
    """The values that a setting may have."""

    text: str
    test: Callable[[Any], bool]

    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError that names the setting, its value and what is allowed."""
        if not self.test(value):
            raise ValueError(f"{name} must be {self.text}, not {value!r}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and printable(value) == value and bool(value.strip())


def _is_whole(value: Any, least: int, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < math.inf


def _is_table(value: Any, test: Callable[[Any], bool]) -> bool:
    return (
        isinstance(value, Mapping) and all(map(_is_text, value)) and all(map(test, value.values()))
    )


def _are_different(value: Any, test: Callable[[Any], bool]) -> bool:
    is_list = isinstance(value, list | tuple) and all(map(test, value))
    return is_list and len(set(value)) == len(value)


def _is_file(value: Any) -> bool:
    kinds = {"file": str, "labels": str | int | list | tuple, "ignore": list | tuple}
    kinds |= {"nominal": str}
    return (
        isinstance(value, Mapping)
        and _is_text(value.get("file"))
        and all(name in kinds and isinstance(each, kinds[name]) for name, each in value.items())
    )


def whole(least: int) -> Allowed:
    """Allow whole numbers from `least` on."""
    return Allowed(f"a whole number of at least {least}", lambda value: _is_whole(value, least))


def wholes(least: int) -> Allowed:
    """Allow lists of different whole numbers from `least` on."""
    return Allowed(
        f"a list of different whole numbers of at least {least}",
        lambda value: _are_different(value, lambda each: _is_whole(each, least)),
    )


INNER_FOLDS = Allowed(
    "a whole number of at least 2, or 0",
    lambda value: _is_whole(value, 0) and value != 1,
)
TEXT = Allowed("a text", _is_text)
OPTIONAL_TEXT = Allowed("a text", lambda value: value == "" or _is_text(value))
NAMES = Allowed(
    "a list of different names, at least one",
    lambda value: bool(value) and _are_different(value, _is_text),
)
TEXT_OR_NAMES = Allowed(
    "a name, or a list of different names", lambda value: _is_text(value) or NAMES.test(value)
)
SEED = Allowed("a whole number from 0 to 2147483647", lambda value: _is_whole(value, 0, 2**31 - 1))
SWITCH = Allowed("true or false", lambda value: isinstance(value, bool))
SECONDS = Allowed("a number of seconds, 0 for no limit", _is_seconds)
TABLE = Allowed("a table", lambda value: isinstance(value, Mapping))
PARAMETERS = Allowed(
    "a table with a table of parameters for each method",
    lambda value: _is_table(value, lambda each: _is_table(each, lambda _: True)),
)
ROWS = Allowed(
    "a table with a whole number for each data set",
    lambda value: _is_table(value, lambda each: _is_whole(each, 0)),
)
DATA = Allowed(
    "a table with a file, and perhaps its labels, for each name",
    lambda value: _is_table(value, _is_file),
)
GRID = Allowed(
    "a table with a table of lists of values for each method",
    lambda value: _is_table(
        value, lambda each: _is_table(each, lambda values: isinstance(values, list | tuple))
    ),
)
