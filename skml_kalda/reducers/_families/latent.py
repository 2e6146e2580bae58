"""The direct form of MLSI from products with the data alone.

The problem is A g = λ B g with A = a S² + b C Cᵀ and B = S + γI, where S = TᵀT and C = TᵀE. A
locally optimal block method solves it: the next leading pairs are the best within the span of the
current ones, their preconditioned residuals, and the steps they took last. The preconditioner is
a rough solve with B. Where it gains little, the residuals and their products with S take its place.

If there are fewer rows than features, and a ridge, directions are stored as the shorter u of
g = Tᵀu. With M = T Tᵀ the problem for u is (a M + b E Eᵀ) M u = λ (M + γI) u, which is symmetric in
the inner product uᵀMv. Otherwise u = g and M = S, with the usual inner product.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from skml_kalda._core.arrays import Array
from skml_kalda._core.conjugate_gradients import dots, ratio, rough_solution
from skml_kalda._core.eigenproblem import Eigenpairs
from skml_kalda._core.orthonormal import subtract, turn
from skml_kalda._core.scatter import ImplicitScatter
from skml_kalda._core.scatter.implicit import TooFewDirections
from skml_kalda._core.symmetric import RANGE_RTOL, positive, positive_eigenpairs

_MAX_ROUNDS = 300
# Eigenvalues whose relative difference is smaller count as tied.
_TIED = 1e-3
# Accuracy to which residuals are preconditioned.
_ROUGH = 0.1
# Directions without a preconditioner are tried as long as the error falls to this share.
_FALLS = 0.9
# From here on, an error that grows again is made of rounding errors.
_SMALL = 1e-3
# Blocks may need this many times the memory of X before they are made smaller.
_GENEROUS = 2
# Rows and columns that are worked on at a time.
_ROWS, _COLUMNS = 4096, 8
# Inner products of a basis may differ from zero and one by this fraction of the tolerance.
_LOOSE = 1e-4
# A column of which no more than this share is new is made of rounding errors.
_ROUNDING = 1e-10


class _Block:
    """Columns U with their products M U and A U; updated in place, because they are large."""

    def __init__(self, vectors: Array, image: Array, pulled: Array) -> None:
        self.vectors, self.image, self.pulled = vectors, image, pulled

    def turn(self, P: Array) -> None:
        """Replace the columns by U P."""
        for name, part in vars(self).items():
            turn(part, P)
            setattr(self, name, np.ascontiguousarray(part[:, : P.shape[1]]))

    def subtract(self, other: _Block, P: Array) -> None:
        """Subtract V P, for the columns V of another block."""
        for name, part in vars(self).items():
            subtract(part, vars(other)[name], P)

    def take(self, other: _Block) -> None:
        """Append the columns of another block, which keeps nothing."""
        for name, part in vars(self).items():
            setattr(self, name, np.hstack([part, vars(other).pop(name)]))


class Latent(NamedTuple):
    """The eigenproblem."""

    scatter: ImplicitScatter
    data_weight: float
    """a > 0."""
    label_weight: float
    """b ≥ 0."""
    ridge: float
    """γ ≥ 0."""

    def top(self, k: int) -> Eigenpairs:
        """Return the k leading eigenpairs, with GᵀBG = I.

        Raises
        ------
        TooFewDirections
            If the data vary in fewer than k directions.
        """
        current = self._start(k)
        values, P = _descending(self._inner(current).T @ current.pulled)
        current.turn(P)
        share, steps, path, following = self._largest_share, None, P, 0.0
        least, error, plain = np.inf, np.inf, False
        for _ in range(_MAX_ROUNDS):
            self._check_varying(current, values, k)
            residual = self._residual(current, values)
            gap = np.maximum(values - following, _TIED * values)
            errors = share * np.sqrt(dots(residual, residual)) / gap
            before, error = error, float(linalg.norm(errors))
            least = min(least, before)
            if error <= self._tol:
                break
            if 10 * least < error and least < _SMALL:
                _warn_not_converged(k, error)
                break
            worst = self._worst(errors)
            if steps is not None:
                steps.turn(path[:, worst])
            residual = residual[:, worst]
            # Among the many directions of the data the preconditioner gains little.
            plain = 2 * len(worst) <= self._most(k) and (
                error < _FALLS * before if plain else error > before / 2
            )
            beside = self._columns((self._powers if plain else self._precondition)(residual))
            if not plain:
                share = self._share(residual, beside)
            del residual  # here and elsewhere, to hold as few arrays as possible
            if steps is not None:
                beside.take(steps)
            steps = self._orthonormal(beside, current)
            if steps.vectors.shape[1] == 0:
                break  # there are no further directions
            values, P, after = self._ritz(current, steps)
            following = max(following, after)
            path = P[len(values) :]
            current.turn(P[: len(values)])
            current.subtract(steps, -path)
        else:
            _warn_not_converged(k, error)
        G = current.vectors
        del current, steps
        return Eigenpairs(values, np.asarray(self.scatter.rows.T @ G) if self._is_dual else G)

    @property
    def _is_dual(self) -> bool:
        return self.scatter.has_dual(self.ridge)

    def _product(self, V: Array) -> Array:
        """Return M V."""
        return self.scatter.kernel_matmul(V) if self._is_dual else self.scatter.matmul(V)

    def _inner(self, block: _Block) -> Array:
        """Return the side of U in inner products."""
        return block.image if self._is_dual else block.vectors

    def _products(self, block: _Block, other: _Block) -> Array:
        """Return the inner products of the columns of two blocks in the metric of B."""
        inner = self._inner(other)
        return block.image.T @ inner + self.ridge * (block.vectors.T @ inner)

    def _residual(self, block: _Block, values: Array) -> Array:
        """Return A U − B U diag(values)."""
        residual = block.pulled.copy()
        for rows in gen_batches(len(residual), _ROWS):
            residual[rows] -= values * (block.image[rows] + self.ridge * block.vectors[rows])
        return residual

    def _columns(self, U: Array) -> _Block:
        image = self._product(U)
        pulled = self._product(image)
        pulled *= self.data_weight
        cross = self.scatter.cross
        if self._is_dual:
            for columns in gen_batches(U.shape[1], _COLUMNS):
                side = cross.of_image(image[:, columns])
                pulled[:, columns] += cross.targets(self.label_weight * side)
        else:
            pulled += cross @ (self.label_weight * (cross.T @ U))
        return _Block(U, image, pulled)

    def _start(self, m: int) -> _Block:
        """Return a basis of B⁻¹C times random numbers, roughly, filled up with random directions.

        It has fewer than m columns if the data vary in fewer directions.
        """
        rng, cross = np.random.default_rng(0), self.scatter.cross
        labels = rng.standard_normal((cross.shape[1], min(m, cross.shape[1])))
        F = cross.targets(labels) if self._is_dual else cross @ labels
        block = self._orthonormal(self._columns(self._precondition(F)))
        if missing := m - block.vectors.shape[1]:
            rest = self._product(rng.standard_normal((len(F), missing)))
            block.take(self._orthonormal(self._columns(rest), block))
        return block

    def _precondition(self, R: Array) -> Array:
        scatter, ridge = self.scatter, self.ridge
        system = scatter.dual_system(ridge) if self._is_dual else scatter.primal_system(ridge)
        return rough_solution(system, R, _ROUGH)

    def _powers(self, R: Array) -> Array:
        """Return R and M R, which cost less than a rough solve."""
        image = self._product(R)
        return np.hstack([R, ratio(linalg.norm(R, axis=0), linalg.norm(image, axis=0)) * image])

    def _orthonormal(self, block: _Block, beside: _Block | None = None) -> _Block:
        """Make the columns B-orthonormal, and B-orthogonal to another block, in place.

        Columns that depend on others, or on those of the other block, are dropped.
        """
        before = self._lengths(block)
        for first in (True, False):  # once may leave rounding errors
            inside = self._products(beside, block) if beside is not None else np.zeros((0, 0))
            gram = self._products(block, block)
            if not first and _is_orthonormal(inside, gram, _LOOSE * self._tol):
                break
            if beside is not None:
                block.subtract(beside, inside)
                gram = self._products(block, block)
            size = np.sqrt(np.maximum(gram.diagonal(), 0))
            scale = ratio(np.where(size > _ROUNDING * before, 1.0, 0.0), size)
            lengths, axes = positive_eigenpairs(scale[:, None] * (gram + gram.T) / 2 * scale)
            block.turn(scale[:, None] * axes / np.sqrt(lengths))
            before = np.ones(len(lengths))
        return block

    def _lengths(self, block: _Block) -> Array:
        """Return √(uᵀBu) of the columns."""
        inner = self._inner(block)
        square = dots(inner, block.image) + self.ridge * dots(inner, block.vectors)
        return np.sqrt(np.maximum(square, 0))

    def _ritz(self, current: _Block, beside: _Block) -> tuple[Array, Array, float]:
        """Return the leading eigenpairs within the span of both, and the next eigenvalue."""
        sides = self._inner(current), self._inner(beside)
        A = np.block([[side.T @ each.pulled for each in (current, beside)] for side in sides])
        values, P = _descending(A)
        followed = current.vectors.shape[1]
        return values[:followed], P[:, :followed], float(values[followed])

    def _check_varying(self, current: _Block, values: Array, k: int) -> None:
        """Raise TooFewDirections if fewer than k directions vary by more than rounding."""
        inner = self._inner(current)
        variance, length = dots(inner, current.image), dots(inner, current.vectors)
        varying = positive(values) & (variance > RANGE_RTOL * self.scatter.trace * length)
        if (found := int(np.sum(varying))) < k:
            raise TooFewDirections(k, found)

    def _most(self, k: int) -> int:
        """Return how many of k columns a round may improve: half of them.

        It is a quarter where all blocks would need much more memory than X.
        """
        needed = 3 * 2 * k * min(self.scatter.rows.shape) * 8
        return -(-k // 2) if needed <= _GENEROUS * self.scatter.rows.stored else max(1, k // 4)

    def _worst(self, errors: Array) -> NDArray[np.intp]:
        """Return the columns farthest from the solution, as many as a round may improve."""
        order = np.argsort(-errors, kind="stable")[: self._most(len(errors))]
        return order[errors[order] > self._tol / np.sqrt(len(errors))]

    @property
    def _tol(self) -> float:
        return max(self.scatter.tol, 1e-10)

    @property
    def _largest_share(self) -> float:
        """Bound of √(rᵀB⁻¹r) / ‖r‖, in the inner product of the problem."""
        if self._is_dual:
            return 1.0
        return 1 / np.sqrt(self.ridge or RANGE_RTOL * self.scatter.trace)

    def _share(self, residual: Array, solved: _Block) -> float:
        """Return √(rᵀB⁻¹r) / ‖r‖, of the column with the largest."""
        squares = ratio(dots(residual, self._inner(solved)), dots(residual, residual))
        return float(np.sqrt(np.max(squares, initial=0.0)))


def _is_orthonormal(inside: Array, gram: Array, tol: float) -> bool:
    """Whether inner products with other columns, and of columns, are those of a basis."""
    rest = np.abs(gram - np.eye(len(gram))).max(initial=0.0)
    return bool(max(np.abs(inside).max(initial=0.0), rest) <= tol)


def _descending(A: Array) -> tuple[Array, Array]:
    """Return the eigenpairs of a symmetric matrix, descending."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    return values[::-1], vectors[:, ::-1]


def _warn_not_converged(k: int, error: float) -> None:
    warnings.warn(
        f"The {k} leading directions of MLSI are known to an angle of about {error:.0e}: some "
        "eigenvalues are nearly equal. Pass another n_components, or a larger tol.",
        ConvergenceWarning,
        stacklevel=2,
    )
