"""The data of a run: where each dataset is, its sha256, its arrays, and files of the user."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from skml_kalda.bench.plan import Plan
from skml_kalda.datasets import get_data_home, load_dataset, load_table
from skml_kalda.datasets.files import check_is_file, sha256_of
from skml_kalda.datasets.manifest import find_file, read_manifest
from skml_kalda.inspection import label_imbalance


@dataclass(frozen=True)
class Source:
    """A dataset whose file is here.

    Attributes
    ----------
    home : Path
        The data home; the file itself if it is the user's own.
    sha256 : str
        Of the file, and of what the user says about it.
    options : str
        Of `load_table`, as JSON, if the file is the user's own.
    """

    name: str
    home: Path
    sha256: str
    options: str = ""

    def is_the_same_here(self) -> bool:
        """Whether this machine has the file, with the same content."""
        data = {self.name: {"file": str(self.home), **json.loads(self.options or "{}")}}
        try:
            found = find_source(self.name, self.home, data if self.options else None)
        except OSError:
            return False
        return found is not None and found.sha256 == self.sha256

    def read(self) -> Any:
        """Return what the loader of the file returns."""
        if self.options:
            return load_table(self.home, **json.loads(self.options))
        return load_dataset(self.name, data_home=self.home, download=False)


def find_source(
    name: str,
    data_home: str | PathLike[str] | None = None,
    data: Mapping[str, Mapping[str, Any]] | None = None,
) -> Source | None:
    """Return where a dataset is, None if it is absent; a run never downloads anything.

    `data` describes the files of the user, by name.
    """
    if data and name in data:
        path = Path(data[name]["file"])
        check_is_file(path)
        given = {key: value for key, value in data[name].items() if key != "file"}
        options = json.dumps(given, sort_keys=True)
        digest = hashlib.sha256(f"{sha256_of(path)} {options}".encode()).hexdigest()
        return Source(name, path, digest, options)
    home = get_data_home(data_home)
    found = find_file(read_manifest(name), home)
    return None if found is None else Source(name, home, sha256_of(found))


@lru_cache(maxsize=2)
def load(
    source: Source, classes: int = 0, max_rows: int = 0, seed: int = 0, max_labels: int = 0
) -> tuple[Any, Any, list[str]]:
    """Load features, labels and the names of these.

    Of the first so many classes, at most so many samples, and the labels that most of them have.
    """
    bunch = source.read()
    X, y, names = bunch.data, bunch.target, list(bunch.target_names)
    if classes:
        if y.ndim == 2:
            X, y = X[y.sum(axis=1) == 1], np.argmax(y[y.sum(axis=1) == 1], axis=1)
        wanted = np.isin(y, list(dict.fromkeys(y))[:classes])
        X, y = X[wanted], y[wanted]
    if 0 < max_rows < len(y):
        drawn = np.sort(np.random.default_rng(seed).choice(len(y), max_rows, replace=False))
        X, y = X[drawn], y[drawn]
    if 0 < max_labels < y.shape[-1] and y.ndim == 2:
        frequent = np.sort(np.argsort(-y.sum(axis=0), kind="stable")[:max_labels])
        y, names = y[:, frequent], [names[each] for each in frequent]
    return X, y, names


@lru_cache(maxsize=2)
def published_splits(source: Source) -> list[tuple[Any, Any]]:
    """Return the training and test samples of the splits that come with a dataset, if any do."""
    found: list[tuple[Any, Any]] = source.read().get("splits", [])
    return found


def describe_user_data(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return what each file of the user holds, by name; raise a ValueError for an unusable one."""
    found = {}
    for name in (name for name in plan.datasets if name in plan.data):
        source = find_source(name, data=plan.data)
        assert source is not None, "a file that is not there is an error"
        found[name] = {**_describe(source), "sha256": source.sha256}
    return found


@lru_cache(maxsize=8)
def _describe(source: Source) -> dict[str, Any]:
    """Return the size of a file of the user, and what was done to read it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bunch = source.read()
    y, names = bunch.target, list(bunch.target_names)
    several = y.ndim == 2
    constant = [
        f"label {name!r} is {share:.0f} in all samples"
        for name, share in zip(names, y.mean(axis=0) if several else [], strict=several)
        if share in (0, 1)
    ]
    ratios = label_imbalance(y)["IRLbl"]
    # ARFF files have warnings only for what is left out; other warnings repeat a note.
    warned = {str(each.message) for each in caught}
    new = sorted(each for each in warned if not each.endswith(tuple(bunch.notes)))
    return {
        "rows": int(bunch.data.shape[0]),
        "features": int(bunch.data.shape[1]),
        "labels": len(names),
        "kind": "labels" if several else "classes",
        "cardinality": round(float(y.sum(axis=1).mean()), 4) if several else 1.0,
        "imbalance": round(float(ratios[np.isfinite(ratios)].mean()), 4),
        "notes": [*bunch.notes, *new, *constant],
    }


def lines_about(data: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each file of the user, and one for each note about it."""
    for name, found in data.items():
        size = f"{found['rows']} samples, {found['features']} features, "
        several = f"{found['cardinality']:.2f} per sample, " if found["kind"] == "labels" else ""
        imbalance = f"MeanIR {found['imbalance']:.1f}"
        yield f"{name}: {size}{found['labels']} {found['kind']} ({several}{imbalance})"
        yield from (f"  {note}" for note in found["notes"])
