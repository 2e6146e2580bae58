"""Theorems 1 and 2 of the paper, and centred alignment, with kernels written out."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.linear_model import Ridge

from skml_kalda import MLDA, KernelKaLDA, LandmarkFeatures
from tests.classic import OPLS, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import FORMS, fitted
from tests.oracles import covariances, pymanopt_maximum, shrunk

PARAMS = [
    {},
    {"constraint": "none"},
    {"n_components": 2, "shrinkage": 0.3},
    {"constraint": "none", "shrinkage": "auto"},
    {"constraint": "none", "shrinkage": 1.0, "n_components": 2},
]
WEIGHTS = pytest.mark.parametrize("weights", ["labels", "rows"])


def kernels(Z, Y, weights="labels", weight=None):
    """K₁ of the projected samples and K₂ of their labels, weighted and centred as the method is."""
    weight = np.ones(len(Y)) if weight is None else weight
    if weights == "rows":
        H = np.eye(len(Y)) - np.outer(np.ones(len(Y)), weight / weight.sum())
        labels, root = H @ Y, np.sqrt(weight)
    else:
        rho = Y.sum(axis=1)
        root = np.sqrt(weight * rho)
        H = np.eye(len(Y)) - np.outer(np.ones(len(Y)), weight * rho / (weight @ rho))
        labels = Y / np.sqrt(weight @ Y) / np.maximum(rho, 1)[:, None]
    Z, labels = root[:, None] * (H @ Z), root[:, None] * labels
    return Z @ Z.T, labels @ labels.T


def alignment(K1, K2):
    return np.sum(K1 * K2) / np.sqrt(np.sum(K1 * K1) * np.sum(K2 * K2))


def assert_alignment(reducer, X, Y, weights="labels", **given):
    found = alignment(*kernels(reducer.transform(X), Y, weights, **given))
    assert reducer.alignment_ == pytest.approx(found, rel=1e-7)
    # Fewer, better features.
    if reducer.n_components is None and not given:
        assert reducer.alignment_ > alignment(*kernels(X, Y, weights))
    shares = [
        np.sum(np.multiply(*kernels(z[:, None], Y, weights, **given)))
        for z in reducer.transform(X).T
    ]
    ratio = reducer.explained_alignment_ratio_
    np.testing.assert_allclose(ratio, np.divide(shares, sum(shares)), rtol=1e-7, atol=1e-11)
    assert ratio.sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_single_label_kalda_is_theorem_1(seed, params):
    X, Y = made(single=True, seed=seed)
    np.testing.assert_allclose(kernels(X, Y)[1], Y / Y.sum(axis=0) @ Y.T)  # the paper's YYᵀ
    kalda = MultiLabelKaLDA(**params).fit(X, Y.argmax(axis=1))
    assert_alignment(kalda, X, Y)
    # Theorem 2 contains Theorem 1: class labels and their indicators give the same.
    again = MultiLabelKaLDA(**params).fit(X, Y).components_
    np.testing.assert_array_equal(again, kalda.components_)


@WEIGHTS
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("shape", [(60, 8), (30, 50)], ids=["tall", "wide"])
def test_multi_label_kalda_is_theorem_2(shape, params, form, weights):
    X, Y = made(*shape, unlabelled=0.2)
    kalda = MultiLabelKaLDA(weights=weights, **params).set_params(tol=1e-10)
    assert_alignment(fitted(kalda, X, Y, form), X, Y, weights)


@WEIGHTS
def test_theorem_2_for_weighted_samples(weights):
    X, Y = made(unlabelled=0.3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    kalda = MultiLabelKaLDA(constraint="none", shrinkage=0.2, weights=weights)
    assert_alignment(kalda.fit(X, Y, sample_weight=weight), X, Y, weights, weight=weight)


@WEIGHTS
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_theorem_2_of_a_kernel(constraint, weights):
    X, Y = made(60, 5, unlabelled=0.1)
    kalda = KernelKaLDA(gamma=0.1, shrinkage=0.2, constraint=constraint, weights=weights).fit(X, Y)
    assert_alignment(kalda, X, Y, weights)
    weights = Y.sum(axis=1) if weights == "labels" else np.ones(60)
    np.testing.assert_allclose(weights @ kalda.transform(X), 0, atol=1e-9)


# --- samples that count once: centred kernel alignment


@pytest.mark.parametrize("shape", [(60, 8), (30, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("a", [0.0, 0.2, 0.7])
def test_the_closed_form_is_opls_in_the_scale_of_the_alignment(shape, a):
    X, Y = made(*shape, unlabelled=0.2)
    kalda = MultiLabelKaLDA(constraint="none", shrinkage=a, weights="rows").fit_transform(X, Y)
    opls = OPLS(ridge=a / (1 - a), normalize="sqrt_eig").fit_transform(X, Y)
    np.testing.assert_allclose((1 - a) * pdist(kalda), pdist(opls), atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_the_orthonormal_optimum_is_that_of_pymanopt(form):
    X, Y = made(200, 10, unlabelled=0.3)
    S, C, _ = covariances(X, Y)
    S_b, S_t = C @ C.T / 200, 0.9 * shrunk(S, 1 / 9)
    start = np.linalg.qr(np.linalg.eigh(np.linalg.solve(S_t, S_b + S_b.T))[1][:, -4:])[0]
    kalda = fitted(MultiLabelKaLDA(shrinkage=0.1, tol=1e-9, weights="rows"), X, Y, form)
    assert kalda.objective_ == pytest.approx(pymanopt_maximum(S_b, S_t, start), rel=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_eigenvalues_above_one_leave_the_rank_as_it_is(form):
    """Sixty copies of three labels: three directions, and rounding of large numbers."""
    X, Y = made(unlabelled=0.2, K=3)
    kalda = MultiLabelKaLDA(3, constraint="none", shrinkage=0.1, weights="rows", tol=1e-9)
    tiled, once = (fitted(kalda, X, labels, form) for labels in (np.tile(Y, 60), Y))
    assert tiled.eigenvalues_[0] > 1
    np.testing.assert_allclose(tiled.eigenvalues_, 60 * once.eigenvalues_, rtol=1e-8)
    assert tiled.alignment_ == pytest.approx(once.alignment_, rel=1e-8)
    with pytest.raises(ValueError, match="n_components=4"):
        fitted(kalda.set_params(n_components=4), X, np.tile(Y, 60), form)


def test_the_closed_form_has_the_distances_of_the_scores_of_ridge_regression():
    X, Y = made(unlabelled=0.2)
    ridge = 0.25 * np.sum((X - X.mean(axis=0)) ** 2) / 8
    scores = Ridge(ridge).fit(X, Y).predict(X)
    kalda = MultiLabelKaLDA(4, constraint="none", shrinkage=0.2, weights="rows").fit(X, Y)
    np.testing.assert_allclose(0.8 * pdist(kalda.transform(X)), pdist(scores), atol=1e-10)


def test_kernel_kalda_is_mlda_on_the_features_of_the_kernel():
    X, Y = made()
    kalda = KernelKaLDA(gamma=0.1, shrinkage=0.2, weights="labels").fit(X, Y)
    features = LandmarkFeatures(gamma=0.1).fit_transform(X)
    mlda = MLDA(ridge=0.25, normalize="sqrt_eig").fit(features, Y)
    ours, theirs = pdist(kalda.transform(X)), pdist(mlda.transform(features))
    np.testing.assert_allclose(0.8 * ours, theirs, atol=1e-8)
