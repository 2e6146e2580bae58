"""An ARFF file, plain or compressed, as numbered lines and blocks of lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from skml_kalda.datasets.errors import ArffError
from skml_kalda.datasets.files import DAMAGED, OPENERS, uncompressed_name

LONGEST_LINE = 2**24
_SMALLEST_BLOCK, _LARGEST_BLOCK = 2**14, 2**18
# Reading a block takes about ten times its size, so a block is a small share of the file.
_BLOCKS, _USUAL_COMPRESSION = 20, 3


def arff_stem(path: Path) -> str:
    """Return the name of a file without ``.arff`` and the suffix of its compression.

    >>> arff_stem(Path("tmc2007-500.arff.xz"))
    'tmc2007-500'
    """
    name = uncompressed_name(path)
    return name[:-5] if name.lower().endswith(".arff") else name


class Source:
    """An open ARFF file. It is read once, from front to back."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path = path
        self.line = 0
        """The number of the last line returned."""
        self._stream = stream
        self._buffer = b""
        self._place = 0
        self._carriage = b""
        size = path.stat().st_size * (_USUAL_COMPRESSION if path.suffix.lower() in OPENERS else 1)
        self._block = min(max(size // _BLOCKS, _SMALLEST_BLOCK), _LARGEST_BLOCK)

    def readline(self) -> bytes | None:
        """Return the next line without its line end, None at the end of the file."""
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
        """Yield the rest in blocks of whole lines; `line` is then the line before the block."""
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
        """Append the next bytes to the buffer, and a newline at the end of the file."""
        rest = self._buffer[self._place :]
        if len(rest) > LONGEST_LINE:
            raise self.error(f"a line longer than {LONGEST_LINE} bytes", self.line + 1)
        more = self._read(max(self._block, len(rest)))
        self._buffer, self._place = rest + (more or (b"\n" if rest else b"")), 0
        return bool(more or rest)

    def _read(self, size: int) -> bytes:
        """Read the next bytes and turn every kind of line end into a newline."""
        try:
            more = self._stream.read(size)
        except DAMAGED as error:
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
        """Return an error that names this file and the line, by default the last one read."""
        return ArffError(reason, path=self.path, line=self.line if line is None else line)
