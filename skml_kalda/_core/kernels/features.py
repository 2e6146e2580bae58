"""The features of a kernel at landmarks, and their moments, which can be added up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, gen_batches

from skml_kalda._core.arrays import Array, batches
from skml_kalda._core.kernels.landmarks import LandmarkChoice, Landmarks, choose_landmarks
from skml_kalda._core.kernels.values import (
    LandmarkKernel,
    check_distances,
    check_square,
    has_gamma,
    median_gamma,
    whitening,
)
from skml_kalda._core.orthonormal import with_signs
from skml_kalda._core.scatter import MomentScatter, Spectrum

# Up to this many rows, all are landmarks; more would cost more than they add.
MANY_LANDMARKS = 1000
# Rows per landmark to choose from, if rows come in batches or blocks.
_ROWS_PER_LANDMARK = 10
# Moments of kernel values are added up and turned into those of features at the end. That loses
# twice as many digits as the condition number of the landmarks' kernel has, so a worse kernel is
# brought to this one first.
_CONDITION = 1e4
# Kernel values of a block: 8 MB stay in the cache, 2048 rows hide the cost of adding up m × m.
_NUMBERS, _ROWS = 2**20, 2048
# Rows whose kernel values, and an array like them, stay in the nearest cache.
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
    whitening: Array
    """W, shape (m, r)."""

    @classmethod
    def of(
        cls, kernel: LandmarkKernel, landmarks: Landmarks, gamma: float | None
    ) -> KernelFeatures:
        """Decompose the kernel of the landmarks on its range."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernel(landmarks.points)
        check_kernel(K)
        given = landmarks.points.dtype if kernel.kernel == "precomputed" else np.float64
        W = whitening(K, given)
        return cls(kernel, landmarks, gamma, with_signs(W))

    def __call__(self, X: Any) -> Array:
        """Return the features of the rows of X, shape (n, r), in the precision of X."""
        return self.functions(X, self.whitening)

    def functions(self, X: Any, A: Array, offset: Array | float = 0.0) -> Array:
        """Return k(x) A − offset for the rows of X, shape (n, k), in the precision of X."""
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        values = np.empty((X.shape[0], A.shape[1]), dtype=X.dtype)
        for rows in self._blocks(X):
            values[rows] = self.kernel(X[rows]) @ A - offset
        return values

    def scatter(self, X: Any, labels: Any, weight: Array) -> MomentScatter:
        """Add up the kernel values of rows, block by block; see `of_features`."""
        with np.errstate(over="ignore", invalid="ignore"):  # checked before solving
            return MomentScatter.of_blocks(
                (self._coordinates(X[rows]), labels[rows], weight[rows]) for rows in self._blocks(X)
            )

    def of_features(self, scatter: MomentScatter) -> MomentScatter:
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
        """Whether it is cheaper to map every row to its features before adding up."""
        m, r = self.whitening.shape
        lead = np.count_nonzero(self._deflation < 1)
        return bool(2 * m * r + r**2 < 4 * m * lead + m**2)

    def _blocks(self, X: Any) -> Iterator[slice]:
        m = len(self.whitening)
        return batches(X.shape[0], m, at_most=max(_NUMBERS, _ROWS * m))


def check_kernel(values: Array) -> None:
    """Raise if kernel values, or squares of them, are too large for floats."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The kernel of X has values that are not finite, or too large to be squared: use "
            "another unit, for example with a StandardScaler in front, or another kernel."
        )


@dataclass(frozen=True)
class FeatureChoice:
    """How features are chosen for some rows, with the parameters of `LandmarkFeatures`."""

    n_landmarks: int | Literal["auto"] = "auto"
    kernel: Any = "rbf"
    gamma: float | Literal["median"] | None = "median"
    landmarks: LandmarkChoice = "kmeans"
    kernel_params: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    feature_names: Any = None

    def of(self, X: Any, weight: Array) -> KernelFeatures:
        """Choose the landmarks and the width of the kernel."""
        return self.at(self.landmarks_of(X, weight), X, weight)

    def at(self, landmarks: Landmarks, X: Any, weight: Array) -> KernelFeatures:
        """Choose the width of the kernel for given landmarks."""
        gamma = self._gamma(X, weight)
        given = landmarks.indices if self.kernel == "precomputed" else landmarks.points
        kernel = LandmarkKernel(given, self.kernel, gamma, self.kernel_params, self.n_jobs)
        return KernelFeatures.of(kernel, landmarks, gamma)

    def landmarks_of(self, X: Any, weight: Array) -> Landmarks:
        """Choose the landmarks, the same for all kernels of the same `unit_length`."""
        n, wanted = np.count_nonzero(weight), self._most_landmarks
        if n == 0:
            raise ValueError("X has no row of positive weight to choose landmarks from.")
        if self.n_landmarks != "auto" and wanted > n:
            raise ValueError(
                f"n_landmarks={wanted} is more than the {n} rows of positive weight: pass fewer."
            )
        choice = self.landmarks
        if self.kernel == "precomputed":
            check_square(X)
            choice = "random"
        else:
            check_distances(X, self.feature_names)
        rng = check_random_state(self.random_state)
        return choose_landmarks(X, weight, wanted, choice, rng, unit_length=self.unit_length)

    @property
    def unit_length(self) -> bool:
        """Whether the kernel sees rows of unit length."""
        return bool(self.kernel == "cosine")

    @property
    def n_rows(self) -> int:
        """Number of rows to choose from if not all are in memory."""
        return _ROWS_PER_LANDMARK * self._most_landmarks

    @property
    def _most_landmarks(self) -> int:
        return MANY_LANDMARKS if self.n_landmarks == "auto" else self.n_landmarks

    def _gamma(self, X: Any, weight: Array) -> float | None:
        if not has_gamma(self.kernel):
            return None
        if self.gamma != "median":
            return self.gamma
        return median_gamma(self.kernel, X, weight, check_random_state(self.random_state))
