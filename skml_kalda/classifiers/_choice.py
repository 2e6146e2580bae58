"""The kernels that KaLDAClassifier chooses from, and their choice by leave-one-out.

A kernel is that of weighted features, at landmarks; its feature map turns samples into features
whose inner products are the kernel. Every space is scored at its best shrinkage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, sparse
from sklearn.preprocessing import QuantileTransformer

from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels import LandmarkKernel, inverse_median_distance
from skml_kalda._core.leave_one_out import LeaveOneOut, RidgePath, best_shrinkage
from skml_kalda._core.operator import OperatorScatter
from skml_kalda._core.relevance import FeatureMoments, times
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.streams import added

# The median of the distances of this many samples stands for that of all.
_MEDIAN_SAMPLES = 200
# All kernels and scales are compared on this many samples, all of them landmarks, and this many
# of the best once more on all samples, with the same landmarks.
_ROUGH_SAMPLES, _FINALISTS = 200, 3
# Parts of the samples, each scored with a relevance computed without its labels.
_FOLDS = 2
# What is added to the diagonal of the landmarks' kernel, as a fraction of its largest entry:
# landmarks that repeat leave null directions.
_JITTER = 1e-10
_QUANTILES = 100
# Accuracy of an iterative solution of the scores, of which each has a calibration of its own.
_WIDE_TOL = 1e-3
# Ranks of more features than this would cost more than all the rest.
_RANKED_FEATURES = 2000


class Samples(NamedTuple):
    """Labelled samples, with one label column for each class."""

    # Array or CSR of shape (n, p).
    X: Any
    # Labels 0 and 1, shape (n, K).
    Y: sparse.csr_array
    # One where a label is unknown, shape (n, K).
    unknown: sparse.csr_array
    # Shape (n,), positive.
    weight: Array

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


class Space(NamedTuple):
    """A kernel, and how much each feature counts in it."""

    # "rbf", "angular", which is rbf of samples of unit length, or "linear".
    kernel: str
    # Features are multiplied by these powers of their relevance; the kernel is the mean.
    relevance: tuple[float, ...]
    # "standard" divides features by their standard deviations, "ranks" replaces them.
    scale: str | None

    def factors(self, moments: FeatureMoments) -> list[Array]:
        """Return the factors of the features, one array for each kernel of the mean."""
        with_std = self.scale == "standard"
        factors = [moments.scale(power, with_std=with_std) for power in self.relevance]
        if self.kernel != "linear":
            return factors
        # The mean of linear kernels is a linear kernel.
        return [np.sqrt(np.mean(np.square(factors), axis=0))]


class LinearMap:
    """The features of the data, or their ranks, each times its factor."""

    def __init__(
        self, space: Space, ranks: QuantileTransformer | None, factor: Array | None = None
    ) -> None:
        self._space = space
        self.ranks = ranks
        self._factor = factor

    def __call__(self, X: Any) -> Any:
        """Return the features of samples; before `fitted_to`, without factors."""
        return self._scaled(ranked(X, self.ranks))

    def of_source(self, X: Any, rows: Any) -> Any:
        """Return the features of some of the samples that the map was made from, after ranks."""
        return self._scaled(X[rows])

    def _scaled(self, X: Any) -> Any:
        return X if self._factor is None else times(X, self._factor)

    def fitted_to(
        self, scatter: PrimalScatter, features: Any
    ) -> tuple[LinearMap, PrimalScatter, Any]:
        """Compute the factors from all samples of a scatter; return all scaled by them."""
        (factor,) = self._space.factors(FeatureMoments.within(scatter))
        fitted = LinearMap(self._space, self.ranks, factor)
        return fitted, scatter.rescaled(factor), times(features, factor)

    def values(self, X: Any) -> Any:
        """Return the values of which scores are weighted sums."""
        return ranked(X, self.ranks)

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return weights if self._factor is None else self._factor[:, None] * weights


class KernelMap:
    """Features whose inner products are the mean of some kernels, each of weighted features.

    With K the kernel of the landmarks and K = R Rᵀ, they are R⁻¹k(x) for the values k(x) of a
    sample with the landmarks.

    Parameters
    ----------
    kernels : sequence of (factors, LandmarkKernel)
        Factors of the features of the data, and the kernel of the product.
    landmarks : array or CSR
        The landmarks of all kernels, as `ranks` leaves them.
    ranks : QuantileTransformer or None
        What is done to samples first.
    """

    def __init__(
        self,
        kernels: Sequence[tuple[Array, LandmarkKernel]],
        landmarks: Any,
        ranks: QuantileTransformer | None,
    ) -> None:
        self.kernels, self.ranks = kernels, ranks
        # The rows of R are the features of the landmarks.
        self._root = _lower_root(self._kernel(landmarks))

    def __call__(self, X: Any) -> Array:
        """Return the features of samples."""
        return self._features(ranked(X, self.ranks))

    def of_source(self, X: Any, rows: Any) -> Array:
        """Return the features of some of the samples that the map was made from, after ranks."""
        all_are_landmarks = len(self._root) == X.shape[0]
        return self._root[rows] if all_are_landmarks else self._features(X[rows])

    def _features(self, X: Any) -> Array:
        # The transpose of the values has the order of LAPACK, so nothing is copied.
        solved = linalg.solve_triangular(
            self._root, self._kernel(X).T, lower=True, overwrite_b=True, check_finite=False
        )
        return np.asarray(solved.T)

    def fitted_to(
        self, scatter: PrimalScatter, features: Array
    ) -> tuple[KernelMap, PrimalScatter, Array]:
        """Return all unchanged: further samples change neither landmarks nor factors."""
        return self, scatter, features

    def values(self, X: Any) -> Array:
        """Return the values of which scores are weighted sums: kernel values with landmarks."""
        return self._kernel(ranked(X, self.ranks))

    def _kernel(self, X: Any) -> Array:
        values = [kernel(times(X, factors)) for factors, kernel in self.kernels]
        return sum(values[1:], start=values[0]) / len(values)

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of `values` for weights of the features."""
        return np.asarray(
            linalg.solve_triangular(self._root, weights, lower=True, trans="T", check_finite=False)
        )


