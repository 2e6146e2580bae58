"""Names that a person may mistype, and where the shipped files lie."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["check_name", "shipped"]

_PACKAGE = Path(__file__).parent
_CHECKOUT = Path(__file__).parents[2] / "benchmarks"


def check_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Give the name back if it is known; else say which one may have been meant.

    Examples
    --------
    >>> from skml_kalda.bench.names import check_name
    >>> check_name("method", "kalda", ["kaLDA", "MLDA"])
    Traceback (most recent call last):
    ValueError: 'kalda' is not a known method; did you mean 'kaLDA'? (known: MLDA, kaLDA)
    """
    names = sorted(known)
    if name in names:
        return name
    lower = {each.lower(): each for each in reversed(names)}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    hint = f"; did you mean {lower[near[0]]!r}?" if near else ""
    raise ValueError(f"{name!r} is not a known {kind}{hint} (known: {', '.join(names)})")


def shipped(folder: str) -> Path:
    """Find a folder of files that come with the package: "plans" or "paper"."""
    # An editable install has no copy of them inside the package.
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _CHECKOUT / folder
