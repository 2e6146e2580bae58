"""Work in a process of its own, which may hang or die."""

import contextlib
import os
import signal
import threading
import traceback

END = "\0"


def forked(work, wall_seconds=400):
    """Return what `work` returns in a process of its own; None if that hangs or dies."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        _answer(work, write)
    os.close(write)
    timer = threading.Timer(wall_seconds, _kill, [child])
    timer.start()
    with os.fdopen(read) as stream:
        answer = stream.read()
    timer.cancel()
    _kill(child)  # and what it has started
    os.waitpid(child, 0)
    if answer.startswith("Traceback"):
        raise RuntimeError(answer)
    return answer.removesuffix(END) if answer.endswith(END) else None


def _answer(work, write):
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    with os.fdopen(write, "w") as stream:
        try:
            stream.write(work() + END)
        except BaseException:
            stream.write(traceback.format_exc())
    os._exit(0)


def _kill(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
