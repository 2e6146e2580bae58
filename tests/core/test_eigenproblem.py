"""Low-rank pencils against the dense generalised eigensolver."""

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning

from skml_kalda._core import conjugate_gradients
from skml_kalda._core.eigenproblem import (
    generalized_eigenpairs,
    orthonormal_eigenpairs,
    regression_weights,
)
from skml_kalda._core.labels import indicator, omega_weighted, row_weighted
from skml_kalda._core.scatter import ImplicitScatter, PrimalScatter, RowScatter
from skml_kalda._core.centred import CentredSamples
from skml_kalda._core.scatter.spectral import cholesky_solve
from tests.classic import RLDA
from tests.conftest import made

FORMS = [
    (PrimalScatter, np.asarray),
    (PrimalScatter, sparse.csr_array),
    (RowScatter, np.asarray),
    (RowScatter, sparse.csr_array),
    (ImplicitScatter, sparse.csr_array),
]
IDS = [f"{form.__name__}-{store.__name__}" for form, store in FORMS]


def weighted(Y, weigh=omega_weighted):
    return weigh(indicator(Y).matrix, np.ones(len(Y)))


@pytest.mark.parametrize(("form", "store"), FORMS, ids=IDS)
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_every_form_gives_the_pairs_of_the_dense_solver(form, store, ridge, shape):
    X, Y = made(*shape, unlabelled=0.2)
    scatter = form.of(store(X), *weighted(Y))
    moments = PrimalScatter.of(X, *weighted(Y))
    A, B = moments.between @ moments.between.T, moments.total + ridge * np.eye(shape[1])
    values, G = generalized_eigenpairs(scatter, np.diag(scatter.class_scale), ridge)
    assert len(values) == Y.shape[1] - 1
    np.testing.assert_allclose(values, linalg.eigvalsh(A, B)[::-1][:3], rtol=1e-8)
    np.testing.assert_allclose(G.T @ B @ G, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(A @ G, B @ G * values, atol=1e-6 * np.abs(A).max())


@pytest.mark.parametrize(("form", "store"), FORMS, ids=IDS)
@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_without_a_ridge_the_solution_is_that_of_the_pseudo_inverse(form, store, shape):
    X, Y = made(*shape)
    W = form.of(store(X), *weighted(Y, row_weighted)).ridge_weights(np.eye(4), 0.0)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(W, np.linalg.pinv(centred) @ Y, atol=1e-9)


def test_a_singular_scatter_is_cut_to_its_range():
    X, Y = made(60, 5)
    twice = np.hstack([X, X])
    scatter = PrimalScatter.of(twice, *weighted(Y))
    assert cholesky_solve(scatter.total, 0.0, scatter.cross) is None
    half, _ = generalized_eigenpairs(
        PrimalScatter.of(X, *weighted(Y)), np.diag(scatter.class_scale), 0.0
    )
    values, G = generalized_eigenpairs(scatter, np.diag(scatter.class_scale), 0.0)
    np.testing.assert_allclose(values, half, rtol=1e-10)
    np.testing.assert_allclose(G[:5], G[5:], atol=1e-10)  # nothing of the null space


def test_a_small_ridge_costs_no_digits():
    X, Y = made(60, 5)
    scatter = PrimalScatter.of(X, *weighted(Y))
    L, ridge = np.diag(scatter.class_scale), 1e-10 * scatter.trace
    twice = PrimalScatter.of(np.hstack([X, X]) / np.sqrt(2), *weighted(Y))
    values, G = generalized_eigenpairs(twice, L, ridge)
    half, H = generalized_eigenpairs(scatter, L, ridge)
    np.testing.assert_allclose(values, half, rtol=1e-11)
    np.testing.assert_allclose(np.abs(G[:5]) * np.sqrt(2), np.abs(H), rtol=1e-9)


@pytest.mark.parametrize(("form", "store"), FORMS, ids=IDS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_sum_of_one_hot_labels_is_no_direction(form, store, offset):
    X, Y = made(200, 30, 6, single=True)
    scatter = form.of(store(X + offset), *weighted(Y, row_weighted))
    for ridge in (0.0, 1.0):
        assert len(generalized_eigenpairs(scatter, np.eye(6), ridge).values) == 5
        singular = linalg.svdvals(regression_weights(scatter, ridge))
        assert len(singular) == 5
        assert singular[-1] > 0.1 * singular[0]
    assert len(orthonormal_eigenpairs(scatter, np.eye(6)).values) == 5


def test_fewer_features_than_classes_limit_the_rank():
    X, Y = made(p=2, K=6)
    scatter = PrimalScatter.of(X, *weighted(Y))
    assert len(generalized_eigenpairs(scatter, np.diag(scatter.class_scale), 0.0).values) == 2


def test_columns_of_equal_eigenvalue_do_not_depend_on_rounding():
    X, Y = made(12, 30, single=True)  # λ = 1 three times
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    G, H = (
        generalized_eigenpairs(s, np.diag(s.class_scale), 0.0).vectors
        for s in (RowScatter.of(Z, *weighted(Y)) for Z in (X, X @ turn))
    )
    np.testing.assert_allclose(np.abs(np.sum(G * (turn @ H), axis=0)), np.sum(G * G, axis=0))


def test_an_implicit_scatter_multiplies_with_total_scatter():
    X, Y = made(unlabelled=0.2)
    X[:, 0] += 1e6  # a full column far from zero is centred before products
    implicit = ImplicitScatter.of(sparse.csr_array(X), *weighted(Y))
    S_t = PrimalScatter.of(X, *weighted(Y)).total
    V = np.random.default_rng(0).normal(size=(8, 3))
    np.testing.assert_allclose(implicit.matmul(V), S_t @ V, rtol=1e-9)
    np.testing.assert_allclose(implicit.diagonal, S_t.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(implicit.trace, np.trace(S_t))


def test_centred_rows_multiply_as_the_dense_ones():
    X, Y = made(unlabelled=0.2)
    weight = Y.sum(axis=1).astype(float)
    rows = CentredSamples(sparse.csr_array(X), weight)
    T = np.sqrt(weight)[:, None] * (X - weight @ X / weight.sum())
    rng = np.random.default_rng(0)
    V, U = rng.normal(size=(8, 3)), rng.normal(size=(60, 3))
    np.testing.assert_allclose(rows @ V, T @ V, atol=1e-11)
    np.testing.assert_allclose(rows.T @ U, T.T @ U, atol=1e-11)
    np.testing.assert_allclose(rows @ V[:, 0], T @ V[:, 0], atol=1e-11)


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_a_solve_that_does_not_converge_says_so(monkeypatch, shape, ridge):
    X, Y = made(*shape)
    scatter = ImplicitScatter.of(sparse.csr_array(X), *weighted(Y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scatter.ridge_weights(np.eye(4), ridge)
    monkeypatch.setattr(conjugate_gradients, "CG_MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="increase the ridge") as caught:
        scatter.ridge_weights(np.eye(4), ridge)
    assert len(caught) == 1


@pytest.mark.parametrize(("form", "store"), FORMS, ids=IDS)
def test_a_small_eigenvalue_is_no_rounding_error(form, store):
    """Three classes, whose means differ by 6 in one direction and by 1e-5 in the other."""
    means = np.array([[3, 5e-6], [-3, 5e-6], [0, -1e-5]])
    around = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    X = np.concatenate([mean + around for mean in means])
    scatter = replace(form.of(store(X), *weighted(np.repeat(np.eye(3), 4, axis=0))), tol=1e-12)
    values = generalized_eigenpairs(scatter, np.diag(scatter.class_scale), 0.0).values
    np.testing.assert_allclose(values, [6 / 7, 5e-11], rtol=1e-4)


@pytest.mark.parametrize(("form", "store"), FORMS[:-1], ids=IDS[:-1])
def test_nearly_equal_features_are_two(form, store):
    """Only their difference, of 1e-4 of their size, depends on the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=50)
    Z = np.column_stack([rng.normal(size=50), y + 0.3 * rng.normal(size=50)])
    near = Z[:, [0]] + 1e-4 * Z[:, [1]] * [0, 1]
    scatter, apart = (form.of(store(x), *weighted(np.eye(2)[y])) for x in (near, Z))
    L = np.diag(apart.class_scale)
    found, expected = (generalized_eigenpairs(s, L, 0.0).values for s in (scatter, apart))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert len(scatter.spectrum.values) == 2


def test_no_square_array_is_formed_for_large_sparse_data():
    rng = np.random.default_rng(0)
    p = 5_500
    # By position: SciPy 1.15 has given the last argument another name.
    X = sparse.csr_array(sparse.random(p, p, 0.002, "csr", None, rng))
    y = rng.integers(5, size=p)
    tracemalloc.start()
    try:
        RLDA().fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * X.data.nbytes  # a square one is five hundred times as large
