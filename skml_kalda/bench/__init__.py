"""Compare methods on the paper's datasets or on your own: ``python -m skml_kalda.bench``.

Needs the libraries of the extra "bench".
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skml_kalda.bench.reporting.figures import figure as figure
    from skml_kalda.bench.reporting.page import report as report
    from skml_kalda.bench.reporting.tables import table as table
    from skml_kalda.bench.running.results import read_results as read_results
    from skml_kalda.bench.running.runner import run as run

# Every public name and its module. Slow to import, and worker processes need none of them, so
# loaded on first access.
_PUBLIC = {
    "figure": "reporting.figures",
    "read_results": "running.results",
    "report": "reporting.page",
    "run": "running.runner",
    "table": "reporting.tables",
}
_EXTRA = ("jinja2", "matplotlib", "pandas", "scikit_posthocs")

__all__ = sorted(_PUBLIC)


def check_extra() -> None:
    """Raise an ImportError that names the missing libraries and the command to install them."""
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the bench needs {', '.join(missing)}: "
            'pip install "skml-kalda[bench]" (in a checkout: pip install ".[bench]")'
        )


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        check_extra()
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
