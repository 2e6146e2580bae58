"""Kernels: their width, from the distances in the data, and their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import gen_batches

from skml_kalda._scatter import Array

# The median of the distances of this many rows, drawn at random, stands for that of all.
MANY_ROWS = 1000


def median_gamma(kernel: Any, X: Any, weight: Array, rng: np.random.RandomState) -> float | None:
    """One over the median distance that the kernel is a function of; None if of none."""
    if kernel not in ("rbf", "laplacian"):
        return None
    rows = np.flatnonzero(weight)
    if len(rows) > MANY_ROWS:
        rows = rng.choice(rows, MANY_ROWS, replace=False)
    return inverse_median_distance(X[rows], weight[rows], squared=kernel == "rbf")


def inverse_median_distance(X: Any, weight: Array, *, squared: bool) -> float:
    """One over the median distance of two rows, drawn by their weights."""
    distance = euclidean_distances(X, squared=True) if squared else manhattan_distances(X)
    order = np.argsort(distance, axis=None)
    share = np.cumsum(np.outer(weight, weight).ravel()[order])
    median = distance.ravel()[order[np.searchsorted(share, share[-1] / 2)]]
    return 1.0 if median == 0 else float(1 / median)


def batches(n: int, columns: int) -> Iterator[slice]:
    """Rows whose kernel values fit into scikit-learn's working memory."""
    size = int(get_config()["working_memory"] * 2**20) // (8 * columns)
    rows: Iterator[slice] = gen_batches(n, max(1, size))
    return rows


def check_square(X: Any) -> None:
    """Refuse what cannot be the kernel of rows with one another."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X has shape {X.shape}, but a precomputed kernel must be square: pass the "
            "kernel values of all training rows with one another."
        )
