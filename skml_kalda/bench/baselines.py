"""Methods that reductions have to beat, ready by name: classifiers, and siblings with a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

# Reducers whose siblings with a kernel are ready as "KernelMLDA" and so on.
_KERNELISED = ("CCA", "MDDM", "MLDA", "MLLS", "MLSI", "OPLS")
# Each in the defaults of its library, except where these cannot do the work.
_CLASSIFIERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "KaLDAClassifier": ("skml_kalda:KaLDAClassifier", {}),
    "kNN": ("skml_kalda:BinaryRelevanceKNN", {}),
    "MLkNN": ("skml_kalda:MLkNN", {}),
    "LogisticRegression": ("sklearn.linear_model:LogisticRegression", {"max_iter": 1000}),
    "LinearSVC": ("sklearn.svm:LinearSVC", {"max_iter": 10000}),
    "SVC": ("sklearn.svm:SVC", {}),
    "ExtraTrees": ("sklearn.ensemble:ExtraTreesClassifier", {}),
    "RandomForest": ("sklearn.ensemble:RandomForestClassifier", {}),
}
_REDUCERS = {
    "PCA": "sklearn.decomposition:PCA",
    "TruncatedSVD": "sklearn.decomposition:TruncatedSVD",
    # With the defaults of the class, while "kaLDA" and "KernelKaLDA" are the published forms.
    "kaLDA, shrunk": "skml_kalda:MultiLabelKaLDA",
    "KernelKaLDA, default": "skml_kalda:KernelKaLDA",
}


def baselines() -> dict[str, Callable[[], Any]]:
    """Return functions that make the estimators, by name."""
    return {
        **{name: partial(_class(where), **given) for name, (where, given) in _CLASSIFIERS.items()},
        "ClassifierChain": _chain,
        "kaLDA, cosine votes": _cosine_votes,
        **{name: _class(where) for name, where in _REDUCERS.items()},
        **{f"Kernel{name}": partial(_with_kernel, name) for name in _KERNELISED},
    }


def baseline_classifiers() -> set[str]:
    """Return the names of those that classify by themselves."""
    return {*_CLASSIFIERS, "ClassifierChain", "kaLDA, cosine votes"}


def _class(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def _chain() -> Any:
    """A chain of logistic regressions; the order of the labels is random."""
    chain, base = _class("sklearn.multioutput:ClassifierChain"), "LogisticRegression"
    where, given = _CLASSIFIERS[base]
    return chain(_class(where)(**given), order="random")


def _cosine_votes() -> Any:
    """What serves text: rows of unit length, closed-form kaLDA, neighbours by cosine."""
    return _class("sklearn.pipeline:Pipeline")(
        [
            ("unit", _class("sklearn.preprocessing:Normalizer")()),
            ("alignment", _class("skml_kalda:AlignmentScaler")(with_std=False)),
            # The weights of the features change the length of the rows.
            ("unit_again", _class("sklearn.preprocessing:Normalizer")()),
            ("kalda", _class("skml_kalda:MultiLabelKaLDA")(constraint="none")),
            (
                "votes",
                _class("skml_kalda:BinaryRelevanceKNN")(20, weights="distance", metric="cosine"),
            ),
        ]
    )


def _with_kernel(name: str) -> Any:
    """Put the features of a kernel before a reducer, with the defaults of both.

    The published forms of the reducers do not regularise, but features of a kernel need that.
    """
    steps = [("features", "skml_kalda:LandmarkFeatures"), ("reducer", f"skml_kalda:{name}")]
    return _class("sklearn.pipeline:Pipeline")([(step, _class(where)()) for step, where in steps])
