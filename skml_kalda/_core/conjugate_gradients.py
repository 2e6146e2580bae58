"""Linear systems from products alone: conjugate gradients, right-hand sides side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skml_kalda._core.arrays import Array

CG_TOL = 1e-12
CG_MAX_ITER = 1000
# Numbers in the arrays of one block of columns, 256 MB: a thousand classes take turns.
_WORK = 2**25


def solve(
    product: Callable[[Array], Array],
    right: Array,
    shape: tuple[int, int],
    *,
    ridge: float,
    inverse: Array | None = None,
    max_iter: int | None = None,
) -> tuple[Array, bool]:
    """Solve (A + γI) W = right to a relative residual of 1e-12, some columns at a time.

    Parameters
    ----------
    product : callable
        V -> A V, for symmetric A without negative eigenvalues.
    right : array of shape (m, q)
        Right-hand sides.
    shape : (int, int)
        Shape of the data behind A, which decides how many columns are solved for at a time.
    ridge : float
        γ ≥ 0. Without a ridge and a preconditioner the solution has least norm.
    inverse : array of shape (m, 1), optional
        Diagonal preconditioner.
    max_iter : int, optional
        Number of products at most.

    Returns
    -------
    W : array of shape (m, q)
        The solution, or the last iterate.
    converged : bool
        Whether the residual is as small as wanted.
    """
    max_iter = CG_MAX_ITER if max_iter is None else max_iter
    W, converged = np.empty_like(right), True
    for columns in column_blocks(shape, right.shape[1]):
        W[:, columns], done = _solve_block(product, ridge, right[:, columns], inverse, max_iter)
        converged &= done
    return W, converged


def warn_not_converged() -> None:
    """Warn that a system was not solved, and say what helps."""
    warnings.warn(
        f"The linear system of the method did not converge in {CG_MAX_ITER} iterations: "
        "increase the ridge (RLDA in place of LDA, shrinkage of kaLDA), or put a scaler "
        "such as MaxAbsScaler in front.",
        ConvergenceWarning,
        stacklevel=3,
    )


def solve_dual(
    T: Any, right: Array, scale: float, shift: float, tol: float, max_iter: int | None = None
) -> Array:
    """Return U for which Z = TᵀU solves (scale TᵀT + shift I) Z = Tᵀ right.

    Every vector of these conjugate gradients is kept as Tᵀ of one with n entries. So Z stays
    in the range of TᵀT whatever the rounding, however often the rest of it is solved for again.

    Parameters
    ----------
    T : operator of shape (n, p)
        The data.
    right : array of shape (n, q)
        Right-hand sides before the product with Tᵀ.
    scale, shift : float
        Not negative.
    tol, max_iter : float, int
        Stop at this residual relative to the right-hand side, or after this many products.
    """
    U = np.zeros_like(right)
    for columns in column_blocks(T.shape, right.shape[1]):
        residual = right[:, columns].copy()
        primal = T.T @ residual
        dual, direction = residual.copy(), primal.copy()
        size = start = dots(primal, primal)
        for _ in range(CG_MAX_ITER if max_iter is None else max_iter):
            if np.all(size <= tol**2 * start):
                break
            image = T @ direction
            bend = scale * dots(image, image) + shift * dots(direction, direction)
            step = ratio(size, bend)
            U[:, columns] += step * dual
            residual -= step * (scale * image + shift * dual)
            primal = T.T @ residual
            before, size = size, dots(primal, primal)
            turn = ratio(size, before)
            dual *= turn
            dual += residual
            direction *= turn
            direction += primal
    return U


def _solve_block(
    product: Callable[[Array], Array],
    ridge: float,
    right: Array,
    inverse: Array | None,
    max_iter: int,
) -> tuple[Array, bool]:
    # In place: fresh memory for every vector would cost more than the products.
    W, residual, work = np.zeros_like(right), right.copy(), np.empty_like(right)
    direction = residual.copy() if inverse is None else inverse * residual
    size = start = dots(residual, direction)
    for _ in range(max_iter):
        if np.all(size <= CG_TOL**2 * start):
            return W, True
        image = product(direction)
        image += np.multiply(ridge, direction, out=work)
        step = ratio(size, dots(direction, image))
        W += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, image, out=image)
        ahead = residual if inverse is None else np.multiply(inverse, residual, out=work)
        before, size = size, dots(residual, ahead)
        direction *= ratio(size, before)
        direction += ahead
    return W, False


def column_blocks(shape: tuple[int, int], q: int) -> Iterator[slice]:
    """Yield slices of q columns whose arrays of n + p rows fit into the working memory."""
    width = max(1, _WORK // (3 * sum(shape)))
    return (slice(start, start + width) for start in range(0, q, width))


def dots(U: Array, V: Array) -> Array:
    """Return the inner product of each column of U with that of V."""
    return np.einsum("ij,ij->j", U, V)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient; zero for the columns that are solved exactly."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
