"""Derivatives against finite differences, closed form and bound against search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from skml_kalda._core.eigenproblem import diagonal_basis, orthonormal, polar, tangent, with_signs
from skml_kalda.reducers.kalda.objective import Alignment


def problem(r=9, K=4, seed=0):
    """A total scatter that dominates the between-class scatter, as real ones do."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(K, r))
    M -= M.mean(axis=0)
    values = np.sort(rng.uniform(0.05, 5, r))[::-1] + np.sum(M**2)
    return Alignment(values, M), values, M


def subspace(r, k, seed=0):
    return orthonormal(np.random.default_rng(seed).normal(size=(r, k)))


def J(values, M, G):
    return np.trace(G.T @ M.T @ M @ G) / np.sqrt(np.trace((G.T * values @ G) @ (G.T * values @ G)))


@pytest.mark.parametrize("k", [4, 6, 9])
def test_a_start_beyond_lda_has_the_quietest_directions_beside_it(k):
    objective, values, _ = problem()
    start, lda = objective.lda_start(k), objective.lda_start(3)
    beside = linalg.null_space(lda.T)
    least = linalg.eigvalsh(beside.T @ np.diag(values) @ beside)[: k - 3]
    more = start[:, 3:]
    np.testing.assert_allclose(more.T @ np.diag(values) @ more, np.diag(least), atol=1e-10)


@given(k=st.integers(1, 9), seed=st.integers(0, 50), scale=st.floats(1e-3, 1e3))
def test_value_is_the_definition_whatever_the_basis_or_scale(k, seed, scale):
    objective, values, M = problem(seed=seed)
    G = subspace(9, k, seed)
    Q = subspace(k, k, seed + 1)
    expected = J(values, M, G)
    assert objective.value(G) == pytest.approx(expected, rel=1e-12)
    assert objective.value(scale * G @ Q) == pytest.approx(expected, rel=1e-10)
    assert objective.at(G @ Q).value == pytest.approx(expected, rel=1e-10)


@given(k=st.integers(1, 6), seed=st.integers(0, 30))
def test_gradient_is_that_of_finite_differences(k, seed):
    objective, *_ = problem(seed=seed)
    G = subspace(9, k, seed)
    numeric = np.zeros_like(G)
    for i, j in np.ndindex(*G.shape):
        E = np.zeros_like(G)
        E[i, j] = 1e-5
        numeric[i, j] = (objective.value(G + E) - objective.value(G - E)) / 2e-5
    np.testing.assert_allclose(objective.gradient(G), numeric, atol=1e-8)
    assert abs(np.vdot(G, numeric)) < 1e-8  # J does not change with the scale of G


def test_point_has_the_gradient_of_the_objective():
    objective, *_ = problem()
    point = objective.at(subspace(9, 3))
    np.testing.assert_allclose(point.euclidean_gradient, objective.gradient(point.G), atol=1e-13)
    np.testing.assert_allclose(point.G.T @ point.gradient, 0, atol=1e-14)


def test_preconditioner_inverts_its_matrix_on_the_tangent_space():
    """Against the matrix of Z -> curvature · (I − GGᵀ) S_t Z D, built column by column."""
    objective, *_ = problem(r=6)
    point = objective.at(subspace(6, 2))
    basis = linalg.null_space(point.G.T)
    matrix = point.curvature * np.kron(basis.T * objective.values @ basis, np.diag(point.d))
    R = tangent(point.G, np.random.default_rng(3).normal(size=(6, 2)))
    expected = basis @ np.linalg.solve(matrix, (basis.T @ R).ravel()).reshape(4, 2)
    np.testing.assert_allclose(point.precondition(R), expected, atol=1e-11)


def test_value_along_a_line_is_the_value_at_its_points():
    objective, *_ = problem()
    point = objective.at(subspace(9, 3))
    Z = tangent(point.G, np.random.default_rng(1).normal(size=(9, 3)))
    steps = np.array([0.0, 1e-3, 0.5, 4.0])
    expected = [objective.value(polar(point.G + t * Z)) for t in steps]
    np.testing.assert_allclose(point.along(Z)(steps), expected, rtol=1e-12)


def test_reflections_are_the_values_after_a_change_of_sign():
    objective, *_ = problem()
    point = objective.at(subspace(9, 3))
    expected = []
    for row in range(9):
        G = point.G.copy()
        G[row] *= -1
        expected.append(objective.value(G))
    np.testing.assert_allclose(point.reflections(), expected, rtol=1e-12)


@given(k=st.integers(1, 6), seed=st.integers(0, 200))
def test_nothing_exceeds_the_upper_bound(k, seed):
    objective, *_ = problem(seed=seed % 10)
    G = np.random.default_rng(seed).normal(size=(9, k))
    assert objective.value(G) <= objective.upper_bound(k) * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_closed_form_attains_the_upper_bound(k):
    objective, values, M = problem()
    eigenvalues, axes = linalg.eigh(M.T @ M, np.diag(values))
    G = (axes * np.sqrt(np.maximum(eigenvalues, 0)))[:, ::-1][:, :k]
    assert objective.value(G) == pytest.approx(objective.upper_bound(k), rel=1e-12)


def test_eigenvalues_are_those_of_the_dense_pencil():
    objective, values, M = problem()
    expected = linalg.eigh(M.T @ M, np.diag(values), eigvals_only=True)[::-1]
    np.testing.assert_allclose(objective.eigenvalues, expected[:4], atol=1e-12)
    assert objective.rank == 3
    assert np.all((objective.eigenvalues >= 0) & (objective.eigenvalues <= 1))


def test_all_columns_leave_nothing_to_choose():
    objective, values, M = problem()
    constant = np.sum(M**2) / linalg.norm(values)
    for seed in range(3):
        assert objective.value(subspace(9, 9, seed)) == pytest.approx(constant, rel=1e-12)


def test_diagonal_basis_keeps_the_span_and_makes_the_scatter_diagonal():
    Y = np.random.default_rng(0).normal(size=(7, 3))
    values = np.arange(1.0, 8)
    G, d = diagonal_basis(Y, values)
    np.testing.assert_allclose(G.T @ G, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(G.T * values @ G, np.diag(d), atol=1e-13)
    np.testing.assert_allclose(G @ G.T, orthonormal(Y) @ orthonormal(Y).T, atol=1e-13)
    assert np.all(np.diff(d) <= 0)


def test_polar_is_the_nearest_orthonormal_matrix():
    Y = np.random.default_rng(0).normal(size=(5, 2))
    U = polar(Y)
    np.testing.assert_allclose(U, Y @ linalg.inv(linalg.sqrtm(Y.T @ Y)), atol=1e-13)


def test_signs_ignore_rounding_among_equal_entries():
    column = np.array([[-0.5], [0.5], [0.1]])
    nudged = column + np.array([[0], [1e-12], [0]])
    np.testing.assert_array_equal(with_signs(column)[0], 0.5)
    np.testing.assert_array_equal(with_signs(nudged)[0], 0.5)


def test_a_start_with_more_directions_than_classes_adds_those_of_least_variance():
    rng = np.random.default_rng(0)
    values = rng.uniform(0.1, 3, 7)
    start = Alignment(values, rng.normal(size=(2, 7))).lda_start(4)
    np.testing.assert_allclose(start.T @ start, np.eye(4), atol=1e-12)
    beside = linalg.null_space(start[:, :2].T)
    expected = linalg.eigvalsh(beside.T @ (values[:, None] * beside))[:2]
    found = linalg.eigvalsh(start[:, 2:].T @ (values[:, None] * start[:, 2:]))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
