"""Methods and classifiers by name: registered ones, baselines, and those of the user."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

import skml_kalda
from skml_kalda._core.messages import check_name, required
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


def _tricube_votes() -> Any:
    """Return a recipe for text: samples of unit length, closed-form kaLDA, cosine neighbours."""
    reducer = skml_kalda.MultiLabelKaLDA(constraint="none")
    votes = skml_kalda.BinaryRelevanceKNN(100, weights="tricube", metric="cosine")
    return Pipeline([("unit", Normalizer()), ("kalda", reducer), ("votes", votes)])


def _with_kernel(reducer: Callable[[], Any]) -> Any:
    """Put the feature map of a kernel before a reducer, with the defaults of both."""
    return Pipeline([("features", skml_kalda.LandmarkFeatures()), ("reducer", reducer())])


def _rival(module: str, name: str, **settings: Any) -> Callable[[], Any]:
    """Return what makes a classifier of a library of the extra `rivals`."""

    def make() -> Any:
        found = required(module, by=name, extra="rivals", library=module.partition(".")[0])
        return getattr(found, name)(**settings)

    return make


_logistic = partial(LogisticRegression, max_iter=1000)
# Each in the defaults of its library, except where these cannot do the work.
_CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "KaLDAClassifier": skml_kalda.KaLDAClassifier,
    "kNN": skml_kalda.BinaryRelevanceKNN,
    "MLkNN": skml_kalda.MLkNN,
    "LogisticRegression": _logistic,
    "LinearSVC": partial(LinearSVC, max_iter=10000),
    "SVC": SVC,
    "ExtraTrees": ExtraTreesClassifier,
    "RandomForest": RandomForestClassifier,
    "ClassifierChain": lambda: ClassifierChain(_logistic(), order="random"),
    "kaLDA, tricube votes": _tricube_votes,
    "CatBoost": _rival(
        "catboost",
        "CatBoostClassifier",
        loss_function="MultiLogloss",
        iterations=100,
        depth=4,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    ),
    "XGBoost": _rival(
        "xgboost",
        "XGBClassifier",
        multi_strategy="multi_output_tree",
        max_depth=4,
        max_bin=64,
        n_jobs=1,
    ),
    "LightGBM": _rival("lightgbm", "LGBMClassifier", n_jobs=1, verbose=-1),
    "BOOMER": _rival("mlrl.boosting", "BoomerClassifier"),
}
_REDUCERS: dict[str, Callable[[], Any]] = {
    "PCA": PCA,
    "TruncatedSVD": TruncatedSVD,
    # Its defaults shrink, also in a plan of published forms.
    "kaLDA, shrunk": skml_kalda.MultiLabelKaLDA,
    **{
        f"Kernel{name}": partial(_with_kernel, getattr(skml_kalda, name))
        for name in ("CCA", "MDDM", "MLDA", "MLLS", "MLSI", "OPLS")
    },
}
_NEIGHBORS = {"NN": skml_kalda.BinaryRelevanceKNN, "MLkNN": skml_kalda.MLkNN}
# An inner cross-validation chooses its k.
TUNED_CLASSIFIER = "k-NN"
_DEFAULT_K = 10


@cache
def _known() -> Mapping[str, Callable[[], Any]]:
    """Return what makes the estimator of each method; that of no reduction is None."""
    registered = transformers()
    aliases = {alias: registered[name] for alias, name in _ALIASES.items() if name in registered}
    none = {NO_REDUCTION: lambda: None}
    return {**_CLASSIFIERS, **_REDUCERS, **registered, **aliases, **none}


def method_names() -> list[str]:
    """Return the names of all methods that a plan may use."""
    return sorted(_known(), key=str.lower)


def label(method: str) -> str:
    """Return the name of a method as tables and figures show it."""
    return "no reduction" if method == NO_REDUCTION else method


def estimator_name(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of a method's estimator: its own, unless the plan names another."""
    return str(parameters.get("estimator", method))


