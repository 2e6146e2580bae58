"""Linear systems solved from products alone, by conjugate gradients on many right-hand sides."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_even_slices

from skml_kalda._core.arrays import Array

Product: TypeAlias = Callable[[Array], Array]

CG_MAX_ITER = 1000
# Largest number of products of a rough solution.
_ROUGH_ITER = 200
# Numbers in the arrays of one block of columns: 256 MB.
_WORK = 2**25
# Most columns of a block. With more, inner products cost more than products with sparse data.
_WIDTH = 128
# Residual that single precision reaches before it is recomputed in double precision.
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
    """V -> A V, in single precision; None if only double precision will do."""
    inverse: Array | None = None
    """Diagonal preconditioner, shape (m, 1)."""


def solve(
    system: System, right: Array, tol: float, max_iter: int | None = None
) -> tuple[Array, bool]:
    """Solve (A + γI) W = right, some columns at a time.

    Iterations run in single precision, which takes half the time. The residual is computed in
    double precision and solved for again, until it is small enough. If a pass gains less than
    one digit, because A is ill-conditioned, double precision takes over.

    Parameters
    ----------
    system : System
        The matrix.
    right : array of shape (m, q)
        Right-hand sides.
    tol : float
        Largest residual of a column, relative to its right-hand side.
    max_iter : int, optional
        Largest number of products.

    Returns
    -------
    W : array of shape (m, q)
        The solution, or the last iterate.
    converged : bool
        Whether the residual is as small as requested.
    """
    left = CG_MAX_ITER if max_iter is None else max_iter
    blocks = list(column_blocks(system.shape, right.shape[1]))
    if len(blocks) == 1:
        return _refined(system, right, tol, left)
    W, converged = np.empty_like(right), True
    for columns in blocks:
        W[:, columns], done = _refined(system, right[:, columns], tol, left)
        converged &= done
    return W, converged


def rough_solution(system: System, right: Array, tol: float, out: Array | None = None) -> Array:
    """Solve (A + γI) W = right without checking the residual, some columns at a time."""
    W = np.empty_like(right) if out is None else out
    for columns in column_blocks(system.shape, right.shape[1]):
        part = right[:, columns]
        if system.rough is not None:
            W[:, columns] = _single(system, part, tol, _ROUGH_ITER)[0]
        else:
            limit = tol * linalg.norm(part, axis=0)
            W[:, columns] = _iterate(
                system.product, system.ridge, part, limit, system.inverse, _ROUGH_ITER
            )[0]
    return W


def warn_not_converged() -> None:
    """Warn that a system did not converge, and say what to do."""
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

    Every vector of these conjugate gradients is stored as u with v = Tᵀu. So Z stays in the
    range of TᵀT in spite of rounding errors.

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
        # Half of the tolerance, because the residual of the iteration drifts from the true one.
        aim = max(tol / reached / 2, _SINGLE_TOL)
        step, used = _single(system, residual, aim, max_iter // 4)
        W += step
        del step  # memory peaks in the product
        residual = right - system.product(W)
        residual -= system.ridge * W
        max_iter -= used
        before, reached = reached, _largest(ratio(linalg.norm(residual, axis=0), start))
        if reached <= tol:
            return W, True
        if not reached < before / 10:
            if not reached <= before:  # larger, or not a number
                W, residual = np.zeros_like(right), right
            break
    limit = tol * start
    step, used = _iterate(system.product, system.ridge, residual, limit, system.inverse, max_iter)
    return np.add(W, step, out=W), used <= max_iter


def _largest(sizes: Array) -> float:
    return float(np.max(sizes, initial=0.0))


@np.errstate(over="ignore", invalid="ignore")  # the residual tells, and double precision follows
def _single(system: System, right: Array, aim: float, max_iter: int) -> tuple[Array, int]:
    """Solve in single precision, scaled symmetrically if there is a preconditioner."""
    assert system.rough is not None
    size = linalg.norm(right, axis=0)
    inverse = ratio(np.ones_like(size), size)  # unit columns, so that nothing overflows
    ridge, rough = np.float32(system.ridge), system.rough
    if system.inverse is None:
        W, used = block_solve(
            lambda P: _plus(rough(P), ridge, P),
            np.multiply(right, inverse, dtype=np.float32, casting="same_kind"),
            aim,
            max_iter,
        )
        return W * size, used
    units = np.sqrt(system.inverse)
    few = units.astype(np.float32)

    def scaled(P: Array) -> Array:
        V = few * P
        return _plus(rough(V), ridge, V) * few

    W, used = block_solve(scaled, units * (right * inverse), aim, max_iter)
    return units * (W * size), used


def _plus(image: Array, ridge: np.float32, P: Array) -> Array:
    """Return A P + γ P."""
    image += ridge * P
    return image


def block_solve(product: Product, right: Array, tol: float, max_iter: int) -> tuple[Array, int]:
    """Solve A W = right for positive definite A in single precision, by block conjugate gradients.

    All columns share one Krylov space, which takes about two thirds of the iterations that
    separate columns would. The residual is stored as Q S with orthonormal Q, so that the method
    does not break down if columns converge at different times (Dubrulle 2001).

    Parameters
    ----------
    product : callable
        V -> A V.
    right : array of shape (m, q)
        Right-hand sides.
    tol : float
        Largest residual of a column, relative to its right-hand side.
    max_iter : int
        Largest number of products.

    Returns
    -------
    W : array of shape (m, q)
        The solution, or the last iterate.
    used : int
        Number of products.

    References
    ----------
    A. A. Dubrulle, "Retooling the method of block conjugate gradients", Electronic
    Transactions on Numerical Analysis 12, 2001.
    """
    few = np.float32
    Q, S = _orthonormal(right.astype(few, copy=False))
    del right  # here and below, to hold as few arrays as possible
    limit = tol * linalg.norm(S, axis=0)
    P, W, used = Q.copy(), np.zeros_like(Q), 0
    while used < max_iter and np.any(linalg.norm(S, axis=0) > limit):
        used += 1
        image = product(P)
        bend = (P.T @ image).astype(np.float64)
        if not np.isfinite(bend).all():
            break
        step = linalg.pinvh((bend + bend.T) / 2)
        W += P @ (step @ S).astype(few)
        Q -= image @ step.astype(few)
        del image
        if not np.isfinite(Q).all():
            break
        Q, turn = _orthonormal(Q)
        S = turn @ S
        P = P @ turn.T.astype(few)
        P += Q
    return W, used


def _orthonormal(R: Array) -> tuple[Array, Array]:
    """Return Q and S with R = Q S: by Cholesky, or by QR if columns are nearly dependent."""
    gram = (R.T @ R).astype(np.float64)
    try:
        S = linalg.cholesky(gram)
    except linalg.LinAlgError:
        S = np.zeros_like(gram)
    size = S.diagonal()
    if not size.min(initial=1.0) > 0.01 * linalg.norm(S, axis=0).max(initial=0.0):
        Q, S = np.linalg.qr(R)
        # For a column that depends on others, QR returns a unit vector from outside of the range.
        own = np.abs(S.diagonal())
        Q[:, own <= len(S) * np.finfo(R.dtype).eps * own.max(initial=0.0)] = 0
        return Q, S.astype(np.float64)
    return R @ linalg.inv(S).astype(R.dtype), S


def _iterate(
    product: Product,
    ridge: float | np.float32,
    right: Array,
    limit: Array,
    inverse: Array | None,
    max_iter: int,
) -> tuple[Array, int]:
    """Iterate until every residual is within its limit; also return the number of products.

    A number above `max_iter` means that some residual is not within its limit.
    """
    # In place, because allocating every vector would cost more than the products.
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
    """Yield slices of q columns, about equally many each, that fit into the working memory."""
    width = min(_WIDTH, max(1, _WORK // (3 * sum(shape))))
    return iter(gen_even_slices(q, max(1, -(-q // width))))


def dots(U: Array, V: Array) -> Array:
    """Return the inner products of corresponding columns of U and V."""
    return np.einsum("ij,ij->j", U, V)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient, or zero where the denominator is not positive."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
