"""A lock on an open file, which the system lets go of when its process ends, however it ends."""

from __future__ import annotations

import sys
from typing import IO

__all__ = ["lock"]

if sys.platform == "win32":
    import msvcrt

    # Windows forbids others to read what is locked: a byte that no file of results reaches.
    _FAR = 2**30

    def lock(stream: IO[bytes]) -> None:
        """Lock a file that is open for writing; BlockingIOError if another one has locked it."""
        stream.seek(_FAR)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None

else:
    import fcntl

    def lock(stream: IO[bytes]) -> None:
        """Lock a file that is open for writing; BlockingIOError if another one has locked it."""
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
