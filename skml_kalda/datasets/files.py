"""Files: compressed or not, written in one step, downloaded, and their checksums."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from skml_kalda.datasets.errors import DatasetError, FetchError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def opener(path: Path) -> Callable[..., Any]:
    """Return the function that opens a file of this name, compressed or not."""
    return OPENERS.get(path.suffix.lower(), open)


def uncompressed_name(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.stem if path.suffix.lower() in OPENERS else path.name


def arff_stem(path: Path) -> str:
    """Return the name of a file without ``.arff`` and the suffix of its compression.

    >>> arff_stem(Path("tmc2007-500.arff.xz"))
    'tmc2007-500'
    """
    name = uncompressed_name(path)
    return name[:-5] if name.lower().endswith(".arff") else name


def check_is_file(path: Path) -> None:
    """Raise an error if there is no such file, or if it is a folder."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name the files in it")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")


def sha256_of(path: Path) -> str:
    """Compute the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def naming_damage(path: Path, error_type: type[DatasetError]) -> Iterator[None]:
    """Raise this error in place of those of a damaged compressed file."""
    try:
        yield
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        # gzip and bz2 raise an OSError without a number.
        if getattr(error, "errno", None) is not None or path.suffix.lower() not in OPENERS:
            raise
        reason = f"the compressed file is damaged or cut short ({error}): copy it again"
        raise error_type(reason, path=path) from error


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` if the block succeeds; else nothing changes.

    What is written is compressed if the name asks for it.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    part = path.with_name(f".{uuid4().hex}.part")
    try:
        with opener(path)(part, "xb") as stream:
            yield stream
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def download(url: str, target: Path, sha256: str | None = None) -> None:
    """Download a file, unless it is there; a failed download changes nothing."""
    # Slow to import, so loaded here.
    from sklearn.datasets import fetch_file

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fetch_file(url, folder=target.parent, local_filename=target.name, sha256=sha256)
    except (OSError, HTTPException) as error:
        advice = "check the network, and that the folder can be written (SKML_KALDA_DATA sets it)"
        reason = f"the download from {url} failed, nothing was changed ({error}): {advice}"
        raise FetchError(reason, path=target) from error