def _lower_root(K: Array) -> Array:
    """Return lower triangular R with R Rᵀ = K, which is positive definite but for rounding."""
    least = _JITTER * (K.diagonal().max() or 1.0)
    K.flat[:: len(K) + 1] += least
    try:
        return np.asarray(linalg.cholesky(K, lower=True, check_finite=False))
    except linalg.LinAlgError:  # the distances of samples that lie far apart lost their digits
        values, vectors = np.linalg.eigh(K)
        root = vectors * np.sqrt(np.maximum(values, least))
        return np.asarray(np.linalg.qr(root.T, mode="r")).T


FeatureMap: TypeAlias = LinearMap | KernelMap


def ranked(X: Any, ranks: QuantileTransformer | None) -> Any:
    """Return X with ranks in place of its features, if they are given; sparse X stays sparse."""
    if ranks is None:
        return X
    values = ranks.transform(X)
    return sparse.csr_array(values) if sparse.issparse(X) else values


def ranks_differ(X: Any) -> bool:
    """Whether ranks can be had at little cost, and say something else than X does."""
    values = X.data if sparse.issparse(X) else X
    if X.shape[1] > _RANKED_FEATURES or not values.size:
        return False
    lowest, highest = values.min(), values.max()
    if sparse.issparse(X) and lowest < 0:
        return False
    return bool(np.any((values != lowest) & (values != highest)))


class Scaled(NamedTuple):
    """Samples in the scale of a space."""

    # With ranks in place of X, if these are not None.
    samples: Samples
    ranks: QuantileTransformer | None = None

    @classmethod
    def of(cls, samples: Samples, scale: str | None, seed: int) -> Scaled:
        """Compute ranks, if `scale` is that; standard deviations are part of the factors."""
        if scale != "ranks":
            return cls(samples)
        n_quantiles = min(_QUANTILES, len(samples.weight))
        ranks = QuantileTransformer(n_quantiles=n_quantiles, random_state=seed).fit(samples.X)
        return cls(samples._replace(X=ranked(samples.X, ranks)), ranks)


