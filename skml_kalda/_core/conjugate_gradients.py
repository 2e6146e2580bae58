"""Linear systems from products alone: conjugate gradients, right-hand sides side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning

from skml_kalda._core.arrays import Array

Product: TypeAlias = Callable[[Array], Array]

CG_MAX_ITER = 1000
# Numbers in the arrays of one block of columns, 256 MB: a thousand classes take turns.
_WORK = 2**25
# What single precision reaches before its residual is computed anew in double precision.
_SINGLE_TOL = 1e-5


class System(NamedTuple):
    """The matrix A + γI, for symmetric A without negative eigenvalues."""

    product: Product
    """V -> A V, in double precision."""
    ridge: float
    """γ ≥ 0. Without a ridge and a preconditioner the solution has least norm."""
    shape: tuple[int, int]
    """Shape of the data behind A, which decides how many columns are solved for at a time."""
    rough: Product | None = None
    """V -> A V, in single precision; None if all must be computed in double precision."""
    inverse: Array | None = None
    """Diagonal preconditioner, shape (m, 1)."""


def solve(
    system: System, right: Array, tol: float, max_iter: int | None = None
) -> tuple[Array, bool]:
    """Solve (A + γI) W = right, some columns at a time.

    Iterations in single precision, each half as long as in double precision, are refined: the
    residual is computed in double precision, and solved for again. Where that does not gain a
    digit, because A is ill-conditioned, double precision takes over.

    Parameters
    ----------
    system : System
        The matrix.
    right : array of shape (m, q)
        Right-hand sides.
    tol : float
        Residual of a column at most, relative to its right-hand side.
    max_iter : int, optional
        Number of products at most.

    Returns
    -------
    W : array of shape (m, q)
        The solution, or the last iterate.
    converged : bool
        Whether the residual is as small as wanted.
    """
    left = CG_MAX_ITER if max_iter is None else max_iter
    W, converged = np.empty_like(right), True
    for columns in column_blocks(system.shape, right.shape[1]):
        W[:, columns], done = _refined(system, right[:, columns], tol, left)
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


def _refined(system: System, right: Array, tol: float, max_iter: int) -> tuple[Array, bool]:
    start = linalg.norm(right, axis=0)
    W, residual, reached = np.zeros_like(right), right, 1.0
    while system.rough is not None and max_iter > 0:
        # Half of what is wanted: the residual of the iteration is not quite the true one.
        aim = max(tol / reached / 2, _SINGLE_TOL)
        step, used = _single(system, residual, aim, max_iter)
        W += step
        residual = right - system.product(W)
        residual -= system.ridge * W
        max_iter -= used
        before, reached = reached, _largest(ratio(linalg.norm(residual, axis=0), start))
        if reached <= tol:
            return W, True
        if not reached < before / 10:
            if reached > before:  # start again, from where it was better
                W -= step
                residual = right - system.product(W) - system.ridge * W
            break
    limit = tol * start
    step, used = _iterate(system.product, system.ridge, residual, limit, system.inverse, max_iter)
    return np.add(W, step, out=W), used <= max_iter


def _largest(sizes: Array) -> float:
    return float(np.max(sizes, initial=0.0))


def _single(system: System, right: Array, aim: float, max_iter: int) -> tuple[Array, int]:
    """Solve in single precision, on columns of unit length, so that nothing overflows."""
    assert system.rough is not None
    scale = linalg.norm(right, axis=0)
    unit = (right * ratio(np.ones_like(scale), scale)).astype(np.float32)
    inverse = None if system.inverse is None else system.inverse.astype(np.float32)
    limit = np.full(len(scale), aim)
    W, used = _iterate(system.rough, np.float32(system.ridge), unit, limit, inverse, max_iter)
    return W * scale, used


def _iterate(
    product: Product,
    ridge: float | np.float32,
    right: Array,
    limit: Array,
    inverse: Array | None,
    max_iter: int,
) -> tuple[Array, int]:
    """Iterate until every residual is within its limit; return also the number of products.

    More than `max_iter` of them means that some residual is not.
    """
    # In place: fresh memory for every vector would cost more than the products.
    W, residual, work = np.zeros_like(right), right.copy(), np.empty_like(right)
    direction = residual.copy() if inverse is None else inverse * residual
    size = dots(residual, direction)
    for used in range(max_iter):
        if np.all(dots(residual, residual) <= limit**2):
            return W, used
        image = product(direction)
        image += np.multiply(ridge, direction, out=work)
        step = ratio(size, dots(direction, image))
        W += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, image, out=image)
        ahead = residual if inverse is None else np.multiply(inverse, residual, out=work)
        before, size = size, dots(residual, ahead)
        direction *= ratio(size, before)
        direction += ahead
    done = np.all(dots(residual, residual) <= limit**2)
    return W, max_iter if done else max_iter + 1


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