def published_form(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a method as it was published; those given take precedence.

    Examples
    --------
    >>> from skml_kalda.bench.methods import published_form
    >>> published_form("kaLDA", {"tol": 1e-6})
    {'shrinkage': None, 'tol': 1e-06}
    """
    name = estimator_name(method, parameters)
    return {**_PUBLISHED.get(_ALIASES.get(name, name), {}), **parameters}


def parameters_in(name: str) -> dict[str, Any]:
    """Return the estimator and the parameters in a name such as 'OPLS{"ridge": 1}'.

    Examples
    --------
    >>> from skml_kalda.bench.methods import parameters_in
    >>> parameters_in('OPLS{"ridge": 1}'), parameters_in("OPLS")
    ({'estimator': 'OPLS', 'ridge': 1}, {})
    """
    estimator, brace, rest = name.partition("{")
    if not brace:
        return {}
    try:
        return {"estimator": estimator.strip(), **json.loads(brace + rest)}
    except (ValueError, RecursionError) as error:
        example = "'OPLS{\"ridge\": 1}'"
        raise ValueError(f"{name!r}: parameters must be JSON, as in {example} ({error})") from None


def _is_of_user(name: str) -> bool:
    """Whether a name is "module:name", which only a run may import."""
    return re.fullmatch(r"[\w.]+:[\w.]+", name) is not None


@cache
def _imported(name: str) -> Callable[[], Any]:
    """Return what makes the estimator of "module:name": a class, or copies of an object."""
    module, _, attribute = name.partition(":")
    # As `python -m` does: modules in the current folder can be imported.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # Whatever the user's module raises.
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"method {name!r} cannot be imported: {reason}") from error
    make = found if isinstance(found, type) else partial(clone, found, safe=False)
    try:
        make().get_params()
    except (TypeError, AttributeError) as error:
        reason = f"is not an estimator that can be made without arguments: {error}"
        raise ValueError(f"method {name!r} {reason}") from error
    return make


def is_baseline_classifier(name: str) -> bool:
    """Whether an estimator of the bench predicts labels by itself; imports nothing."""
    return name in _CLASSIFIERS


def classifies(method: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a method predicts labels by itself, so that no other classifier follows it.

    Imports a method of the user.
    """
    name = estimator_name(method, parameters)
    if not _is_of_user(name):
        return is_baseline_classifier(name)
    estimator = _imported(name)()
    return bool(is_classifier(estimator)) or not hasattr(estimator, "transform")


def make_estimator(
    method: str, parameters: Mapping[str, Any], n_components: int | None, random_state: int
) -> Any:
    """Make the reducer or the classifier of a method; None stands for no reduction.

    The `parameters` take precedence over `n_components` and `random_state`. A ready object of the
    user keeps its number of components.
    """
    name = estimator_name(method, parameters)
    make = _imported(name) if _is_of_user(name) else _known()[check_name("method", name, _known())]
    estimator = make()
    if estimator is None:
        return None
    is_ready = _is_of_user(name) and isinstance(make, partial)
    settings = {}
    for path, value in estimator.get_params().items():
        # The name of a parameter of a step, such as "reducer__n_components", ends in its own.
        last = path.rpartition("__")[2]
        if last == "n_components" and not is_ready:
            settings[path] = n_components
        if last == "random_state" and value is None:
            settings[path] = random_state
    given = {key: value for key, value in parameters.items() if key != "estimator"}
    return estimator.set_params(**settings | given)


def check_method(method: str, parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError for an unknown method, or a parameter that it does not take."""
    estimator = make_estimator(method, parameters, None, 0)
    if estimator is None or not parameters:
        return
    for part in (estimator, *estimator.get_params().values()):
        # What `fit` of an estimator checks first, if it follows scikit-learn in this.
        if isinstance(part, BaseEstimator) and hasattr(part, "_parameter_constraints"):
            part._validate_params()


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


def make_classifier(name: str) -> Any:
    """Make the classifier of a name: "1-NN", "3-NN", "MLkNN", "15-MLkNN"."""
    family, k = _parse(name)
    return _NEIGHBORS[family](k=k)


def _parse(name: str) -> tuple[str, int]:
    parts = re.fullmatch(r"(?:(\d+)-)?(\w+)", name)
    if parts is None or parts[2] not in _NEIGHBORS:
        check_name("classifier", name, ["1-NN", "3-NN", "10-NN", "MLkNN", "5-MLkNN"])
    assert parts is not None, "a name of the list above"
    return parts[2], int(parts[1] or _DEFAULT_K)
