"""Files: compressed or not, replaced in one step, and their checksums."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from skml_kalda._core.lock import lock

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# What reading a damaged compressed file raises. gzip and bz2 raise an OSError without a number.
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)
_PART = ".skml-kalda-{}.part"


def opener(path: Path) -> Callable[..., Any]:
    """Return the function that opens a file of this name, compressed or not."""
    return OPENERS.get(path.suffix.lower(), open)


def uncompressed_name(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.stem if path.suffix.lower() in OPENERS else path.name


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
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` if the block succeeds; else nothing changes."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    with _new_part(path.parent) as stream:
        part = Path(stream.name)
        try:
            yield stream
            stream.flush()
            if sys.platform == "win32":  # Windows does not rename an open file.
                stream.close()
            os.replace(part, path)
        finally:
            stream.close()
            part.unlink(missing_ok=True)


@contextmanager
def replacing_compressed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as `replacing` does, and compress what is written if the name asks for it."""
    with replacing(path) as part:
        if path.suffix.lower() not in OPENERS:
            yield part
        else:
            with opener(path)(part, "wb") as stream:
                yield stream


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left behind; those in use stay."""
    for part in folder.glob(_PART.format("*")):
        with suppress(OSError):
            _remove_unless_in_use(part)


@contextmanager
def alone(folder: Path, task: str) -> Iterator[None]:
    """Run a block that only one process may run at a time in this folder."""
    path = folder / _PART.format(task)
    with path.open("a+b") as stream:
        if not _claim(stream):
            raise BlockingIOError(f"another process is working on {task} in {folder}")
        try:
            yield
        finally:
            if sys.platform != "win32":
                path.unlink(missing_ok=True)


def _new_part(folder: Path) -> IO[bytes]:
    while True:
        stream = (folder / _PART.format(uuid4().hex)).open("x+b")
        if _claim(stream):
            return stream
        stream.close()


def _claim(stream: IO[bytes]) -> bool:
    """Lock a new temporary file; False if another process removed it as a leftover."""
    try:
        lock(stream)
    except BlockingIOError:
        return False
    except OSError:  # On a file system without locks no process removes the file.
        return True
    stream.seek(0)
    return Path(stream.name).exists()


if sys.platform == "win32":

    def _remove_unless_in_use(part: Path) -> None:
        part.unlink()  # Windows itself refuses to remove an open file.

else:

    def _remove_unless_in_use(part: Path) -> None:
        with part.open("r+b") as stream:
            lock(stream)
            part.unlink()
