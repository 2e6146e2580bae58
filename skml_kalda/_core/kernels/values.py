"""Kernels at landmarks: their values, their width, and the features they stand for.

A function in the feature space of a kernel is a sum of kernel values with some landmarks. With
K the kernel of the landmarks and k(x) the values of a row with them, k(x) K^(-½) are features
whose inner products are the kernel: exactly if all rows are landmarks, and in the Nyström
approximation if there are fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    KERNEL_PARAMS,
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
)
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._core.arrays import Array, canonical, check_columns
from skml_kalda._core.symmetric import RANGE_RTOL, positive_eigenpairs

# The median of the distances of this many rows, drawn at random, stands for that of all.
MANY_ROWS = 1000
# Its square, and four times that, are floats.
_LARGEST = np.sqrt(np.finfo(np.float64).max) / 4
# Below this, squares lose digits.
_SMALLEST = np.sqrt(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
# The cosine is the linear kernel of rows of unit length.
_LINEAR = ("linear", "cosine")
# These kernels do not change when all rows are shifted together.
_TRANSLATION_INVARIANT = ("rbf", "laplacian")


class LandmarkKernel:
    """Kernel values of rows with landmarks, in float64 and free of large offsets.

    The linear and the cosine kernel are taken about the mean c of the landmarks,
    (x − c)ᵀ(l − c). If the features are centred afterwards, this changes no result; it only
    loses fewer digits.

    Parameters
    ----------
    landmarks : array or sparse of shape (m, p), or array of m ints
        The landmarks; the indices of their rows if the kernel is precomputed.
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
        Whether rows and landmarks are scaled to unit length first.
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
            self._seen = _SeenRows(landmarks, kernel, unit_length=self.unit_length)
            self._seen_landmarks = self._seen(landmarks)

    def __call__(self, X: Any) -> Array:
        """Return the kernel values of the rows of X, shape (n, m)."""
        if self.kernel == "precomputed":
            return np.asarray(float_rows(X[:, self.landmarks], as_sparse=False))
        rows = self._seen(X)
        if self.kernel in _LINEAR:
            return _products_about_mean(rows, self._seen_landmarks)
        return self._mean_values(rows)

    def _mean_values(self, rows: Any) -> Array:
        if len(self.gammas) == 1:
            return np.asarray(self._values(rows, self.gammas[0]))
        if self.kernel not in _TRANSLATION_INVARIANT or self.gammas[0] is None:
            return sum(self._values(rows, gamma) for gamma in self.gammas) / len(self.gammas)
        # exp(−γd) to the power γ'/γ is exp(−γ'd): one pass over the distances serves all.
        values = [self._values(rows, self.gammas[0])]
        for gamma, wider in zip(self.gammas[1:], self.gammas[:-1], strict=True):
            values.append(_power(values[-1], gamma / wider))
        return sum(values[1:], start=values[0]) / len(values)

    def _values(self, rows: Any, gamma: float | None) -> Any:
        given = {} if gamma is None else {"gamma": gamma}
        return pairwise_kernels(
            rows,
            self._seen_landmarks,
            metric=self.kernel,
            n_jobs=self._n_jobs,
            **self.params,
            **given,
        )

    def of_landmarks(self, X: Any = None) -> Array:
        """Return the kernel values of the landmarks, (m, m); only a precomputed kernel needs X."""
        return self(X[self.landmarks] if self.kernel == "precomputed" else self.landmarks)


def _power(values: Array, exponent: float) -> Array:
    """Raise to a power, by repeated squaring if possible, which is many times faster."""
    squarings = np.log2(exponent)
    if squarings != int(squarings):
        return values**exponent
    for _ in range(int(squarings)):
        values = values * values
    return values


class _SeenRows:
    """Rows as a kernel sees them: float64, in the form of the landmarks, about their mean."""

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
        return rows if self._origin is None else _shifted(rows, self._origin)


