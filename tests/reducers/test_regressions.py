"""OPLS, CCA, MLR, MLLS and MDDM against scikit-learn, their objectives and each other."""

import numpy as np
import pytest
from scipy import linalg
from scipy.optimize import minimize
from sklearn.cross_decomposition import CCA as PeerCCA
from sklearn.cross_decomposition import PLSSVD
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from skml_kalda import MDDM, MLLS
from tests.classic import CCA, LDA, MLR, OPLS
from tests.conftest import made
from tests.oracles import assert_same_span, centred

SHAPES = pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])


def relative(gamma, X):
    """γ as the multiple of the mean eigenvalue that a ridge parameter is."""
    return gamma * X.shape[1] / np.sum(centred(X) ** 2)


def G(reducer, X, Y):
    return reducer.fit(X, Y).components_.T


def explained(W, X, Y):
    """How much of Y is explained by least squares from XW."""
    V = centred(X) @ W
    return linalg.norm(V @ np.linalg.pinv(V) @ centred(Y)) ** 2


@pytest.mark.parametrize("k", [1, 2])
def test_opls_explains_most_of_the_labels(k):
    X, Y = made(30, 4, 3)
    found = explained(G(OPLS(n_components=k, ridge=0.0), X, Y), X, Y)
    rng = np.random.default_rng(0)
    tries = [
        -minimize(lambda w: -explained(w.reshape(4, k), X, Y), rng.normal(size=4 * k)).fun
        for _ in range(5)
    ]
    assert found == pytest.approx(max(tries), rel=1e-6)


def test_cca_spans_what_scikit_learn_finds():
    X, Y = made(120, 5, 3)
    peer = PeerCCA(n_components=3, scale=False, tol=1e-14, max_iter=100_000).fit(X, Y)
    cca = CCA(n_components=3, ridge=0.0, label_ridge=0.0).fit(X, Y)
    a, b = peer.transform(X, Y)
    correlations = [np.corrcoef(a[:, j], b[:, j])[0, 1] for j in range(3)]
    np.testing.assert_allclose(np.sqrt(cca.eigenvalues_), correlations, rtol=1e-6)
    assert_same_span(cca.components_.T, peer.x_rotations_, atol=1e-5)


def test_cca_of_one_label_per_sample_is_lda():
    X, Y = made(single=True)
    cca, lda = CCA(ridge=0.0, label_ridge=0.0).fit(X, Y), LDA().fit(X, Y)
    np.testing.assert_allclose(cca.components_, lda.components_, atol=1e-9)


@SHAPES
def test_distances_of_mlr_are_those_of_ridge_scores(shape):
    X, Y = made(*shape)
    gamma = 0.1 / relative(1.0, X)
    scores = Ridge(alpha=gamma).fit(X, Y).predict(X)
    Z = MLR().fit_transform(X, Y)
    assert Z.shape == (shape[0], 4)
    np.testing.assert_allclose(
        centred(Z) @ centred(Z).T, centred(scores) @ centred(scores).T, atol=1e-9
    )


def test_mlr_in_fewer_dimensions_keeps_the_leading_singular_vectors():
    X, Y = made()
    W = Ridge(alpha=0.1 / relative(1.0, X)).fit(X, Y).coef_.T
    left, singular, _ = linalg.svd(W, full_matrices=False)
    mlr = MLR(n_components=2).fit(X, Y)
    np.testing.assert_allclose(
        np.abs(mlr.components_.T), np.abs(left * singular)[:, :2], atol=1e-10
    )
    np.testing.assert_allclose(mlr.eigenvalues_, singular[:2] ** 2)


