"""Linear systems with S_t from products alone: conjugate gradients, columns side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skml_kalda._implicit import ImplicitScatter
from skml_kalda._scatter import Array

CG_TOL = 1e-12
CG_MAX_ITER = 1000
# Numbers in the arrays of one block of columns, 256 MB: a thousand classes take turns.
_WORK = 2**25


def ridge_solve(scatter: ImplicitScatter, ridge: float, right: Array) -> Array:
    """Solve (S_t + γI) W = right, in the range of S_t, to a relative residual of 1e-12.

    With γ > 0 and n ≥ p the diagonal is the preconditioner. Otherwise there is none: plain
    conjugate gradients stay in the range of S_t. Without a ridge they so end at the solution
    of least norm, and with fewer rows than features they see nothing of the eigenvalue γ
    beside the range, which costs more iterations than the diagonal saves.
    """
    W, settled = solve(scatter, ridge, right, CG_MAX_ITER)
    if not settled:
        warn_unsettled()
    return W


def ridge_solve_rows(scatter: ImplicitScatter, ridge: float, right: Array) -> Array:
    """Solve (S_t + γI) W = Tᵀ right for γ > 0 by W = Tᵀ(TTᵀ + γI)⁻¹ right.

    With fewer rows than features, vectors of n entries are so much cheaper.
    """
    T = scatter.rows
    U, settled = _in_blocks(lambda V: T @ (T.T @ V), T.shape, ridge, right, None, CG_MAX_ITER)
    if not settled:
        warn_unsettled()
    return np.asarray(T.T @ U)


def solve(
    scatter: ImplicitScatter, ridge: float, right: Array, max_iter: int
) -> tuple[Array, bool]:
    """Do as `ridge_solve` in at most `max_iter` products, and tell whether that was enough."""
    regular = ridge > 0 and scatter.n_samples >= scatter.n_features
    inverse = 1 / (scatter.diagonal + ridge)[:, None] if regular else None
    return _in_blocks(scatter.matmul, scatter.rows.shape, ridge, right, inverse, max_iter)


def _in_blocks(
    matmul: Callable[[Array], Array],
    shape: tuple[int, int],
    ridge: float,
    right: Array,
    inverse: Array | None,
    max_iter: int,
) -> tuple[Array, bool]:
    W, settled = np.empty_like(right), True
    for columns in column_blocks(shape, right.shape[1]):
        W[:, columns], done = _conjugate_gradients(
            matmul, ridge, right[:, columns], inverse, max_iter
        )
        settled &= done
    return W, settled


def warn_unsettled() -> None:
    """Say that a system was not solved, and what helps."""
    warnings.warn(
        f"The linear system of the method did not converge in {CG_MAX_ITER} iterations: "
        "increase the ridge (RLDA in place of LDA, shrinkage of kaLDA), or put a scaler "
        "such as MaxAbsScaler in front.",
        ConvergenceWarning,
        stacklevel=3,
    )


def solve_dual(
    scatter: ImplicitScatter,
    right: Array,
    scale: float,
    shift: float,
    tol: float,
    max_iter: int,
) -> Array:
    """Find U for which Z = TᵀU solves (scale S_t + shift I) Z = Tᵀ right.

    Every vector of these conjugate gradients is kept as Tᵀ of one with n entries: Z is in the
    range of S_t whatever the rounding, however often what is left of it is solved for again.

    Parameters
    ----------
    scatter : ImplicitScatter
        Gives T and S_t = TᵀT.
    right : array of shape (n, q)
        Right-hand sides before the product with Tᵀ.
    scale, shift : float
        Not negative.
    tol, max_iter : float, int
        Stops at this residual relative to the right-hand side, or after so many products.
    """
    T = scatter.rows
    U = np.zeros_like(right)
    for columns in column_blocks(T.shape, right.shape[1]):
        residual = right[:, columns].copy()
        primal = T.T @ residual
        dual, direction = residual.copy(), primal.copy()
        size = start = dots(primal, primal)
        for _ in range(max_iter):
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


def _conjugate_gradients(
    matmul: Callable[[Array], Array],
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
        product = matmul(direction)
        product += np.multiply(ridge, direction, out=work)
        step = ratio(size, dots(direction, product))
        W += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, product, out=product)
        ahead = residual if inverse is None else np.multiply(inverse, residual, out=work)
        before, size = size, dots(residual, ahead)
        direction *= ratio(size, before)
        direction += ahead
    return W, False


def column_blocks(shape: tuple[int, int], q: int) -> Iterator[slice]:
    """Columns whose arrays of n + p rows fit into the working memory."""
    width = max(1, _WORK // (3 * sum(shape)))
    return (slice(start, start + width) for start in range(0, q, width))


def dots(U: Array, V: Array) -> Array:
    """Inner product of each column of U with that of V."""
    dots: Array = np.einsum("ij,ij->j", U, V)
    return dots


def ratio(numerator: Array, denominator: Array) -> Array:
    """Quotient, zero for the columns that are solved exactly."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
