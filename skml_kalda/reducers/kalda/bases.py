"""Bases of small subspaces of the range of S_t, as they grow.

J could grow without meaning along directions in which the training data do not vary, and rounding
errors lead there. So every vector of the space of the data is v = Tᵀu, which cannot leave the range
of S_t = TᵀT, and u is stored. What is stored beside it depends on the shape of the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import ratio
from skml_kalda._core.orthonormal import subtract, turn
from skml_kalda._core.scatter import ImplicitScatter
from skml_kalda._core.scatter.base import RANK_RTOL
from skml_kalda._core.symmetric import positive_eigenpairs

# Columns that are worked on at a time.
COLUMNS = 8
# Most columns of V for each direction, with more rows than features.
TALL_WIDTH = 8
# A subspace of wide data may be this many times as large as the data. Where it would be larger, a
# round appends only the half of the columns with the largest gradient.
GENEROUS = 1.5


class Subspace(ABC):
    """A subspace of the range of S_t, with an orthonormal basis V = TᵀU.

    Parameters
    ----------
    scatter : ImplicitScatter
        S_t = TᵀT, and F with S_b = F Fᵀ.
    U : array of shape (n, m)
        Spans the subspace.
    """

    rest: ClassVar[float]
    """Share of the gradient that a round may leave to the next ones."""

    def __init__(self, scatter: ImplicitScatter, U: Array) -> None:
        self.scatter = scatter
        K = scatter.n_classes
        self.total, self.factor = np.empty((0, 0)), np.empty((K, 0))
        """VᵀS_tV, shape (m, m), and FᵀV, shape (K, m)."""
        self._dual, self._side = U, self._side_of(U)
        self.extend(U.shape[1])

    @property
    def size(self) -> int:
        """Number m of dimensions."""
        return len(self.total)

    @property
    def dual(self) -> Array:
        """U, shape (n, m)."""
        return self._dual[:, : self.size]

    @property
    def side(self) -> Array:
        """What is stored beside U, with m columns."""
        return self._side[:, : self.size]

    def reserve(self, size: int) -> None:
        """Make room for a basis of `size` columns, if there is less."""
        missing = size - self._dual.shape[1]
        if missing > 0:
            self._dual = np.pad(self._dual, ((0, 0), (0, missing)))
            self._side = np.pad(self._side, ((0, 0), (0, missing)))

    def append(self, q: int) -> Array:
        """Return the q columns of U that follow the basis, to be written to."""
        return self._room(q)[0]

    def products(self, q: int) -> Array:
        """Compute what belongs beside the columns that follow; return their image T Tᵀu."""
        self._fill(*self._room(q))
        return self._image(self._room(q)[1])

    def extend(self, q: int, *, careful: bool = True) -> None:
        """Extend the basis by the span of the q columns that follow it.

        Columns that are, up to rounding, combinations of others or of V are dropped.
        """
        for first in (True, False):  # once leaves rounding errors
            dual, side = self._room(q)
            inside = self._inner(self.dual, self.side, dual, side)
            subtract(dual, self.dual, inside)
            if first and careful:
                self._fill(dual, side)
            else:
                subtract(side, self.side, inside)
            basis = _whitening(self._inner(dual, side, dual, side))
            basis = basis[:, : max(min(self.scatter.rows.shape) - self.size, 0)]
            turn(dual, basis)
            turn(side, basis)
            q = basis.shape[1]
        image = self._image(self._room(q)[1])
        total = self._total(image)
        m = self.size
        self.total = np.block([[self.total, total[:m]], [total[:m].T, total[m:]]])
        self.factor = np.hstack([self.factor, self.scatter.between.of_image(image)])

    def restrict(self, P: Array) -> None:
        """Keep only the span of V P, for orthonormal P."""
        turn(self.dual, P)
        turn(self.side, P)
        self.total, self.factor = P.T @ self.total @ P, self.factor @ P

    def _fill(self, dual: Array, side: Array) -> None:
        for columns in gen_batches(dual.shape[1], COLUMNS):
            side[:, columns] = self._side_of(dual[:, columns])

    def _room(self, q: int) -> tuple[Array, Array]:
        columns = slice(self.size, self.size + q)
        return self._dual[:, columns], self._side[:, columns]

    @abstractmethod
    def growth(self, k: int) -> tuple[int, int]:
        """Return how many columns a round appends, and how many V may have, for k directions."""

    @abstractmethod
    def take(self, P: Array) -> Array:
        """Return V P, and let go of the basis."""

    @abstractmethod
    def subtract_image(self, R: Array, P: Array) -> None:
        """Write R − T V P over R, of n rows."""

    @abstractmethod
    def pulled(self, R: Array) -> Array:
        """Return VᵀTᵀR."""

    @abstractmethod
    def _side_of(self, U: Array) -> Array:
        """Return what is stored beside U."""

    @abstractmethod
    def _image(self, side: Array) -> Array:
        """Return T TᵀU."""

    @abstractmethod
    def _inner(self, U: Array, side: Array, dual: Array, beside: Array) -> Array:
        """Return the inner products of vectors Tᵀu of the data."""

    @abstractmethod
    def _total(self, image: Array) -> Array:
        """Return VᵀS_t times the columns with this image, for V with them."""


class WideSubspace(Subspace):
    """For fewer rows than features: the image Z = T V is stored, and no vector of p entries.

    Then VᵀV = UᵀZ and VᵀS_tV = ZᵀZ need no product with T.
    """

    rest = 0.1

    def growth(self, k: int) -> tuple[int, int]:  # noqa: D102
        if 2 * 3 * k * len(self.dual) * 8 <= GENEROUS * self.scatter.rows.stored:
            return k, 3 * k
        return -(-k // 2), -(-17 * k // 8)

    def take(self, P: Array) -> Array:  # noqa: D102
        U = self.dual @ P
        self._dual = self._side = np.empty((len(U), 0))
        return np.asarray(self.scatter.rows.T @ U)

    def subtract_image(self, R: Array, P: Array) -> None:  # noqa: D102
        subtract(R, self.side, P)

    def pulled(self, R: Array) -> Array:  # noqa: D102
        return self.side.T @ R

    def _side_of(self, U: Array) -> Array:
        return self.scatter.kernel_matmul(U)

    def _image(self, side: Array) -> Array:
        return side

    def _inner(self, U: Array, side: Array, dual: Array, beside: Array) -> Array:
        return side.T @ dual

    def _total(self, image: Array) -> Array:
        return np.vstack([self.side.T @ image, image.T @ image])


class TallSubspace(Subspace):
    """For more rows than features, or no ridge: V itself is stored.

    Tᵀ maps most of u to zero, so inner products in terms of u would lose digits. Every round still
    costs some: a larger subspace needs fewer rounds.
    """

    rest = 0.0

    def growth(self, k: int) -> tuple[int, int]:  # noqa: D102
        return k, TALL_WIDTH * k

    def take(self, P: Array) -> Array:  # noqa: D102
        return self.side @ P

    def subtract_image(self, R: Array, P: Array) -> None:  # noqa: D102
        R -= self.scatter.rows @ (self.side @ P)

    def pulled(self, R: Array) -> Array:  # noqa: D102
        return self.side.T @ (self.scatter.rows.T @ R)

    def _side_of(self, U: Array) -> Array:
        return np.asarray(self.scatter.rows.T @ U)

    def _image(self, side: Array) -> Array:
        return np.asarray(self.scatter.rows @ side)

    def _inner(self, U: Array, side: Array, dual: Array, beside: Array) -> Array:
        return side.T @ beside

    def _total(self, image: Array) -> Array:
        m, q = self.size, image.shape[1]
        V, total = self._side[:, : m + q], np.empty((m + q, q))
        for columns in gen_batches(q, COLUMNS):
            total[:, columns] = V.T @ (self.scatter.rows.T @ image[:, columns])
        return total


def _whitening(gram: Array) -> Array:
    """Return P for which V P is orthonormal, to rounding at the second time; gram is VᵀV."""
    size = np.sqrt(np.maximum(gram.diagonal(), 0))
    scale = ratio(np.ones_like(size), size)
    gram = scale[:, None] * (gram + gram.T) / 2 * scale
    lengths, axes = positive_eigenpairs(gram, RANK_RTOL)
    return np.asarray(scale[:, None] * axes / np.sqrt(lengths))
