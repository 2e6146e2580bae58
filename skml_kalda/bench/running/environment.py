"""The environment of a run: what a reader needs to judge it."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata

from skml_kalda import __version__
from skml_kalda.framework import providers


def environment() -> dict[str, str]:
    """Return versions, system and time; nothing that identifies the machine or its user."""
    return {
        "started": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "skml_kalda": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")},
        **providers(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": str(n_cores()),
    }


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
