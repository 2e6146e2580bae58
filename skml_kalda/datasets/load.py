"""Load a data set by its name."""

from __future__ import annotations

from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Bunch

from skml_kalda.datasets.arff.read import Arff, as_bunch, read_arff
from skml_kalda.datasets.errors import ArffError, FetchError
from skml_kalda.datasets.fetch import fetch, how_to_get
from skml_kalda.datasets.home import BUNDLED, find_file, get_data_home
from skml_kalda.datasets.manifest import Manifest, manifest_names, read_manifest
from skml_kalda.datasets.msrc import IMAGES_FOLDER, build_msrc


def list_datasets() -> list[str]:
    """Return the names of the data sets that `load_dataset` knows.

    Examples
    --------
    >>> from skml_kalda.datasets import list_datasets
    >>> "emotions" in list_datasets()
    True
    """
    return manifest_names()


def load_dataset(
    name: str,
    *,
    split: str | None = None,
    data_home: str | PathLike[str] | None = None,
    download: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load a data set from the data home, from the package, or by a download or build.

    Its size and label cardinality must agree with its manifest.

    Parameters
    ----------
    name : str
        One of `list_datasets`. emotions, yeast and scene come with the package.
    split : {None, "train", "test"}, default=None
        All rows, or the published training or test part of a data set that comes with the package.
        The parts are always read from the package, because other copies may order the rows
        differently.
    data_home : path-like, optional
        The folder of data sets. See `get_data_home`.
    download : bool, default=True
        Whether to download the file if it is not found.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return data and target as pandas objects.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``feature_names`` and ``target_names`` as from `load_arff`, ``frame``
        (data and target together, if `as_frame`) and ``DESCR``, a description of the data set.

    Raises
    ------
    FetchError
        If the data set is not here and cannot be downloaded. The message says how to get it.
    ArffError
        If the file cannot be read, or is not the one that the manifest describes.

    Examples
    --------
    >>> from skml_kalda.datasets import load_dataset
    >>> emotions = load_dataset("emotions", split="train")
    >>> emotions.data.shape, emotions.target.shape
    ((391, 72), (391, 6))
    >>> emotions.target_names[:2]
    ['amazed-suprised', 'happy-pleased']
    """
    manifest = read_manifest(name)
    rows = _rows(manifest, split)
    path = _locate(manifest, get_data_home(data_home), download, split)
    arff = read_arff(path, manifest.labels or None)
    _check(manifest, arff, path)
    bunch = as_bunch(arff)
    bunch.data, bunch.target = bunch.data[rows], bunch.target[rows]
    bunch.frame = None
    if as_frame:
        _to_frame(bunch)
    bunch.DESCR = manifest.describe()
    return (bunch.data, bunch.target) if return_X_y else bunch


def _rows(manifest: Manifest, split: str | None) -> slice:
    if split not in {None, "train", "test"}:
        raise ValueError(f'split must be None, "train" or "test", not {split!r}')
    if split is not None and not manifest.n_train:
        raise ValueError(f"split={split!r}: {manifest.name} has no published parts; use split=None")
    parts = {None: slice(None), "train": slice(manifest.n_train)}
    return parts.get(split, slice(manifest.n_train, None))


def _locate(manifest: Manifest, home: Path, download: bool, split: str | None) -> Path:
    # Only the bundled files are known to have the training part first.
    path = find_file(manifest, home if split is None else BUNDLED)
    if path is None and manifest.sources and download:
        path = fetch(manifest, home)
    if path is None and manifest.build:
        path = _build(manifest, home)
    if path is None:
        raise FetchError(how_to_get(manifest, home), path=home / f"{manifest.file}.arff")
    return path


def _build(manifest: Manifest, home: Path) -> Path | None:
    images = home / IMAGES_FOLDER
    if not images.is_dir():
        return None
    return build_msrc(images, home, [manifest.name])[0]


def _check(manifest: Manifest, arff: Arff, path: Path) -> None:
    n_labels = len(arff.layout.labels)
    classes = arff.layout.attributes[arff.layout.labels[0]].categories
    sizes = {
        "n": arff.data.shape[0],
        "p": len(arff.layout.features),
        "K": len(classes) if arff.layout.single else n_labels,
    }
    for key, found in sizes.items():
        _compare(manifest, path, key, found, found == getattr(manifest, key))
    if isinstance(manifest.cardinality, Decimal):
        found = 1.0 if arff.layout.single else arff.labels.sum() / arff.data.shape[0]
        last_digit = float(Decimal(1).scaleb(int(manifest.cardinality.as_tuple().exponent)))
        close = abs(found - float(manifest.cardinality)) <= last_digit / 2
        _compare(manifest, path, "cardinality", found, close)


def _compare(manifest: Manifest, path: Path, key: str, found: float, same: bool) -> None:
    if not same:
        expected = getattr(manifest, key)
        reason = f"{key} is {found:.8g}, the manifest of {manifest.name!r} says {expected}"
        raise ArffError(f"{reason}: this is another file, or a damaged one", path=path)


def _to_frame(bunch: Bunch) -> None:
    import pandas as pd

    frame: Any = pd.DataFrame
    make = frame.sparse.from_spmatrix if issparse(bunch.data) else frame
    bunch.data = make(bunch.data, columns=bunch.feature_names)
    if np.ndim(bunch.target) == 1:
        bunch.target = pd.Series(bunch.target, name="class")
    else:
        bunch.target = pd.DataFrame(bunch.target, columns=bunch.target_names)
    bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
