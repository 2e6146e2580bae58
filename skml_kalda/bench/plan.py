"""Plans: what a table or a figure runs."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from skml_kalda._core.messages import check_name
from skml_kalda.bench import settings
from skml_kalda.bench.cells import HELD_OUT, Cell
from skml_kalda.bench.methods import (
    ITSELF,
    TUNED_CLASSIFIER,
    check_classifier,
    check_parameters,
    classifies,
    estimator_of,
    published_form,
)
from skml_kalda.bench.own import with_parameters
from skml_kalda.bench.running.tuning import check_tuning, tuning_of
from skml_kalda.datasets.manifest import manifest_names

PLANS = Path(__file__).parent / "plans"
# The settings that options of the command line change.
LISTS = ("datasets", "methods", "classifiers", "dimensions")
SINGLE = ("folds", "repeats", "seed", "standardize", "stratified", "thresholds", "timeout")
_BUNDLED = ("emotions", "yeast", "scene")
_KINDS = ("scores", "convergence", "projection", "gallery")
_ALLOWED = {
    "name": settings.TEXT,
    "title": settings.TEXT,
    "about": settings.OPTIONAL_TEXT,
    "kind": settings.TEXT,
    "data": settings.DATA,
    "datasets": settings.NAMES,
    "methods": settings.NAMES,
    "classifiers": settings.NAMES,
    "parameters": settings.PARAMETERS,
    "published": settings.SWITCH,
    "dimensions": settings.wholes(1),
    "folds": settings.whole(2),
    "repeats": settings.whole(1),
    "seed": settings.SEED,
    "standardize": settings.SWITCH,
    "stratified": settings.SWITCH,
    "thresholds": settings.INNER_FOLDS,
    "classes": settings.whole(0),
    "max_rows": settings.ROWS,
    "train_rows": settings.ROWS,
    "tune": settings.TABLE,
    "timeout": settings.SECONDS,
}


@dataclass(frozen=True)
class Plan:
    """What to run: every combination of data sets, methods, classifiers, dimensions, folds.

    Parameters
    ----------
    name, title, about : str
        Its name, its title and a description of what it shows.
    kind : {"scores", "convergence", "projection", "gallery"}
        Cross-validated scores; the objective by iteration; all rows in two dimensions; or the
        rows of the first fold, held out from the fit, in two dimensions with labels and scores.
    data : dict
        By name: a "file" of your own, and options of `skml_kalda.datasets.load_table`: its
        "labels", columns to "ignore", and "nominal".
    datasets, methods, classifiers : tuple of str
        Names. Data sets are those of `skml_kalda.datasets` and of `data`; without any, all of
        `data`. Methods are those of the registry, the paper's names for them, "none", and
        strong rows of other libraries. A method of your own is "module:name", the name of a
        class or of a ready estimator. Parameters may follow a name as JSON: 'OPLS{"ridge": 1}'.
    parameters : dict
        By method: the parameters of its estimator, and under "estimator" the name of the
        estimator if it differs from that of the method.
    published : bool
        Whether methods have the parameters that they were published with, most of them without
        regularisation, where `parameters` does not say otherwise; else the package's defaults.
    dimensions : tuple of int
        Numbers of components; empty means K - 1.
    folds, repeats, seed : int
        Settings of the cross-validation.
    stratified : bool
        Whether folds of rows with several labels have the same share of every label, as folds
        of rows with one class always do.
    standardize : bool
        Whether features get zero mean and unit variance, by the training rows.
    classes : int
        Use only the rows of the first so many classes; 0 means all.
    max_rows : dict
        By data set: the number of rows to draw at random if it has more.
    train_rows : dict
        By data set: the number of training rows of random splits, whose other rows are test rows;
        there are as many splits as folds. Other data sets are cross-validated.
    tune : dict
        How a cross-validation inside every training fold chooses the parameters of each method
        and the k of the classifier "k-NN": the number of "folds", the "score" to maximise
        (several: their mean), the "neighbors" to choose k from, and by method a "grid" of values
        for each parameter.
    thresholds : int
        Number of folds inside the training rows, at least 2, on which the thresholds of the tuned
        F1 scores are chosen; 0 means that there are no such scores, which saves much time.
    timeout : float
        Seconds after which a cell fails; 0 means no limit.
    """

    name: str
    title: str
    about: str = ""
    kind: str = "scores"
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ("none", "PCA", "kaLDA", "MLSI", "MDDM", "MLLS", "MLDA")
    classifiers: tuple[str, ...] = ("1-NN",)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    published: bool = False
    dimensions: tuple[int, ...] = ()
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    standardize: bool = True
    classes: int = 0
    max_rows: Mapping[str, int] = field(default_factory=dict)
    train_rows: Mapping[str, int] = field(default_factory=dict)
    tune: Mapping[str, Any] = field(default_factory=dict)
    thresholds: int = 0
    stratified: bool = False
    timeout: float = 0

    def __post_init__(self) -> None:
        _ALLOWED["data"].check("data", self.data)
        if self.datasets == ():
            object.__setattr__(self, "datasets", tuple(self.data) or _BUNDLED)
        for name, allowed in _ALLOWED.items():
            allowed.check(name, getattr(self, name))
        for name in LISTS:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._read_parameters()
        self._check_names()
        if self.kind in ("projection", "gallery"):
            settings.wholes(2).check("dimensions", self.dimensions)
        self._check_tuning()

    def _read_parameters(self) -> None:
        """Take the parameters that follow the names of methods."""
        new = (name for name in self.methods if name not in self.parameters)
        read = {name: given for name in new if (given := with_parameters(name))}
        if read:
            object.__setattr__(self, "parameters", {**self.parameters, **read})

    def _check_names(self) -> None:
        check_name("kind of plan", self.kind, _KINDS)
        for name in set(self.data).intersection(manifest_names()):
            raise ValueError(
                f"data.{name}: a data set of the package has this name; choose another"
            )
        for name in (*self.datasets, *self.max_rows, *self.train_rows):
            check_name("data set", name, [*self.data, *manifest_names()])
        for name in (*self.methods, *self.parameters):
            estimator_of(name, self.parameters.get(name, {}))
            if self.parameters.get(name):
                check_parameters(name, self.parameters[name])
            if name in self.methods and self.kind != "scores" and self._classifies(name):
                raise ValueError(f"a {self.kind} shows reductions, and {name} is a classifier")
        spelled = tuple(map(check_classifier, self.classifiers))
        settings.NAMES.check("classifiers", spelled)
        object.__setattr__(self, "classifiers", spelled)

    def _check_tuning(self) -> None:
        if self.tune and self.classifiers != (TUNED_CLASSIFIER,):
            raise ValueError(
                f"a plan that tunes chooses k: classifiers must be {TUNED_CLASSIFIER}, "
                f"not {', '.join(self.classifiers)}"
            )
        if not self.tune and TUNED_CLASSIFIER in self.classifiers:
            raise ValueError(f"{TUNED_CLASSIFIER} needs a plan that says how to tune")
        if self.tune:
            check_tuning(self.tune, self.parameters, self.datasets)

    @property
    def slug(self) -> str:
        """The name as a part of a path: never that of another folder, never too long.

        Examples
        --------
        >>> from skml_kalda.bench.plan import Plan
        >>> Plan("quick", "Quick").slug, Plan("../my plan", "Mine").slug
        ('quick', 'my-plan-a0ad9d')
        """
        slug = re.sub(r"[^\w.-]+", "-", self.name)[:60].strip("-.")
        if slug == self.name:
            return slug
        return f"{slug or 'plan'}-{hashlib.sha256(self.name.encode()).hexdigest()[:6]}"

    def cells(self) -> list[Cell]:
        """Return the cells; those that share a fit follow one another."""
        return list(self._cells())

    def _cells(self) -> Iterator[Cell]:
        scored = self.kind == "scores"
        folds = product(range(self.repeats), range(self.folds)) if scored else [(0, 0)]
        axes = product(self.datasets, self.methods, self.dimensions or [None], list(folds))
        for dataset, method, dimension, (repeat, fold) in axes:
            for classifier in self._classifiers(method):
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
                    parameters=self._parameters(method),
                    max_rows=self.max_rows.get(dataset, 0),
                    train_rows=self.train_rows.get(dataset, 0),
                    tune=tuning_of(self.tune, method),
                    thresholds=self.thresholds,
                    stratified=self.stratified,
                )

    def _classifiers(self, method: str) -> tuple[str, ...]:
        if self.kind not in HELD_OUT:
            return ("",)
        return (ITSELF,) if self._classifies(method) else self.classifiers

    def _parameters(self, method: str) -> Mapping[str, Any]:
        given = self.parameters.get(method, {})
        return published_form(method, given) if self.published else given

    def _classifies(self, method: str) -> bool:
        return classifies(method, self.parameters.get(method, {}))

    def changed(self, k: int | None = None, **changes: Any) -> Plan:
        """Return the plan with other settings; those that are None stay."""
        plan = replace(self, **{name: v for name, v in changes.items() if v is not None})
        if k is None:
            return plan
        return replace(plan, classifiers=tuple(check_classifier(c, k) for c in plan.classifiers))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Plan:
        """Make a plan from what TOML or JSON can hold."""
        for name in values:
            check_name("setting of a plan", name, [each.name for each in fields(cls)])
        for name in ("name", "title"):
            if name not in values:
                raise ValueError(f"the plan has no {name}")
        return cls(**values)


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
        path = PLANS / f"{check_name('plan', str(name), plan_names())}.toml"
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error
    try:
        return Plan.of(_with_paths({"name": path.stem, "title": path.stem, **values}, path.parent))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _with_paths(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the files of the user relative to the folder of their plan."""
    data = values.get("data")
    if not isinstance(data, dict) or not all(isinstance(each, dict) for each in data.values()):
        return values
    found = {
        name: {**each, "file": str(folder / each["file"])} if "file" in each else each
        for name, each in data.items()
    }
    return {**values, "data": found}


def plan_names() -> list[str]:
    """Return the names of the plans that come with the package."""
    return sorted(path.stem for path in PLANS.glob("*.toml"))
