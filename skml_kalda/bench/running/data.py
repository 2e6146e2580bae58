"""The data of a run: where each set is, its sha256, and how to get an absent one."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from skml_kalda.datasets import get_data_home, load_dataset, load_table
from skml_kalda.datasets.files import check_is_file, sha256_of
from skml_kalda.datasets.manifest import Manifest, find_file, read_manifest


@dataclass(frozen=True)
class Source:
    """A data set whose file is here."""

    name: str
    home: Path
    """The data home; the file itself if it is the user's own."""
    sha256: str
    """Of the file, and of what the user says about it."""
    options: str = ""
    """Of `load_table`, as JSON, if the file is the user's own."""


def find_source(
    name: str,
    data_home: str | PathLike[str] | None = None,
    data: Mapping[str, Mapping[str, Any]] | None = None,
) -> Source | None:
    """Return where a data set is, None if it is absent; a run never downloads anything.

    `data` describes the files of the user, by name.
    """
    if data and name in data:
        return _own_source(name, data[name])
    home = get_data_home(data_home)
    path = find_file(read_manifest(name), home)
    return None if path is None else Source(name, home, sha256_of(path))


def _own_source(name: str, description: Mapping[str, Any]) -> Source:
    path = Path(description["file"])
    check_is_file(path)
    given = {key: value for key, value in description.items() if key != "file"}
    options = json.dumps(given, sort_keys=True)
    digest = hashlib.sha256(f"{sha256_of(path)} {options}".encode()).hexdigest()
    return Source(name, path, digest, options)


def own_data(source: Source) -> dict[str, Any]:
    """Return the description of the user's own file, from which `find_source` finds it again."""
    if not source.options:
        return {}
    return {source.name: {"file": str(source.home), **json.loads(source.options)}}


@lru_cache(maxsize=8)
def describe(source: Source) -> dict[str, Any]:
    """Return the size of the user's own file, and what was done to read it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bunch = _bunch(source)
    several = bunch.target.ndim == 2
    constant = _constant(bunch) if several else []
    if several and len(constant) == len(bunch.target_names):
        raise ValueError(f"{source.home}: the labels are the same in all rows")
    # ARFF files have warnings only for what is left out; other warnings repeat a note.
    warned = {str(each.message) for each in caught}
    new = sorted(each for each in warned if not each.endswith(tuple(bunch.notes)))
    return {
        "rows": int(bunch.data.shape[0]),
        "features": int(bunch.data.shape[1]),
        "labels": len(bunch.target_names),
        "kind": "labels" if several else "classes",
        "largest_class": _largest_class(bunch.target),
        "cardinality": round(float(bunch.target.sum(axis=1).mean()), 4) if several else 1.0,
        "notes": [*bunch.notes, *new, *constant],
    }


def _largest_class(target: Any) -> int:
    """Return how many rows have the commonest class; all of them if rows have several labels."""
    return len(target) if target.ndim == 2 else int(np.unique(target, return_counts=True)[1].max())


def _constant(bunch: Any) -> list[str]:
    """Return a note for each label that has one value only."""
    share = bunch.target.mean(axis=0)
    return [
        f"label {name!r} is {value:.0f} in all rows"
        for name, value in zip(bunch.target_names, share, strict=True)
        if value in (0, 1)
    ]


def how_to_get(manifest: Manifest, command: str) -> str:
    """Return the command that makes an absent data set available to `command`."""
    if manifest.sources:
        return f"python -m skml_kalda.datasets fetch {manifest.name}"
    if manifest.build:
        return manifest.build
    put = f"put {manifest.file}.arff into a folder DIR, then"
    return f"{put} {command} --data-home DIR"


@lru_cache(maxsize=2)
def load(source: Source, classes: int = 0, max_rows: int = 0, seed: int = 0) -> tuple[Any, Any]:
    """Load features and labels: of the first so many classes, and at most so many rows."""
    bunch = _bunch(source)
    X, y = bunch.data, bunch.target
    if classes:
        X, y = _of_classes(X, y, classes)
    if 0 < max_rows < len(y):
        drawn = np.sort(np.random.default_rng(seed).choice(len(y), max_rows, replace=False))
        X, y = X[drawn], y[drawn]
    return X, y


@lru_cache(maxsize=2)
def label_names(source: Source) -> list[str]:
    """Return the names of the labels or classes of a data set, in its order."""
    return list(_bunch(source).target_names)


def _bunch(source: Source) -> Any:
    if source.options:
        return load_table(source.home, **json.loads(source.options))
    return load_dataset(source.name, data_home=source.home, download=False)


def _of_classes(X: Any, y: Any, classes: int) -> tuple[Any, Any]:
    """Keep the rows with exactly one class, if it is among the first classes to appear."""
    if y.ndim == 2:
        X, y = X[y.sum(axis=1) == 1], np.argmax(y[y.sum(axis=1) == 1], axis=1)
    kept = np.isin(y, list(dict.fromkeys(y))[:classes])
    return X[kept], y[kept]
