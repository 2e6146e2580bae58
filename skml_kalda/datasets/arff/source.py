"""Files, plain or compressed, as lines and blocks of lines with their numbers."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from ._errors import ArffError

__all__ = ["Source", "arff_stem", "opener", "replacing"]

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
LONGEST_LINE = 2**24
_SMALLEST_BLOCK, _LARGEST_BLOCK = 2**14, 2**18
# A block takes some ten times its size while it is read: a share of the file bounds the memory.
_BLOCKS, _USUAL_COMPRESSION = 20, 3
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError)


def opener(path: Path) -> Callable[..., Any]:
    """Give the open function for a file name."""
    return OPENERS.get(path.suffix.lower(), open)


def arff_stem(path: Path) -> str:
    """Give the name of a file without ``.arff`` and the suffix of its compression.

    >>> arff_stem(Path("tmc2007-500.arff.xz"))
    'tmc2007-500'
    """
    name = path.name[: -len(path.suffix)] if path.suffix.lower() in OPENERS else path.name
    return name[:-5] if name.lower().endswith(".arff") else name


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` when all went well; else nothing changes."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as temporary:
        part = Path(temporary.name)
        try:
            yield temporary
            temporary.close()
            os.chmod(part, 0o666 & ~_umask())
            os.replace(part, path)
        finally:
            temporary.close()
            part.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Source:
    """An open ARFF file, read once from front to back."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self.line = 0
        """The number of the last line given out."""
        self._stream = stream
        self._buffer = b""
        self._place = 0
        self._carriage = b""
        size = path.stat().st_size * (_USUAL_COMPRESSION if path.suffix.lower() in OPENERS else 1)
        self._block = min(max(size // _BLOCKS, _SMALLEST_BLOCK), _LARGEST_BLOCK)

    def readline(self) -> bytes | None:
        """Give the next line without its end, None at the end of the file."""
        end = self._buffer.find(b"\n", self._place)
        while end < 0:
            if not self._fill():
                return None
            end = self._buffer.find(b"\n", self._place)
        line = self._buffer[self._place : end]
        self._place = end + 1
        self.line += 1
        return line

    def blocks(self) -> Iterator[bytes]:
        """Give the rest in blocks of whole lines; `line` is then the line before the block."""
        while True:
            end = self._buffer.rfind(b"\n") + 1
            if end > self._place:
                block, self._buffer = self._buffer[self._place : end], self._buffer[end:]
                self._place = 0
                yield block
                self.line += block.count(b"\n")
            elif not self._fill():
                return

    def _fill(self) -> bool:
        """Append a stretch of the file to the buffer, ended by a newline at the end of the file."""
        rest = self._buffer[self._place :]
        if len(rest) > LONGEST_LINE:
            raise self.error(f"a line longer than {LONGEST_LINE} bytes", self.line + 1)
        more = self._read(max(self._block, len(rest)))
        self._buffer, self._place = rest + (more or (b"\n" if rest else b"")), 0
        return bool(more or rest)

    def _read(self, size: int) -> bytes:
        """Read with every kind of line end turned into a newline."""
        try:
            more = self._stream.read(size)
        except _DAMAGED as error:
            raise self.error(
                f"the file is damaged or cut short ({error})", self.line + 1
            ) from error
        more = self._carriage + more
        self._carriage = b""
        if b"\r" not in more:
            return more
        if more.endswith(b"\r") and len(more) > 1:
            more, self._carriage = more[:-1], b"\r"
        return more.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def error(self, reason: str, line: int | None = None) -> ArffError:
        """Make the error that names this file and the line, by default the last one read."""
        return ArffError(reason, path=self.path, line=self.line if line is None else line)
