import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import normalize

from skml_kalda._core.kernels import choose_landmarks
from skml_kalda._core.kernels import (
    LandmarkKernel,
    inverse_median_distance,
    median_gamma,
    whitening,
)

KERNELS = ("rbf", "laplacian", "cosine", "linear", "poly", "sigmoid")


def rows(n=40, p=6, seed=0, *, zeros=0.6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * (rng.random((n, p)) > zeros)


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def one_by_one(kernel, X, L, gamma):
    """Kernel values from differences in extended precision; linear ones about the mean of L."""
    X, L = X.astype(np.longdouble), L.astype(np.longdouble)
    if kernel == "cosine":
        X, L = (A / np.sqrt((A**2).sum(axis=1, keepdims=True)) for A in (X, L))
    if kernel in ("linear", "cosine"):
        X, L = X - L[0], L - L[0]
        return (X - L.mean(axis=0)) @ (L - L.mean(axis=0)).T
    difference = X[:, None] - L
    if kernel == "rbf":
        return np.exp(-gamma * (difference**2).sum(axis=2))
    return np.exp(-gamma * np.abs(difference).sum(axis=2))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_centred_values_are_those_of_scikit_learn(kernel, form):
    X = rows()
    values = LandmarkKernel(form(X), kernel, 0.3)(form(X))
    gamma = {} if kernel in ("cosine", "linear") else {"gamma": 0.3}
    expected = pairwise_kernels(X, metric=kernel, **gamma)
    np.testing.assert_allclose(centred(values), centred(expected), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "linear"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_values_survive_offsets(kernel, form, offset):
    X = np.round(rows(zeros=0) * 64) / 64 + offset  # exact in float64 at any of the offsets
    L = X[:15]
    values = LandmarkKernel(form(L), kernel, 0.3)(form(X))
    # Rows of unit length are rounded before anything can be subtracted from them.
    atol = 1e-13 if kernel != "cosine" else 1e-15
    np.testing.assert_allclose(values, one_by_one(kernel, X, L, 0.3), rtol=0, atol=atol)


def test_a_column_without_zeros_in_the_landmarks_may_have_some_in_other_rows():
    L, X = rows(zeros=0) + 1e3, rows(seed=1)
    values = LandmarkKernel(sparse.csr_array(L), "rbf", 1e-6)(sparse.csr_array(X))
    np.testing.assert_allclose(values, one_by_one("rbf", X, L, 1e-6), rtol=1e-10)


def test_float32_rows_are_multiplied_in_float64():
    X = rows(n=100, p=5).astype(np.float32)
    for kernel in ("linear", "cosine"):
        K = LandmarkKernel(X, kernel)(X)
        assert K.dtype == np.float64
        assert whitening(K, np.float32).shape[1] == 5


def test_the_form_of_the_rows_need_not_be_that_of_the_landmarks():
    X, L = rows(), rows(n=9, seed=3)
    expected = LandmarkKernel(L, "rbf", 0.3)(X)
    np.testing.assert_allclose(LandmarkKernel(L, "rbf", 0.3)(sparse.csr_array(X)), expected)
    np.testing.assert_allclose(LandmarkKernel(sparse.csr_array(L), "rbf", 0.3)(X), expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicate_entries_are_summed_and_left_to_the_caller(kernel):
    X = sparse.csr_array(([1.0, 1, 1, 2, 2, 3, 5], [0, 0, 1, 0, 0, 1, 1], [0, 2, 3, 6, 7]), (4, 2))
    before = X.data.copy()
    values = LandmarkKernel(X, kernel, 0.1)(X)
    np.testing.assert_allclose(values, LandmarkKernel(X.toarray(), kernel, 0.1)(X.toarray()))
    np.testing.assert_array_equal(X.data, before)


def test_indices_of_64_bits_are_taken():
    X = sparse.csr_array(rows())
    wide = sparse.csr_array(
        (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape
    )
    np.testing.assert_allclose(
        LandmarkKernel(wide, "laplacian", 0.1)(wide), LandmarkKernel(X, "laplacian", 0.1)(X)
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_the_kernel_of_several_widths_is_their_mean(kernel):
    X = rows()
    gammas = (2.0, 0.01, 0.5)
    expected = np.mean([LandmarkKernel(X[:9], kernel, gamma)(X) for gamma in gammas], axis=0)
    np.testing.assert_allclose(LandmarkKernel(X[:9], kernel, gammas)(X), expected, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_can_be_scaled_to_unit_length(form):
    X = rows(zeros=0.2)
    found = LandmarkKernel(form(X[:9]), "rbf", 0.7, unit_length=True)(form(X))
    expected = LandmarkKernel(normalize(X[:9]), "rbf", 0.7)(normalize(X))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    ones = np.ones(40)
    assert inverse_median_distance("rbf", form(X), ones, unit_length=True) == pytest.approx(
        inverse_median_distance("rbf", normalize(X), ones)
    )


def test_a_callable_sees_the_rows_as_they_are():
    X = rows() + 5
    values = LandmarkKernel(X[:4], lambda a, b: a.sum() * b.sum())(X)
    np.testing.assert_allclose(values, np.outer(X.sum(axis=1), X[:4].sum(axis=1)))


def test_a_precomputed_kernel_is_read():
    X = rows()
    K = X @ X.T
    kernel = LandmarkKernel(np.array([3, 5]), "precomputed")
    np.testing.assert_array_equal(kernel(K), K[:, [3, 5]])
    np.testing.assert_array_equal(kernel.of_landmarks(K), K[np.ix_([3, 5], [3, 5])])


def test_features_of_all_rows_have_the_kernel_as_inner_products():
    X = np.vstack([rows(), rows()])  # every row twice: half the rank
    kernel = LandmarkKernel(X, "rbf", 0.5)
    features = kernel(X) @ whitening(kernel.of_landmarks())
    assert features.shape[1] <= 40
    np.testing.assert_allclose(features @ features.T, pairwise_kernels(X, metric="rbf", gamma=0.5))


def test_features_of_some_landmarks_are_the_projection_on_them():
    X = rows()
    kernel = LandmarkKernel(X[:10], "rbf", 0.5)
    features = kernel(X) @ whitening(kernel.of_landmarks())
    K = pairwise_kernels(X, metric="rbf", gamma=0.5)
    expected = K[:, :10] @ linalg.solve(K[:10, :10], K[:10])
    np.testing.assert_allclose(features @ features.T, expected, atol=1e-8)


def test_the_median_is_that_of_repeated_rows():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 4)), rng.integers(0, 4, size=30)
    repeated = np.repeat(X, weight, axis=0)
    distance = ((repeated[:, None] - repeated) ** 2).sum(axis=2)
    gamma = median_gamma("rbf", X, weight.astype(float), np.random.RandomState(0))
    middle = np.sort(distance, axis=None)[(distance.size - 1) // 2]
    assert gamma == pytest.approx(1 / middle)
    assert median_gamma("cosine", X, np.ones(30), rng) is None


def test_the_median_survives_an_offset():
    X = np.round(rows(zeros=0) * 64) / 64
    near, far = (
        median_gamma("rbf", X + offset, np.ones(40), np.random.RandomState(0))
        for offset in (0, 1e8)
    )
    assert near == pytest.approx(far, rel=1e-12)


@pytest.mark.parametrize("choice", ["kmeans", "random"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_landmarks_are_rows_of_positive_weight(choice, form):
    X, weight = rows(n=200), np.r_[np.zeros(100), np.ones(100)]
    X[:100] += 1e3
    points, indices = choose_landmarks(form(X), weight, 20, choice, np.random.RandomState(0))
    assert points.shape[0] <= 20
    assert abs(points).max() < 100
    if indices is not None:
        np.testing.assert_array_equal((points - form(X)[indices]).sum(), 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_centres_are_nearer_to_the_rows_than_random_rows(form):
    rng = np.random.default_rng(0)
    X = normalize(
        np.repeat(rng.normal(size=(8, 30)), 40, axis=0) + 0.05 * rng.normal(size=(320, 30))
    )

    def distance(choice):
        found = choose_landmarks(form(X), np.ones(320), 8, choice, np.random.RandomState(0)).points
        L = found.toarray() if sparse.issparse(found) else found
        return ((X[:, None] - L) ** 2).sum(axis=2).min(axis=1).mean()

    assert distance("kmeans") < distance("random") / 2


def test_few_distinct_rows_are_the_centres():
    X = np.repeat(rows(n=5, zeros=0), 20, axis=0)
    points, _ = choose_landmarks(X, np.ones(100), 10, "kmeans", np.random.RandomState(0))
    assert len(points) == 5


def test_all_rows_are_landmarks_if_there_are_no_more():
    X = rows(n=10)
    points, indices = choose_landmarks(X, np.ones(10), 10, "kmeans", np.random.RandomState(0))
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(indices, range(10))


def test_centres_are_the_means_of_the_rows_nearest_to_them():
    X = np.random.default_rng(6).uniform(0, 10, size=(20, 1))
    rng = np.random.RandomState(0)
    centres = choose_landmarks(X, np.ones(20), 3, "kmeans", rng).points
    nearest = np.abs(X - centres.T).argmin(axis=1)
    means = [X[nearest == k].mean() for k in range(3)]
    np.testing.assert_allclose(centres[:, 0], means)
