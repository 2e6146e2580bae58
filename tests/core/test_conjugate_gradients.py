"""Systems solved by iteration against dense solves, and the products behind them."""

import numpy as np
import pytest
from scipy import sparse

from skml_kalda._core.conjugate_gradients import System, block_solve, solve, solve_dual
from skml_kalda._core.scatter import products
from skml_kalda._core.centred import CentredSamples


def definite(condition, m=40, seed=0):
    """Make a symmetric matrix with eigenvalues from 1 down to 1 / condition."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))[0]
    return (turn * np.geomspace(1, 1 / condition, m)) @ turn.T


def system(A, ridge=0.0, *, inverse=None):
    single = A.astype(np.float32)
    return System(lambda V: A @ V, ridge, A.shape, lambda V: single @ V, inverse)


def residual(A, W, right):
    return np.max(np.linalg.norm(right - A @ W, axis=0) / np.linalg.norm(right, axis=0))


@pytest.mark.parametrize(
    ("condition", "tol"), [(1e1, 1e-4), (1e1, 1e-12), (1e4, 1e-12), (1e6, 1e-10), (1e9, 1e-4)]
)
def test_a_solution_is_as_exact_as_asked_for(condition, tol):
    """A condition of 1e9 is beyond single precision, which must not show."""
    A, right = definite(condition), np.random.default_rng(1).standard_normal((40, 3))
    if condition > 1e4:
        right = A @ right
    W, converged = solve(system(A), right, tol)
    assert converged
    assert residual(A, W, right) <= 1.01 * tol


def test_a_tight_solution_is_that_of_a_dense_solve():
    A, right = definite(1e3), np.random.default_rng(1).standard_normal((40, 3))
    W, _ = solve(system(A, 0.1), right, 1e-12)
    np.testing.assert_allclose(W, np.linalg.solve(A + 0.1 * np.eye(40), right), rtol=1e-9)


def test_a_preconditioner_changes_the_way_and_not_the_result():
    rng = np.random.default_rng(1)
    units = np.geomspace(1, 1e3, 40)
    A, right = units[:, None] * definite(10) * units, rng.standard_normal((40, 3))
    calls = []

    def counted(V):
        calls.append(1)
        return A.astype(np.float32) @ V

    inverse = 1 / A.diagonal()[:, None]
    plain = System(lambda V: A @ V, 0.0, A.shape, counted)
    expected = np.linalg.solve(A, right)
    scaled, converged = solve(plain._replace(inverse=inverse), right, 1e-9)
    assert converged
    few = len(calls)
    solve(plain, right, 1e-9)
    assert len(calls) - few > few
    np.testing.assert_allclose(scaled, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max())


def test_right_hand_sides_may_depend_on_one_another():
    """Columns of a block that are equal, or zero, or converge at once."""
    A, rng = definite(1e2), np.random.default_rng(1)
    column = rng.standard_normal(40)
    eigenvector = np.linalg.eigh(A)[1][:, -1]
    right = np.column_stack([column, 2 * column, np.zeros(40), eigenvector])
    W, converged = solve(system(A), right, 1e-10)
    assert converged
    np.testing.assert_allclose(W, np.linalg.solve(A, right), atol=1e-6)


def test_columns_of_a_block_share_their_search():
    A, right = definite(1e4, 100), np.random.default_rng(1).standard_normal((100, 10))
    A = A.astype(np.float32)
    _, together = block_solve(lambda V: A @ V, right, 1e-3, 300)
    alone = [block_solve(lambda V: A @ V, right[:, [j]], 1e-3, 300)[1] for j in range(10)]
    assert together < 0.5 * max(alone)


@pytest.mark.parametrize("threads", [1, 3])
def test_stored_products_are_those_of_the_dense_matrix(threads, monkeypatch):
    monkeypatch.setattr(products, "_openmp_effective_n_threads", lambda: threads)
    monkeypatch.setattr(products, "_SHARED", 0)
    rng = np.random.default_rng(0)
    A = sparse.csr_array(rng.random((30, 17)) * (rng.random((30, 17)) < 0.2))
    stored, V, U = products.StoredProducts(A), rng.random((17, 4)), rng.random((30, 4))
    np.testing.assert_allclose(stored.forward(V), A.toarray() @ V)
    np.testing.assert_allclose(stored.backward(U), A.toarray().T @ U)


@pytest.mark.parametrize("q", [1, 3, 4, 7, 33])
def test_rows_in_single_precision_are_centred(q):
    rng = np.random.default_rng(0)
    X = rng.random((30, 17)) * (rng.random((30, 17)) < 0.4)
    weight = rng.integers(0, 4, 30).astype(float)
    single = CentredSamples(sparse.csr_array(X), weight).single()
    T = np.sqrt(weight)[:, None] * (X - weight @ X / weight.sum())
    U, V = rng.random((30, q)).astype(np.float32), rng.random((17, q)).astype(np.float32)
    np.testing.assert_allclose(single.kernel(U), T @ (T.T @ U), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(single.total(V), T.T @ (T @ V), rtol=1e-4, atol=1e-4)


def test_dependent_right_hand_sides_do_not_leave_the_space_of_the_data():
    rng = np.random.default_rng(0)
    right = np.zeros((200, 6), dtype=np.float32)
    right[50:60] = rng.normal(size=(10, 4)) @ rng.normal(size=(4, 6))
    values = np.linspace(1, 3, 200, dtype=np.float32)[:, None]
    W, _ = block_solve(lambda P: values * P, right, 1e-5, 100)
    np.testing.assert_allclose(W, right / values, rtol=1e-4, atol=1e-4)
    outside = np.r_[:50, 60:200]
    assert np.abs(W[outside]).max() <= 1e-12


def test_easy_columns_do_not_end_the_search_for_hard_ones():
    """One right-hand side is an eigenvector, which takes one step."""
    T = np.diag(np.geomspace(1, 30, 20))
    right = np.column_stack([np.eye(20)[0], np.ones(20)])
    U = solve_dual(T, right, 2.0, 0.1, 1e-10)
    expected = np.linalg.solve(2 * T.T @ T + 0.1 * np.eye(20), T.T @ right)
    np.testing.assert_allclose(T.T @ U, expected, atol=1e-9)
