"""Unpack a zip archive that may be damaged or hostile."""

from __future__ import annotations

import shutil
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from skml_kalda.datasets.errors import FetchError
from skml_kalda.datasets.progress import counted

# What zipfile raises for damaged, encrypted and unknown members, or for a full disk (OSError).
_FAILURES = (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, zlib.error)


def unpack(archive: Path, folder: Path, *, most_files: int, most_bytes: int) -> None:
    """Unpack an archive into a new folder, which appears once it is complete.

    Parameters
    ----------
    archive : Path
        The zip file.
    folder : Path
        The folder to make. What an earlier attempt left beside it is removed.
    most_files, most_bytes : int
        An archive with more than this is refused before anything is written.

    Raises
    ------
    FetchError
        If the archive is damaged or too large, or if a member is not a plain file inside the
        folder: an absolute path, a path that leads outside, a link, a device.
    """
    with _new_folder(folder) as fresh:
        try:
            with ZipFile(archive) as zipped:
                members = _checked(zipped.infolist(), most_files, most_bytes)
                for member in counted(members, "unpacking"):
                    _extract(zipped, member, fresh)
        except FetchError as error:
            raise FetchError(error.reason, path=archive) from error
        except _FAILURES as error:
            raise FetchError(f"cannot be unpacked ({error})", path=archive) from error


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder under a temporary name; rename it if the block succeeds, else remove it."""
    fresh = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        yield fresh
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _checked(members: list[ZipInfo], most_files: int, most_bytes: int) -> list[ZipInfo]:
    if len(members) > most_files:
        raise FetchError(f"it has {len(members)} members, more than the {most_files} expected")
    # zipfile never reads more of a member than this size, so the sum bounds what is written.
    size = sum(member.file_size for member in members)
    if size > most_bytes:
        raise FetchError(f"it has {size} bytes unpacked, more than the {most_bytes} expected")
    for member in members:
        _check_member(member)
    # Names that differ in case only are one file on some systems.
    name, count = Counter(m.filename.casefold() for m in members).most_common(1)[0]
    if count > 1:
        raise FetchError(f"it has the member {name!r} more than once")
    return [member for member in members if not member.is_dir()]


def _check_member(member: ZipInfo) -> None:
    name = member.filename
    # A name that passes is a path inside the folder on every system: no C:\ and no \\server.
    if PurePosixPath(name).is_absolute() or {"..", ""} & set(name.rstrip("/").split("/")):
        raise FetchError(f"the member {name!r} leads outside the folder")
    if any(character in '\\:*?"<>|' or character < " " for character in name):
        raise FetchError(f"the member {name!r} has a name that is not a path on every system")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise FetchError(f"the member {name!r} is a link or a device, not a file")


def _extract(zipped: ZipFile, member: ZipInfo, folder: Path) -> None:
    target = folder / member.filename
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipped.open(member) as source, target.open("xb") as destination:
        shutil.copyfileobj(source, destination)
