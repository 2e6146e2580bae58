"""Plans: what a table or a figure runs, and the cells that this comes to."""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from itertools import product
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from skml_kalda._core.messages import check_name
from skml_kalda.bench.methods import (
    ITSELF,
    TUNED_CLASSIFIER,
    check_classifier,
    check_method,
    classifies,
    estimator_name,
    is_baseline_classifier,
    make_estimator,
    parameters_in,
    published_form,
)
from skml_kalda.bench.scores import MAIN, SCORES
from skml_kalda.datasets.manifest import manifest_names, read_manifest

PLANS = Path(__file__).parent / "plans"
# The settings that options of the command line change.
LISTS = ("datasets", "methods", "classifiers", "dimensions")
SINGLE = ("folds", "repeats", "seed", "standardize", "stratified", "thresholds")
# The kinds of cells that hold out samples from the fit and classify them.
HELD_OUT = ("scores", "gallery")
# Scores at the best threshold, and the average of their F1: a tuning may maximise them.
TUNED = {"macro_f1_tuned": "macro", "micro_f1_tuned": "micro"}
MOST_CELLS = 200_000
_BUNDLED = ("emotions", "yeast", "scene")
_KINDS = ("scores", "convergence", "projection", "gallery")


@dataclass(frozen=True)
class Cell:
    """One dataset, method, classifier and fold, with everything that its scores depend on.

    Attributes
    ----------
    classifier : str
        Empty where nothing is classified.
    dimension : int | None
        Number of components; None means K - 1.
    classes : int
        Use only the samples of the first so many classes; 0 means all.
    max_rows : int
        Use only so many samples, drawn by the seed; 0 means all.
    train_rows : int
        Training samples of a random or published split; 0 means folds.
    tune : Mapping[str, Any]
        How to choose the parameters in its grid and k; empty if nothing is tuned.
    thresholds : int
        Folds inside the training samples that tune thresholds for F1; 0 means no tuned F1.
    stratified : bool
        Whether all folds have the same share of every label.
    max_labels : int
        Use only so many labels, those of most samples; 0 means all.
    """

    kind: str
    dataset: str
    method: str
    classifier: str
    dimension: int | None
    standardize: bool
    classes: int
    folds: int
    repeat: int
    fold: int
    seed: int
    parameters: Mapping[str, Any] = field(hash=False)
    max_rows: int = 0
    train_rows: int = 0
    tune: Mapping[str, Any] = field(default_factory=dict, hash=False)
    thresholds: int = 0
    stratified: bool = False
    max_labels: int = 0

    def key(self) -> str:
        """Return the identity as text: equal for equal cells, in any process and at any time."""
        # Fields with a default were added later. Leaving them out where they are empty keeps the
        # identity that the cell has in older results.
        later = [each.name for each in fields(self) if not _is_required(each)]
        record = {k: v for k, v in asdict(self).items() if v or k not in later}
        return json.dumps(record, sort_keys=True)

    def fit(self) -> Cell:
        """Return the cell without its classifier: cells that agree in it share a fit."""
        return replace(self, classifier="")

    def random_state(self) -> int:
        """Derive the seed of the reducer from the identity, so that the order has no effect."""
        return int.from_bytes(hashlib.sha256(self.fit().key().encode()).digest()[:4], "big")

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Cell:
        """Return the cell of a row of results."""
        known = [f.name for f in fields(cls) if _is_required(f) or row.get(f.name) is not None]
        return cls(**{name: row[name] for name in known})