class KernelFactory(NamedTuple):
    """Makes the feature maps of spaces; all share landmarks, drawn at random."""

    # Number of landmarks; all samples if there are not more of them.
    n_landmarks: int
    # The linear kernel of no more features than this needs no landmarks.
    max_features: int
    # Values of gamma in units of one over the median squared distance, for a mean of kernels.
    widths: Sequence[float]
    # Draws landmarks, and samples for the median and the quantiles.
    seed: int

    def feature_map(
        self, space: Space, scaled: Scaled, moments: FeatureMoments | None = None
    ) -> FeatureMap:
        """Return the feature map of a space, with the factors that `moments` imply.

        Without them, further samples may follow: the factors are those of the samples here, or,
        if there are no landmarks, of all samples.
        """
        samples, ranks = scaled
        needs_landmarks = space.kernel != "linear" or samples.X.shape[1] > self.max_features
        if moments is None and not needs_landmarks:
            return LinearMap(space, ranks)
        moments = (samples.moments() if moments is None else moments).filled(samples.Y.shape[1])
        factors = space.factors(moments)
        if not needs_landmarks:
            return LinearMap(space, ranks, factors[0])
        drawn = np.random.RandomState(self.seed).permutation(len(samples.weight))
        landmarks = samples.X[np.sort(drawn[: self.n_landmarks])]
        some = samples.at(np.sort(drawn[:_MEDIAN_SAMPLES]))
        kernels = [(each, self._kernel(space.kernel, each, landmarks, some)) for each in factors]
        return KernelMap(kernels, landmarks, ranks)

    def _kernel(
        self, kernel: str, factor: Array, landmarks: Any, samples: Samples
    ) -> LandmarkKernel:
        points = times(landmarks, factor)
        if kernel == "linear":
            return LandmarkKernel(points, "linear")
        unit_length = kernel == "angular"
        X = times(samples.X, factor)
        unit = inverse_median_distance("rbf", X, samples.weight, unit_length=unit_length)
        gammas = [unit * width for width in self.widths]
        return LandmarkKernel(points, "rbf", gammas, unit_length=unit_length)


class Scored(NamedTuple):
    """A space at its best shrinkage."""

    space: Space
    shrinkage: float
    # Leave-one-out squared error, as a share of the variance of the labels.
    error: float


def choose_space(
    samples: Samples,
    factory: KernelFactory,
    kernels: Sequence[str],
    scales: Sequence[str | None],
    relevances: Sequence[tuple[float, ...]],
    shrinkages: Sequence[float],
) -> tuple[Space, list[Scored]]:
    """Return the best space and all that were scored: kernels and scales, then relevances.

    All kernels and scales are compared on few samples, all of them landmarks, and the best ones
    once more on more samples, at the first of the relevances. The others are then cross-fitted: no
    sample is scored by a relevance computed from its own labels, as its own labels would tell.

    Parameters
    ----------
    samples : Samples
        The samples, in random order.
    factory : KernelFactory
        Makes the feature maps.
    kernels, scales, relevances, shrinkages : sequences
        What to choose from.
    """
    spaces = [Space(kernel, relevances[0], scale) for kernel, scale in product(kernels, scales)]
    scored: list[Scored] = []
    if len(spaces) > _FINALISTS:
        few = samples.at(slice(_ROUGH_SAMPLES))
        rough = _Search(few, factory, scales, shrinkages)
        scored = sorted(map(rough.score, spaces), key=attrgetter("error"))
        spaces = [each.space for each in scored[:_FINALISTS]]
    needed = sorted({each.scale for each in spaces}, key=str)
    search = _Search(samples, factory, needed, shrinkages)
    if len(spaces) == len(relevances) == 1:
        return spaces[0], scored
    finalists = [search.score(space) for space in spaces]
    best = min(finalists, key=attrgetter("error"))
    powers = [search.score(best.space._replace(relevance=each)) for each in relevances[1:]]
    return min([best, *powers], key=attrgetter("error")).space, [*scored, *finalists, *powers]


