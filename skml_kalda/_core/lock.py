"""Lock an open file. The system releases the lock when the process ends, however it ends."""

from __future__ import annotations

import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    # On Windows no other process can read locked bytes, so lock one beyond the end of any file.
    _FAR = 2**30

    def lock(stream: IO[bytes]) -> None:
        """Lock a file that is open for writing; BlockingIOError if another process holds it."""
        stream.seek(_FAR)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None

else:
    import fcntl

    def lock(stream: IO[bytes]) -> None:
        """Lock a file that is open for writing; BlockingIOError if another process holds it."""
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
