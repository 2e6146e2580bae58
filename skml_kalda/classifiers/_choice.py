"""The choice of a space, and of its shrinkage, by leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import add, attrgetter
from typing import Any, NamedTuple

import numpy as np

from skml_kalda._core.arrays import batches
from skml_kalda._core.relevance import FeatureMoments
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.scores.leave_one_out import LeaveOneOut, RidgePath
from skml_kalda.classifiers._labelled_rows import Rows
from skml_kalda.classifiers._spaces import Features, Landscape, Space

_error = attrgetter("error")
# Number of parts of the rows, each judged by a relevance computed without its labels.
_FOLDS = 5


class Judged(NamedTuple):
    """A space at its best shrinkage."""

    space: Space
    shrinkage: float
    error: float
    """Leave-one-out squared error, as a share of the variance of the labels."""


def scatter_of(features: Features, rows: Rows) -> PrimalScatter:
    """Add up the features of the rows, a batch at a time."""
    X, Y, weight = rows.X, rows.labels, rows.weight
    slices = batches(X.shape[0], 8 * max(X.shape[1], 1000))
    return reduce(add, (PrimalScatter.of(features(X[i]), Y[i], weight[i]) for i in slices))


def leave_one_out(path: RidgePath, features: Features, rows: Rows) -> LeaveOneOut:
    """Prepare the leave-one-out scores of rows that the path was fitted to."""
    unknown = None if rows.unknown is None else rows.unknown.toarray()
    return path.without_each(features(rows.X), rows.Y.toarray(), rows.weight, unknown)


def best_shrinkage(
    parts: Sequence[LeaveOneOut], shrinkages: Sequence[float]
) -> tuple[float, float]:
    """Return the shrinkage with the least error over the rows of all parts, and that error."""
    variance = sum(part.squared_error(np.inf) for part in parts)
    errors = [
        sum(part.squared_error(part.path.ridge(shrinkage)) for part in parts)
        for shrinkage in shrinkages
    ]
    best = int(np.argmin(errors))
    # Labels that do not vary are predicted without error.
    return shrinkages[best], errors[best] / variance if variance else 0.0


class Search:
    """Spaces for some rows, judged on these rows.

    Parameters
    ----------
    landscape : Landscape
        The rows and their landmarks.
    shrinkages : sequence of floats
        Shrinkages to choose from.
    seed : int
        Splits the rows.
    """

    def __init__(self, landscape: Landscape, shrinkages: Sequence[float], seed: int) -> None:
        self._landscape = landscape
        self._shrinkages = shrinkages
        n = len(landscape.rows.weight)
        order = np.random.RandomState(seed).permutation(n)
        self._folds = np.array_split(order, min(_FOLDS, n))
        self._moments = [landscape.rows.at(fold).moments() for fold in self._folds]

    def best(
        self,
        kernels: Sequence[str],
        with_std: Sequence[bool],
        relevances: Sequence[tuple[float, ...]],
    ) -> tuple[Space, list[Judged]]:
        """Return the best space and all that were judged: kernels first, then relevances."""
        middle = relevances[len(relevances) // 2]
        spaces = [Space(kernel, middle, std) for kernel, std in product(kernels, with_std)]
        judged = [self.judge(space, honest=False) for space in spaces if len(spaces) > 1]
        best = min(judged, key=_error).space if judged else spaces[0]
        if len(relevances) == 1:
            return best, judged
        honest = [
            self.judge(replace(best, relevance=relevance), honest=True) for relevance in relevances
        ]
        return min(honest, key=_error).space, judged + honest

    def judge(self, space: Space, *, honest: bool) -> Judged:
        """Judge a space at its best shrinkage.

        Parameters
        ----------
        space : Space
            The space.
        honest : bool
            Whether no row is judged by a relevance computed from its own labels. This costs a
            decomposition for each fifth of the rows, and shows how much relevance is best.
            Otherwise all spaces of the same relevance are favoured equally.
        """
        by_fold = honest and space.sees_labels and len(self._folds) > 1
        parts = list(self._by_fold(space)) if by_fold else [self._of_all(space)]
        return Judged(space, *best_shrinkage(parts, self._shrinkages))

    def _of_all(self, space: Space) -> LeaveOneOut:
        return self._part(space, reduce(add, self._moments), slice(None))

    def _by_fold(self, space: Space) -> Iterator[LeaveOneOut]:
        for fold, rows in enumerate(self._folds):
            others = reduce(add, self._moments[:fold] + self._moments[fold + 1 :])
            yield self._part(space, others, rows)

    def _part(self, space: Space, moments: FeatureMoments, judged: Any) -> LeaveOneOut:
        rows = self._landscape.rows
        K = rows.Y.shape[1]
        features = self._landscape.features(space, moments.filled(K))
        path = RidgePath.of(scatter_of(features, rows).filled(K))
        return leave_one_out(path, features, rows.at(judged))
