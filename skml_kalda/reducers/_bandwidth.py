"""The width of a kernel, from the distances in the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from skml_kalda._scatter import Array


def inverse_median_distance(X: Any, weight: Array, *, squared: bool) -> float:
    """One over the median distance of two rows, drawn by their weights."""
    distance = euclidean_distances(X, squared=True) if squared else manhattan_distances(X)
    order = np.argsort(distance, axis=None)
    share = np.cumsum(np.outer(weight, weight).ravel()[order])
    median = distance.ravel()[order[np.searchsorted(share, share[-1] / 2)]]
    return 1.0 if median == 0 else float(1 / median)
