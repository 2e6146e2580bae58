"""The scatter of sparse rows that stay on the workers of a cluster, which compute products.

For a product with S_t a block of columns V travels to every worker, and a sum of TᵀT V comes
back: p numbers each way for every right-hand side, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import System
from skml_kalda._core.scatter.base import label_moments, sparse_label_gram
from skml_kalda._core.scatter.centred import CentredRows, SingleRows, shifted
from skml_kalda._core.scatter.implicit import ImplicitScatter, LabelCross, RidgeSpan
from skml_kalda._core.scatter.moments import MomentScatter


class Blocks(Protocol):
    """Blocks on workers. Functions are called there, with a block and further arguments."""

    def keep(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Blocks:
        """Return the blocks function(block, *shared), or with one argument of `each` more."""

    def gather(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return function(block, *shared) for every block."""

    def total(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Any:
        """Return the sum of function(block, *shared) over all blocks."""


class RemoteRows(NamedTuple):
    """Validated sparse rows X, each block a CSR on some worker."""

    blocks: Blocks
    lengths: tuple[int, ...]
    """Number of rows of each block."""
    shape: tuple[int, int]
    nnz: int
    dtype: np.dtype[Any]

    def cut(self, rows: Any) -> list[Any]:
        """Cut labels, weights or other arrays of n rows into those of each block."""
        ends = np.cumsum(self.lengths)
        return [rows[end - n : end] for n, end in zip(self.lengths, ends, strict=True)]

    def moments(self, labels: Any, weight: Array) -> MomentScatter:
        """Return the p × p form, summed over the blocks."""
        each = list(zip(self.cut(labels), self.cut(weight), strict=True))
        found: MomentScatter = self.blocks.total(_moments, each=each)
        return found


@dataclass(frozen=True)
class CentredBlock:
    """Some rows about the mean of all rows, on a worker."""

    rows: CentredRows
    cross: LabelCross

    @classmethod
    def of(cls, X: Any, shift: Array, offset: Array, label_mean: Array, own: Any) -> CentredBlock:
        """Take a block of X, with its own labels and weights."""
        labels, weight = own
        rows = CentredRows(X, weight, shift, offset)
        return cls(rows, LabelCross(rows, labels, np.ones(labels.shape[1]), label_mean))

    def rescaled(self, units: Array) -> CentredBlock:
        """Return the rows times `units`, feature by feature."""
        rows = self.rows.rescaled(units)
        return CentredBlock(rows, self.cross.on(rows))

    def __sizeof__(self) -> int:
        # Dask's scheduler uses this to estimate the cost of moving a block.
        return self.rows.stored


class RemoteCentredRows(LinearOperator):
    """T = Ω^½ (X − 1mᵀ), as products that the workers compute.

    Parameters
    ----------
    X : RemoteRows
        The data.
    labels : CSR of shape (n, K)
        b_i, which the workers keep beside X.
    weight : array of shape (n,)
        w_i ≥ 0, the diagonal of Ω.
    """

    def __init__(self, X: RemoteRows, labels: Any, weight: Array) -> None:
        self._X, self.weight = X, weight
        total = max(weight.sum(), np.finfo(np.float64).tiny)
        stored, sums = X.blocks.total(_column_sums, each=X.cut(weight))
        # As in `CentredRows`: columns without a zero are centred before the products.
        shift = np.where(stored == X.shape[0], sums / total, 0.0)
        self._offset = X.blocks.total(_shifted_sums, shift, each=X.cut(weight)) / total
        self.mean = self._offset + shift
        """m, in the units of the X that was given."""
        label_mean = np.asarray(labels.T @ weight) / total
        each = list(zip(X.cut(labels), X.cut(weight), strict=True))
        self.blocks = X.blocks.keep(CentredBlock.of, shift, self._offset, label_mean, each=each)
        super().__init__(np.float64, X.shape)

    def _matmat(self, V: Array) -> Array:
        return np.vstack(self.blocks.gather(_forward, V))

    def _rmatmat(self, U: Array) -> Array:
        product: Array = self.blocks.total(_backward, each=self._X.cut(U))
        return product

    def _rmatvec(self, u: Array) -> Array:
        # SciPy before 1.15 does not derive it from _rmatmat.
        return self._rmatmat(u.reshape(-1, 1)).ravel()

    def total(self, V: Array) -> Array:
        """Return TᵀT V, in one round of the workers."""
        if not V.size:
            return np.zeros_like(V)
        product: Array = self.blocks.total(_total, V)
        return product

    def single(self) -> RemoteSingle:
        """Return T in single precision."""
        return RemoteSingle(self.blocks.keep(_single))

    def rescaled(self, units: Array) -> RemoteCentredRows:
        """Return the rows times `units`, feature by feature."""
        scaled = copy(self)
        scaled.blocks = self.blocks.keep(CentredBlock.rescaled, units)
        scaled._offset, scaled.mean = self._offset * units, self.mean * units
        return scaled

    @property
    def stored(self) -> int:
        """Bytes of X, on all workers."""
        return int(self.blocks.total(_stored))

    def squared_norms(self) -> Array:
        """Return the diagonal of TᵀT, shape (p,)."""
        squares: Array = self.blocks.total(_squares)
        return np.maximum(squares - self.weight.sum() * self._offset**2, 0)


class RemoteSingle(NamedTuple):
    """T in single precision, as its square TᵀT alone."""

    blocks: Blocks

    def total(self, V: Array) -> Array:
        """Return TᵀT V."""
        product: Array = self.blocks.total(SingleRows.total, V)
        return product


class RemoteCross(LabelCross):
    """C = Σ w_i (x_i − m) b_iᵀ, whose products the workers compute too."""

    def _matmat(self, L: Array) -> Array:
        product: Array = self._rows.blocks.total(_cross, self._scale[:, None] * L)
        return product

    def _rmatmat(self, V: Array) -> Array:
        product: Array = self._rows.blocks.total(_cross_transposed, V)
        return self._scale[:, None] * product


@dataclass(frozen=True)
class RemoteScatter(ImplicitScatter):
    """The scatter of rows on workers: the systems are solved here, by products from there."""

    rows: Any
    """T = Ω^½ X̃, a `RemoteCentredRows`."""

    @classmethod
    def of(cls, X: RemoteRows, labels: Any, weight: Array) -> RemoteScatter:
        """Keep the rows where they are; parameters as in :meth:`MomentScatter.of`."""
        rows = RemoteCentredRows(X, labels, weight)
        head = label_moments(labels, weight, rows.mean)
        cross = RemoteCross(rows, labels, np.ones(labels.shape[1]))
        return cls(*head, cross, sparse_label_gram(labels, weight), rows)

    @cached_property
    def single(self) -> Any:
        """T in single precision."""
        return self.rows.single()

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        product: Array = self.rows.total(V)
        return product

    def ridge_span(self, L: Array, ridge: float) -> RidgeSpan:
        """Return the span of W = (S_t + γI)⁺ C L, without any array of n rows."""
        W = self.ridge_weights(L, ridge)
        gram = W.T @ self.matmul(W) + ridge * (W.T @ W)
        return RidgeSpan(lambda P: W @ P, (self.cross @ L).T @ W, (gram + gram.T) / 2)

    def has_dual(self, ridge: float) -> bool:
        """Return False: T TᵀU would take two rounds, and n rows of U that travel."""
        return False

    def dual_system(self, ridge: float) -> System:
        """Return the matrix T Tᵀ + γI, for γ > 0: in double precision, as a round costs more."""
        return System(self.kernel_matmul, ridge, self.rows.shape)


def _column_sums(X: Any, weight: Array) -> Array:
    """Return the number of stored entries and Σ w_i x_i of each column, shape (2, p)."""
    return np.stack([np.bincount(X.indices, minlength=X.shape[1]), X.T @ weight])


def _shifted_sums(X: Any, shift: Array, weight: Array) -> Array:
    return np.asarray(shifted(X, shift).T @ weight)


def _moments(X: Any, own: Any) -> MomentScatter | None:
    return MomentScatter.of(X, *own) if X.shape[0] else None


def _forward(block: CentredBlock, V: Array) -> Array:
    return np.asarray(block.rows @ V)


def _backward(block: CentredBlock, U: Array) -> Array:
    return np.asarray(block.rows.T @ U)


def _total(block: CentredBlock, V: Array) -> Array:
    return np.asarray(block.rows.T @ (block.rows @ V))


def _single(block: CentredBlock) -> SingleRows:
    return block.rows.single()


def _stored(block: CentredBlock) -> int:
    return block.rows.stored


def _squares(block: CentredBlock) -> Array:
    return block.rows.squares()


def _cross(block: CentredBlock, L: Array) -> Array:
    return np.asarray(block.cross @ L)


def _cross_transposed(block: CentredBlock, V: Array) -> Array:
    return np.asarray(block.cross.T @ V)
