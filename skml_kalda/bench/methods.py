"""Methods and classifiers by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from skml_kalda._core.messages import check_name
from skml_kalda.bench.baselines import baseline_classifiers, baselines
from skml_kalda.bench.own import is_own, is_ready, maker, own_classifies
from skml_kalda.framework import transformers

NO_REDUCTION = "none"
# The classifier of a method that predicts labels by itself.
ITSELF = "itself"
# The paper's names for registered methods.
_ALIASES = {"kaLDA": "MultiLabelKaLDA", "TR": "TraceRatio", "sdpLDA": "SDPLDA"}
# The published forms, in the scale of their definition; the defaults of the estimators regularise.
_PUBLISHED: dict[str, dict[str, Any]] = {
    "CCA": {"ridge": 1e-4, "normalize": "B"},
    "LDA": {"ridge": 0.0, "normalize": "B"},
    "MLDA": {"ridge": 0.0, "normalize": "B"},
    "MLR": {"ridge": 0.1},
    "MLSI": {"ridge": 1e-6, "normalize": "B"},
    "MultiLabelKaLDA": {"shrinkage": None, "tol": 1e-8},
    "OLDA": {"ridge": 0.0},
    "OPLS": {"ridge": 1e-4, "normalize": "B"},
    "RLDA": {"ridge": 0.1, "normalize": "B"},
    "SDPLDA": {"ridge": 1e-4},
    "TraceRatio": {"ridge": 0.0},
    "ULDA": {"ridge": 0.0},
}
_CLASSIFIERS = {"NN": "BinaryRelevanceKNN", "MLkNN": "MLkNN"}
_CLASSIFIER = re.compile(r"(?:(\d+)-)?(\w+)")
# An inner cross-validation chooses its k.
TUNED_CLASSIFIER = "k-NN"
_DEFAULT_K = 10


@lru_cache(maxsize=1)
def _known() -> Mapping[str, Callable[[], Any] | None]:
    """Return what makes the estimator of each method; None stands for no reduction."""
    registered: dict[str, Any] = dict(transformers())
    aliases = {alias: registered[name] for alias, name in _ALIASES.items() if name in registered}
    return {**baselines(), **registered, **aliases, NO_REDUCTION: None}


def method_names() -> list[str]:
    """Return the names of all methods that a plan may use."""
    return sorted(_known(), key=str.lower)


def label(method: str) -> str:
    """Return the name of a method as tables and figures show it."""
    return "no reduction" if method == NO_REDUCTION else method


def estimator_of(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of a method's estimator: its own, unless the plan names another."""
    name = str(parameters.get("estimator", method))
    if is_own(name):
        maker(name)
        return name
    return check_name("method", name, _known())


def published_form(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method as it was published; those given take precedence.

    Examples
    --------
    >>> from skml_kalda.bench.methods import published_form
    >>> published_form("kaLDA", {"tol": 1e-6})
    {'shrinkage': None, 'tol': 1e-06}
    """
    name = estimator_of(method, parameters)
    return {**_PUBLISHED.get(_ALIASES.get(name, name), {}), **parameters}


def classifies(method: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a method predicts labels by itself, so that no other classifier follows it."""
    name = estimator_of(method, parameters)
    return own_classifies(name) if is_own(name) else name in baseline_classifiers()


def make_estimator(
    method: str, parameters: Mapping[str, Any], n_components: int | None, random_state: int
) -> Any:
    """Make the reducer or the classifier of a method; None stands for no reduction.

    The `parameters` take precedence over `n_components` and `random_state`.
    """
    name = estimator_of(method, parameters)
    make = maker(name) if is_own(name) else _known()[name]
    if make is None:
        return None
    estimator = make()
    ours: dict[str, Any] = {"random_state": random_state}
    if not (is_own(name) and is_ready(name)):
        ours["n_components"] = n_components
    given = {name: value for name, value in parameters.items() if name != "estimator"}
    return estimator.set_params(**_settings(estimator, ours) | given)


def check_parameters(method: str, parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError if a method has no such parameter, or not with this value."""
    estimator = make_estimator(method, parameters, None, 0)
    if estimator is None:
        return
    for part in (estimator, *estimator.get_params().values()):
        # What `fit` of an estimator checks first, if it follows scikit-learn in this.
        if isinstance(part, BaseEstimator) and hasattr(part, "_parameter_constraints"):
            part._validate_params()


def _settings(estimator: Any, ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the bench for an estimator and the steps inside it."""
    # A name such as "reducer__n_components" ends in that of the parameter. A seed that is given
    # stays.
    last = {name: name.rpartition("__")[2] for name in estimator.get_params()}
    taken = {name for name, value in estimator.get_params().items() if value is not None}
    return {
        name: ours[end]
        for name, end in last.items()
        if end in ours and not (end == "random_state" and name in taken)
    }


def check_classifier(name: str, k: int | None = None) -> str:
    """Return the name of a classifier in its one spelling, with another k if given.

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
        raise ValueError(f"{name!r}: the number of neighbours k must be at least 1, not {k}")
    return family if (family, k) == ("MLkNN", _DEFAULT_K) else f"{k}-{family}"


def n_neighbors(name: str) -> int:
    """Return the number of neighbours in the name of a classifier.

    Examples
    --------
    >>> from skml_kalda.bench.methods import n_neighbors
    >>> n_neighbors("3-NN"), n_neighbors("MLkNN")
    (3, 10)
    """
    return _parse(name)[1]


def make_classifier(name: str) -> Any:
    """Make the classifier of a name: "1-NN", "3-NN", "MLkNN", "15-MLkNN"."""
    family, k = _parse(name)
    return getattr(import_module("skml_kalda"), _CLASSIFIERS[family])(k=k)


def _parse(name: str) -> tuple[str, int]:
    parts = _CLASSIFIER.fullmatch(name)
    k, family = parts.groups() if parts else (None, name)
    if family not in _CLASSIFIERS:
        check_name("classifier", name, ["1-NN", "3-NN", "10-NN", "MLkNN", "5-MLkNN"])
    return str(family), int(k or _DEFAULT_K)
