"""The spaces to choose from: kernels of weighted features, at landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels import choose_landmarks
from skml_kalda._core.kernels import LandmarkKernel, inverse_median_distance, whitening
from skml_kalda._core.relevance import FeatureMoments, times
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda.classifiers._labelled_rows import Rows

# The median of the distances of this many rows stands for that of all.
_MEDIAN_ROWS = 300


@dataclass(frozen=True)
class Space:
    """A kernel, and how much each feature counts in it."""

    kernel: str
    """ "rbf", "angular", which is rbf of rows of unit length, or "linear"."""
    relevance: tuple[float, ...]
    """Features are multiplied by these powers of their relevance; the kernel is the mean."""
    with_std: bool
    """Whether features are divided by their standard deviations."""

    @property
    def sees_labels(self) -> bool:
        """Whether the kernel depends on labels."""
        return any(self.relevance)

    def factors(self, moments: FeatureMoments) -> list[Array]:
        """Return the factors of the features, one array for each kernel of the mean."""
        factors = [moments.scale(power, with_std=self.with_std) for power in self.relevance]
        if self.kernel != "linear":
            return factors
        # The mean of linear kernels is a linear kernel.
        return [np.sqrt(np.mean(np.square(factors), axis=0))]


class LinearFeatures:
    """The features of the data, each times its factor."""

    def __init__(self, space: Space, factor: Array | None = None) -> None:
        self._space = space
        self._factor = factor

    def __call__(self, X: Any) -> Any:
        """Return the features of rows; before `fitted_to`, X itself."""
        return X if self._factor is None else times(X, self._factor)

    def fitted_to(self, scatter: PrimalScatter) -> tuple[LinearFeatures, PrimalScatter]:
        """Compute the factors from all rows of a scatter; return the scatter scaled by them."""
        (factor,) = self._space.factors(FeatureMoments.within(scatter))
        return LinearFeatures(self._space, factor), scatter.rescaled(factor)

    def values(self, X: Any) -> Any:
        """Return the values of which scores are weighted sums."""
        return X

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return weights if self._factor is None else self._factor[:, None] * weights


class KernelFeatures:
    """Features whose inner products are the mean of some kernels, each of weighted features.

    Parameters
    ----------
    kernels : sequence of (factors, LandmarkKernel)
        Factors of the features of the data, and the kernel of the product.
    landmarks : array or CSR
        The landmarks of all kernels.
    """

    def __init__(self, kernels: Sequence[tuple[Array, LandmarkKernel]], landmarks: Any) -> None:
        self.kernels = kernels
        self._whitening = whitening(self.values(landmarks))

    def __call__(self, X: Any) -> Array:
        """Return the features of rows."""
        return self.values(X) @ self._whitening

    def fitted_to(self, scatter: PrimalScatter) -> tuple[KernelFeatures, PrimalScatter]:
        """Return both unchanged: further rows change neither landmarks nor factors."""
        return self, scatter

    def values(self, X: Any) -> Array:
        """Return the values of which scores are weighted sums: kernel values with landmarks."""
        values = [kernel(times(X, factors)) for factors, kernel in self.kernels]
        return sum(values[1:], start=values[0]) / len(values)

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return self._whitening @ weights


Features: TypeAlias = LinearFeatures | KernelFeatures


class Landscape:
    """The landmarks that all spaces on the same rows share; they do not depend on labels.

    Parameters
    ----------
    rows : Rows
        The rows.
    n_landmarks : int
        Number of landmarks, centres of k-means.
    many_features : int
        The linear kernel of no more features than this needs no landmarks.
    widths : sequence of floats
        Values of gamma in units of one over the median squared distance; the kernel is the mean.
    seed : int
        Draws the landmarks, and the rows for the median.
    """

    def __init__(
        self, rows: Rows, n_landmarks: int, many_features: int, widths: Sequence[float], seed: int
    ) -> None:
        self.rows = rows
        self._n_landmarks = n_landmarks
        self._many_features = many_features
        self._widths = widths
        self._seed = seed
        self._landmarks: dict[bool, Any] = {}

    def first_features(self, space: Space) -> Features:
        """Return the features of a space for the first rows; further rows may follow."""
        if self._has_features_of_data(space):
            return LinearFeatures(space)
        return self.features(space, self.rows.moments().filled(self.rows.Y.shape[1]))

    def features(self, space: Space, moments: FeatureMoments) -> Features:
        """Return the features of a space, with the factors that `moments` imply."""
        factors = space.factors(moments)
        if self._has_features_of_data(space):
            return LinearFeatures(space, factors[0])
        landmarks = self._landmarks_for(space.with_std, moments)
        kernels = [(factor, self._kernel(space.kernel, factor, landmarks)) for factor in factors]
        return KernelFeatures(kernels, landmarks)

    def _has_features_of_data(self, space: Space) -> bool:
        """Whether a space is solved in the features of the data, and not at landmarks."""
        return space.kernel == "linear" and self.rows.X.shape[1] <= self._many_features

    def _kernel(self, kernel: str, factor: Array, landmarks: Any) -> LandmarkKernel:
        points = times(landmarks, factor)
        if kernel == "linear":
            return LandmarkKernel(points, "linear")
        unit_length = kernel == "angular"
        rows = self.rows.drawn(_MEDIAN_ROWS, check_random_state(self._seed))
        X = times(rows.X, factor)
        unit = inverse_median_distance("rbf", X, rows.weight, unit_length=unit_length)
        gammas = [unit * width for width in self._widths]
        return LandmarkKernel(points, "rbf", gammas, unit_length=unit_length)

    def _landmarks_for(self, with_std: bool, moments: FeatureMoments) -> Any:
        """Return landmarks that are spread evenly over the scaled features."""
        if with_std not in self._landmarks:
            X, weight = self.rows.X, self.rows.weight
            unit = moments.scale(0, with_std=with_std)
            rng = check_random_state(self._seed)
            chosen = choose_landmarks(times(X, unit), weight, self._n_landmarks, "kmeans", rng)
            self._landmarks[with_std] = times(chosen.points, 1 / unit)
        return self._landmarks[with_std]
