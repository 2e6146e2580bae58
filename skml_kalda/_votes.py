"""Labels counted among nearest neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors


def adjacency(neighbors: NDArray[np.intp], n: int) -> sparse.csr_array:
    """Write the neighbours as a 0/1 matrix of shape (rows, n), whose product with Y counts."""
    m, k = neighbors.shape
    return sparse.csr_array(
        (np.ones(m * k), neighbors.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n)
    )


def neighbor_votes(
    train: Any, labels: sparse.csr_array, test: Any, sizes: Iterable[int]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Predict by vote of the k nearest rows, for several k at the cost of one search.

    Parameters
    ----------
    train, test : array or CSR of shape (n, p) and (m, p)
        The rows that vote, and those that are voted on.
    labels : CSR of shape (n, K)
        Indicator of the labels of `train`.
    sizes : iterable of int
        The k.

    Yields
    ------
    k : int
        Number of neighbours, ascending.
    predicted : array of shape (m, K)
        The labels that more than half of the k nearest rows carry.
    """
    sizes = sorted(sizes)
    nearest = NearestNeighbors(n_neighbors=sizes[-1]).fit(train).kneighbors(test, None, False)
    for k in sizes:
        counts = adjacency(nearest[:, :k], labels.shape[0]) @ labels
        yield k, 2 * counts.toarray() > k
