"""Rules for the shrinkage against what they stand for, written out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from tests.classic import KernelKaLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import fitted
from tests.oracles import centred

SHAPES = pytest.mark.parametrize("shape", [(50, 6), (25, 40)], ids=["tall", "wide"])


def cross_validation_error(K, Y, ridge):
    """Error of the ridge regression of weighted labels, by its hat matrix, intercept included."""
    labelled = Y.any(axis=1)
    K, Y = K[np.ix_(labelled, labelled)], Y[labelled]
    n, rho = len(Y), Y.sum(axis=1)
    root = np.sqrt(rho)[:, None]
    centring = np.eye(n) - np.outer(np.ones(n), rho / rho.sum())
    Z = root * (centring @ (Y / rho[:, None])) / np.sqrt(Y.sum(axis=0))
    K = root * (centring @ K @ centring.T) * root.T
    left = (
        np.eye(n)
        - K @ np.linalg.inv(K + ridge(np.trace(K)) * np.eye(n))
        - root @ root.T / rho.sum()
    )
    error = n * np.sum((left @ Z) ** 2) / np.trace(left) ** 2
    return error if np.trace(left) >= (n - 1) / 2 else np.inf


def assert_minimises(a, error, ratios):
    """Whether shrinkage a has the ridge of the least error, to the steps of the rule."""
    errors = [error(ratio) for ratio in ratios]
    best = int(np.argmin(errors))
    assert 0 < best < len(ratios) - 1
    assert np.log10(a / (1 - a)) == pytest.approx(np.log10(ratios[best]), abs=0.04)
    assert error(a / (1 - a)) <= errors[best] * (1 + 2e-3)


@SHAPES
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_automatic_shrinkage_minimises_the_generalised_cross_validation_error(shape, seed):
    X, Y = made(*shape, seed=seed, unlabelled=0.1)
    X = 0.3 * X + np.random.default_rng(seed).normal(size=shape)  # noise: some ridge is best
    a = MultiLabelKaLDA(shrinkage="auto").fit(X, Y).shrinkage_

    def error(ratio):
        return cross_validation_error(X @ X.T, Y, lambda trace: ratio * trace / shape[1])

    assert_minimises(a, error, np.logspace(-4, 3, 351))


@SHAPES
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_that_of_samples_that_count_once_does_so_too(shape, seed):
    X, Y = made(*shape, seed=seed, unlabelled=0.3)
    X = 0.3 * X + np.random.default_rng(seed).normal(size=shape)
    kalda = MultiLabelKaLDA(constraint="none", shrinkage="auto", weights="rows")
    K, n = centred(X) @ centred(X).T, len(X)

    def error(ratio):
        ridge = ratio * np.trace(K) / shape[1]
        left = np.eye(n) - 1 / n - K @ np.linalg.inv(K + ridge * np.eye(n))
        enough = np.trace(left) >= (n - 1) / 2
        return np.sum((left @ Y) ** 2) / np.trace(left) ** 2 if enough else np.inf

    assert_minimises(kalda.fit(X, Y).shrinkage_, error, np.logspace(-4, 3, 351))


@pytest.mark.parametrize("repeated", [0, 1])
def test_automatic_shrinkage_does_not_follow_interpolation(repeated):
    """With as many features as samples a repeated sample makes the error of no ridge zero."""
    X, Y = made(50, 6, unlabelled=0.2)
    X = np.vstack([X, X[:repeated]])
    Y = np.vstack([Y, Y[:repeated]])
    a = KernelKaLDA(gamma=0.05, shrinkage="auto").fit(X, Y).shrinkage_

    def error(ratio):
        return cross_validation_error(rbf_kernel(X, gamma=0.05), Y, lambda t: ratio * t / 50)

    assert_minimises(a, error, np.logspace(-4, 3, 351))


@SHAPES
def test_automatic_shrinkage_is_the_same_for_every_form_of_the_data(shape):
    X, Y = made(*shape, unlabelled=0.1)
    kalda = MultiLabelKaLDA(shrinkage="auto", constraint="none")
    expected = kalda.fit(X, Y).shrinkage_
    assert kalda.fit(sparse.csr_array(X), Y).shrinkage_ == pytest.approx(expected)
    kernel = KernelKaLDA(kernel="linear", shrinkage="auto")
    if shape[0] > shape[1]:  # else the kernel counts as many features as there are samples
        assert kernel.fit(X, Y).shrinkage_ == pytest.approx(expected)
    stream = MultiLabelKaLDA(shrinkage="auto", constraint="none")
    for rows in np.array_split(np.arange(len(X)), 3):
        stream.partial_fit(X[rows], Y[rows])
    assert stream.shrinkage_ == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(400, 120), (150, 300)], ids=["tall", "wide"])
def test_automatic_shrinkage_is_nearly_the_same_without_the_spectrum(shape):
    """Random vectors count the eigenvalues: a tenth of the ridge is no difference in error."""
    X, Y = made(*shape, unlabelled=0.1)
    X = 0.3 * X + np.random.default_rng(0).normal(size=shape)
    X = sparse.csr_array(X * (np.random.default_rng(1).random(shape) < 0.3))
    kalda = MultiLabelKaLDA(shrinkage="auto", constraint="none")
    a, b = (fitted(kalda, X, Y, form).shrinkage_ for form in ("primal", "operator"))
    assert 0.01 < a < 0.99
    assert np.log10(b / (1 - b)) == pytest.approx(np.log10(a / (1 - a)), abs=0.05)


def test_weights_that_add_up_to_less_than_the_rank_shrink_all():
    X, Y = made(25, 40)
    weight = np.full(25, 0.01)
    with pytest.warns(UserWarning, match=r"is 0\.01: .* divide sample_weight"):
        kalda = MultiLabelKaLDA(shrinkage="auto").fit(X, Y, sample_weight=weight)
    assert kalda.shrinkage_ > 0.99
