"""The command ``skml-kalda``: ``bench`` compares methods, ``data`` gets data sets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from skml_kalda import __version__

_COMMANDS = {
    "bench": ("skml_kalda.bench.cli", "compare methods on data sets or on your own data"),
    "data": ("skml_kalda.datasets.__main__", "list, download, build and convert data sets"),
}
_USAGE = "\n".join(
    [
        "usage: skml-kalda COMMAND ...",
        "",
        *(f"  {name:<6} {text}" for name, (_, text) in _COMMANDS.items()),
        "",
        "skml-kalda COMMAND --help says more; skml-kalda --version prints the version.",
    ]
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    command, *others = (sys.argv[1:] if argv is None else list(argv)) or ["--help"]
    if command in ("-h", "--help"):
        print(_USAGE)
        return 0
    if "--version" in (command, *others[:1]):
        print(f"skml-kalda {__version__}")
        return 0
    if command not in _COMMANDS:
        print(f"{_USAGE}\nerror: {command!r} is not a command", file=sys.stderr)
        return 2
    module, _ = _COMMANDS[command]
    return int(import_module(module).main(others, prog=f"skml-kalda {command}"))
