"""The libraries that only the bench needs."""

from __future__ import annotations

from importlib.util import find_spec


def check_extra() -> None:
    """Raise an ImportError that names the missing libraries and the command to install them."""
    missing = [name for name in ("matplotlib", "pandas", "rich") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the bench needs {', '.join(missing)}: "
            'pip install "skml-kalda[bench]" (in a checkout: pip install ".[bench]")'
        )