def mlls_objective(T, X, Y, alpha, beta):
    """The least value for the subspace of T: U by its normal equations, V = ΘᵀU."""
    Theta = np.linalg.qr(T)[0]
    X, Y, (n, p) = centred(X), centred(Y), X.shape
    outside = np.eye(p) - Theta @ Theta.T
    U = linalg.solve(X.T @ X / n + alpha * outside + beta * np.eye(p), X.T @ Y / n)
    fit = linalg.norm(X @ U - Y) ** 2 / n
    return fit + alpha * linalg.norm(outside @ U) ** 2 + beta * linalg.norm(U) ** 2


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (10.0, 0.1), (0.3, 0.0)])
@pytest.mark.parametrize("k", [1, 2])
def test_mlls_minimises_its_objective(alpha, beta, k):
    X, Y = made(30, 4, 3)
    mlls = MLLS(n_components=k, alpha=alpha, beta=beta).fit(X, Y)
    found = mlls_objective(mlls.components_.T, X, Y, alpha, beta)
    rng = np.random.default_rng(0)
    tries = [
        minimize(lambda t: mlls_objective(t.reshape(4, k), X, Y, alpha, beta), start).fun
        for start in rng.normal(size=(3, 4 * k))
    ]
    assert found == pytest.approx(min(tries), rel=1e-6)
    assert found <= min(tries) + 1e-9
    ridge = mlls_objective(np.eye(4)[:, :0], X, Y, alpha, beta)
    assert ridge - found == pytest.approx(alpha * mlls.eigenvalues_.sum(), rel=1e-8)


def test_limits_of_mlls():
    X, Y = made()
    X = X / X.std(axis=0)
    n = len(X)
    ridge = MLR(n_components=2, ridge=relative(n * 0.5, X))
    assert_same_span(G(MLLS(n_components=2, alpha=0.0, beta=0.5), X, Y), G(ridge, X, Y), atol=1e-9)
    opls = OPLS(n_components=2, ridge=relative(n * 0.5, X))
    assert_same_span(G(MLLS(n_components=2, alpha=1e9, beta=0.5), X, Y), G(opls, X, Y), atol=1e-6)
    assert_same_span(
        G(MLLS(n_components=2, beta=1e9), X, Y), G(MDDM(n_components=2), X, Y), atol=1e-6
    )


def hsic(Z, L):
    """Biased estimate, with the kernels and the centring matrix written out."""
    n = len(Z)
    H = np.eye(n) - np.ones((n, n)) / n
    return np.trace(Z @ Z.T @ H @ L @ H) / n**2


def test_mddmp_is_pls_svd():
    X, Y = made()
    peer = PLSSVD(n_components=3, scale=False).fit(X, Y)
    mddm = MDDM(n_components=3).fit(X, Y)
    np.testing.assert_allclose(np.abs(mddm.components_.T), np.abs(peer.x_weights_), atol=1e-9)


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.99])
@SHAPES
def test_mddmf_is_opls_of_another_scale(mu, shape):
    X, Y = made(*shape)
    mddm = MDDM(n_components=4, projection="f", mu=mu).fit(X, Y)
    opls = OPLS(n_components=4, ridge=relative((1 - mu) / mu, X))
    np.testing.assert_allclose(
        np.abs(opls.fit(X, Y).components_), np.abs(mddm.components_) * np.sqrt(mu), atol=1e-8
    )
    no_scatter, p = MDDM(4, projection="f", mu=0), MDDM(4, projection="p")
    np.testing.assert_array_equal(no_scatter.fit(X, Y).components_, p.fit(X, Y).components_)


@pytest.mark.parametrize("projection", ["p", "f"])
def test_a_linear_kernel_given_as_such_changes_nothing(projection):
    X, Y = made()
    linear = MDDM(n_components=3, projection=projection).fit(X, Y)
    for kernel in (lambda Y: Y @ Y.T, Y @ Y.T):
        given = MDDM(n_components=3, projection=projection, label_kernel=kernel).fit(X, Y)
        np.testing.assert_allclose(given.components_, linear.components_, atol=1e-9)
        np.testing.assert_allclose(given.eigenvalues_, linear.eigenvalues_, rtol=1e-9)


@SHAPES
def test_another_label_kernel_maximises_its_hsic(shape):
    X, Y = made(*shape)
    L = rbf_kernel(Y)
    mddm = MDDM(n_components=5, label_kernel=rbf_kernel).fit(X, Y)
    best = linalg.eigvalsh(centred(X).T @ L @ centred(X))[-5:].sum() / len(X) ** 2
    np.testing.assert_allclose(hsic(mddm.transform(X), L), best)
    np.testing.assert_allclose(mddm.eigenvalues_.sum(), best)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (np.eye(7), r"\(7, 7\).*60"),
        (-np.eye(60), "positive semi-definite"),
        (np.triu(np.ones((60, 60))), "symmetric"),
    ],
)
def test_what_is_no_label_kernel_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        MDDM(label_kernel=kernel).fit(*made())
