"""A grid of kaLDA parameters, scored on one fold for little more than the cost of one fit.

The whole grid shares one scatter and one eigendecomposition: in the eigenbasis, shrinkage is an
addition to the diagonal; fewer components of the closed form are its first columns; and one
neighbour search serves every number of neighbours and every threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.model_selection import ParameterGrid

from skml_kalda._core.arrays import Array
from skml_kalda._core.neighbors import neighbor_counts
from skml_kalda._core.scatter import AnyScatter
from skml_kalda.reducers.kalda.search.scoring import NeighborScore
from skml_kalda.reducers.kalda.solve import KaLDA

# (rows, G) -> rows projected on the columns of G.
Projection: TypeAlias = Callable[[Any, Array], Array]


class Part(NamedTuple):
    """The training or test rows of a fold, and their labels."""

    X: Any
    Y: Any


class Block(NamedTuple):
    """The directions of one candidate: the indices of its parameters, and its columns."""

    n_components: int
    shrinkage: int
    columns: slice


@dataclass(frozen=True)
class Grid:
    """The parameters that need no new decomposition."""

    name: str
    """The class in use, for the errors."""
    n_components: Sequence[int | None]
    n_neighbors: Sequence[int]
    shrinkage: Sequence[Any]
    threshold: Sequence[float]
    constraint: Any

    def candidates(self, space: dict[str, Any]) -> list[dict[str, Any]]:
        """Return every combination with the parameters of a space, in the order of `scores`."""
        names = ("n_components", "n_neighbors", "shrinkage", "threshold")
        return [space | each for each in ParameterGrid({n: getattr(self, n) for n in names})]

    def scores(
        self,
        embedded: tuple[AnyScatter, Projection],
        train: Part,
        test: Part,
        score: NeighborScore,
    ) -> Array:
        """Score every combination by votes of `train` on `test`; NaN for too many directions."""
        scatter, project = embedded
        axes = (self.n_components, self.n_neighbors, self.shrinkage, self.threshold)
        scores = np.full([len(axis) for axis in axes], np.nan)
        if not scatter.n_features:  # a kernel for which all rows are equal
            return scores.ravel()
        G, blocks = self._directions(scatter)
        near, far = project(train.X, G), project(test.X, G)
        true = test.Y.toarray() > 0
        for c, s, part in blocks:
            found = neighbor_counts(near[:, part], train.Y, far[:, part], self.n_neighbors)
            shares = {k: counts / k for k, counts in found}
            scores[c, :, s] = [
                [score(true, shares[k], threshold) for threshold in self.threshold]
                for k in self.n_neighbors
            ]
        return scores.ravel()

    def _directions(self, scatter: AnyScatter) -> tuple[Array, list[Block]]:
        """Return all directions side by side, and the candidate that each block belongs to."""
        parts: list[Array] = [np.empty((scatter.n_features, 0))]
        blocks, width = [], 0
        solve = self._closed_form if self.constraint == "none" else self._orthonormal
        for G, found in solve(scatter):
            parts.append(G)
            blocks += [Block(c, s, slice(width, width + k)) for c, s, k in found]
            width += G.shape[1]
        return np.hstack(parts), blocks

    def _closed_form(self, scatter: AnyScatter) -> Iterator[tuple[Array, list[tuple[int, ...]]]]:
        for s, shrinkage in enumerate(self.shrinkage):
            problem = KaLDA(self.name, None, "none", shrinkage, is_candidate=True)
            G = problem.directions(scatter).G
            sizes = [G.shape[1] if k is None else k for k in self.n_components]
            yield G, [(c, s, k) for c, k in enumerate(sizes) if k <= G.shape[1]]

    def _orthonormal(self, scatter: AnyScatter) -> Iterator[tuple[Array, list[tuple[int, ...]]]]:
        rank = _most_components(scatter)
        for s, shrinkage in enumerate(self.shrinkage):
            for c, k in enumerate(self.n_components):
                if k is None or k <= rank:
                    problem = KaLDA(self.name, k, shrinkage=shrinkage, is_candidate=True)
                    G = problem.directions(scatter).G
                    yield G, [(c, s, G.shape[1])]


def _most_components(scatter: AnyScatter) -> int:
    return len(scatter.spectrum.values) if scatter.has_spectrum else scatter.label_dimensions


def results(candidates: list[dict[str, Any]], scores: Array) -> dict[str, Any]:
    """Return scores of shape (folds, candidates) in the layout of `cv_results_`."""
    mean = scores.mean(axis=0)
    rank = rankdata(np.where(np.isnan(mean), np.inf, -mean), method="min")
    return {
        **{f"param_{name}": _column(candidates, name) for name in candidates[0]},
        "params": candidates,
        **{f"split{i}_test_score": each for i, each in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": rank.astype(np.int32),
    }


def _column(candidates: list[dict[str, Any]], name: str) -> NDArray[Any]:
    column = np.ma.empty(len(candidates), dtype=object)
    column[:] = [each[name] for each in candidates]
    return column
