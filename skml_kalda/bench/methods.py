"""Methods and classifiers by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from skml_kalda.bench.names import check_name
from skml_kalda.framework import transformers

__all__ = [
    "NO_REDUCTION",
    "TUNED_CLASSIFIER",
    "check_classifier",
    "estimator_of",
    "label",
    "make_classifier",
    "make_reducer",
    "method_names",
]

NO_REDUCTION = "none"
# The names of the paper, and two methods that no registry holds.
_ALIASES = {"kaLDA": "MultiLabelKaLDA", "TR": "TraceRatio", "sdpLDA": "SDPLDA"}
_CLASSIFIERS = {"NN": "BinaryRelevanceKNN", "MLkNN": "MLkNN"}
_CLASSIFIER = re.compile(r"(?:(\d+)-)?(\w+)")
# Its k is chosen by an inner cross-validation.
TUNED_CLASSIFIER = "k-NN"
_DEFAULT_K = 10


@lru_cache(maxsize=1)
def _known() -> Mapping[str, Any]:
    registered: dict[str, Any] = {NO_REDUCTION: None, **transformers()}
    registered |= {alias: registered[name] for alias, name in _ALIASES.items()}
    return {"PCA": import_module("sklearn.decomposition").PCA, **registered}


def method_names() -> list[str]:
    """Name the methods that a plan may have."""
    return sorted(_known(), key=str.lower)


def label(method: str) -> str:
    """Write a method's name as a reader wants it."""
    return "no reduction" if method == NO_REDUCTION else method


def estimator_of(method: str, parameters: Mapping[str, Any]) -> str:
    """Name the estimator of a method: its own name, unless the plan says another."""
    return check_name("method", str(parameters.get("estimator", method)), _known())


def make_reducer(
    method: str, parameters: Mapping[str, Any], n_components: int | None, random_state: int
) -> Any:
    """Make the reducer of a method; None is no reduction.

    What the plan gives in `parameters` wins over the number of components and the seed.
    """
    estimator = _known()[estimator_of(method, parameters)]
    if estimator is None:
        return None
    given = {name: value for name, value in parameters.items() if name != "estimator"}
    reducer = estimator()
    ours = {"n_components": n_components, "random_state": random_state}
    taken = reducer.get_params()
    return reducer.set_params(**{k: v for k, v in ours.items() if k in taken} | given)


def check_classifier(name: str, k: int | None = None) -> str:
    """Give the classifier's name in one spelling, with another k if there is one.

    Examples
    --------
    >>> from skml_kalda.bench.methods import check_classifier
    >>> check_classifier("3-NN"), check_classifier("10-MLkNN"), check_classifier("MLkNN", k=5)
    ('3-NN', 'MLkNN', '5-MLkNN')
    """
    if name == TUNED_CLASSIFIER and k is None:
        return name
    family, found = _parse(name.removeprefix("k-"))
    k = found if k is None else k
    if k < 1:
        raise ValueError(f"{name!r}: the number of neighbours k must be at least 1")
    return family if (family, k) == ("MLkNN", _DEFAULT_K) else f"{k}-{family}"


def make_classifier(name: str) -> Any:
    """Make the classifier of a name: "1-NN", "3-NN", "MLkNN", "15-MLkNN"."""
    family, k = _parse(name)
    return getattr(import_module("skml_kalda.neighbors"), _CLASSIFIERS[family])(k=k)


def _parse(name: str) -> tuple[str, int]:
    parts = _CLASSIFIER.fullmatch(name)
    k, family = parts.groups() if parts else (None, name)
    if family not in _CLASSIFIERS:
        check_name("classifier", name, ["1-NN", "3-NN", "10-NN", "MLkNN", "5-MLkNN"])
    return str(family), int(k or _DEFAULT_K)
