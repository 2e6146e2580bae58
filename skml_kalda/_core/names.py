"""Check names that a user may mistype."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def check_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the name if it is known; otherwise raise an error that suggests the nearest one.

    Examples
    --------
    >>> from skml_kalda._core.names import check_name
    >>> check_name("method", "kalda", ["kaLDA", "MLDA"])
    Traceback (most recent call last):
    ValueError: 'kalda' is not a known method; did you mean 'kaLDA'? (known: MLDA, kaLDA)
    """
    names = sorted(known)
    if name in names:
        return name
    hint = did_you_mean(name, names)
    raise ValueError(f"{name!r} is not a known {kind}{hint} (known: {', '.join(names)})")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the part of a message that suggests the nearest known name, empty if none is near.

    Upper and lower case count as equal.

    Examples
    --------
    >>> from skml_kalda._core.names import did_you_mean
    >>> did_you_mean("Emotion", ["emotions", "yeast"])
    "; did you mean 'emotions'?"
    """
    lower = {each.lower(): each for each in sorted(known, reverse=True)}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.5)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""
