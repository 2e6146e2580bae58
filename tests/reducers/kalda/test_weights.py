"""Rows that count once: the alignment of centred kernels, with kernels written out."""

import dask.array as da
import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.spatial.distance import pdist
from sklearn.linear_model import Ridge

from skml_kalda import scatter_form
from tests.classic import OPLS, MultiLabelKaLDA
from tests.conftest import made
from tests.core.test_shrinkage import SHAPES, assert_minimises
from tests.oracles import pymanopt_maximum

FORMS = pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
PARAMS = [
    {"constraint": "none", "shrinkage": None},
    {"constraint": "none", "shrinkage": 0.3},
    {"constraint": "none", "shrinkage": "auto"},
    {"shrinkage": 0.3, "tol": 1e-10},
    {"shrinkage": None, "n_components": 2, "tol": 1e-10},
]


def rows_once(**params):
    return MultiLabelKaLDA(weights="rows", **params)


def centred_alignment(Z, Y, weight=None):
    """Alignment of ZZᵀ and YYᵀ, both centred, as Cortes, Mohri and Rostamizadeh write it."""
    n = len(Z)
    weight = np.ones(n) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    H = np.eye(n) - np.outer(np.ones(n), weight / weight.sum())
    K1, K2 = (root * (H @ A @ A.T @ H.T) * root.T for A in (Z, Y))
    return np.sum(K1 * K2) / np.sqrt(np.sum(K1 * K1) * np.sum(K2 * K2))


