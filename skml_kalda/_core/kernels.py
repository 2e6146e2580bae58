"""Kernels: their values at landmarks, the landmarks, and the features they stand for.

A function in the feature space of a kernel is a sum of kernel values with some landmarks. With
K the kernel of the landmarks and k(x) the values of a sample with them, k(x) K^(-½) are features
whose inner products are the kernel: exactly if all samples are landmarks, and in the Nyström
approximation if there are fewer. A linear method on these features is a kernel method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.metrics.pairwise import (
    KERNEL_PARAMS,
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
)
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.extmath import randomized_svd, safe_sparse_dot

from skml_kalda._core.arrays import Array, batches, sum_duplicates
from skml_kalda._core.centred import full_column_shift, wholly_shifted
from skml_kalda._core.eigenproblem import RANGE_RTOL, positive_eigenpairs, with_signs
from skml_kalda._core.scatter import PrimalScatter, Spectrum

# The median of the distances of this many samples, drawn at random, stands for that of all.
MANY_ROWS = 1000
# The cosine is the linear kernel of samples of unit length.
_LINEAR = ("linear", "cosine")
# These kernels do not change when all samples are shifted together.
_TRANSLATION_INVARIANT = ("rbf", "laplacian")


class LandmarkKernel:
    """Kernel values of samples with landmarks, in float64 and free of large offsets.

    The linear and the cosine kernel are taken about the mean c of the landmarks,
    (x − c)ᵀ(l − c). If the features are centred afterwards, this changes no result; it only
    loses fewer digits.

    Parameters
    ----------
    landmarks : array or sparse of shape (m, p), or array of m ints
        The landmarks; the indices of their samples if the kernel is precomputed.
    kernel : str or callable, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`, or "precomputed".
    gamma : float or sequence of floats, default=None
        Parameter of the kernel, if it has one; None is scikit-learn's default. For
        several values, the kernel is the mean of theirs.
    params : mapping, default=None
        Further parameters of the kernel.
    n_jobs : int, default=None
        Number of jobs for the kernel.
    unit_length : bool, default=False
        Whether samples and landmarks are scaled to unit length first.
    """

    def __init__(
        self,
        landmarks: Any,
        kernel: Any = "rbf",
        gamma: float | Sequence[float] | None = None,
        params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        *,
        unit_length: bool = False,
    ) -> None:
        self.kernel = kernel
        self.landmarks = landmarks
        self.params = dict(params or {})
        self.unit_length = unit_length or kernel == "cosine"
        self._n_jobs = n_jobs
        self.gammas = (
            [None] if gamma is None or not has_gamma(kernel) else np.sort(np.atleast_1d(gamma))
        )
        if kernel != "precomputed":
            self._seen = _KernelInput(landmarks, kernel, unit_length=self.unit_length)
            self._seen_landmarks = self._seen(landmarks)

    def __call__(self, X: Any) -> Array:
        """Return the kernel values of the samples of X, shape (n, m)."""
        if self.kernel == "precomputed":
            return np.asarray(float_rows(X[:, self.landmarks], as_sparse=False))
        rows = self._seen(X)
        if self.kernel in _LINEAR:
            return _products_about_mean(rows, self._seen_landmarks)
        return self._mean_values(rows)

    def _mean_values(self, rows: Any) -> Array:
        if len(self.gammas) == 1:
            return np.asarray(self._values(rows, self.gammas[0]))
        # exp(−γd) to the power γ'/γ is exp(−γ'd): one pass over the distances serves all.
        values = [self._values(rows, self.gammas[0])]
        for gamma, wider in zip(self.gammas[1:], self.gammas[:-1], strict=True):
            values.append(_power(values[-1], gamma / wider))
        return sum(values[1:], start=values[0]) / len(values)

    def _values(self, rows: Any, gamma: float | None) -> Any:
        if self.kernel == "rbf" and gamma is not None and self._n_jobs is None:
            # As rbf_kernel does, without checking small arrays six times over.
            exponents = euclidean_distances(rows, self._seen_landmarks, squared=True)
            exponents *= -gamma
            return np.exp(exponents, out=exponents)
        given = {} if gamma is None else {"gamma": gamma}
        return pairwise_kernels(
            rows,
            self._seen_landmarks,
            metric=self.kernel,
            n_jobs=self._n_jobs,
            **self.params,
            **given,
        )


def _power(values: Array, exponent: float) -> Array:
    """Raise to a power, by repeated squaring if possible, which is many times faster."""
    squarings = np.log2(exponent)
    if squarings != int(squarings):
        return values**exponent
    for _ in range(int(squarings)):
        values = values * values
    return values


class _KernelInput:
    """Samples as a kernel sees them: float64, in the form of the landmarks, about their mean."""

    def __init__(self, landmarks: Any, kernel: Any, *, unit_length: bool = False) -> None:
        self._is_sparse = sparse.issparse(landmarks)
        self._unit_length = unit_length or kernel == "cosine"
        self._origin: Array | None = None
        if kernel in (*_LINEAR, *_TRANSLATION_INVARIANT):
            self._origin = _origin(self(landmarks))

    def __call__(self, X: Any) -> Any:
        rows = float_rows(X, as_sparse=self._is_sparse)
        if self._unit_length:
            rows = normalize(rows)
        if self._origin is None:
            return rows
        return wholly_shifted(rows, self._origin) if self._is_sparse else rows - self._origin


def float_rows(X: Any, *, as_sparse: bool) -> Any:
    """Return X in float64, dense or as CSR without duplicates; the caller's X is unchanged."""
    if not as_sparse:
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    rows = sum_duplicates(sparse.csr_array(X).astype(np.float64, copy=False))
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:
        # scikit-learn's laplacian kernel accepts no other indices.
        parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array(parts, shape=rows.shape)
    return rows


def _origin(rows: Any) -> Array:
    """Return the mean of the samples, or where the large offsets of sparse ones begin."""
    if sparse.issparse(rows):
        return full_column_shift(rows)
    return np.asarray(rows[0] + (rows - rows[0]).mean(axis=0))


def _products_about_mean(rows: Any, landmarks: Any) -> Array:
    """Return (x − c)ᵀ(l − c) for the mean c of the landmarks; sparse samples stay sparse."""
    mean = np.asarray(landmarks.mean(axis=0)).ravel()
    products: Array = safe_sparse_dot(rows, landmarks.T, dense_output=True)
    products -= (rows @ mean)[:, None]
    products -= landmarks @ mean
    products += mean @ mean
    return products


def has_gamma(kernel: Any) -> bool:
    """Whether the kernel has a parameter gamma that scikit-learn knows of."""
    return isinstance(kernel, str) and "gamma" in KERNEL_PARAMS.get(kernel, ())


def median_gamma(kernel: Any, X: Any, weight: Array, rng: np.random.RandomState) -> float | None:
    """Return one over the median distance; None if the kernel does not depend on distances."""
    if kernel not in _TRANSLATION_INVARIANT:
        return None
    drawn = np.flatnonzero(weight)
    if len(drawn) > MANY_ROWS:
        drawn = rng.choice(drawn, MANY_ROWS, replace=False)
    return inverse_median_distance(kernel, X[drawn], weight[drawn])


def inverse_median_distance(
    kernel: str, X: Any, weight: Array, *, unit_length: bool = False
) -> float:
    """Return one over the median distance of two samples drawn by weight; one if that is zero."""
    rows = _KernelInput(X, kernel, unit_length=unit_length)(X)
    squared = kernel == "rbf"
    distance = euclidean_distances(rows, squared=True) if squared else manhattan_distances(rows)
    share = weight / weight.max()  # products of weights may overflow or underflow
    median = _weighted_median(distance, np.outer(share, share))
    return 1.0 if median == 0 else 1 / median


def _weighted_median(values: Array, weight: Array) -> float:
    if np.all(weight == weight.flat[0]):
        middle = (values.size - 1) // 2
        return float(np.partition(values, middle, axis=None)[middle])
    order = np.argsort(values, axis=None)
    share = np.cumsum(weight.ravel()[order])
    return float(values.ravel()[order[np.searchsorted(share, share[-1] / 2)]])


def whitening(K: Array, dtype: Any = np.float64) -> Array:
    """Return K^(-½) on the range of symmetric K, shape (m, rank).

    Repeated landmarks leave null directions, which must not count as features. Directions below
    the precision of K are left out too: `dtype` is the type in which its values were rounded.
    That is double precision for all kernels that are computed here, also on float32 samples.
    Rounded samples have a kernel of their own, whose small eigenvalues are those of its features.
    """
    rtol = max(RANGE_RTOL, float(np.finfo(dtype).eps))
    values, vectors = positive_eigenpairs((K + K.T) / 2, rtol, eigh=np.linalg.eigh)
    return vectors / np.sqrt(values)


LandmarkChoice: TypeAlias = Literal["kmeans", "random"]

# Samples drawn for each centre of k-means, and the number of its steps: landmarks need to be well
# spread, not converged.
_ROWS_PER_CENTRE = 10
_STEPS = 5
# Singular directions in which sparse samples are clustered.
_DIRECTIONS = 64


class Landmarks(NamedTuple):
    """The landmarks of some samples."""

    # Array or CSR of shape (m, p).
    points: Any
    # Indices of the landmarks among the samples; None if they are centres of samples.
    indices: NDArray[np.intp] | None


def choose_landmarks(
    X: Any,
    weight: Array,
    n_landmarks: int,
    choice: LandmarkChoice,
    rng: np.random.RandomState,
    *,
    unit_length: bool = False,
) -> Landmarks:
    """Choose landmarks among the samples of positive weight: all of them if they are few enough.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
        The data.
    weight : array of shape (n,)
        Weights of the samples.
    n_landmarks : int
        Number of landmarks. If samples repeat, there may be fewer centres.
    choice : {"kmeans", "random"}
        Centres of clusters, or samples drawn at random. Centres of sparse samples would be dense,
        so the sample nearest to each centre is used instead.
    rng : RandomState
        Draws the samples.
    unit_length : bool, default=False
        Whether samples are scaled to unit length before clustering, as for the cosine kernel.
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
    # ravel: in NumPy 2.0.0 the inverse has the shape (n, 1).
    means.fit(distinct.astype(np.float64), sample_weight=np.bincount(of.ravel(), weight))
    return np.asarray(means.cluster_centers_.astype(X.dtype))


def _medoids(X: Any, weight: Array, n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return the indices of the sparse samples that are nearest to a centre."""
    points = _leading_directions(X, rng)
    nearest = pairwise_distances_argmin(_centres(points, weight, n, rng), points)
    return np.asarray(np.unique(nearest))


def _leading_directions(X: Any, rng: np.random.RandomState) -> Array:
    """Return sparse samples in few dimensions that keep most of their distances."""
    rows = float_rows(X, as_sparse=True)
    left, values, _ = randomized_svd(rows, min(_DIRECTIONS, *rows.shape), random_state=rng)
    return np.asarray(left * values)


# Up to this many samples, all are landmarks; more would cost more than they add.
MANY_LANDMARKS = 1000
# Samples per landmark to choose from, if they come in batches or blocks.
ROWS_PER_LANDMARK = 10
# Moments of kernel values are added up and turned into those of features at the end. That loses
# twice as many digits as the condition number of the landmarks' kernel has, so a worse kernel is
# brought to this one first.
_CONDITION = 1e4
# Kernel values of a block: 8 MB stay in the cache, 2048 samples hide the cost of adding up m × m.
_NUMBERS, _ROWS = 2**20, 2048
# Samples whose kernel values, and an array like them, stay in the nearest cache.
_CACHED_ROWS = 256


@dataclass(frozen=True)
class KernelFeatures:
    """φ(x) = k(x) W: k(x) the kernel values of x with the landmarks, W = K^(-½) on its range.

    K holds the kernel values of the landmarks with one another. The features are sorted by
    descending eigenvalue of K and have fixed signs.
    """

    kernel: LandmarkKernel
    landmarks: Landmarks
    gamma: float | None
    # W, shape (m, r).
    whitening: Array

    @classmethod
    def of(cls, kernel: LandmarkKernel, landmarks: Landmarks, gamma: float | None) -> Self:
        """Decompose the kernel of the landmarks on its range."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernel(landmarks.points)
        check_kernel(K)
        given = landmarks.points.dtype if kernel.kernel == "precomputed" else np.float64
        W = whitening(K, given)
        return cls(kernel, landmarks, gamma, with_signs(W))

    def scatter(self, X: Any, labels: Any, weight: Array) -> PrimalScatter:
        """Add up the kernel values of samples, block by block; see `of_features`."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked before solving
            return PrimalScatter.of_blocks(
                (self._coordinates(X[rows]), labels[rows], weight[rows])
                for rows in _blocks(X, len(self.whitening))
            )

    def of_features(self, scatter: PrimalScatter) -> PrimalScatter:
        """Turn a sum of results of `scatter` into the scatter of the features."""
        if self._maps_first:
            return scatter
        return scatter.mapped(self.whitening / self._deflation)

    def _coordinates(self, X: Any) -> Array:
        values = self.kernel(X)
        if self._maps_first:
            return values @ self.whitening
        lead = self._deflation < 1
        if lead.any():
            U = self._eigenpairs.basis[:, lead]
            back = (1 - self._deflation[lead])[:, None] * U.T
            for rows in gen_batches(len(values), _CACHED_ROWS):
                values[rows] -= (values[rows] @ U) @ back
        return values

    @cached_property
    def _eigenpairs(self) -> Spectrum:
        """K on its range."""
        values = 1 / np.sum(self.whitening**2, axis=0)
        return Spectrum(values, self.whitening * np.sqrt(values))

    @cached_property
    def _deflation(self) -> Array:
        """Factors, at most one, of the eigenvectors of K that make it well-conditioned, shape (r,).

        Moments are about the mean, so what counts is how much kernel values vary along an
        eigenvector. Few vary too much, and to scale only those down costs little.
        """
        values, basis = self._eigenpairs
        means = basis.mean(axis=0)
        spread = values * np.sqrt(np.maximum(1 - len(basis) * means**2, 0))
        largest = _CONDITION * values.min(initial=np.inf)
        return np.where(spread > largest, largest / np.where(spread > 0, spread, 1), 1.0)

    @cached_property
    def _maps_first(self) -> bool:
        """Whether it is cheaper to map every sample to its features before adding up."""
        m, r = self.whitening.shape
        lead = np.count_nonzero(self._deflation < 1)
        return bool(2 * m * r + r**2 < 4 * m * lead + m**2)


def functions(kernel: LandmarkKernel, X: Any, A: Array, offset: Array | float = 0.0) -> Array:
    """Return k(x) A − offset for the samples of X, shape (n, k), in the precision of X."""
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    values = np.empty((X.shape[0], A.shape[1]), dtype=X.dtype)
    for rows in _blocks(X, len(A)):
        values[rows] = kernel(X[rows]) @ A - offset
    return values


def _blocks(X: Any, m: int) -> Iterator[slice]:
    """Yield slices of the samples of X whose values at m landmarks stay in the cache."""
    return batches(X.shape[0], m, at_most=max(_NUMBERS, _ROWS * m))


def check_kernel(values: Array) -> None:
    """Raise if kernel values, or squares of them, are too large for floats."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The kernel of X has values that are not finite, or too large to be squared: use "
            "another unit, for example a StandardScaler before this estimator, or another kernel."
        )
