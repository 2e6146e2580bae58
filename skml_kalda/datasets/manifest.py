"""What is known about each dataset (one TOML file each), and where its file is."""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass, fields
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

from skml_kalda._core.messages import did_you_mean
from skml_kalda.datasets.files import OPENERS

BUNDLED = Path(__file__).parent / "data"
_TYPES: dict[str, Any] = {"str": str, "int": int, "Decimal | str": (Decimal, str)}


@dataclass(frozen=True)
class Remote:
    """The address of a file, and the checksum and size that a complete download has."""

    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Manifest:
    """What is known about a dataset; a field that is not known holds the word "unknown"."""

    name: str
    title: str
    task: str
    n: int
    p: int
    K: int
    cardinality: Decimal | str
    labels: int
    """Number of label attributes: n for the first n, -n for the last n, 0 for one class."""
    file: str
    origin: str
    licence: str
    citation: str
    n_train: int = 0
    """Samples of the published training part, which come first; 0 if there is none."""
    splits: tuple[str, ...] = ()
    """Files of published splits: the numbers, from 1, of their training and of their test samples,
    a column for each split."""
    build: str = ""
    """The command that builds the file."""
    sources: tuple[Remote, ...] = ()
    """The address of the file, none if no address with a known sha256 exists."""

    @property
    def file_name(self) -> str:
        """The name of the file, without the suffix of a compression."""
        return self.file if self.file.endswith(".txt") else f"{self.file}.arff"

    def describe(self) -> str:
        """Return a card of the dataset as text."""
        size = f"n = {self.n}, p = {self.p}, K = {self.K}"
        size += f", published training part: the first {self.n_train}" if self.n_train else ""
        where = f"the {'first' if self.labels > 0 else 'last'} {abs(self.labels)} attributes"
        where = where if self.file_name.endswith(".arff") else "before the features of each line"
        lines = [
            f"{self.name}: {self.title}",
            f"  task         {self.task}",
            f"  size         {size}",
            f"  cardinality  {self.cardinality}",
            f"  labels       {where if self.labels else 'the class attribute'}",
            f"  origin       {self.origin}",
            f"  licence      {self.licence}",
            f"  citation     {self.citation}",
        ]
        lines += [f"  build        {self.build}"] if self.build else []
        for each in self.sources:
            lines.append(f"  source       {each.url}\n    sha256 {each.sha256}, {each.size} bytes")
        return "\n".join(lines)

    def how_to_get(self) -> str:
        """Return what to do if the file is absent."""
        ways = [f"python -m skml_kalda.datasets fetch {self.name}"] if self.sources else []
        ways += [self.build] if self.build else []
        put = f"put {self.file_name} into the data home (or .gz, .bz2, .xz)"
        put += f", and beside it {' and '.join(self.splits)}" if self.splits else ""
        return ", or ".join([*(f"run {way}" for way in ways), put])


def read_manifest(name: str) -> Manifest:
    """Read the manifest of a dataset."""
    known = manifest_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"name {name!r} is not a dataset{hint} (list_datasets() names them)")
    path = _folder() / f"{name}.toml"
    try:
        # Decimals keep the digits that were published: the cardinality is checked to just these.
        values = {"file": name, **tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)}
        sources = tuple(_made(Remote, source) for source in values.pop("sources", []))
        splits = tuple(map(str, values.pop("splits", [])))
        return _made(Manifest, {**values, "name": name, "splits": splits, "sources": sources})
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a manifest: {error}") from error


def _made(kind: type[Any], values: dict[str, Any]) -> Any:
    """Return an object with these fields; TypeError if one of them is of the wrong type."""
    made = kind(**values)
    for each in fields(kind):
        value, expected = getattr(made, each.name), _TYPES.get(str(each.type), tuple)
        if not isinstance(value, expected):
            raise TypeError(f"{each.name} must be of the type {each.type}, not {value!r}")
    return made


def manifest_names() -> list[str]:
    """Return the names of the datasets that have a manifest."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def _folder() -> Path:
    """Return the manifests' folder: inside the package, or in the checkout if not installed there.

    The wheel holds a copy of the manifests; an editable install does not.
    """
    here = Path(__file__).parent
    in_package = here / "manifests"
    return in_package if in_package.is_dir() else here.parents[1] / "data_manifests"


def get_data_home(data_home: str | PathLike[str] | None = None) -> Path:
    """Return the folder of datasets. The first download creates it.

    Parameters
    ----------
    data_home : path-like, optional
        The folder to use. By default the environment variable ``SKML_KALDA_DATA``, else
        ``skml_kalda`` in the cache folder of the platform.

    Returns
    -------
    pathlib.Path
        The folder.

    Examples
    --------
    >>> from skml_kalda.datasets import get_data_home
    >>> get_data_home("my-data").name
    'my-data'
    """
    chosen = data_home or os.environ.get("SKML_KALDA_DATA")
    return Path(chosen).expanduser() if chosen else _cache_folder() / "skml_kalda"


def _cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def find_file(manifest: Manifest, home: Path) -> Path | None:
    """Return the file of a dataset, from the data home or else the package; None if absent."""
    names = [f"{manifest.file_name}{suffix}" for suffix in ("", *OPENERS)]
    folders = [home, home / manifest.task, BUNDLED]
    candidates = (folder / name for folder in folders for name in names)
    return next((path for path in candidates if os.path.isfile(path)), None)
