"""What the reducers share that maximise a difference of scatters."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy import linalg

from skml_kalda._base import BaseReducer
from skml_kalda._grassmann import polar, settle_ties
from skml_kalda._scatter import AnyScatter, Array


class ScatterDifference:
    """The matrices a S_b − b S_t in the eigenbasis of S_t.

    Parameters
    ----------
    scatter : scatter
        Gives S_b and S_t; both are divided by Σ w_i here.
    """

    def __init__(self, scatter: AnyScatter) -> None:
        values, self.basis = scatter.spectrum()
        self.total = values / scatter.weight
        self.factor = np.asarray(self.basis.T @ scatter.between).T / np.sqrt(scatter.weight)

    @property
    def rank(self) -> int:
        """Rank of S_t."""
        return len(self.total)

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Algebraically largest eigenvalues, descending, and orthonormal eigenvectors."""
        matrix = (a * self.factor.T) @ self.factor
        matrix.flat[:: self.rank + 1] -= b * self.total
        # Ties are settled among all directions that can tell classes apart, then cut.
        m = min(max(k, len(self.factor) - 1), self.rank)
        largest = (self.rank - m, self.rank - 1)
        values, vectors = linalg.eigh(matrix, subset_by_index=largest, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        scale = max(a, b) * self.total[0]
        vectors = settle_ties(values, vectors, self.total[:, None] * vectors, scale)
        return values[:k], vectors[:, :k]


class ScatterDifferenceReducer(BaseReducer):
    """Base of the methods that maximise Tr Gᵀ(a S_b − b S_t)G over GᵀG = I."""

    @abstractmethod
    def _coefficients(self, difference: ScatterDifference, k: int) -> tuple[float, float]:
        """Give a and b, and set the fitted attributes of the method."""

    def _directions(self, scatter: AnyScatter) -> Array:
        difference = ScatterDifference(scatter)
        reason = "the rank of the centred data"
        k = self._number_of_components(scatter.n_classes - 1, difference.rank, reason)
        a, b = self._coefficients(difference, k)
        self.eigenvalues_, G = difference.top(a, b, k)
        return polar(difference.basis @ G)
