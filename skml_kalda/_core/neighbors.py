"""The nearest samples, found exactly or with an index that the user passes, and their votes.

Neighbours are sorted by distance. Of samples at the same distance, the one with the lowest number
comes first. So the neighbours of a sample depend neither on the other samples of the query nor on
the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_array, validate_data

from skml_kalda._core.arrays import batches, ratio
from skml_kalda._core.centred import full_column_shift, wholly_shifted

_EUCLIDEAN = ("minkowski", "euclidean", "l2")
# With fewer samples per orthant, of which there are 2^p, a tree is no faster than brute force.
_SAMPLES_PER_ORTHANT = 64
# Samples in a leaf of the tree: in five to ten dimensions a tenth faster than SciPy's 10.
_LEAF = 32
# To start threads, of BLAS or of scikit-learn, takes longer than to measure so few samples.
_FEW_SAMPLES = 4
# Numbers in a block of differences between samples and their neighbours; fits into the cache.
_CACHED = 2**17
# Neighbours nearer than this share of the kth distance have equal votes, so that rounding errors,
# also those of single precision, do not decide which of several duplicates counts.
_NEAREST = 1e-3
# Neighbours at the bandwidth keep a vote, for the case that there are no others.
_FARTHEST = 1 - 1e-12


class Neighbors(NamedTuple):
    """The k nearest training samples of each of m samples, nearest first."""

    # Their distances, shape (m, k).
    distances: NDArray[np.floating[Any]]

    # Their numbers, shape (m, k).
    indices: NDArray[np.intp]

    def at(self, samples: Any) -> Neighbors:
        """Return the neighbours of some of the samples."""
        return Neighbors(self.distances[samples], self.indices[samples])

    def nearest(self, k: int) -> Neighbors:
        """Return the k nearest of the neighbours."""
        return Neighbors(self.distances[:, :k], self.indices[:, :k])

    def in_order(self) -> Neighbors:
        """Sort by distance, then by number."""
        rising = self.distances[:, 1:] > self.distances[:, :-1]
        unsorted = np.flatnonzero(~rising.all(axis=1))
        if not len(unsorted):
            return self
        distances, indices = self.at(unsorted)
        order = np.lexsort((indices, distances), axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
        indices = np.take_along_axis(indices, order, axis=1)
        return self.replaced(unsorted, Neighbors(distances, indices))

    def replaced(self, samples: NDArray[np.intp], others: Neighbors) -> Neighbors:
        """Return the neighbours with those of some samples replaced."""
        distances, indices = self.distances.copy(), self.indices.copy()
        distances[samples], indices[samples] = others
        return Neighbors(distances, indices)

    def without_self(self) -> Neighbors:
        """Remove sample i from its own neighbours, or the last neighbour if i is not there."""
        n, k = self.indices.shape
        own = self.indices == np.arange(n)[:, np.newaxis]
        own[~own.any(axis=1), -1] = True
        return Neighbors(*(each[~own].reshape(n, k - 1) for each in self))


class ExactSearch(NearestNeighbors):
    """Exact search by scikit-learn, or by SciPy's k-d tree in few dimensions; ties are ordered.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours.
    metric : str or callable, default="minkowski"
        See :class:`sklearn.neighbors.NearestNeighbors`. The default is Euclidean.
    n_jobs : int or None, default=None
        Number of threads. None means as many as scikit-learn uses by default, -1 all processors.
    """

    def __init__(
        self, n_neighbors: int = 5, *, metric: Any = "minkowski", n_jobs: int | None = None
    ) -> None:
        # "brute" keeps scikit-learn from building a second tree.
        algorithm = "brute" if _one_of(metric, _EUCLIDEAN) else "auto"
        super().__init__(n_neighbors=n_neighbors, metric=metric, n_jobs=n_jobs, algorithm=algorithm)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the training samples, and build a tree if that is faster.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training samples, or a square distance matrix if `metric` is "precomputed".
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted search.
        """
        # In double precision, because rounding in single precision would break ties.
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        self._shift = None
        if sparse.issparse(X) and _one_of(self.metric, _EUCLIDEAN):
            self._shift = full_column_shift(X)
        super().fit(self._shifted(X))
        self._build_tree()
        return self

    def _build_tree(self) -> None:
        n, p = self._fit_X.shape
        is_dense = not sparse.issparse(self._fit_X)
        is_low = is_dense and _one_of(self.metric, _EUCLIDEAN) and n >> p >= _SAMPLES_PER_ORTHANT
        self._kd_tree = cKDTree(self._fit_X, leafsize=_LEAF) if is_low else None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the tree: skops cannot save it, and to build it again costs little."""
        return super().__getstate__() | {"_kd_tree": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Build the tree again."""
        super().__setstate__(state)
        if hasattr(self, "_fit_X"):
            self._build_tree()

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training samples, by distance, then by number.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            The samples of the query.
        n_neighbors : int, default=None
            Number of neighbours; None means the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return distances.

        Returns
        -------
        distances : ndarray of shape (m, n_neighbors)
            Only if `return_distance`.
        indices : ndarray of shape (m, n_neighbors)
            Numbers of the training samples.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        n = self._fit_X.shape[0]
        if k > n:
            raise ValueError(f"n_neighbors={k} must be <= {n}, the number of training samples.")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        X = self._shifted(X)
        if self.metric == "precomputed" and sparse.issparse(X):
            # A graph of k neighbours may not contain one more.
            found = Neighbors(*super().kneighbors(X, k)).in_order()
        else:
            found = self._widened(X, k, min(k + 1, n))
        return tuple(found) if return_distance else found.indices

    def _shifted(self, X: Any) -> Any:
        """Subtract large offsets of sparse training samples, in which distances would cancel."""
        return X if self._shift is None else wholly_shifted(sparse.csr_array(X), self._shift)

    def _widened(self, X: Any, k: int, width: int) -> Neighbors:
        """Search `width` neighbours, and more for the samples whose kth distance is tied."""
        found = self._search(X, width)
        # All samples that were not found are at least this far away, up to rounding.
        beyond = found.distances[:, -1] - self._rounding(X, found.distances[:, -1])
        nearest = self._measured(X, found).in_order().nearest(k)
        tied = np.flatnonzero(beyond <= nearest.distances[:, -1])
        if len(tied) and width < self._fit_X.shape[0]:
            wider = min(8 * width, self._fit_X.shape[0])
            for part in batches(len(tied), 6 * wider):
                rows = tied[part]
                nearest = nearest.replaced(rows, self._widened(X[rows], k, wider))
        return nearest

    def _search(self, X: Any, width: int) -> Neighbors:
        few = X.shape[0] <= _FEW_SAMPLES
        if few and self._is_rounded(X):
            metric = "cosine" if self.metric == "cosine" else "euclidean"
            distances = np.nan_to_num(cdist(X, self._fit_X, metric), nan=1.0)  # of zero samples
            nearest = np.argpartition(distances, width - 1, axis=1)[:, :width]
            found = Neighbors(np.take_along_axis(distances, nearest, axis=1), nearest)
            return found.in_order()
        if self._kd_tree is None or sparse.issparse(X):
            return Neighbors(*super().kneighbors(X, width))
        threads = 1 if few else _openmp_effective_n_threads(self.n_jobs)
        return Neighbors(*self._kd_tree.query(X, np.arange(1, width + 1), workers=threads))

    def _is_rounded(self, X: Any) -> bool:
        """Whether distances come from a matrix product, whose rounding depends on the position."""
        if self._kd_tree is not None or sparse.issparse(X) or sparse.issparse(self._fit_X):
            return False
        return _one_of(self.metric, (*_EUCLIDEAN, "cosine"))

    def _rounding(self, X: Any, distances: NDArray[Any]) -> Any:
        """Return a bound on the rounding errors of the distances."""
        if not self._is_rounded(X):
            return 0
        error = 512 * np.finfo(distances.dtype).eps
        if self.metric == "cosine":
            return error
        squares = row_norms(X, squared=True) + row_norms(self._fit_X, squared=True).max()
        # The error of d follows from that of d², and is largest at zero.
        return distances - np.sqrt(np.maximum(distances**2 - error * squares, 0))

    def _measured(self, X: Any, found: Neighbors) -> Neighbors:
        """Compute distances again, sample by sample, if they come from a matrix product.

        Those depend on the other samples of the query, and differ for equal samples.
        """
        if not self._is_rounded(X):
            return found
        m, k = found.indices.shape
        distances = np.empty((m, k))
        measure = _cosine if self.metric == "cosine" else _euclidean
        for rows in batches(m, 2 * k * X.shape[1], at_most=_CACHED):
            near = self._fit_X[found.indices[rows]].astype(np.float64, copy=False)
            distances[rows] = measure(near, X[rows, np.newaxis])
        return Neighbors(distances, found.indices)


