"""The folders in which data sets are kept."""

from __future__ import annotations

import os
import sys
from os import PathLike
from pathlib import Path

from skml_kalda.datasets.files import OPENERS
from skml_kalda.datasets.manifest import Manifest

BUNDLED = Path(__file__).parent / "data"
_SUFFIXES = (".arff", *(f".arff{suffix}" for suffix in OPENERS))


def get_data_home(data_home: str | PathLike[str] | None = None) -> Path:
    """Return the folder of data sets. The first download creates it.

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
    """Return the file of a data set, from the data home or else the package; None if absent."""
    folders = [home, home / manifest.task, BUNDLED]
    candidates = (folder / f"{manifest.file}{end}" for folder in folders for end in _SUFFIXES)
    return next((path for path in candidates if path.is_file()), None)
