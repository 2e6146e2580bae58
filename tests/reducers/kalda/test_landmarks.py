"""LandmarkFeatures against the kernel itself, scikit-learn's Nystroem and kernelised siblings."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.pipeline import make_pipeline

from skml_kalda import LandmarkFeatures
from tests.conftest import made

X, Y = made(80, 5, unlabelled=0.1)
X_new = made(20, 5, seed=1)[0]
KERNELS = {
    "rbf": {"gamma": 0.1},
    "laplacian": {"gamma": 0.2},
    "poly": {"gamma": 0.3},
    "sigmoid": {"gamma": 0.001},
    "linear": {},
    "cosine": {},
}


def in_blocks(X, rows=23):
    return da.from_array(X, chunks=(rows, -1))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_inner_products_are_the_kernel(kernel):
    features = LandmarkFeatures(kernel=kernel, **KERNELS[kernel]).fit(X)
    Z = features.transform(X)
    expected = pairwise_kernels(X, metric=kernel, **KERNELS[kernel])
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_distances_are_those_of_the_kernel_where_its_origin_moves(kernel):
    rows = X if kernel == "linear" else X / np.linalg.norm(X, axis=1, keepdims=True)
    features = LandmarkFeatures(kernel=kernel).fit(X)
    assert features.transform(X).shape == (80, 5)
    np.testing.assert_allclose(pdist(features.transform(X)), pdist(rows), atol=1e-10)
    np.testing.assert_allclose(features.transform(X).mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_random_landmarks_are_those_of_nystroem_given_the_samples(form):
    features = LandmarkFeatures(20, gamma=0.1, landmarks="random", random_state=3).fit(form(X))
    nystroem = Nystroem(gamma=0.1, n_components=20).fit(X[features.landmark_indices_])
    ours, theirs = features.transform(form(X_new)), nystroem.transform(X_new)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)
    assert features.normalization_.shape == (20, 20)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_cosine_clusters_directions(form):
    """Eight directions, lengths from 1 to 1000: only lengths would be clustered."""
    rng = np.random.default_rng(0)
    directions = np.abs(rng.normal(size=(8, 6)))
    rays = np.repeat(directions, 50, axis=0) + 0.01 * rng.normal(size=(400, 6))
    rays *= 10 ** rng.uniform(0, 3, (400, 1))
    features = LandmarkFeatures(8, kernel="cosine", random_state=0).fit(form(rays))
    landmarks = features.landmarks_
    landmarks = landmarks.toarray() if sparse.issparse(landmarks) else landmarks
    angles = cdist(directions, landmarks, metric="cosine").min(axis=1)
    assert angles.max() < 1e-3


def test_features_are_in_order_and_of_one_sign():
    features = LandmarkFeatures(30, random_state=0, landmarks="random").fit(X)
    assert (np.diff(np.sum(features.normalization_**2, axis=0)) >= 0).all()
    largest = np.abs(features.normalization_).argmax(axis=0)
    assert (features.normalization_[largest, np.arange(30)] > 0).all()


def test_repeated_samples_leave_no_null_features():
    features = LandmarkFeatures(gamma=0.1).fit(np.vstack([X, X]))
    assert features.landmarks_.shape == (160, 5)
    Z = features.transform(X_new)
    expected = LandmarkFeatures(gamma=0.1).fit(X).transform(X_new)
    assert Z.shape[1] <= 80
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-7)


def test_a_ridge_on_the_features_is_kernel_ridge():
    """Through the whole pipeline of scikit-learn, with samples it has not seen."""
    pipeline = make_pipeline(LandmarkFeatures(gamma=0.1), Ridge(0.5, fit_intercept=False))
    expected = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.1).fit(X, Y).predict(X_new)
    np.testing.assert_allclose(pipeline.fit(X, Y).predict(X_new), expected, atol=1e-6)


@pytest.mark.parametrize("params", [{}, {"n_landmarks": 10, "landmarks": "random"}], ids=str)
def test_dask_data_are_sampled_and_transformed_lazily(params):
    features = LandmarkFeatures(random_state=0, **params).fit(in_blocks(X))
    lazy = features.transform(in_blocks(X_new, 6))
    assert isinstance(lazy, da.Array)
    nystroem = Nystroem(gamma=features.gamma_, n_components=len(features.landmarks_))
    theirs = nystroem.fit(features.landmarks_).transform(X_new)
    np.testing.assert_allclose(lazy.compute() @ lazy.compute().T, theirs @ theirs.T, atol=1e-6)
    if not params:
        expected = LandmarkFeatures(random_state=0).fit_transform(X)
        found = clone(features).fit_transform(in_blocks(X))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_up_to_a_thousand_samples_are_landmarks():
    X = np.random.default_rng(0).normal(size=(1001, 2))
    features = LandmarkFeatures(landmarks="random", random_state=0)
    assert len(features.fit(X).landmarks_) == len(features.fit(X[:1000]).landmarks_) == 1000


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_constant_column_of_the_landmarks_may_vary_elsewhere(kernel):
    """Sparse X is centred where the landmarks have no zeros; other samples may have some."""
    L, other = np.abs(X) + 3, np.where(X_new > 1, X_new, 0.0)
    features = LandmarkFeatures(kernel=kernel, **KERNELS[kernel])
    dense = features.fit_transform(L), features.transform(other)
    thin = clone(features).fit(sparse.csr_array(L))
    mixed = [thin.transform(sparse.csc_array(L)), thin.transform(other)]
    for found, expected in zip(mixed, dense, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(dense[1]).max())


def test_an_empty_last_column_of_wide_indices_is_a_column():
    rows = sparse.csr_array(np.where(X_new > 0, X_new, 0) * [1, 1, 1, 1, 0])
    features = LandmarkFeatures(gamma=0.1).fit(sparse.csr_array(np.where(X > 0, X, 0)), Y)
    expected = features.transform(rows)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    np.testing.assert_allclose(features.transform(rows), expected)


def test_centres_are_the_means_of_the_samples_nearest_to_them():
    x = np.random.default_rng(6).uniform(0, 10, size=(20, 1))
    centres = LandmarkFeatures(3, random_state=0).fit(x).landmarks_
    nearest = np.abs(x - centres.T).argmin(axis=1)
    means = [x[nearest == k].mean() for k in range(3)]
    np.testing.assert_allclose(centres[:, 0], means)


def test_few_distinct_samples_are_the_centres():
    repeated = np.repeat(X[:5], 20, axis=0)
    features = LandmarkFeatures(10, random_state=0).fit(repeated)
    np.testing.assert_allclose(np.sort(features.landmarks_[:, 0]), np.sort(X[:5, 0]))
    Z = features.transform(X[:5])
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X[:5], gamma=features.gamma_), atol=1e-7)


@pytest.mark.parametrize("factor", [2.0**60, 2.0**100])
def test_landmarks_of_large_single_precision_are_those_of_small(factor):
    single = X.astype(np.float32)
    features = LandmarkFeatures(n_landmarks=5, random_state=0)
    small, large = (
        clone(features).fit(x).landmarks_ for x in (single, single * np.float32(factor))
    )
    assert large.dtype == np.float32
    np.testing.assert_allclose(large / np.float32(factor), small, rtol=1e-6)
