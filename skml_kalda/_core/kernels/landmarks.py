"""Landmarks: some rows, or centres of rows, that stand for all."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels.values import float_rows

LandmarkChoice: TypeAlias = Literal["kmeans", "random"]

# Rows drawn for each centre of k-means, and the number of its steps: landmarks need to be well
# spread, not converged.
_ROWS_PER_CENTRE = 10
_STEPS = 5
# Singular directions in which sparse rows are clustered.
_DIRECTIONS = 64


class Landmarks(NamedTuple):
    """The landmarks of some rows."""

    points: Any
    """Array or CSR of shape (m, p)."""
    indices: NDArray[np.intp] | None
    """Indices of the landmarks among the rows; None if they are centres of rows."""


def choose_landmarks(
    X: Any,
    weight: Array,
    n_landmarks: int,
    choice: LandmarkChoice,
    rng: np.random.RandomState,
    *,
    unit_length: bool = False,
) -> Landmarks:
    """Choose landmarks among the rows of positive weight: all of them if they are few enough.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
        The data.
    weight : array of shape (n,)
        Weights of the rows.
    n_landmarks : int
        Number of landmarks. If rows repeat, there may be fewer centres.
    choice : {"kmeans", "random"}
        Centres of clusters, or rows drawn at random. Centres of sparse rows would be dense,
        so the row nearest to each centre is used instead.
    rng : RandomState
        Draws the rows.
    unit_length : bool, default=False
        Whether rows are scaled to unit length before clustering, as for the cosine kernel.
    """
    rows = np.flatnonzero(weight)
    if n_landmarks >= len(rows):
        return Landmarks(X[rows], rows)
    if choice == "random":
        drawn = rng.choice(rows, n_landmarks, replace=False)
        return Landmarks(X[drawn], drawn)
    if len(rows) > _ROWS_PER_CENTRE * n_landmarks:
        rows = rng.choice(rows, _ROWS_PER_CENTRE * n_landmarks, replace=False)
    points = normalize(X[rows]) if unit_length else X[rows]
    if sparse.issparse(X):
        medoids = rows[_medoids(points, weight[rows], n_landmarks, rng)]
        return Landmarks(X[medoids], medoids)
    return Landmarks(_centres(points, weight[rows], n_landmarks, rng), None)


def _centres(X: Array, weight: Array, n: int, rng: np.random.RandomState) -> Array:
    distinct, of = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) <= n:
        return distinct
    means = KMeans(n, n_init=1, max_iter=_STEPS, tol=0, random_state=rng)
    # In float64, because squares of large float32 would overflow.
    means.fit(distinct.astype(np.float64), sample_weight=np.bincount(of, weight))
    return np.asarray(means.cluster_centers_.astype(X.dtype))


def _medoids(X: Any, weight: Array, n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return the indices of the sparse rows that are nearest to a centre."""
    points = _leading_directions(X, rng)
    nearest = pairwise_distances_argmin(_centres(points, weight, n, rng), points)
    return np.asarray(np.unique(nearest))


def _leading_directions(X: Any, rng: np.random.RandomState) -> Array:
    """Return sparse rows in few dimensions that keep most of their distances."""
    rows = float_rows(X, as_sparse=True)
    left, values, _ = randomized_svd(rows, min(_DIRECTIONS, *rows.shape), random_state=rng)
    return np.asarray(left * values)
