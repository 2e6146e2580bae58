"""The kernels that KaLDAClassifier chooses from, and their choice by leave-one-out.

A kernel is that of weighted features, at landmarks; its feature map turns samples into features
whose inner products are the kernel. Every space is scored at its best shrinkage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import add, attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skml_kalda._core.arrays import Array, batches
from skml_kalda._core.kernels import (
    LandmarkKernel,
    choose_landmarks,
    inverse_median_distance,
    whitening,
)
from skml_kalda._core.leave_one_out import LeaveOneOut, RidgePath, best_shrinkage
from skml_kalda._core.relevance import FeatureMoments, times
from skml_kalda._core.scatter import PrimalScatter

# The median of the distances of this many samples stands for that of all.
_MEDIAN_SAMPLES = 300
# Parts of the samples, each scored with a relevance computed without its labels.
_FOLDS = 5


class Samples(NamedTuple):
    """Labelled samples, with one label column for each class."""

    X: Any
    """Array or CSR of shape (n, p)."""
    Y: sparse.csr_array
    """Labels 0 and 1, shape (n, K)."""
    unknown: sparse.csr_array
    """One where a label is unknown, shape (n, K)."""
    weight: Array
    """Shape (n,), positive."""

    @property
    def labels(self) -> sparse.csr_array:
        """Y, followed by the columns of `unknown` if it has any entry."""
        return sparse.hstack([self.Y, self.unknown], "csr") if self.unknown.nnz else self.Y

    @property
    def known(self) -> Array | float:
        """Zero where a label is unknown, else one."""
        return 1 - self.unknown.toarray() if self.unknown.nnz else 1.0

    def moments(self) -> FeatureMoments:
        """Return the moments of the features with `labels`."""
        return FeatureMoments.of(self.X, self.labels, self.weight)

    def at(self, chosen: Any) -> Samples:
        """Return some of the samples."""
        return Samples(*(each[chosen] for each in self))

    def drawn(self, n: int, rng: np.random.RandomState) -> Samples:
        """Return n of the samples at random, or all if there are no more."""
        total = len(self.weight)
        return self if total <= n else self.at(np.sort(rng.choice(total, n, replace=False)))


class Space(NamedTuple):
    """A kernel, and how much each feature counts in it."""

    kernel: str
    """ "rbf", "angular", which is rbf of samples of unit length, or "linear"."""
    relevance: tuple[float, ...]
    """Features are multiplied by these powers of their relevance; the kernel is the mean."""
    with_std: bool
    """Whether features are divided by their standard deviations."""

    def factors(self, moments: FeatureMoments) -> list[Array]:
        """Return the factors of the features, one array for each kernel of the mean."""
        factors = [moments.scale(power, with_std=self.with_std) for power in self.relevance]
        if self.kernel != "linear":
            return factors
        # The mean of linear kernels is a linear kernel.
        return [np.sqrt(np.mean(np.square(factors), axis=0))]


class LinearMap:
    """The features of the data, each times its factor."""

    def __init__(self, space: Space, factor: Array | None = None) -> None:
        self._space = space
        self._factor = factor

    def __call__(self, X: Any) -> Any:
        """Return the features of samples; before `fitted_to`, X itself."""
        return X if self._factor is None else times(X, self._factor)

    def fitted_to(self, scatter: PrimalScatter) -> tuple[LinearMap, PrimalScatter]:
        """Compute the factors from all samples of a scatter; return the scatter scaled by them."""
        (factor,) = self._space.factors(FeatureMoments.within(scatter))
        return LinearMap(self._space, factor), scatter.rescaled(factor)

    def values(self, X: Any) -> Any:
        """Return the values of which scores are weighted sums."""
        return X

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return weights if self._factor is None else self._factor[:, None] * weights


class KernelMap:
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
        """Return the features of samples."""
        return self.values(X) @ self._whitening

    def fitted_to(self, scatter: PrimalScatter) -> tuple[KernelMap, PrimalScatter]:
        """Return both unchanged: further samples change neither landmarks nor factors."""
        return self, scatter

    def values(self, X: Any) -> Array:
        """Return the values of which scores are weighted sums: kernel values with landmarks."""
        values = [kernel(times(X, factors)) for factors, kernel in self.kernels]
        return sum(values[1:], start=values[0]) / len(values)

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return self._whitening @ weights


FeatureMap: TypeAlias = LinearMap | KernelMap


class KernelFactory:
    """Makes the feature maps of spaces; all share landmarks, which do not depend on labels.

    Parameters
    ----------
    samples : Samples
        The samples.
    n_landmarks : int
        Number of landmarks, centres of k-means.
    max_features : int
        The linear kernel of no more features than this needs no landmarks.
    widths : sequence of floats
        Values of gamma in units of one over the median squared distance; the kernel is the mean.
    seed : int
        Draws the landmarks, and the samples for the median.
    """

    def __init__(
        self,
        samples: Samples,
        n_landmarks: int,
        max_features: int,
        widths: Sequence[float],
        seed: int,
    ) -> None:
        self.samples = samples
        self.seed = seed
        self._n_landmarks = n_landmarks
        self._max_features = max_features
        self._widths = widths
        self._landmarks: dict[bool, Any] = {}

    def feature_map(self, space: Space, moments: FeatureMoments | None = None) -> FeatureMap:
        """Return the feature map of a space, with the factors that `moments` imply.

        Without them, further samples may follow: the factors are those of the samples here, or,
        if there are no landmarks, of all samples.
        """
        X, Y = self.samples.X, self.samples.Y
        needs_landmarks = space.kernel != "linear" or X.shape[1] > self._max_features
        if moments is None and not needs_landmarks:
            return LinearMap(space)
        moments = (self.samples.moments() if moments is None else moments).filled(Y.shape[1])
        factors = space.factors(moments)
        if not needs_landmarks:
            return LinearMap(space, factors[0])
        landmarks = self._landmarks_for(space.with_std, moments)
        kernels = [(factor, self._kernel(space.kernel, factor, landmarks)) for factor in factors]
        return KernelMap(kernels, landmarks)

    def _kernel(self, kernel: str, factor: Array, landmarks: Any) -> LandmarkKernel:
        points = times(landmarks, factor)
        if kernel == "linear":
            return LandmarkKernel(points, "linear")
        unit_length = kernel == "angular"
        drawn = self.samples.drawn(_MEDIAN_SAMPLES, check_random_state(self.seed))
        X = times(drawn.X, factor)
        unit = inverse_median_distance("rbf", X, drawn.weight, unit_length=unit_length)
        gammas = [unit * width for width in self._widths]
        return LandmarkKernel(points, "rbf", gammas, unit_length=unit_length)

    def _landmarks_for(self, with_std: bool, moments: FeatureMoments) -> Any:
        """Return landmarks that are spread evenly over the scaled features."""
        if with_std not in self._landmarks:
            X, weight = self.samples.X, self.samples.weight
            unit = moments.scale(0, with_std=with_std)
            rng = check_random_state(self.seed)
            chosen = choose_landmarks(times(X, unit), weight, self._n_landmarks, "kmeans", rng)
            self._landmarks[with_std] = times(chosen.points, 1 / unit)
        return self._landmarks[with_std]


class Scored(NamedTuple):
    """A space at its best shrinkage."""

    space: Space
    shrinkage: float
    error: float
    """Leave-one-out squared error, as a share of the variance of the labels."""


def choose_space(
    factory: KernelFactory,
    kernels: Sequence[str],
    with_std: Sequence[bool],
    relevances: Sequence[tuple[float, ...]],
    shrinkages: Sequence[float],
) -> tuple[Space, list[Scored]]:
    """Return the best space and all that were scored: kernels first, then relevances.

    Kernels and `with_std` are compared at the middle relevance, which favours them all equally.
    Relevances are cross-fitted: no sample is scored by a relevance computed from its own labels.
    This costs a decomposition for each fold, and shows how much relevance is best.
    """
    samples = factory.samples
    n, K = samples.Y.shape
    order = np.random.RandomState(factory.seed).permutation(n)
    folds = np.array_split(order, min(_FOLDS, n))
    moments = [samples.at(fold).moments() for fold in folds]

    def left_out_of(space: Space, parts: list[FeatureMoments], scored: Any) -> LeaveOneOut:
        feature_map = factory.feature_map(space, reduce(add, parts))
        path = RidgePath.of(feature_scatter(feature_map, samples).filled(K))
        return left_out(path, feature_map, samples.at(scored))

    def score(space: Space, *, cross_fitted: bool) -> Scored:
        if cross_fitted and any(space.relevance) and len(folds) > 1:
            parts = [
                left_out_of(space, moments[:i] + moments[i + 1 :], fold)
                for i, fold in enumerate(folds)
            ]
        else:
            parts = [left_out_of(space, moments, slice(None))]
        return Scored(space, *best_shrinkage(parts, shrinkages))

    middle = relevances[len(relevances) // 2]
    spaces = [Space(kernel, middle, std) for kernel, std in product(kernels, with_std)]
    by_kernel = [score(space, cross_fitted=False) for space in spaces if len(spaces) > 1]
    best = min(by_kernel, key=attrgetter("error")).space if by_kernel else spaces[0]
    if len(relevances) == 1:
        return best, by_kernel
    by_relevance = [score(best._replace(relevance=r), cross_fitted=True) for r in relevances]
    return min(by_relevance, key=attrgetter("error")).space, by_kernel + by_relevance


def feature_scatter(feature_map: FeatureMap, samples: Samples) -> PrimalScatter:
    """Add up the features of the samples, a batch at a time."""
    X, labels, weight = samples.X, samples.labels, samples.weight
    slices = batches(X.shape[0], 8 * max(X.shape[1], 1000))
    return reduce(add, (PrimalScatter.of(feature_map(X[i]), labels[i], weight[i]) for i in slices))


def left_out(path: RidgePath, feature_map: FeatureMap, samples: Samples) -> LeaveOneOut:
    """Prepare the leave-one-out scores of samples that the path was fitted to."""
    features = feature_map(samples.X)
    return path.without_each(features, samples.Y.toarray(), samples.weight, samples.known)
