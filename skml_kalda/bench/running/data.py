"""The data of a run: where each set is, its sha256, and what to do about an absent one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from skml_kalda.datasets import get_data_home, load_dataset
from skml_kalda.datasets.fetch import sha256_of
from skml_kalda.datasets.home import find_file
from skml_kalda.datasets.manifest import Manifest, read_manifest

__all__ = ["Source", "find_source", "label_names", "load", "skip_row"]


@dataclass(frozen=True)
class Source:
    """A data set that is here."""

    name: str
    home: Path
    sha256: str


def find_source(name: str, data_home: str | PathLike[str] | None = None) -> Source | None:
    """Find a data set; nothing is ever downloaded by a run."""
    home = get_data_home(data_home)
    path = find_file(read_manifest(name), home)
    return None if path is None else Source(name, home, sha256_of(path))


def skip_row(name: str, command: str) -> Mapping[str, Any]:
    """Say why a data set is skipped, and which command would get it."""
    manifest = read_manifest(name)
    return {
        "status": "skip",
        "dataset": name,
        "reason": f"its file is not here (origin: {manifest.origin})",
        "command": _command(manifest, command),
    }


def _command(manifest: Manifest, command: str) -> str:
    if manifest.sources:
        return f"python -m skml_kalda.datasets fetch {manifest.name}"
    if manifest.build:
        return manifest.build
    put = f"put {manifest.file}.arff into a folder DIR, then"
    return f"{put} {command} --data-home DIR"


@lru_cache(maxsize=2)
def load(source: Source, classes: int = 0, max_rows: int = 0, seed: int = 0) -> tuple[Any, Any]:
    """Load the features and labels, of the first so many classes and of fewer rows if asked."""
    X, y = load_dataset(source.name, data_home=source.home, download=False, return_X_y=True)
    if classes:
        X, y = _of_classes(X, y, classes)
    if 0 < max_rows < len(y):
        drawn = np.sort(np.random.default_rng(seed).choice(len(y), max_rows, replace=False))
        X, y = X[drawn], y[drawn]
    return X, y


@lru_cache(maxsize=2)
def label_names(source: Source) -> list[str]:
    """Name the labels or classes of a data set, in its order."""
    bunch = load_dataset(source.name, data_home=source.home, download=False)
    return list(bunch.target_names)


def _of_classes(X: Any, y: Any, classes: int) -> tuple[Any, Any]:
    """Keep the rows that have one class, and this among the first to appear."""
    if y.ndim == 2:
        X, y = X[y.sum(axis=1) == 1], np.argmax(y[y.sum(axis=1) == 1], axis=1)
    kept = np.isin(y, list(dict.fromkeys(y))[:classes])
    return X[kept], y[kept]
