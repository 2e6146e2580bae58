"""MLSI against its objective, explicit kernels and its limits."""

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.optimize import minimize
from sklearn.decomposition import PCA

import skml_kalda
from tests.classic import MLSI, OPLS
from tests.conftest import made
from tests.forms import fitted
from tests.oracles import assert_same_span, centred, top

SHAPES = pytest.mark.parametrize("shape", [(60, 8), (10, 30)], ids=["tall", "wide"])


def unit(Z):
    return centred(Z) / linalg.norm(centred(Z))


def kernel(X, Y, beta):
    """C of the method, n × n, for data of unit norm."""
    return (1 - beta) * X @ X.T + beta * Y @ Y.T


def objective(W, X, Y, beta):
    """The least error of both reconstructions from V, an orthonormal basis of XW."""
    V = np.linalg.qr(X @ W)[0]
    X_rest, Y_rest = X - V @ (V.T @ X), Y - V @ (V.T @ Y)
    return (1 - beta) * linalg.norm(X_rest) ** 2 + beta * linalg.norm(Y_rest) ** 2


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("k", [1, 2])
def test_direct_form_minimises_the_objective(beta, k):
    X, Y = made(30, 4, 3)
    mlsi = MLSI(n_components=k, beta=beta, ridge=0.0).fit(X, Y)
    X, Y = unit(X), unit(Y)
    found = objective(mlsi.components_.T, X, Y, beta)
    rng = np.random.default_rng(0)
    tries = [
        minimize(lambda w: objective(w.reshape(4, k), X, Y, beta), start).fun
        for start in rng.normal(size=(6, 4 * k))
    ]
    assert found == pytest.approx(min(tries), rel=1e-6)
    assert 1 - found == pytest.approx(mlsi.eigenvalues_.sum(), rel=1e-8)


@SHAPES
@pytest.mark.parametrize("ridge", [0.1, 1e-4])
def test_inverse_form_is_that_of_the_explicit_kernel(shape, ridge):
    X, Y = made(*shape)
    n, p = shape
    mlsi = MLSI(n_components=4, beta=0.6, form="inverse", ridge=ridge).fit(X, Y)
    X_u, Y_u = unit(X), unit(Y)
    C = kernel(X_u, Y_u, 0.6) + ridge / p * np.eye(n)
    values, H = top(X_u.T @ X_u, X_u.T @ linalg.solve(C, X_u) + ridge * np.eye(p), 4)
    np.testing.assert_allclose(mlsi.eigenvalues_, values, rtol=1e-6)
    assert_same_span(mlsi.components_.T, H, atol=1e-6)


def test_inverse_form_is_pca_where_data_and_labels_are_independent():
    X, Y = made()
    mlsi = MLSI(form="inverse", ridge=0.0).fit(X, Y)
    assert_same_span(mlsi.components_.T, PCA(4).fit(X).components_.T, atol=1e-6)


def test_ends_of_beta_are_pca_and_opls():
    X, Y = made()
    pca = PCA(4, whiten=True).fit(X)
    whitened = pca.transform(X) * np.sqrt(60 / 59)  # theirs is unbiased
    ours = MLSI(beta=0.0, ridge=0.0).fit_transform(X, Y)
    np.testing.assert_allclose(np.abs(ours), np.abs(whitened), atol=1e-8)
    np.testing.assert_allclose(
        MLSI(beta=1.0, ridge=0.01).fit(X, Y).components_,
        OPLS(ridge=0.01).fit(X, Y).components_,
        atol=1e-8,
    )


def test_limits_of_the_number_of_components():
    X, Y = made()
    assert MLSI(n_components=8).fit_transform(X, Y).shape == (60, 8)
    with pytest.raises(ValueError, match="n_components=9"):
        MLSI(n_components=9).fit(X, Y)
    with pytest.raises(ValueError, match="n_components=5"):
        MLSI(n_components=5, beta=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="beta"):
        MLSI(beta=1.0, form="inverse").fit(X, Y)


@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_directions_in_which_sparse_data_do_not_vary_are_refused(beta):
    """Three features and sums of them: the fourth direction has no variance."""
    X, Y = made(40, 3)
    X = sparse.csr_array(X @ [[1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
    assert fitted(MLSI(3, beta=beta), X, Y, "operator").components_.shape == (3, 6)
    with pytest.raises(ValueError, match="n_components=4 must be <= 3"):
        fitted(MLSI(4, beta=beta), X, Y, "operator")
    with pytest.raises(ValueError, match="n_components=5"):
        fitted(MLSI(5, beta=beta), X, Y, "operator")


def slow():
    """Data with a last direction among many of nearly the same variance."""
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 6)) < 0.3).astype(float)
    X = rng.normal(size=(300, 400)) * np.r_[np.ones(6) * 3, np.geomspace(2, 0.5, 394)]
    X[:, :6] += 6 * Y
    return sparse.csr_array(X * (rng.random(X.shape) < 0.5)), Y


@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_directions_of_nearly_equal_variance_are_as_exact_as_asked_for(tol):
    X, Y = slow()
    exact = MLSI(n_components=7, ridge=0.1).fit(X, Y)
    found = fitted(MLSI(n_components=7, ridge=0.1, tol=tol), X, Y, "operator")
    angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
    assert angles.max() < tol


def test_the_ridge_of_each_form():
    X, Y = made()
    assert skml_kalda.MLSI().fit(X, Y).ridge_ == skml_kalda.OPLS().fit(X, Y).ridge_
    assert skml_kalda.MLSI(form="inverse").fit(X, Y).ridge_ == 0.1


def test_the_ridge_has_the_unit_of_the_data():
    X, Y = made()
    mlsi = MLSI(n_components=8, ridge=0.5, scale=False).fit(X, Y)
    X, Y = centred(X), centred(Y)
    S, C = X.T @ X, X.T @ Y
    B = S + 0.5 * np.trace(S) / 8 * np.eye(8)
    expected = linalg.eigvalsh(0.5 * S @ S + 0.5 * C @ C.T, B)[::-1]
    np.testing.assert_allclose(mlsi.eigenvalues_, expected, rtol=1e-8)


@pytest.mark.parametrize("form", ["direct", "inverse"])
def test_labels_that_never_vary_are_refused(form):
    X, Y = made()
    with pytest.raises(ValueError, match="MLSI"):
        MLSI(form=form).fit(X, np.ones_like(Y))


def test_latent_features_need_no_label_that_varies_if_asked_for_none():
    X, Y = made()
    found = MLSI(beta=0.0, scale=False, n_components=2).fit(X, np.ones_like(Y))
    assert np.all(np.isfinite(found.components_))
