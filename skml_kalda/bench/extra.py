"""The libraries that only the bench needs."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["check_extra"]


def check_extra() -> None:
    """Say which command installs what is missing, if something is."""
    missing = [name for name in ("matplotlib", "pandas", "rich") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the bench needs {', '.join(missing)}: "
            'pip install "skml-kalda[bench]" (in a checkout: pip install ".[bench]")'
        )
