"""Kernels keep the digits that the data have, whatever the precision and the offset."""

import numpy as np
import pytest
from scipy import sparse

from skml_kalda import LandmarkFeatures, MultiLabelKaLDA
from tests.classic import KernelKaLDA
from tests.conftest import made, standardized

OFFSETS = pytest.mark.parametrize("offset", [0.0, 1e2, 1e5, 1e8])
FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])


def on_a_grid(X):
    """Round to multiples of 1/16, which float64 holds exactly at offsets up to 1e8."""
    return np.round(X * 16) / 16


def same_up_to_sign(A, B, tol):
    np.testing.assert_allclose(np.abs(A), np.abs(B), atol=tol * np.abs(B).max())


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_float32_rows_have_the_rank_of_their_features(kernel):
    X, Y = standardized("emotions")
    X, Y = X[:400].astype(np.float32), np.asarray(Y)[:400]
    features = LandmarkFeatures(kernel=kernel).fit(X)
    assert features.transform(X).shape[1] == 72
    single = KernelKaLDA(kernel=kernel).fit(X, Y).transform(X)
    double = KernelKaLDA(kernel=kernel).fit(X.astype(np.float64), Y).transform(X)
    assert single.dtype == np.float32
    same_up_to_sign(single, double, 1e-5)


@pytest.mark.parametrize("shrinkage", [0.2, "auto"])
def test_small_eigenvalues_of_float32_rows_count(shrinkage):
    """A cubic far from its origin has 165 features of eight: some are small, none is rounding."""
    X, Y = made(300, 8)
    X = (X + 5).astype(np.float32)
    kernel = KernelKaLDA(kernel="poly", shrinkage=shrinkage)
    assert LandmarkFeatures(kernel="poly").fit(X).normalization_.shape[1] > 160
    single = kernel.fit(X, Y).transform(X)
    same_up_to_sign(single, kernel.fit(X.astype(np.float64), Y).transform(X), 1e-5)


def test_a_float32_kernel_has_the_rank_of_its_precision():
    X, Y = made(100, 5)
    K = (X @ X.T).astype(np.float32)
    features = LandmarkFeatures(kernel="precomputed").fit(K)
    assert features.normalization_.shape == (100, 5)
    single = KernelKaLDA(kernel="precomputed").fit(K, Y).transform(K)
    same_up_to_sign(single, KernelKaLDA(kernel="linear").fit(X, Y).transform(X), 1e-4)


@OFFSETS
@FORMS
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_the_linear_kernel_is_the_linear_reducer_at_any_offset(constraint, form, offset):
    X, Y = made(60, 5, unlabelled=0.1)
    X = on_a_grid(X)
    offset = offset * np.array([1, -1, 0.5, 0, 1])  # not all alike
    kernel = KernelKaLDA(kernel="linear", constraint=constraint, shrinkage=0.3)
    found = kernel.fit_transform(form(X + offset), Y)
    linear = MultiLabelKaLDA(constraint=constraint, shrinkage=0.3, tol=1e-10)
    tol = 1e-10 if constraint == "none" else 1e-6
    same_up_to_sign(found, linear.fit_transform(X, Y), tol)


@OFFSETS
@FORMS
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("landmarks", [{}, {"n_landmarks": 15, "landmarks": "random"}], ids=str)
def test_an_offset_does_not_change_kernels_of_distances(landmarks, kernel, form, offset):
    X, Y = made(60, 5, unlabelled=0.1)
    X = on_a_grid(X)
    params = {"kernel": kernel, "random_state": 0, **landmarks}
    near, far = (KernelKaLDA(**params).fit(form(each), Y) for each in (X, X + offset))
    assert far.gamma_ == pytest.approx(near.gamma_, rel=1e-12)
    expected = near.transform(form(X))
    np.testing.assert_allclose(far.transform(form(X + offset)), expected, atol=1e-10)


def test_centres_survive_an_offset():
    X, Y = made(200, 5)
    X = on_a_grid(X)
    near, far = (
        KernelKaLDA(n_landmarks=15, random_state=0).fit(X + offset, Y) for offset in (0, 1e8)
    )
    assert near.landmarks_.shape == (15, 5)
    # Centres are no multiples of 1/16: at 1e8 they are rounded to 1e-8.
    np.testing.assert_allclose(far.landmarks_ - 1e8, near.landmarks_, atol=1e-7)
    np.testing.assert_allclose(far.transform(X + 1e8), near.transform(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["laplacian", "rbf", "cosine", "poly"])
def test_sparse_rows_with_wide_indices_give_the_same(kernel):
    X, Y = made(60, 5)
    narrow = sparse.csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0))
    wide = sparse.csr_array(
        (narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)),
        shape=narrow.shape,
    )
    assert wide.indices.dtype == np.int64
    expected = KernelKaLDA(kernel=kernel).fit(narrow, Y)
    found = KernelKaLDA(kernel=kernel).fit(wide, Y)
    np.testing.assert_array_equal(found.transform(wide), expected.transform(narrow))
    features = LandmarkFeatures(kernel=kernel).fit_transform(wide)
    np.testing.assert_array_equal(features, LandmarkFeatures(kernel=kernel).fit_transform(narrow))


def with_duplicates(X):
    """The same CSR with every entry in two parts."""
    parts = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr
    return sparse.csr_array(parts, shape=X.shape)


@pytest.mark.parametrize("kernel", ["laplacian", "rbf", "cosine", "linear", "poly"])
@pytest.mark.parametrize("landmarks", ["kmeans", "random"])
def test_duplicate_entries_mean_their_sum(kernel, landmarks):
    X, Y = made(60, 5)
    X = sparse.csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0))
    twice = with_duplicates(X)
    before = twice.copy()
    params = {"kernel": kernel, "n_landmarks": 20, "landmarks": landmarks, "random_state": 0}
    expected = KernelKaLDA(**params).fit(X, Y).transform(X)
    found = KernelKaLDA(**params).fit(twice, Y).transform(twice)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_array_equal(twice.data, before.data)
    np.testing.assert_array_equal(twice.indices, before.indices)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [KernelKaLDA, LandmarkFeatures])
def test_values_too_large_for_the_kernel_are_an_error(make):
    X, Y = made()
    with pytest.raises(ValueError, match="Column 0 of X has values too large to be squared"):
        make(kernel="linear").fit(X * 1e200, Y)