def _one_of(metric: Any, names: tuple[str, ...]) -> bool:
    return isinstance(metric, str) and metric in names


def _squares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.einsum("...p,...p->...", rows, rows)
    return sums


def _euclidean(near: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    return np.sqrt(_squares(near - rows))


def _cosine(near: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return half the squared distances after scaling to unit length; one if a sample is zero."""
    lengths = [np.sqrt(_squares(each.astype(np.float64)))[..., np.newaxis] for each in (near, rows)]
    with np.errstate(invalid="ignore"):
        distances = _squares(near / lengths[0] - rows / lengths[1]) / 2
    return np.where(np.isnan(distances), 1.0, distances)


class GraphSearch(BaseEstimator):
    """Search by an object with the interface of scikit-learn's KNeighborsTransformer.

    Parameters
    ----------
    transformer : object
        Has ``fit(X)``, and ``transform(X)``, which returns a CSR of shape (m, n) that holds the
        distances to neighbours among the n training samples.
    n_neighbors : int
        Number of neighbours that are needed for each sample.
    """

    def __init__(self, transformer: Any, n_neighbors: int) -> None:
        self.transformer = transformer
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the transformer, after raising its `n_neighbors` if it is too low.

        Parameters
        ----------
        X : {array-like, sparse} of shape (n, p)
            Training samples.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted search.
        """
        self.transformer_ = clone(self.transformer, safe=False)
        if getattr(self.transformer_, "n_neighbors", np.inf) < self.n_neighbors:
            self.transformer_.n_neighbors = self.n_neighbors
        self.transformer_.fit(X)
        return self

    def kneighbors(
        self, X: Any, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest of the neighbours that the transformer finds.

        Parameters and order are those of `ExactSearch.kneighbors`.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        graph = sparse.csr_array(self.transformer_.transform(X))
        sizes = np.diff(graph.indptr)
        if len(np.unique(sizes)) > 1 or sizes[0] < k:
            raise ValueError(
                f"{type(self.transformer_).__name__} found {sizes.min()} to {sizes.max()} "
                f"neighbours per sample: it must find the same number for every sample, at least "
                f"{k}."
            )
        shape = (len(sizes), sizes[0])
        found = Neighbors(graph.data.reshape(shape), graph.indices.reshape(shape))
        found = found.in_order().nearest(k)
        return tuple(found) if return_distance else found.indices


def adjacency(
    neighbors: NDArray[np.intp], n: int, weights: NDArray[np.float64] | None = None
) -> sparse.csr_array:
    """Return the neighbours as a matrix A of shape (m, n): A Y sums up their labels.

    Its entries are the weights of the neighbours, shape (m, k), or ones.
    """
    m, k = neighbors.shape
    data = np.ones(m * k) if weights is None else weights.ravel()
    return sparse.csr_array((data, neighbors.ravel(), np.arange(0, m * k + 1, k)), shape=(m, n))


def vote_weights(
    weights: str | Callable[[NDArray[np.float64]], Any], distances: NDArray[Any], k: int
) -> NDArray[np.float64]:
    """Return the weights of the votes of the k nearest samples, shape (m, k).

    Parameters
    ----------
    weights : {"uniform", "distance", "tricube"} or callable
        See :class:`skml_kalda.BinaryRelevanceKNN`.
    distances : array of shape (m, k) or (m, k + 1)
        The distances of the neighbours. The last one is the bandwidth of the tricube.
    k : int
        Number of neighbours that vote.
    """
    distances = distances.astype(np.float64)
    if callable(weights):
        return _checked_votes(weights(distances[:, :k]), (len(distances), k))
    if weights == "uniform":
        return np.ones((len(distances), k))
    if weights == "distance":
        return 1 / np.maximum(_relative(distances[:, :k]), _NEAREST)
    votes: NDArray[np.float64] = (1 - (_FARTHEST * _relative(distances)[:, :k]) ** 3) ** 3
    return votes


def _relative(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distances as shares of the last one, or ones if that is zero."""
    last = distances[:, -1:]
    return np.divide(distances, last, out=np.ones_like(distances), where=last > 0)


def _checked_votes(votes: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    votes = np.asarray(votes, dtype=np.float64)
    if votes.shape != shape:
        raise ValueError(
            f"weights returned an array of shape {votes.shape} for distances of shape {shape}: it "
            "must return one weight for each distance."
        )
    if not (np.isfinite(votes).all() and (votes >= 0).all() and votes.any(axis=1).all()):
        raise ValueError(
            "weights returned a negative or infinite weight, NaN, or only zeros for a sample: "
            "return finite weights >= 0, and a positive one for at least one neighbour."
        )
    return votes


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
        Indicator of unknown labels, on which a sample does not vote.

    Returns
    -------
    CSR of shape (m, K)
        Sparse, because k samples have few of many labels.
    """
    near = adjacency(neighbors, labels.shape[0], weights)
    votes = near @ labels
    if unknown is None:
        # Summed in the same order as the votes, so that a unanimous vote is exactly one.
        votes.data /= np.repeat(weights.cumsum(axis=1)[:, -1], np.diff(votes.indptr))
    else:
        # Added up, because a difference from the total loses small votes of those who know.
        known = np.zeros_like(votes.data)
        rows = np.repeat(np.arange(len(weights)), np.diff(votes.indptr))
        for each, weight in zip(neighbors.T, weights.T, strict=True):
            known += weight[rows] * (1 - at_entries(unknown[each], votes))
        votes.data = ratio(votes.data, known)
    return votes


def at_entries(matrix: sparse.csr_array, of: sparse.csr_array) -> NDArray[np.float64]:
    """Return the entries of `matrix` at the positions of the stored entries of `of`."""
    rows = np.repeat(np.arange(of.shape[0]), np.diff(of.indptr))
    # Without entries SciPy returns a sparse array.
    return np.asarray(matrix[rows, of.indices]) if of.nnz else np.zeros(0)


def neighbor_counts(
    train: Any, labels: sparse.csr_array, test: Any, sizes: Iterable[int]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Count the labels of the k nearest samples, for several k with one search.

    Parameters
    ----------
    train, test : array or CSR of shape (n, p) and (m, p)
        The training samples and the samples of the query.
    labels : CSR of shape (n, K)
        Indicator of the labels of `train`.
    sizes : iterable of int
        The numbers of neighbours.

    Yields
    ------
    k : int
        Number of neighbours, ascending.
    counts : array of shape (m, K)
        How many of the k nearest samples have each label.
    """
    sizes = sorted(sizes)
    nearest = ExactSearch(sizes[-1]).fit(train).kneighbors(test, return_distance=False)
    for k in sizes:
        yield k, (adjacency(nearest[:, :k], labels.shape[0]) @ labels).toarray()
