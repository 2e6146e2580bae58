"""Plans: what a table or a figure runs."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from skml_kalda.bench.cells import HELD_OUT, Cell
from skml_kalda.bench.methods import TUNED_CLASSIFIER, check_classifier, estimator_of
from skml_kalda.bench.names import check_name, shipped
from skml_kalda.bench.tuning import check_tuning, tuning_of
from skml_kalda.datasets.manifest import read_manifest

__all__ = ["LISTS", "SINGLE", "Plan", "plan_names", "read_plan"]

# What the options of the command line change.
LISTS = ("datasets", "methods", "classifiers", "dimensions")
SINGLE = ("folds", "repeats", "seed", "standardize")
_KINDS = ("scores", "convergence", "projection", "gallery")


@dataclass(frozen=True)
class Plan:
    """What to run: every combination of data sets, methods, classifiers, dimensions, folds.

    Parameters
    ----------
    name, title, about : str
        What it is called, and what it shows.
    kind : {"scores", "convergence", "projection", "gallery"}
        Cross-validated scores, the objective by iteration, all rows in two dimensions, or those
        of the first fold, held out from the fit, with their labels and scores.
    datasets, methods, classifiers : tuple of str
        Names; the methods are those of the registry, the paper's names for them, "PCA" and
        "none".
    parameters : dict
        By method: the parameters of its estimator, and under "estimator" the name of the
        estimator where it is not that of the method.
    dimensions : tuple of int
        Numbers of components; none means K - 1.
    folds, repeats, seed : int
        Of the cross-validation.
    standardize : bool
        Whether features get zero mean and unit variance, from the training rows.
    classes : int
        Only rows of the first so many classes; 0 is all.
    max_rows : dict
        By data set: how many rows are drawn at random if it has more.
    tune : dict
        How each method chooses its parameters, and the classifier "k-NN" its k, by a
        cross-validation inside every training fold: "folds", the "score" to be best in,
        the "neighbors" to choose k from, and by method its "grid" of values by parameter.
    """

    name: str
    title: str
    about: str = ""
    kind: str = "scores"
    datasets: tuple[str, ...] = ("emotions", "yeast", "scene")
    methods: tuple[str, ...] = ("none", "PCA", "kaLDA", "MLSI", "MDDM", "MLLS", "MLDA")
    classifiers: tuple[str, ...] = ("1-NN",)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    dimensions: tuple[int, ...] = ()
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    standardize: bool = True
    classes: int = 0
    max_rows: Mapping[str, int] = field(default_factory=dict)
    tune: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("kind of plan", self.kind, _KINDS)
        for name in self.datasets:
            read_manifest(name)
        for name in self.methods:
            estimator_of(name, self.parameters.get(name, {}))
        spelled = tuple(map(check_classifier, self.classifiers))
        object.__setattr__(self, "classifiers", spelled)
        self._check_numbers()
        self._check_tuning()

    def _check_numbers(self) -> None:
        for name, least in {"folds": 2, "repeats": 1, "seed": 0, "classes": 0}.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        least = 2 if self.kind in ("projection", "gallery") else 1
        if min(self.dimensions, default=least) < least:
            raise ValueError(f"dimensions must be at least {least}, not {min(self.dimensions)}")

    def _check_tuning(self) -> None:
        if self.tune and self.classifiers != (TUNED_CLASSIFIER,):
            raise ValueError(f"a plan that tunes chooses k: classifiers must be {TUNED_CLASSIFIER}")
        if not self.tune and TUNED_CLASSIFIER in self.classifiers:
            raise ValueError(f"{TUNED_CLASSIFIER} needs a plan that says how to tune")
        if self.tune:
            check_tuning(self.tune, self.parameters, self.datasets)

    def cells(self) -> list[Cell]:
        """List the cells, those that share a fit side by side."""
        return list(self._cells())

    def _cells(self) -> Iterator[Cell]:
        scored = self.kind == "scores"
        folds = product(range(self.repeats), range(self.folds)) if scored else [(0, 0)]
        axes = product(self.datasets, self.methods, self.dimensions or [None], list(folds))
        for dataset, method, dimension, (repeat, fold) in axes:
            for classifier in self.classifiers if self.kind in HELD_OUT else [""]:
                yield Cell(
                    kind=self.kind,
                    dataset=dataset,
                    method=method,
                    classifier=classifier,
                    dimension=dimension,
                    standardize=self.standardize,
                    classes=self.classes,
                    folds=self.folds,
                    repeat=repeat,
                    fold=fold,
                    seed=self.seed,
                    parameters=self.parameters.get(method, {}),
                    max_rows=self.max_rows.get(dataset, 0),
                    tune=tuning_of(self.tune, method),
                )

    def changed(self, k: int | None = None, **changes: Any) -> Plan:
        """Give the plan with other settings; those that are None stay."""
        plan = replace(self, **{name: v for name, v in changes.items() if v is not None})
        if k is None:
            return plan
        return replace(plan, classifiers=tuple(check_classifier(c, k) for c in plan.classifiers))

    def command(self) -> str:
        """Write the command that runs this plan."""
        shipped_plan = self.name in plan_names()
        usual = read_plan(self.name) if shipped_plan else self
        words = ["python -m skml_kalda.bench run", self.name if shipped_plan else "PLAN.toml"]
        for name in (*LISTS, *SINGLE):
            value = getattr(self, name)
            if value != getattr(usual, name):
                words.append(_option(name, value))
        return " ".join(words)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Plan:
        """Make a plan from what TOML or JSON can hold."""
        known = [each.name for each in fields(cls)]
        checked: dict[str, Any] = {}
        for name, value in settings.items():
            check_name("setting of a plan", name, known)
            checked[name] = tuple(value) if isinstance(value, list) else value
        return cls(**checked)


def _option(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    values = value if isinstance(value, tuple) else [value]
    return f"--{name} {shlex.join(map(str, values))}"


def read_plan(name: str | Path) -> Plan:
    """Read a plan that comes with the package, or any TOML file.

    Examples
    --------
    >>> from skml_kalda.bench.plan import read_plan
    >>> read_plan("quick").datasets
    ('emotions', 'yeast', 'scene')
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = shipped("plans") / f"{check_name('plan', str(name), plan_names())}.toml"
    with path.open("rb") as stream:
        settings = tomllib.load(stream)
    return Plan.of({"name": path.stem, "title": path.stem, **settings})


def plan_names() -> list[str]:
    """Name the plans that come with the package."""
    return sorted(path.stem for path in shipped("plans").glob("*.toml"))
