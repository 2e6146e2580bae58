"""Safe downloads.

`sklearn.datasets.fetch_file` knows one address and no time-out, retries a 404 and shows no
progress; this module tries mirrors in turn and gives the reason of each in one message.
"""

from __future__ import annotations

import hashlib
import http.client
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO
from urllib.request import Request, urlopen

from ._errors import FetchError
from ._source import replacing
from .manifest import Manifest, Remote

__all__ = ["download", "fetch", "sha256_of"]

_CHUNK = 2**16
_TIMEOUT = 30


def fetch(manifest: Manifest, home: Path, *, force: bool = False) -> Path:
    """Download the file of a data set into the data home, unless it is there unharmed."""
    target = home / f"{manifest.file}.arff"
    if not manifest.sources:
        raise FetchError(how_to_get(manifest, home), path=target)
    if target.exists() and not force:
        _check(sha256_of(target), manifest.sources[0], target)
        return target
    download(manifest.sources, target)
    return target


def how_to_get(manifest: Manifest, home: Path) -> str:
    """Say what to do about a data set that is not here."""
    build = f" or make it with: {manifest.build}" if manifest.build else ""
    place = f"put {manifest.file}.arff (or .gz, .bz2, .xz) into {home}{build}"
    if manifest.sources:
        place = f"allow the download, or {place}"
    return f"the data set {manifest.name!r} is not here: {place}. Origin: {manifest.origin}"


def download(remotes: Sequence[Remote], target: Path) -> None:
    """Download a file from the first mirror that gives it whole; a file that was there is kept."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            _from_any(remotes, part, target)
    except FetchError:
        raise
    except OSError as error:
        advice = "set SKML_KALDA_DATA or data_home to a folder that can be written"
        raise FetchError(f"cannot write the file ({error}): {advice}", path=target) from error


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
    listed = "\n  ".join(reasons)
    raise FetchError(f"the download failed, nothing was changed:\n  {listed}", path=target)


class _NetworkError(Exception):
    """A failure on the way, not of the local disk: both are OSError otherwise."""


def _transfer(remote: Remote, part: IO[bytes], name: str) -> str:
    """Copy a remote file and give its sha256."""
    digest, done = hashlib.sha256(), 0
    try:
        response = urlopen(
            Request(remote.url, headers={"User-Agent": "skml_kalda"}), None, _TIMEOUT
        )
    except (OSError, ValueError) as error:
        raise _NetworkError(str(error)) from error
    with response:
        while chunk := _receive(response):
            part.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            _show_progress(name, done, remote.size)
            if done > remote.size:
                break
    _show_progress(name, done, remote.size, end=True)
    if done != remote.size:
        more = "more than " if done > remote.size else ""
        raise FetchError(f"got {more}{min(done, remote.size)} of {remote.size} bytes")
    return digest.hexdigest()


def _receive(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read(_CHUNK)
    except OSError as error:
        raise _NetworkError(str(error)) from error


def _check(found: str, remote: Remote, target: Path) -> None:
    if found != remote.sha256:
        reason = f"wrong checksum: sha256 is {found}, expected {remote.sha256}"
        raise FetchError(reason, path=target)


def sha256_of(path: Path) -> str:
    """Compute the sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _show_progress(name: str, done: int, size: int, end: bool = False) -> None:
    if sys.stderr.isatty():
        text = f"\r{name}: {done / 1e6:.1f} of {size / 1e6:.1f} MB ({done / size:.0%})"
        print(text, end="\n" if end else "", file=sys.stderr, flush=True)
