"""What users are told: names they may have mistyped, libraries that are missing, advice on X."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Standard deviations within this factor of one another do not make one feature drown the others.
_SIMILAR = 100.0
# Beyond this, the squares of one feature are the rounding of those of another, twelve digits away.
_RESOLVED = 1e6


def format_names(names: Sequence[Any] | NDArray[Any], most: int = 10) -> str:
    """Return names as a list for a message; if there are many, only the first ones."""
    shown = ", ".join(repr(each) for each in np.asarray(names, dtype=object)[:most].tolist())
    return f"[{shown}]" if len(names) <= most else f"[{shown}, and {len(names) - most} more]"


def check_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the name if it is known; otherwise raise an error that suggests the nearest one.

    Examples
    --------
    >>> from skml_kalda._core.messages import check_name
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
    >>> from skml_kalda._core.messages import did_you_mean
    >>> did_you_mean("Emotion", ["emotions", "yeast"])
    "; did you mean 'emotions'?"
    """
    lower = {each.lower(): each for each in sorted(known, reverse=True)}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.5)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def required(module: str, *, by: str, extra: str, library: str | None = None) -> Any:
    """Import a module of an extra, or say which library is missing and how to install it.

    Examples
    --------
    >>> required("no_such_library", by="loadings", extra="inspection")
    Traceback (most recent call last):
    ImportError: loadings needs no_such_library: pip install "skml-kalda[inspection]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        reason = f'{by} needs {library or module}: pip install "skml-kalda[{extra}]"'
        raise ImportError(reason) from error


def warn_on_units(name: str, std: NDArray[Any], features: NDArray[Any] | None) -> None:
    """Warn if one feature drowns the others; `name` is the class whose result depends on units.

    Parameters
    ----------
    name : str
        The class in use.
    std : array of shape (p,)
        Standard deviations of the features.
    features : array of shape (p,) or None
        Names of the features.
    """
    varying = std[std > 0]
    if len(varying) > 1 and std.max() > _SIMILAR * np.quantile(varying, 0.25):
        warnings.warn(_unlike_units(name, std, features), UserWarning, stacklevel=4)


def check_units(name: str, std: NDArray[Any], features: NDArray[Any] | None) -> None:
    """Raise if rounding in one feature hides another; parameters as in `warn_on_units`."""
    if std.max() > _RESOLVED * std[std > 0].min():
        raise ValueError(_unlike_units(name, std, features))


def _unlike_units(name: str, std: NDArray[Any], features: NDArray[Any] | None) -> str:
    ends = np.argmin(np.where(std > 0, std, np.inf)), np.argmax(std)
    names = [f"column {i}" if features is None else repr(features[i]) for i in ends]
    least, most = (f"{std[i]:.2g} ({name})" for i, name in zip(ends, names, strict=True))
    return (
        f"{name} depends on the units of the features, and their standard deviations in X range "
        f"from {least} to {most}: standardise them first, for example with "
        "sklearn.preprocessing.StandardScaler, or MaxAbsScaler for sparse X."
    )
