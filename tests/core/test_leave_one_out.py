import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from skml_kalda._core.kernels import LandmarkKernel, whitening
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.scores.leave_one_out import RidgePath
from tests.conftest import made


def path_of(X, Y, weight):
    return RidgePath.of(PrimalScatter.of(X, sparse.csr_array(Y.astype(float)), weight))


def refitted(X, Y, weight, ridge):
    """Scores of n fits by scikit-learn, each without the row that it scores."""
    scores = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = Ridge(ridge, solver="cholesky").fit(X[rest], Y[rest], weight[rest])
        scores.append(model.predict(X[[i]])[0])
    return np.array(scores)


CASES = {
    "tall": made(n=25),
    "wide": made(n=20, p=40),
    "unlabelled": made(n=25, unlabelled=0.4),
    "duplicates": tuple(np.repeat(part, 3, axis=0) for part in made(n=9)),
    "offset": (made(n=25)[0] + 1e5, made(n=25)[1]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weights", ["ones", "random"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("ridge", [0.1, 10.0])
def test_scores_are_those_of_n_refits(case, weights, form, ridge):
    X, Y = CASES[case]
    weight = np.ones(len(X))
    if weights == "random":
        weight = np.random.default_rng(0).uniform(0.2, 5, len(X))
    rows = path_of(form(X), Y, weight).without_each(form(X), Y, weight)
    tolerance = 1e-6 if case == "offset" else 1e-9
    np.testing.assert_allclose(rows.scores(ridge), refitted(X, Y, weight, ridge), atol=tolerance)


def test_rows_of_no_weight_are_scored_by_the_fit_to_the_others():
    X, Y = made()
    weight = np.r_[np.zeros(10), np.ones(50)]
    rows = path_of(X, Y, weight).without_each(X, Y, weight)
    others = Ridge(1.0).fit(X[10:], Y[10:])
    np.testing.assert_allclose(rows.scores(1.0)[:10], others.predict(X[:10]), atol=1e-9)


def test_some_of_the_rows_have_the_scores_they_have_among_all():
    X, Y = made()
    path, weight = path_of(X, Y, np.ones(60)), np.ones(60)
    some = path.without_each(X[::7], Y[::7], weight[::7]).scores(1.0)
    np.testing.assert_allclose(some, path.without_each(X, Y, weight).scores(1.0)[::7])


def test_features_of_a_kernel_give_kernel_ridge_regression():
    X, Y = made(n=40)
    kernel = LandmarkKernel(X, "rbf", 0.05)
    features = kernel(X) @ whitening(kernel.of_landmarks())
    scores = path_of(features, Y, np.ones(40)).without_each(features, Y, np.ones(40)).scores(0.3)
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2))
    for i in (0, 7, 23):
        rest = np.arange(40) != i
        # A mean that is not shrunk: centre the kernel and the labels about the other rows.
        H = np.eye(39) - 1 / 39
        centred = H @ K[np.ix_(rest, rest)] @ H
        to_rest = (K[i, rest] - K[np.ix_(rest, rest)].mean(axis=0)) @ H
        model = KernelRidge(alpha=0.3, kernel="precomputed").fit(centred, H @ Y[rest])
        expected = Y[rest].mean(axis=0) + model.predict(to_rest[None])[0]
        np.testing.assert_allclose(scores[i], expected, atol=1e-8)


def test_weights_of_a_ridge_are_those_of_scikit_learn():
    X, Y = made()
    weight = np.random.default_rng(0).uniform(0.2, 5, 60)
    path = path_of(X, Y, weight)
    model = Ridge(2.0).fit(X, Y, weight)
    np.testing.assert_allclose(path.weights(2.0).T, model.coef_, atol=1e-10)
    intercept = path.label_mean - path.mean @ path.weights(2.0)
    np.testing.assert_allclose(intercept, model.intercept_, atol=1e-9)


def test_the_error_is_that_of_the_scores():
    X, Y = made()
    weight = np.random.default_rng(0).uniform(0.2, 5, 60)
    rows = path_of(X, Y, weight).without_each(X, Y, weight)
    expected = np.average(((Y - refitted(X, Y, weight, 3.0)) ** 2).sum(axis=1), weights=weight)
    assert rows.squared_error(3.0) / weight.sum() == pytest.approx(expected)


def test_full_shrinkage_leaves_the_mean_of_the_other_rows():
    X, Y = made()
    path = path_of(X, Y, np.ones(60))
    expected = (Y.sum(axis=0) - Y) / 59
    found = path.without_each(X, Y, np.ones(60)).scores(path.ridge(1.0))
    np.testing.assert_allclose(found, expected)
    assert path.ridge(0.5) == pytest.approx(60 * X.var(axis=0).mean())
