"""Which columns of a table are labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from skml_kalda._core.messages import did_you_mean
from skml_kalda.datasets.errors import TableError

Labels = str | int | Sequence[str] | None


def parse_labels(text: str | None) -> str | int | None:
    """Return the labels that an option of a command line names.

    Examples
    --------
    >>> from skml_kalda.datasets.tables.labels import parse_labels
    >>> parse_labels("-6"), parse_labels("label_*")
    (-6, 'label_*')
    """
    return int(text) if text is not None and re.fullmatch(r"[+-]?\d+", text) else text


def label_columns(names: Sequence[str], labels: Labels, path: Path) -> list[int]:
    """Return the positions of the label columns."""
    if labels is None or labels == "" or isinstance(labels, bool):
        raise TableError(
            "which columns are labels? Name them ('a,b'), give a pattern ('label_*'), or a number: "
            "n for the first n, -n for the last n",
            path=path,
        )
    found = (
        _counted(names, labels, path)
        if isinstance(labels, int)
        else named_columns(names, labels, path)
    )
    if len(found) == len(names):
        raise TableError("every column is a label: no feature is left", path=path)
    return found


def _counted(names: Sequence[str], n_labels: int, path: Path) -> list[int]:
    if not 0 < abs(n_labels) <= len(names):
        reason = f"labels is {n_labels}, but the table has {len(names)} columns"
        raise TableError(reason, path=path)
    first = 0 if n_labels > 0 else len(names) + n_labels
    return list(range(first, first + abs(n_labels)))


def named_columns(
    names: Sequence[str], given: str | Sequence[str], path: Path, option: str = "labels"
) -> list[int]:
    """Return the positions of the columns with these names or patterns."""
    # A name that contains a comma can be given in a list, or alone.
    whole = isinstance(given, str) and given in names
    patterns = [str(given)] if whole else _patterns(given)
    return list(dict.fromkeys(i for each in patterns for i in _matches(names, each, path, option)))


def _patterns(given: str | Sequence[str]) -> list[str]:
    return [each.strip() for each in given.split(",")] if isinstance(given, str) else list(given)


def _matches(names: Sequence[str], pattern: str, path: Path, option: str) -> list[int]:
    if pattern in names:
        return [names.index(pattern)]
    found = [i for i, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not found:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        verb = "matches" if set(pattern) & set("*?[") else "is called"
        reason = f"no column {verb} {pattern!r} (in {option}){did_you_mean(pattern, names)}"
        raise TableError(f"{reason} (columns: {shown})", path=path)
    return found
