"""Manifests: what is known of each data set."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

__all__ = ["Manifest", "Remote", "manifest_names", "read_manifest"]

_IN_PACKAGE = Path(__file__).parent / "manifests"
_IN_CHECKOUT = Path(__file__).parents[2] / "data_manifests"


@dataclass(frozen=True)
class Remote:
    """An address of a file, and how to know that it arrived whole."""

    url: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Manifest:
    """What is known of a data set; what is not known is the word "unknown"."""

    name: str
    title: str
    task: str
    n: int
    p: int
    K: int
    cardinality: Decimal | str
    labels: int
    """How many attributes are labels: the first for n, the last for -n; 0 for one class."""
    file: str
    origin: str
    licence: str
    citation: str
    n_train: int = 0
    """Rows of the published training part, which come first; 0 if there is none."""
    build: str = ""
    """The command that makes the file."""
    sources: tuple[Remote, ...] = ()

    def describe(self) -> str:
        """Give the card of the data set."""
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
    path = _folder() / f"{name}.toml"
    if name not in manifest_names():
        near = difflib.get_close_matches(name, manifest_names(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"name {name!r} is not a data set{hint} (list_datasets() names them)")
    # Decimals keep the digits that were published: the cardinality is checked to just these.
    fields: dict[str, Any] = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    sources = tuple(Remote(**source) for source in fields.pop("sources", []))
    return Manifest(name=name, **{"file": name, **fields}, sources=sources)


def manifest_names() -> list[str]:
    """Name the data sets that have a manifest."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def _folder() -> Path:
    # An editable install has no copy of the manifests inside the package.
    return _IN_PACKAGE if _IN_PACKAGE.is_dir() else _IN_CHECKOUT