def moments(X, Y):
    """S_b = S_xy S_yx / n and S_t, by dense products."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    F = X.T @ Y / np.sqrt(len(X))
    return F @ F.T, X.T @ X


@FORMS
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("shape", [(60, 8), (30, 50)], ids=["tall", "wide"])
def test_theorem_2_for_rows_that_count_once(params, shape, form):
    X, Y = made(*shape, unlabelled=0.3)
    with scatter_form(form):
        kalda = rows_once(**params).fit(sparse.csr_array(X), Y)
    expected = centred_alignment(kalda.transform(X), Y)
    assert kalda.alignment_ == pytest.approx(expected, rel=1e-8)
    assert kalda.alignment_ > centred_alignment(X, Y)  # fewer, better features


def test_theorem_2_for_weighted_rows():
    X, Y = made(unlabelled=0.3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    kalda = rows_once(constraint="none", shrinkage=0.2).fit(X, Y, sample_weight=weight)
    expected = centred_alignment(kalda.transform(X), Y, weight)
    assert kalda.alignment_ == pytest.approx(expected, rel=1e-10)


@FORMS
@pytest.mark.parametrize("a", [0.0, 0.3])
def test_eigenvalues_and_objective_are_those_of_the_covariance_with_the_labels(a, form):
    X, Y = made(unlabelled=0.3)
    S_b, S_t = moments(X, Y)
    S = (1 - a) * S_t + a * np.trace(S_t) / 8 * np.eye(8)
    expected = linalg.eigh(S_b, S, eigvals_only=True)[::-1][:4]
    with scatter_form(form):
        kalda = rows_once(constraint="none", shrinkage=a).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(kalda.eigenvalues_, expected, rtol=1e-9)
    G = kalda.components_.T
    J = np.trace(G.T @ S_b @ G) / linalg.norm(G.T @ S @ G)
    assert kalda.objective_ == pytest.approx(J, rel=1e-9)
    assert kalda.upper_bound_ == pytest.approx(linalg.norm(expected), rel=1e-9)


@FORMS
def test_the_orthonormal_optimum_is_that_of_pymanopt(form):
    X, Y = made(200, 10, unlabelled=0.3)
    S_b, S_t = moments(X, Y)
    S = 0.9 * S_t + 0.1 * np.trace(S_t) / 10 * np.eye(10)
    start = linalg.qr(linalg.eigh(S_b, S)[1][:, -4:], mode="economic")[0]
    with scatter_form(form):
        kalda = rows_once(shrinkage=0.1, tol=1e-9).fit(sparse.csr_array(X), Y)
    assert kalda.objective_ == pytest.approx(pymanopt_maximum(S_b, S, start), rel=1e-8)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 8), (30, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("a", [0.0, 0.2, 0.7])
def test_the_closed_form_is_opls_in_the_scale_of_the_alignment(shape, a):
    X, Y = made(*shape, unlabelled=0.2)
    kalda = rows_once(constraint="none", shrinkage=a).fit_transform(X, Y)
    opls = OPLS(ridge=a / (1 - a), normalize="sqrt_eig").fit_transform(X, Y)
    np.testing.assert_allclose((1 - a) * pdist(kalda), pdist(opls), atol=1e-10)


def test_the_closed_form_has_the_distances_of_the_scores_of_ridge_regression():
    X, Y = made(unlabelled=0.2)
    a = 0.2
    ridge = a / (1 - a) * np.sum((X - X.mean(axis=0)) ** 2) / 8
    scores = Ridge(ridge).fit(X, Y).predict(X)
    kalda = rows_once(n_components=4, constraint="none", shrinkage=a).fit(X, Y)
    np.testing.assert_allclose((1 - a) * pdist(kalda.transform(X)), pdist(scores), atol=1e-10)


@SHAPES
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_automatic_shrinkage_minimises_the_generalised_cross_validation_error(shape, seed):
    X, Y = made(*shape, seed=seed, unlabelled=0.3)
    X = 0.3 * X + np.random.default_rng(seed).normal(size=shape)
    a = rows_once(constraint="none", shrinkage="auto").fit(X, Y).shrinkage_
    n = len(X)
    H = np.eye(n) - 1 / n

    def error(ratio):
        K = H @ X @ X.T @ H
        ridge = ratio * np.trace(K) / shape[1]
        left = H - K @ np.linalg.inv(K + ridge * np.eye(n))
        enough = np.trace(left) >= (n - 1) / 2
        return np.sum((left @ Y) ** 2) / np.trace(left) ** 2 if enough else np.inf

    assert_minimises(a, error, np.logspace(-4, 3, 351))


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_batches_and_blocks_give_the_same(params):
    X, Y = made(unlabelled=0.3)
    whole = rows_once(**params).fit(X, Y)
    stream = rows_once(**params)
    for rows in np.array_split(np.arange(60), 4):
        stream.partial_fit(X[rows], Y[rows])
    blocks = rows_once(**params).fit(da.from_array(X, chunks=(17, -1)), Y)
    for other in (stream, blocks):
        np.testing.assert_allclose(other.components_, whole.components_, atol=1e-8)
        assert other.alignment_ == pytest.approx(whole.alignment_, rel=1e-10)


def test_rows_without_labels_count():
    X, Y = made(unlabelled=0.3)
    params = {"constraint": "none", "shrinkage": 0.1}
    labelled = Y.any(axis=1)
    assert not labelled.all()
    kalda = rows_once(**params).fit(X, Y)
    np.testing.assert_allclose(kalda.mean_, X.mean(axis=0))
    without = rows_once(**params).fit(X[labelled], Y[labelled])
    assert np.abs(kalda.components_ - without.components_).max() > 1e-3
    paper = MultiLabelKaLDA(**params)
    np.testing.assert_allclose(
        paper.fit(X, Y).components_, paper.fit(X[labelled], Y[labelled]).components_, atol=1e-10
    )


def test_sample_weights_are_repetitions():
    X, Y = made(unlabelled=0.3)
    times = np.random.default_rng(0).integers(0, 4, 60)
    times[:4] = 1
    params = {"constraint": "none", "shrinkage": "auto"}
    weighted = rows_once(**params).fit(X, Y, sample_weight=times)
    repeated = rows_once(**params).fit(X.repeat(times, axis=0), Y.repeat(times, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)
    assert weighted.shrinkage_ == repeated.shrinkage_


def test_with_one_label_per_row_both_find_the_same_span():
    """Labels of one row add up to one: scaled or not, they span the same regression."""
    X, Y = made(single=True)
    params = {"constraint": "none", "shrinkage": None}
    ours, paper = (
        k.fit(X, Y).components_ for k in (rows_once(**params), MultiLabelKaLDA(**params))
    )
    cosines = linalg.svdvals(linalg.orth(ours.T).T @ linalg.orth(paper.T))
    np.testing.assert_allclose(cosines, 1, atol=1e-10)


@FORMS
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_eigenvalues_above_one_leave_the_rank_as_it_is(constraint, form):
    """Sixty copies of three labels: three directions, and rounding of large numbers."""
    X, Y = made(unlabelled=0.2, K=3)
    many = np.tile(Y, 60)
    params = {"constraint": constraint, "shrinkage": 0.1, "n_components": 3, "tol": 1e-9}
    with scatter_form(form):
        kalda = rows_once(**params).fit(sparse.csr_array(X), many)
        few = rows_once(**params).fit(sparse.csr_array(X), Y)
    assert kalda.eigenvalues_[0] > 1
    np.testing.assert_allclose(kalda.eigenvalues_, 60 * few.eigenvalues_, rtol=1e-8)
    assert kalda.alignment_ == pytest.approx(few.alignment_, rel=1e-8)
    with scatter_form(form), pytest.raises(ValueError, match=r"at most 3, .* covariance"):
        rows_once(n_components=4, constraint="none", shrinkage=0.1).fit(sparse.csr_array(X), many)


def test_other_weights_are_refused():
    with pytest.raises(ValueError, match="'weights' parameter of MultiLabelKaLDA"):
        MultiLabelKaLDA(weights="classes").fit(*made())
