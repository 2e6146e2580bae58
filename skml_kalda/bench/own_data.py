"""Files of the user as data sets of a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from skml_kalda.bench.plan import Plan

# What answers "which is best on my data": a baseline, the methods of this package with their
# defaults, and classifiers that are hard to beat.
_METHODS = (
    "none",
    "PCA",
    "kaLDA",
    "KernelKaLDA",
    "KaLDAClassifier",
    "LogisticRegression",
    "ExtraTrees",
)
_ABOUT = (
    "Reductions to K − 1 dimensions, each followed by a classifier, and methods that classify by "
    "themselves. Missing values are replaced by means, and thresholds of the tuned F1 are chosen, "
    "inside the training rows. kaLDA, MLDA and the like have their published form, which hardly "
    "regularises; names such as “kaLDA, shrunk” have the defaults of this package."
)


def describe_files(
    files: Sequence[str | PathLike[str]],
    labels: str | int | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
) -> dict[str, dict[str, Any]]:
    """Return the setting `data` of a plan for some files with the same label columns.

    Examples
    --------
    >>> from skml_kalda.bench.own_data import describe_files
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


def options_of(data: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the options of the command line for data with the same label columns."""
    first = next(iter(data.values()))
    labels = first.get("labels")
    words = ["--data", *(each["file"] for each in data.values())]
    if labels is not None:
        words += ["--labels", labels if isinstance(labels, str | int) else ",".join(labels)]
    if first.get("ignore"):
        words += ["--ignore", *first["ignore"]]
    return shlex.join(map(str, words))


def own_plan(data: Mapping[str, Mapping[str, Any]]) -> Plan:
    """Return the plan for data of the user that come without a plan."""
    return Plan(
        # With folders and suffixes: mine.csv, mine.parquet and old/mine.csv are different runs.
        "-".join(Path(each["file"]).as_posix() for each in data.values()),
        f"Which method is best on {', '.join(data)}?",
        _ABOUT,
        data=data,
        methods=_METHODS,
        classifiers=("MLkNN",),
        thresholds=3,
    )
