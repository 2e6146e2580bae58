"""Failures of a method, as text that can be written anywhere."""

from __future__ import annotations

import re
import traceback

# What a method may raise without ending the run. `sys.exit` in a method is a failure like others;
# KeyboardInterrupt is not among them: it comes from the user.
FAILURES = (Exception, SystemExit)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def described(error: BaseException) -> str:
    """Return the type and the message of an exception."""
    text = printable("".join(traceback.format_exception_only(error))).strip()
    if isinstance(error, SystemExit):
        return f"the method tried to end the program: {text}"
    return text


def printable(text: str) -> str:
    r"""Replace control characters and lone surrogates by their escapes; no file can hold these.

    Examples
    --------
    >>> from skml_kalda.bench.running.failures import printable
    >>> print(printable("caf\udce9 \x1b[31m"))
    caf\udce9 \x1b[31m
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
