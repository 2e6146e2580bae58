"""The command ``skml-kalda``: ``bench`` compares methods, ``data`` gets datasets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from skml_kalda import __version__

_MODULES = {"bench": "skml_kalda.bench.cli", "data": "skml_kalda.datasets.__main__"}
_USAGE = """\
usage: skml-kalda COMMAND ...

  bench  compare methods on datasets or on your own data
  data   list, download, build and convert datasets

skml-kalda COMMAND --help says more; skml-kalda --version prints the version."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    command, *others = (sys.argv[1:] if argv is None else list(argv)) or ["--help"]
    if command in ("-h", "--help"):
        print(_USAGE)
        return 0
    if "--version" in (command, *others[:1]):
        print(f"skml-kalda {__version__}")
        return 0
    if command not in _MODULES:
        print(f"{_USAGE}\nerror: {command!r} is not a command", file=sys.stderr)
        return 2
    return int(import_module(_MODULES[command]).main(others, prog=f"skml-kalda {command}"))
