"""Load a dataset by its name."""

from __future__ import annotations

from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import Bunch

from skml_kalda._core.messages import required
from skml_kalda.datasets.arff.read import read_arff
from skml_kalda.datasets.errors import ArffError, FetchError
from skml_kalda.datasets.files import download as download_file
from skml_kalda.datasets.files import sha256_of
from skml_kalda.datasets.manifest import (
    BUNDLED,
    Manifest,
    find_file,
    get_data_home,
    manifest_names,
    read_manifest,
)
from skml_kalda.datasets.msrc import IMAGES_FOLDER, build_msrc
from skml_kalda.datasets.tables import load_table


def list_datasets() -> list[str]:
    """Return the names of the datasets that `load_dataset` knows.

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
    split: Literal["train", "test"] | None = None,
    data_home: str | PathLike[str] | None = None,
    download: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load a dataset from the data home, from the package, or by a download or build.

    Its size and label cardinality must agree with its manifest.

    Parameters
    ----------
    name : str
        One of `list_datasets`. emotions, yeast and scene come with the package.
    split : {None, "train", "test"}, default=None
        All samples, or the published training or test part of a bundled dataset.
        The parts are always read from the package, because other copies may order the samples
        differently.
    data_home : path-like, optional
        The folder of datasets. See `get_data_home`.
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
        (data and target together, if `as_frame`) and ``DESCR``, a description of the dataset. If
        splits were published with the dataset, ``splits`` is a list of their training and test
        samples, which scikit-learn takes as `cv`.

    Raises
    ------
    FetchError
        If the dataset is not here and cannot be downloaded. The message says how to get it.
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
    if manifest.file_name.endswith(".arff"):
        bunch, layout = read_arff(path, manifest.labels or None)
        _check(manifest, bunch, len(layout.features), path)
    else:
        bunch = load_table(path)
        _check(manifest, bunch, bunch.data.shape[1], path)
    if manifest.splits:
        bunch.splits = _published_splits(manifest, path.parent)
    bunch.data, bunch.target = bunch.data[rows], bunch.target[rows]
    bunch.frame = None
    if as_frame:
        to_frame(bunch, "as_frame")
    bunch.DESCR = manifest.describe()
    return (bunch.data, bunch.target) if return_X_y else bunch


def _published_splits(
    manifest: Manifest, folder: Path
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the numbers, from 0, of the training and the test samples of each split."""
    parts = []
    for name in manifest.splits:
        if not (folder / name).is_file():
            reason = f"the published splits of {manifest.name!r} are not here: put them there"
            raise FetchError(f"{reason}. Origin: {manifest.origin}", path=folder / name)
        parts.append(np.loadtxt(folder / name, dtype=np.intp, ndmin=2) - 1)
    every = np.sort(np.vstack(parts), axis=0)
    if not np.array_equal(every, np.arange(manifest.n)[:, np.newaxis].repeat(every.shape[1], 1)):
        reason = f"the columns of these files do not split the {manifest.n} samples"
        raise ArffError(f"{reason}: files do not match their manifest", path=folder / name)
    return list(zip(*(part.T for part in parts), strict=True))


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
    if path is None and manifest.build and (home / IMAGES_FOLDER).is_dir():
        path = build_msrc(home / IMAGES_FOLDER, home, [manifest.name])[0]
    if path is None:
        raise _absent(manifest, home)
    return path


def fetch(manifest: Manifest, home: Path, *, force: bool = False) -> Path:
    """Download the file of a dataset into the data home, unless it is there and intact."""
    if not manifest.sources:
        raise _absent(manifest, home)
    target, source = home / manifest.file_name, manifest.sources[0]
    if target.exists() and not force and (found := sha256_of(target)) != source.sha256:
        reason = f"this is not the published file: sha256 is {found}, expected {source.sha256}"
        raise FetchError(f"{reason}; remove it, or fetch with --force to replace it", path=target)
    download_file(source.url, target, source.sha256)
    return target


def _absent(manifest: Manifest, home: Path) -> FetchError:
    reason = f"the dataset {manifest.name!r} is not here: {manifest.how_to_get()}"
    return FetchError(f"{reason}. Origin: {manifest.origin}", path=home / manifest.file_name)


def _check(manifest: Manifest, bunch: Bunch, p: int, path: Path) -> None:
    """Raise an error unless the file has the size that its manifest states."""
    n, K = bunch.data.shape[0], len(bunch.target_names)
    cardinality = 1.0 if bunch.target.ndim == 1 else bunch.target.sum() / max(n, 1)
    sizes = {"n": n, "p": p, "K": K, "cardinality": cardinality}
    for key, found in sizes.items():
        expected = getattr(manifest, key)
        rounded = found
        if isinstance(expected, Decimal):
            rounded = round(Decimal(float(found)), -int(expected.as_tuple().exponent))
        if expected not in (rounded, "unknown"):
            reason = f"{key} is {found:.8g}, the manifest of {manifest.name!r} says {expected}"
            raise ArffError(f"{reason}: file does not match its manifest", path=path)


def to_frame(bunch: Bunch, by: str) -> None:
    """Make data and target pandas objects, and join them as `frame`."""
    pd = required("pandas", by=by, extra="bench")
    make = pd.DataFrame.sparse.from_spmatrix if issparse(bunch.data) else pd.DataFrame
    bunch.data = make(bunch.data, columns=bunch.feature_names)
    if bunch.target.ndim == 1:
        bunch.target = pd.Series(bunch.target, name="class")
    else:
        bunch.target = pd.DataFrame(bunch.target, columns=bunch.target_names)
    bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
