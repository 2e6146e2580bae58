"""Compare methods on the paper's data sets or on your own: ``python -m skml_kalda.bench``.

Needs the libraries of the extra "bench".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skml_kalda.bench.extra import check_extra

if TYPE_CHECKING:
    from skml_kalda.bench.reporting.drawing.figures import figure as figure
    from skml_kalda.bench.reporting.files import report as report
    from skml_kalda.bench.reporting.tables import table as table
    from skml_kalda.bench.running.results import read_results as read_results
    from skml_kalda.bench.running.runner import run as run

# Every public name and its module. Slow to import, and worker processes need none of them, so
# loaded on first access.
_PUBLIC = {
    "figure": "reporting.drawing.figures",
    "read_results": "running.results",
    "report": "reporting.files",
    "run": "running.runner",
    "table": "reporting.tables",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        check_extra()
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
