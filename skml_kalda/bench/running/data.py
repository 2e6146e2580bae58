"""The data of a run: where each set is, its sha256, and how to get an absent one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from skml_kalda.datasets import get_data_home, load_dataset
from skml_kalda.datasets.files import sha256_of
from skml_kalda.datasets.home import find_file
from skml_kalda.datasets.manifest import Manifest, read_manifest


@dataclass(frozen=True)
class Source:
    """A data set whose file is here."""

    name: str
    home: Path
    sha256: str


def find_source(name: str, data_home: str | PathLike[str] | None = None) -> Source | None:
    """Return where a data set is, None if it is absent; a run never downloads anything."""
    home = get_data_home(data_home)
    path = find_file(read_manifest(name), home)
    return None if path is None else Source(name, home, sha256_of(path))


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
    X, y = load_dataset(source.name, data_home=source.home, download=False, return_X_y=True)
    if classes:
        X, y = _of_classes(X, y, classes)
    if 0 < max_rows < len(y):
        drawn = np.sort(np.random.default_rng(seed).choice(len(y), max_rows, replace=False))
        X, y = X[drawn], y[drawn]
    return X, y


@lru_cache(maxsize=2)
def label_names(source: Source) -> list[str]:
    """Return the names of the labels or classes of a data set, in its order."""
    bunch = load_dataset(source.name, data_home=source.home, download=False)
    return list(bunch.target_names)


def _of_classes(X: Any, y: Any, classes: int) -> tuple[Any, Any]:
    """Keep the rows with exactly one class, if it is among the first classes to appear."""
    if y.ndim == 2:
        X, y = X[y.sum(axis=1) == 1], np.argmax(y[y.sum(axis=1) == 1], axis=1)
    kept = np.isin(y, list(dict.fromkeys(y))[:classes])
    return X[kept], y[kept]
