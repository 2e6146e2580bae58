"""Methods of the user: a class or a ready estimator in a module, parameters as JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from sklearn.base import clone, is_classifier

from skml_kalda.bench.running.failures import described

_WHERE = re.compile(r"([\w.]+):([\w.]+)")
_WITH_PARAMETERS = re.compile(r"([^{]+?)\s*(\{.*)", re.DOTALL)


def is_own(name: str) -> bool:
    """Whether a name is "module:name"."""
    return _WHERE.fullmatch(name) is not None


def with_parameters(name: str) -> Mapping[str, Any]:
    """Return the estimator and the parameters in a name such as 'OPLS{"ridge": 1}'.

    Examples
    --------
    >>> from skml_kalda.bench.own import with_parameters
    >>> with_parameters('OPLS{"ridge": 1}'), with_parameters("OPLS")
    ({'estimator': 'OPLS', 'ridge': 1}, {})
    """
    parts = _WITH_PARAMETERS.fullmatch(name)
    if parts is None:
        return {}
    try:
        return {"estimator": parts[1], **json.loads(parts[2])}
    except ValueError as error:
        example = "'OPLS{\"ridge\": 1}'"
        raise ValueError(f"{name!r}: parameters must be JSON, as in {example} ({error})") from None


@lru_cache
def maker(name: str) -> Callable[[], Any]:
    """Return what makes the estimator of "module:name": a class, or copies of an object."""
    module, attribute = _WHERE.fullmatch(name).groups()  # type: ignore[union-attr]
    # As `python -m` does: modules in the current folder can be imported.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # Whatever the user's module raises.
        raise ValueError(f"method {name!r} cannot be imported: {described(error)}") from error
    make = found if isinstance(found, type) else partial(clone, found, safe=False)
    _check(name, make)
    return make


def _check(name: str, make: Callable[[], Any]) -> None:
    try:
        estimator = make()
    except TypeError as error:
        raise ValueError(f"method {name!r} cannot be made without arguments: {error}") from error
    able = [hasattr(estimator, each) for each in ("transform", "predict")]
    if not hasattr(estimator, "fit") or not any(able) or not hasattr(estimator, "set_params"):
        raise ValueError(
            f"method {name!r} is no estimator: it must have fit and set_params, and transform or "
            "predict"
        )


def is_ready(name: str) -> bool:
    """Whether "module:name" is an object, whose parameters are the user's choice."""
    return isinstance(maker(name), partial)


def own_classifies(name: str) -> bool:
    """Whether "module:name" predicts labels by itself."""
    estimator = maker(name)()
    return bool(is_classifier(estimator)) or not hasattr(estimator, "transform")
