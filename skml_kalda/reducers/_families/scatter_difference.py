"""Base of the reducers that maximise a difference of scatters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import generalized_eigenpairs
from skml_kalda._core.orthonormal import polar, resolve_ties
from skml_kalda._core.scatter import AnyScatter, ImplicitScatter, SpectralScatter
from skml_kalda.reducers._base import RANK_OF_DATA, BaseReducer, Directions
from skml_kalda.reducers._streamed import Fitted


class ScatterDifference:
    """The matrices a S_b − b S in the eigenbasis of S_t, for S = S_t + γI.

    Parameters
    ----------
    scatter : scatter
        Holds S_b and S_t; both are divided by Σ w_i here.
    gamma : float
        γ.
    """

    def __init__(self, scatter: SpectralScatter, gamma: float) -> None:
        values, self.basis = scatter.spectrum
        self.total = (values + gamma) / scatter.weight
        self.factor = np.asarray(self.basis.T @ scatter.between).T / np.sqrt(scatter.weight)

    @property
    def rank(self) -> int:
        """Rank of S_t."""
        return len(self.total)

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Return the algebraically largest eigenvalues, descending, and their eigenvectors."""
        matrix = (a * self.factor.T) @ self.factor
        matrix.flat[:: self.rank + 1] -= b * self.total
        # Resolve ties among all directions that separate classes before keeping k of them.
        m = min(max(k, len(self.factor) - 1), self.rank)
        largest = (self.rank - m, self.rank - 1)
        values, vectors = linalg.eigh(matrix, subset_by_index=largest, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        scale = max(a, b) * self.total[0]
        vectors = resolve_ties(values, vectors, self.total, scale)
        return values[:k], vectors[:, :k]

    def ratio(self, G: Array) -> float:
        """Return Tr GᵀS_bG / Tr GᵀSG."""
        return float(np.sum((self.factor @ G) ** 2) / np.sum(self.total[:, None] * G**2))

    def largest_share(self) -> float:
        """Return the largest eigenvalue of (S_b, S)."""
        return float(linalg.norm(self.factor / np.sqrt(self.total), 2) ** 2)

    def directions(self, G: Array) -> Array:
        """Return eigenvectors in the space of the data."""
        return polar(self.basis @ G)


class ImplicitDifference:
    """The same operations from products with S_t alone, by the Lanczos method."""

    def __init__(self, scatter: ImplicitScatter, gamma: float) -> None:
        self.scatter, self.gamma = scatter, gamma
        self.rank = min(scatter.n_features, scatter.n_samples) - 1

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Return the algebraically largest eigenvalues, descending, and their eigenvectors."""
        S, F = self.scatter, self.scatter.between

        def product(V: Array) -> Array:
            return (a * (F @ (F.T @ V)) - b * (S.matmul(V) + self.gamma * V)) / S.weight

        values, G = S.leading_eigenpairs(product, k)
        S.check_varying(G)
        return values, G

    def ratio(self, G: Array) -> float:
        """Return Tr GᵀS_bG / Tr GᵀSG."""
        total = np.sum(self.scatter.variances(G) + self.gamma)
        return float(np.sum((self.scatter.between.T @ G) ** 2) / total)

    def largest_share(self) -> float:
        """Return the largest eigenvalue of (S_b, S)."""
        L = self.scatter.class_scale
        pairs = generalized_eigenpairs(replace(self.scatter, tol=1e-12), L, self.gamma)
        return float(pairs.values.max(initial=0.0))

    def directions(self, G: Array) -> Array:
        """Return eigenvectors in the space of the data."""
        return G


Difference = ScatterDifference | ImplicitDifference


class ScatterDifferenceReducer(BaseReducer):
    """Base of the methods that maximise Tr Gᵀ(a S_b − b S)G over GᵀG = I, S = S_t + γI."""

    eigenvalues_ = Fitted[Array]()
    ridge_ = Fitted[float]()

    def _ridge(self, scatter: AnyScatter) -> float:
        """Return γ as a multiple of the mean eigenvalue of S_t."""
        return 0.0

    @abstractmethod
    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float, dict[str, Any]]:
        """Return a, b and the fitted attributes of the method."""

    def _directions(self, scatter: AnyScatter) -> Directions:
        ridge = self._ridge(scatter)
        gamma = ridge * scatter.mean_eigenvalue
        difference = (
            ScatterDifference(scatter, gamma)
            if scatter.has_spectrum
            else ImplicitDifference(scatter, gamma)
        )
        k = self._number_of_components(scatter.label_dimensions, difference.rank, RANK_OF_DATA)
        a, b, attributes = self._coefficients(difference, k)
        eigenvalues, G = difference.top(a, b, k)
        attributes |= {"eigenvalues_": eigenvalues, "ridge_": ridge}
        return Directions(difference.directions(G), attributes)
