"""Download data sets.

`sklearn.datasets.fetch_file` takes one address and no time-out, retries after a 404 and shows no
progress. This module tries several mirrors in turn and reports in one message why each failed.
"""

from __future__ import annotations

import hashlib
import http.client
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from urllib.request import Request, urlopen

from skml_kalda.datasets.errors import FetchError
from skml_kalda.datasets.files import remove_leftovers, replacing, sha256_of
from skml_kalda.datasets.manifest import Manifest, Remote
from skml_kalda.datasets.progress import show_progress

_CHUNK = 2**16
_TIMEOUT = 30
_NO_SUCH_RANGE = http.client.REQUESTED_RANGE_NOT_SATISFIABLE


def fetch(manifest: Manifest, home: Path, *, force: bool = False) -> Path:
    """Download the file of a data set into the data home, unless it is there and intact."""
    target = home / f"{manifest.file}.arff"
    remove_leftovers(home)
    if not manifest.sources:
        raise FetchError(how_to_get(manifest, home), path=target)
    if target.exists() and not force:
        _check(sha256_of(target), manifest.sources[0], target)
        return target
    download(manifest.sources, target)
    return target


def how_to_get(manifest: Manifest, home: Path) -> str:
    """Return a message that tells the user how to get a missing data set."""
    build = f" or make it with: {manifest.build}" if manifest.build else ""
    place = f"put {manifest.file}.arff (or .gz, .bz2, .xz) into {home}{build}"
    if manifest.sources:
        place = f"allow the download, or {place}"
    return f"the data set {manifest.name!r} is not here: {place}. Origin: {manifest.origin}"


def download(remotes: Sequence[Remote], target: Path) -> None:
    """Download a file from the first mirror that delivers it intact.

    If every mirror fails, an existing file stays as it is.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            _from_any(remotes, part, target)
    except FetchError:
        raise
    except OSError as error:
        raise _not_writable(target, error) from error


def _from_any(remotes: Sequence[Remote], part: IO[bytes], target: Path) -> None:
    reasons = []
    for remote in remotes:
        part.seek(0)
        part.truncate()
        try:
            _check(_transfer(remote, part, target.name), remote, target)
            return
        except (FetchError, http.client.HTTPException, _NetworkError) as error:
            reason = error.reason if isinstance(error, FetchError) else error
            reasons.append(f"{remote.url}: {reason}")
    format_names = "\n  ".join(reasons)
    raise FetchError(f"the download failed, nothing was changed:\n  {format_names}", path=target)


class _NetworkError(Exception):
    """The network failed. An OSError alone may also mean that the disk failed."""


def _transfer(remote: Remote, part: IO[bytes], name: str) -> str:
    """Copy a remote file and return its sha256."""
    digest, done = hashlib.sha256(), 0
    with _open(remote.url) as response:
        while chunk := _receive(response):
            part.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            show_progress(name, done / 1e6, remote.size / 1e6, " MB")
            if done > remote.size:
                break
    show_progress(name, done / 1e6, remote.size / 1e6, " MB", end=True)
    if done != remote.size:
        more = "more than " if done > remote.size else ""
        raise FetchError(f"got {more}{min(done, remote.size)} of {remote.size} bytes")
    return digest.hexdigest()


def _open(url: str, **headers: str) -> http.client.HTTPResponse:
    try:
        request = Request(url, headers={"User-Agent": "skml_kalda", **headers})
        response: http.client.HTTPResponse = urlopen(request, None, _TIMEOUT)
    except (OSError, ValueError) as error:
        raise _NetworkError(str(error)) from error
    return response


def _receive(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(_CHUNK)
    except OSError as error:
        raise _NetworkError(str(error)) from error


def _check(found: str, remote: Remote, target: Path) -> None:
    if found != remote.sha256:
        reason = f"wrong checksum: sha256 is {found}, expected {remote.sha256}"
        raise FetchError(reason, path=target)


def resume(url: str, target: Path, *, md5: str, most_bytes: int) -> None:
    """Download a file, unless it is there and intact, or continue a download that stopped.

    Parameters
    ----------
    url : str
        The address.
    target : Path
        The file. The bytes received so far are kept beside it, in a file whose name ends in
        ".part".
    md5 : str
        Checksum of the file.
    most_bytes : int
        A download that exceeds this is aborted.
    """
    if target.exists():
        _check_md5(target, md5, target)
        return
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("ab") as stream:
            _append(url, stream, target.name, most_bytes)
        _check_md5(part, md5, target)
        os.replace(part, target)
    except FetchError:
        part.unlink()
        raise
    except (http.client.HTTPException, _NetworkError) as error:
        reason = f"the download from {url} stopped ({error}): run again to continue it"
        raise FetchError(reason, path=target) from error
    except OSError as error:
        raise _not_writable(target, error) from error


def _append(url: str, stream: IO[bytes], name: str, most_bytes: int) -> None:
    """Append the missing bytes to a file; start over if the server cannot continue."""
    done = stream.tell()
    try:
        response = _open(url, **({"Range": f"bytes={done}-"} if done else {}))
    except _NetworkError as error:
        if done and getattr(error.__cause__, "code", None) == _NO_SUCH_RANGE:
            return  # The server has nothing more; the checksum decides.
        raise
    with response:
        if response.status != http.client.PARTIAL_CONTENT:
            stream.truncate(0)
            done = 0
        size = done + int(response.headers.get("Content-Length", most_bytes))
        while chunk := _receive(response):
            done += stream.write(chunk)
            if done > most_bytes:
                raise FetchError(f"got more than the {most_bytes} bytes expected", path=stream.name)
            show_progress(name, done / 1e6, size / 1e6, " MB", end=done == size)
    if "Content-Length" in response.headers and done < size:
        raise _NetworkError(f"got {done} of {size} bytes")


def _check_md5(path: Path, expected: str, target: Path) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, _md5).hexdigest()
    if found != expected:
        raise FetchError(f"wrong checksum: md5 is {found}, expected {expected}", path=target)


def _md5() -> Any:
    # Against damage, not against forgery: the publisher states no other checksum.
    return hashlib.md5(usedforsecurity=False)


def _not_writable(target: Path, error: OSError) -> FetchError:
    advice = "set SKML_KALDA_DATA or data_home to a folder that can be written"
    return FetchError(f"cannot write the file ({error}): {advice}", path=target)
