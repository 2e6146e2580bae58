"""The paper's tables and figures, measured again: ``python -m skml_kalda.bench``.

Needs the libraries of the extra "bench".
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skml_kalda.bench.extra import check_extra

if TYPE_CHECKING:
    from skml_kalda.bench.figures import figure
    from skml_kalda.bench.reports import report
    from skml_kalda.bench.results import read_results
    from skml_kalda.bench.runner import run
    from skml_kalda.bench.tables import table

__all__ = ["figure", "read_results", "report", "run", "table"]

_HOME = {
    "figure": "figures",
    "read_results": "results",
    "report": "reports",
    "run": "runner",
    "table": "tables",
}


def __getattr__(name: str) -> Any:
    # Worker processes import this package too, and draw nothing: only who asks, waits.
    if name in _HOME:
        check_extra()
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