def _is_required(each: Field[Any]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


_LIST, _WHOLE = [list, tuple], [Interval(Integral, 0, None, closed="left")]
_FOLDS = [Interval(Integral, 2, None, closed="left")]
# What each setting of a plan, and each setting of its tuning, may be.
_CONSTRAINTS: dict[str, Sequence[Any]] = {
    **dict.fromkeys(("name", "title", "about"), (str,)),
    "kind": [StrOptions(set(_KINDS))],
    **dict.fromkeys(("data", "parameters", "max_rows", "train_rows", "tune"), (dict,)),
    **dict.fromkeys((*LISTS, "classify"), _LIST),
    **dict.fromkeys(("published", "standardize", "stratified"), ("boolean",)),
    "folds": _FOLDS,
    "repeats": [Interval(Integral, 1, None, closed="left")],
    **dict.fromkeys(("seed", "thresholds", "classes", "max_labels"), _WHOLE),
}
_TUNING: dict[str, list[Any]] = {
    "folds": _FOLDS,
    "score": [str, *_LIST],
    "neighbors": _LIST,
    "grid": [dict],
}


@dataclass(frozen=True)
class Plan:
    """What to run: every combination of datasets, methods, classifiers, dimensions, folds.

    Parameters
    ----------
    name, title, about : str
        Its name, its title and a description of what it shows.
    kind : {"scores", "convergence", "projection", "gallery"}
        Cross-validated scores; the objective by iteration; all samples in two dimensions; or
        the samples of the first fold, held out from the fit, in two dimensions with labels and
        scores.
    data : dict
        By name: a "file" of your own, and options of `skml_kalda.datasets.load_table`: its
        "labels" and the columns to "ignore".
    datasets, methods, classifiers : tuple of str
        Names. Datasets are those of `skml_kalda.datasets` and of `data`; without any, all of
        `data`. Methods are those of the registry, the paper's names for them, "none", and
        strong baselines of other libraries. A method of your own is "module:name", the name of a
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
        Whether folds of samples with several labels have the same share of every label, as
        folds of samples with one class always do.
    standardize : bool
        Whether features get zero mean and unit variance, by the training samples.
    classes : int
        Use only the samples of the first so many classes; 0 means all.
    max_rows : dict
        By dataset: the number of samples to draw at random if it has more.
    max_labels : int
        Use only so many labels, those that most of these samples have; 0 means all.
    train_rows : dict
        By dataset: the number of training samples of random splits, whose other samples are for
        the test, or of the splits that were published with the dataset; there are as many splits
        as folds. Other datasets are cross-validated.
    tune : dict
        How a cross-validation inside every training fold chooses the parameters of each method
        and the k of the classifier "k-NN": the number of "folds", the "score" to maximise
        (several: their mean), the "neighbors" to choose k from, and by method a "grid" of values
        for each parameter.
    thresholds : int
        Number of folds inside the training samples, at least 2, on which the thresholds of the
        tuned F1 scores are chosen; 0 means that there are no such scores, which saves much time.
    classify : tuple of str
        Those of your own methods that predict labels by themselves, so that no classifier
        follows them. A run finds them; reading its results imports no method.
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
    max_labels: int = 0
    train_rows: Mapping[str, int] = field(default_factory=dict)
    tune: Mapping[str, Any] = field(default_factory=dict)
    thresholds: int = 0
    stratified: bool = False
    classify: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        validate_parameter_constraints(_CONSTRAINTS, vars(self), "Plan")
        if not self.datasets:
            object.__setattr__(self, "datasets", tuple(self.data) or _BUNDLED)
        lists = (*LISTS[:3], "classify")
        parts = {f"{key}[{i}]": v for key in lists for i, v in enumerate(getattr(self, key))}
        validate_parameter_constraints({key: [str] for key in parts}, parts, "Plan")
        new = (name for name in self.methods if name not in self.parameters)
        read = {name: found for name in new if (found := parameters_in(name))}
        object.__setattr__(self, "parameters", {**self.parameters, **read})
        classifiers = tuple(map(check_classifier, self.classifiers))
        object.__setattr__(self, "classifiers", classifiers)
        for name in (*LISTS, "classify"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_parts()
        if self.tune:
            self._check_tuning()
        elif TUNED_CLASSIFIER in self.classifiers:
            raise ValueError(f"{TUNED_CLASSIFIER} needs a plan that says how to tune")

    def _check_parts(self) -> None:
        """Raise a ValueError for a wrong element of a list or table, or too many cells."""
        lists = [getattr(self, name) for name in LISTS]
        n_cells = math.prod([self.folds, self.repeats, *(max(len(each), 1) for each in lists)])
        if n_cells > MOST_CELLS:
            raise ValueError(f"{n_cells} cells, more than {MOST_CELLS}: lower repeats or folds")
        for name, given in self.data.items():
            if name in manifest_names():
                raise ValueError(
                    f"data.{name}: a dataset of the package has this name; choose another"
                )
            if not isinstance(given, dict) or not isinstance(given.get("file"), str):
                raise ValueError(f"data.{name} must be a table with a file, not {given!r}")
            for option in given:
                check_name(f"option of data.{name}", option, ("file", "labels", "ignore"))
        for name in (*self.datasets, *self.max_rows, *self.train_rows):
            check_name("dataset", name, [*self.data, *manifest_names()])
        parts: dict[str, tuple[Any, Any]]
        parts = {f"parameters.{name}": ([dict], each) for name, each in self.parameters.items()}
        for name in ("max_rows", "train_rows"):
            parts |= {f"{name}.{key}": (_WHOLE, n) for key, n in getattr(self, name).items()}
        # A picture has two dimensions.
        least = 2 if self.kind in ("projection", "gallery") else 1
        whole = [Interval(Integral, least, None, closed="left")]
        parts |= {f"dimensions[{i}]": (whole, n) for i, n in enumerate(self.dimensions)}
        constraints, values = ({name: part[i] for name, part in parts.items()} for i in (0, 1))
        validate_parameter_constraints(constraints, values, "Plan")
        for name in LISTS:
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(f"{name} names something twice: {list(getattr(self, name))}")

    def _check_tuning(self) -> None:
        if self.tune.keys() != _TUNING.keys():
            raise ValueError(f"tune must have {', '.join(_TUNING)}, not {', '.join(self.tune)}")
        validate_parameter_constraints(_TUNING, self.tune, "tune")
        if self.classifiers != (TUNED_CLASSIFIER,):
            raise ValueError(
                f"a plan that tunes chooses k: classifiers must be {TUNED_CLASSIFIER}, "
                f"not {', '.join(self.classifiers)}"
            )
        rankings = [
            name
            for name, score in SCORES.items()
            if score.needs_probabilities and not score.needs_propensities
        ]
        for name in self.tuned_by():
            check_name("score to tune by", name, [*MAIN, *TUNED, *rankings])
        for name in self.datasets:
            if name in self.data or read_manifest(name).task != "multilabel":
                raise ValueError(
                    f"tuning is for datasets of the package with several labels per sample, not "
                    f"for {name}"
                )

    def tuned_by(self) -> list[str]:
        """Return the scores whose mean a tuning maximises."""
        score = self.tune["score"]
        return [score] if isinstance(score, str) else list(score)

    def with_methods(self) -> Plan:
        """Return the plan with its methods checked: this imports those of the user.

        Raise a ValueError for a method that is unknown, cannot be imported, or does not take its
        parameters. Only a run calls this. A plan that is read from results stays unchecked.
        """
        for name in (*self.methods, *self.parameters):
            check_method(name, self.parameters.get(name, {}))
        for method, grid in self.tune.get("grid", {}).items():
            for setting in ParameterGrid(grid):
                make_estimator(method, {**self.parameters.get(method, {}), **setting}, None, 0)
        by_itself = [
            name for name in self.methods if classifies(name, self.parameters.get(name, {}))
        ]
        if by_itself and self.kind != "scores":
            raise ValueError(f"a {self.kind} shows reductions, and {by_itself[0]} is a classifier")
        unnamed = replace(self, classify=())
        found = tuple(name for name in by_itself if not unnamed._classifies(name))
        return replace(unnamed, classify=found)

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
        shared = ("kind", "standardize", "classes", "folds", "seed", "thresholds", "stratified")
        settings = {name: getattr(self, name) for name in (*shared, "max_labels")}
        for dataset, method, dimension, (repeat, fold) in axes:
            given = self.parameters.get(method, {})
            for classifier in self._classifiers(method):
                yield Cell(
                    **settings,
                    dataset=dataset,
                    method=method,
                    classifier=classifier,
                    dimension=dimension,
                    repeat=repeat,
                    fold=fold,
                    parameters=published_form(method, given) if self.published else given,
                    max_rows=self.max_rows.get(dataset, 0),
                    train_rows=self.train_rows.get(dataset, 0),
                    tune=self.tune and {**self.tune, "grid": self.tune["grid"].get(method, {})},
                )

    def _classifiers(self, method: str) -> tuple[str, ...]:
        if self.kind not in HELD_OUT:
            return ("",)
        return (ITSELF,) if self._classifies(method) else self.classifiers

    def _classifies(self, method: str) -> bool:
        name = estimator_name(method, self.parameters.get(method, {}))
        return is_baseline_classifier(name) or method in self.classify

    def changed(self, **changes: Any) -> Plan:
        """Return the plan with other settings; those that are None stay."""
        return replace(self, **{name: v for name, v in changes.items() if v is not None})


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
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from error
    try:
        for setting in values:
            check_name("setting of a plan", setting, [each.name for each in fields(Plan)])
        plan = Plan(**{"name": path.stem, "title": path.stem, **values})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    # Files of the user are relative to the folder of the plan.
    data = {
        key: {**each, "file": str(path.parent / each["file"])} for key, each in plan.data.items()
    }
    return replace(plan, data=data)


def plan_names() -> list[str]:
    """Return the names of the plans that come with the package."""
    return sorted(path.stem for path in PLANS.glob("*.toml"))


def describe_files(
    files: Sequence[str | PathLike[str]],
    labels: str | int | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
) -> dict[str, dict[str, Any]]:
    """Return the setting `data` of a plan for some files with the same label columns.

    Examples
    --------
    >>> from skml_kalda.bench.plan import describe_files
    >>> describe_files(["data/mine.csv"], "label_*")
    {'mine.csv': {'file': 'data/mine.csv', 'labels': 'label_*'}}
    """
    given = {"labels": labels, "ignore": list(ignore)}
    options = {name: value for name, value in given.items() if value not in (None, [])}
    names = [Path(file).name for file in files]
    if "" in names:
        raise ValueError(f"{files[names.index('')]} is a folder: name the files in it")
    if len(set(names)) < len(names):
        raise ValueError(f"two files have the same name: {', '.join(map(str, files))}")
    return {name: {"file": str(file), **options} for name, file in zip(names, files, strict=True)}


def plan_of_files(data: Mapping[str, Mapping[str, Any]]) -> Plan:
    """Return the plan that answers which method is best on files of the user.

    It has a baseline, the methods of this package with their defaults, and classifiers that are
    hard to beat.
    """
    return Plan(
        # With folders and suffixes: mine.csv, mine.parquet and old/mine.csv are different runs.
        "-".join(Path(each["file"]).as_posix() for each in data.values()),
        f"Which method is best on {', '.join(data)}?",
        "Reductions to K − 1 dimensions, each followed by a classifier, and methods that classify "
        "by themselves. Missing values are replaced by means, and thresholds of the tuned F1 are "
        "chosen, inside the training samples. kaLDA, MLDA and the like have the defaults of this "
        "package.",
        data=data,
        methods=(
            *("none", "PCA", "kaLDA", "KernelKaLDA"),
            *("KaLDAClassifier", "LogisticRegression", "ExtraTrees"),
        ),
        classifiers=("MLkNN",),
        thresholds=3,
    )
