"""Libraries that only some parts of the package need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
