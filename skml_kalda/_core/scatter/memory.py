"""Refuse arrays that do not fit into memory before they are allocated."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np


def check_memory(side: int) -> None:
    """Raise MemoryError if square arrays with this side do not fit into memory."""
    # Two of them, and their sum.
    _check(
        24 * side**2,
        f"{side} × {side} arrays",
        "partial_fit always needs arrays with one row and column per feature: reduce the number "
        "of features first, for example by feature selection or hashing, or call fit on sparse "
        "X, which needs no such array.",
    )


def check_labels(n_features: int, n_labels: int) -> None:
    """Raise MemoryError if arrays with one column per label do not fit into memory."""
    # The Gram matrix of the labels with its eigenvectors, and the directions with their solver.
    _check(
        32 * n_labels**2 + 24 * n_features * n_labels,
        f"arrays with one column for each of {n_labels} labels",
        'Pass n_components: with a ridge and sparse X, MultiLabelKaLDA(constraint="none"), RLDA, '
        "MLDA, MLSI and OPLS then need no such array. Other methods need fewer labels: drop rare "
        "ones.",
    )


def _check(needed: float, what: str, advice: str) -> None:
    there = _usable_memory()
    if needed > there:
        raise MemoryError(
            f"{needed / 1e9:.0f} GB are needed for {what}, and this process may use "
            f"{there / 1e9:.0f} GB. {advice}"
        )


def _usable_memory() -> float:
    """Return the memory of the machine, or what the process may use of it if that is less."""
    return min(_physical_memory(), _process_limit(), _container_limit())


def _physical_memory() -> float:
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():  # unknown on Windows
        return np.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _process_limit() -> float:
    if sys.platform == "win32":
        return np.inf
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return np.inf if limit == resource.RLIM_INFINITY else float(limit)


def _container_limit() -> float:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text()
    except OSError:
        return np.inf
    return float(limit) if limit.strip().isdigit() else np.inf
