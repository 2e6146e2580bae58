"""Votes of the nearest neighbours on labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.nearest import NearestRows


def adjacency(
    neighbors: NDArray[np.intp], n: int, weights: NDArray[np.float64] | None = None
) -> sparse.csr_array:
    """Return the neighbours as a matrix A of shape (m, n): A Y sums up their labels.

    Its entries are the weights of the neighbours, shape (m, k), or ones.
    """
    m, k = neighbors.shape
    data = np.ones(m * k) if weights is None else weights.ravel()
    return sparse.csr_array((data, neighbors.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))


def inverse_distances(distances: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the weights 1/d of neighbours. If some are at distance zero, only those count.

    scikit-learn's ``KNeighborsClassifier(weights="distance")`` has the same weights.
    """
    with np.errstate(divide="ignore", over="ignore"):
        weights = 1 / distances.astype(np.float64)
    equal = np.isinf(weights)
    met = equal.any(axis=1)
    weights[met] = equal[met]
    return weights


def vote_shares(
    neighbors: NDArray[np.intp],
    weights: NDArray[np.float64],
    labels: sparse.csr_array,
    unknown: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """Return the share of the neighbours' weight that each label has, from 0 to 1.

    Parameters
    ----------
    neighbors : array of shape (m, k)
        Numbers of rows of `labels`.
    weights : array of shape (m, k)
        The weights of their votes, at least one of them positive in each row.
    labels : CSR of shape (n, K)
        Indicator of the labels.
    unknown : CSR of shape (n, K) or None, default=None
        Indicator of unknown labels, on which a row does not vote.

    Returns
    -------
    CSR of shape (m, K)
        Sparse, because k rows have few of many labels.
    """
    near = adjacency(neighbors, labels.shape[0], weights)
    votes = near @ labels
    # Summed in the same order as the votes, so that a unanimous vote is exactly one.
    total = np.repeat(weights.cumsum(axis=1)[:, -1], np.diff(votes.indptr))
    if unknown is None:
        votes.data /= total
    else:
        votes.data = np.minimum(votes.data / (total - at_entries(near @ unknown, votes)), 1)
    return votes


def at_entries(matrix: sparse.csr_array, of: sparse.csr_array) -> NDArray[np.float64]:
    """Return the entries of `matrix` at the positions of the stored entries of `of`."""
    rows = np.repeat(np.arange(of.shape[0]), np.diff(of.indptr))
    # Without entries SciPy returns a sparse array.
    return np.asarray(matrix[rows, of.indices]) if of.nnz else np.zeros(0)


def neighbor_counts(
    train: Any, labels: sparse.csr_array, test: Any, sizes: Iterable[int]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Count the labels of the k nearest rows, for several k with one search.

    Parameters
    ----------
    train, test : array or CSR of shape (n, p) and (m, p)
        The training rows and the query rows.
    labels : CSR of shape (n, K)
        Indicator of the labels of `train`.
    sizes : iterable of int
        The numbers of neighbours.

    Yields
    ------
    k : int
        Number of neighbours, ascending.
    counts : array of shape (m, K)
        How many of the k nearest rows have each label.
    """
    sizes = sorted(sizes)
    nearest = NearestRows(sizes[-1]).fit(train).kneighbors(test, return_distance=False)
    for k in sizes:
        yield k, (adjacency(nearest[:, :k], labels.shape[0]) @ labels).toarray()


def neighbor_votes(
    train: Any, labels: sparse.csr_array, test: Any, sizes: Iterable[int]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Predict the labels that more than half of the k nearest rows have.

    The parameters are those of :func:`neighbor_counts`. Yields k, ascending, and the predicted
    labels, of shape (m, K).
    """
    for k, counts in neighbor_counts(train, labels, test, sizes):
        yield k, 2 * counts > k
