"""Arrays that this machine cannot hold are refused before they are tried."""

from __future__ import annotations

import os

import numpy as np


def check_memory(side: int) -> None:
    """Raise MemoryError for a square array of the side of the rows or features."""
    # Two of them, and their sum.
    _check(
        24 * side**2,
        f"{side} × {side} arrays",
        "partial_fit always needs arrays of the side of the number of features: reduce that "
        "first, for example with feature selection or hashing, or call fit on sparse X, which "
        "needs none.",
    )


def check_labels(n_features: int, n_labels: int) -> None:
    """Raise MemoryError for arrays of one row or column per label."""
    # The labels with themselves, and their eigenvectors; the directions, as they are solved for.
    _check(
        32 * n_labels**2 + 24 * n_features * n_labels,
        f"{n_labels} × {n_labels} and {n_features} × {n_labels} arrays, one column for each label",
        'Pass n_components: with a ridge and sparse X, MultiLabelKaLDA(constraint="none"), RLDA, '
        "MLDA, MLSI and OPLS then need no such array. Other methods need fewer labels: drop rare "
        "ones.",
    )


def _check(needed: float, what: str, advice: str) -> None:
    there = _physical_memory()
    if needed > there:
        raise MemoryError(
            f"{needed / 1e9:.0f} GB are needed for {what}, and this machine has "
            f"{there / 1e9:.0f} GB. {advice}"
        )


def _physical_memory() -> float:
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():  # unknown on Windows
        return np.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
