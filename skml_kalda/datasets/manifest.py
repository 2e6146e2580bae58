"""Manifests: one TOML file per data set, with what is known about it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from skml_kalda._core.messages import did_you_mean


@dataclass(frozen=True)
class Remote:
    """The address of a file, and the checksum and size that a complete download has."""

    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Manifest:
    """What is known about a data set; a field that is not known holds the word "unknown"."""

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
    """Rows of the published training part, which come first; 0 if there is none."""
    build: str = ""
    """The command that builds the file."""
    sources: tuple[Remote, ...] = ()

    def describe(self) -> str:
        """Return a card of the data set as text."""
        part = f", published training part: the first {self.n_train} rows" if self.n_train else ""
        addresses = [f"    {s.url}\n      sha256 {s.sha256}, {s.size} bytes" for s in self.sources]
        lines = [
            f"{self.name}: {self.title}",
            f"  task         {self.task}",
            f"  size         n = {self.n}, p = {self.p}, K = {self.K}{part}",
            f"  cardinality  {self.cardinality}",
            f"  labels       {self._label_location()}",
            f"  origin       {self.origin}",
            f"  licence      {self.licence}",
            f"  citation     {self.citation}",
            *([f"  build        {self.build}"] if self.build else []),
            *(["  sources"] if addresses else ["  sources      no address with a known sha256"]),
            *addresses,
        ]
        return "\n".join(lines)

    def _label_location(self) -> str:
        if not self.labels:
            return "the class attribute"
        return f"the {'first' if self.labels > 0 else 'last'} {abs(self.labels)} attributes"


def read_manifest(name: str) -> Manifest:
    """Read the manifest of a data set."""
    known = manifest_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"name {name!r} is not a data set{hint} (list_datasets() names them)")
    text = (_folder() / f"{name}.toml").read_text("utf-8")
    # Decimals keep the digits that were published: the cardinality is checked to just these.
    fields: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
    sources = tuple(Remote(**source) for source in fields.pop("sources", []))
    return Manifest(name=name, **{"file": name, **fields}, sources=sources)


def manifest_names() -> list[str]:
    """Return the names of the data sets that have a manifest."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def _folder() -> Path:
    """Return the manifests' folder: inside the package, or in the checkout if not installed there.

    The wheel holds a copy of the manifests; an editable install does not.
    """
    here = Path(__file__).parent
    in_package = here / "manifests"
    return in_package if in_package.is_dir() else here.parents[1] / "data_manifests"