def float_rows(X: Any, *, as_sparse: bool) -> Any:
    """Return X in float64, dense or as CSR without duplicates; the caller's X is unchanged."""
    if not as_sparse:
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    rows = canonical(sparse.csr_array(X).astype(np.float64, copy=False))
    if rows.indices.dtype != np.int32 and max(*rows.shape, rows.nnz) < 2**31:
        # scikit-learn's laplacian kernel accepts no other indices.
        parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows = sparse.csr_array(parts, shape=rows.shape)
    return rows


def _origin(rows: Any) -> Array:
    """Return the mean of the rows; zero in the columns of sparse rows that have zeros.

    Such a column has no large offset: its mean is at most of the size of its spread.
    """
    if not sparse.issparse(rows):
        return np.asarray(rows[0] + (rows - rows[0]).mean(axis=0))
    full = np.bincount(rows.indices, minlength=rows.shape[1]) == rows.shape[0]
    return np.where(full, np.asarray(rows.mean(axis=0)).ravel(), 0)


def _shifted(rows: Any, origin: Array) -> Any:
    """Return rows minus the origin; the columns of sparse rows are in another order."""
    if not sparse.issparse(rows):
        return rows - origin
    moved = origin != 0
    if not moved.any():
        return rows
    block = sparse.csr_array(rows[:, np.flatnonzero(moved)].toarray() - origin[moved])
    return sparse.hstack([block, rows[:, np.flatnonzero(~moved)]], format="csr")


def _products_about_mean(rows: Any, landmarks: Any) -> Array:
    """Return (x − c)ᵀ(l − c) for the mean c of the landmarks; sparse rows stay sparse."""
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
    """Return one over the median distance of two rows drawn by weight; one if that is zero."""
    rows = _SeenRows(X, kernel, unit_length=unit_length)(X)
    squared = kernel == "rbf"
    distance = euclidean_distances(rows, squared=True) if squared else manhattan_distances(rows)
    share = weight / weight.max()  # products of weights may overflow or underflow
    median = _weighted_median(distance, np.outer(share, share))
    return 1.0 if median == 0 else 1 / median


def _weighted_median(values: Array, weight: Array) -> float:
    order = np.argsort(values, axis=None)
    share = np.cumsum(weight.ravel()[order])
    return float(values.ravel()[order[np.searchsorted(share, share[-1] / 2)]])


def whitening(K: Array, dtype: Any = np.float64) -> Array:
    """Return K^(-½) on the range of symmetric K, shape (m, rank).

    Repeated landmarks leave null directions, which must not count as features. Directions below
    the precision of K are left out too: `dtype` is the type in which its values were rounded.
    That is double precision for all kernels that are computed here, also on float32 rows. Rounded
    rows have a kernel of their own, whose small eigenvalues are those of its features.
    """
    rtol = max(RANGE_RTOL, float(np.finfo(dtype).eps))
    values, vectors = positive_eigenpairs((K + K.T) / 2, rtol, eigh=np.linalg.eigh)
    return vectors / np.sqrt(values)


def check_distances(X: Any, names: Any = None, *, query: bool = False) -> None:
    """Raise if squared distances of rows may be too large for floats, or are too small.

    Rows of a query may be as small as they like, because the others are not.
    """
    if X.shape[0] == 0:
        return
    size = np.maximum(_dense(X.max(axis=0)), -_dense(X.min(axis=0)))
    # Two rows are at most 2 max|x_j| apart in feature j, and there are p features.
    check_columns(size > _LARGEST / np.sqrt(X.shape[1]), "large", names)
    if size.max() < _SMALLEST and not query:
        check_columns(size > 0, "small", names)


def _dense(row: Any) -> Array:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def check_square(X: Any) -> None:
    """Raise if X is not square, as the kernel of rows with one another is."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X has shape {X.shape}, but a precomputed kernel must be square: pass the "
            "kernel values of all training rows with one another."
        )
