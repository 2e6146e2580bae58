"""A grid of parameters of kaLDA, scored on one fold at little more than the cost of a fit.

There is one scatter and one eigendecomposition: in the eigenbasis shrinkage is an addition to
the diagonal, fewer components of the closed form are its first columns, and one neighbour search
serves every number of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.model_selection import ParameterGrid

from skml_kalda._implicit import ImplicitScatter
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda._votes import neighbor_counts
from skml_kalda.reducers._scoring import NeighborScore
from skml_kalda.reducers.kalda import MultiLabelKaLDA

# Values of the functions that the columns of G stand for: (rows, G) -> projected rows.
Projection: TypeAlias = Callable[[Any, Array], Array]


class Part(NamedTuple):
    """Rows of one side of a fold, and their labels."""

    X: Any
    Y: Any


class Block(NamedTuple):
    """The directions of one candidate: the places of its parameters, and its columns."""

    n_components: int
    shrinkage: int
    columns: slice


@dataclass(frozen=True)
class Grid:
    """The parameters that need no new decomposition."""

    n_components: Sequence[int | None]
    n_neighbors: Sequence[int]
    shrinkage: Sequence[Any]
    constraint: Any

    def candidates(self, space: dict[str, Any]) -> list[dict[str, Any]]:
        """Every combination, with the parameters of a space, in the order of `scores`."""
        names = ("n_components", "n_neighbors", "shrinkage")
        return [space | each for each in ParameterGrid({n: getattr(self, n) for n in names})]

    def scores(
        self,
        embedded: tuple[AnyScatter, Projection],
        train: Part,
        test: Part,
        score: NeighborScore,
    ) -> Array:
        """Score every combination by the votes of `train` on `test`; NaN where it fails."""
        scatter, project = embedded
        G, blocks = self._directions(scatter)
        near, far = project(train.X, G), project(test.X, G)
        true = test.Y.toarray() > 0
        shape = len(self.n_components), len(self.n_neighbors), len(self.shrinkage)
        scores = np.full(shape, np.nan)
        for c, s, part in blocks:
            found = neighbor_counts(near[:, part], train.Y, far[:, part], self.n_neighbors)
            by_size = {k: score(true, counts, k) for k, counts in found}
            scores[c, :, s] = [by_size[k] for k in self.n_neighbors]
        return scores.ravel()

    def _directions(self, scatter: AnyScatter) -> tuple[Array, list[Block]]:
        """All directions side by side, and whose they are."""
        if not isinstance(scatter, ImplicitScatter):
            # The spectrum is the same for all; a frozen object remembers it in this way only.
            vars(scatter)["spectrum"] = cache(scatter.spectrum)
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
            G = MultiLabelKaLDA(constraint="none", shrinkage=shrinkage)._directions(scatter)
            sizes = [G.shape[1] if k is None else k for k in self.n_components]
            yield G, [(c, s, k) for c, k in enumerate(sizes) if k <= G.shape[1]]

    def _orthonormal(self, scatter: AnyScatter) -> Iterator[tuple[Array, list[tuple[int, ...]]]]:
        rank = _most_components(scatter)
        for s, shrinkage in enumerate(self.shrinkage):
            for c, k in enumerate(self.n_components):
                if k is None or k <= rank:
                    G = MultiLabelKaLDA(k, shrinkage=shrinkage)._directions(scatter)
                    yield G, [(c, s, G.shape[1])]


def _most_components(scatter: AnyScatter) -> int:
    if isinstance(scatter, ImplicitScatter):
        return scatter.n_classes - 1
    return len(scatter.spectrum().values)


def results(candidates: list[dict[str, Any]], scores: Array) -> dict[str, Any]:
    """Put scores, of shape (folds, candidates), into scikit-learn's layout."""
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