class _Search:
    """Scores spaces on some samples."""

    def __init__(
        self,
        samples: Samples,
        factory: KernelFactory,
        scales: Sequence[str | None],
        shrinkages: Sequence[float],
    ) -> None:
        n = len(samples.weight)
        n_landmarks = min(factory.n_landmarks, _ROUGH_SAMPLES)
        self._factory = factory._replace(n_landmarks=n_landmarks, max_features=n_landmarks)
        self._shrinkages = shrinkages
        self._scaled = {scale: Scaled.of(samples, scale, factory.seed) for scale in scales}
        self._folds = np.array_split(np.arange(n), min(_FOLDS, n))
        # Moments do not depend on the scale, but for ranks.
        moments = {
            each.ranks is None: [each.samples.at(fold).moments() for fold in self._folds]
            for each in self._scaled.values()
        }
        self._moments = {scale: moments[each.ranks is None] for scale, each in self._scaled.items()}

    def score(self, space: Space) -> Scored:
        """Return the space at its best shrinkage."""
        moments = self._moments[space.scale]
        if any(space.relevance) and len(moments) > 1:
            others = [reduce(added, moments[:i] + moments[i + 1 :]) for i in range(len(moments))]
            parts = list(map(partial(self._left_out, space), others, self._folds))
        else:
            parts = [self._left_out(space, reduce(added, moments), slice(None))]
        return Scored(space, *best_shrinkage(parts, self._shrinkages))

    def _left_out(self, space: Space, moments: FeatureMoments, rows: Any) -> LeaveOneOut:
        scaled = self._scaled[space.scale]
        samples = scaled.samples
        feature_map = self._factory.feature_map(space, scaled, moments)
        features = feature_map.of_source(samples.X, slice(None))
        path = RidgePath.of(feature_scatter(features, samples).filled(samples.Y.shape[1]))
        return left_out(path, features[rows], samples.at(rows))


def feature_scatter(features: Any, samples: Samples) -> PrimalScatter:
    """Add up the features of the samples."""
    return PrimalScatter.of(features, samples.labels, samples.weight)


def left_out(path: RidgePath, features: Any, samples: Samples) -> LeaveOneOut:
    """Prepare the leave-one-out scores of samples that the path was fitted to."""
    return path.without_each(features, samples.Y.toarray(), samples.weight, samples.known)


class WideRidge:
    """Ridge regression on all features of wide sparse samples, without landmarks.

    Parameters
    ----------
    samples : Samples
        The samples.
    space : Space
        A linear kernel.
    """

    def __init__(self, samples: Samples, space: Space) -> None:
        K = samples.Y.shape[1]
        moments = samples.moments().filled(K)
        self.feature_map = LinearMap(space, None, space.factors(moments)[0])
        self.label_mean = moments.label_weight / moments.weight
        labels = samples.Y + samples.unknown.multiply(self.label_mean)
        X, weight = self.feature_map(samples.X), samples.weight
        scatter = OperatorScatter.of(X, sparse.csr_array(labels), weight)
        self._scatter = replace(scatter, tol=_WIDE_TOL)

    def weights(self, shrinkage: float) -> Array:
        """Return the weights of the features; the ridge is that of `RidgePath.ridge`."""
        scatter, K = self._scatter, len(self.label_mean)
        if shrinkage == 1:
            return np.zeros((scatter.n_features, K))
        unit = scatter.trace / min(scatter.n_samples, scatter.n_features)
        return scatter.ridge_weights(np.eye(K), shrinkage / (1 - shrinkage) * unit)

    def offset(self, weights: Array) -> Array:
        """Return the scores of a sample without features."""
        return np.asarray(self.label_mean - self._scatter.mean @ weights)

    def scores(self, weights: Array, X: Any) -> Array:
        """Return the scores of further samples."""
        return np.asarray(self.feature_map(X) @ weights + self.offset(weights))
