"""LandmarkFeatures against the kernel itself, scikit-learn's Nystroem and kernelised siblings."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.pipeline import make_pipeline

from skml_kalda import MLDA, OPLS, LandmarkFeatures
from tests.classic import KernelKaLDA
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
def test_random_landmarks_are_those_of_nystroem_given_the_rows(form):
    features = LandmarkFeatures(20, gamma=0.1, landmarks="random", random_state=3).fit(form(X))
    nystroem = Nystroem(gamma=0.1, n_components=20).fit(X[features.landmark_indices_])
    ours, theirs = features.transform(form(X_new)), nystroem.transform(X_new)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-8)
    assert features.normalization_.shape == (20, 20)


def test_a_pipeline_kernelises_its_sibling():
    """OPLS on all features is OPLS of kernel ridge scores."""
    a = 0.3
    ridge = a / (1 - a)
    pipeline = make_pipeline(
        LandmarkFeatures(gamma=0.1), OPLS(4, ridge=ridge, normalize="sqrt_eig")
    ).fit(X, Y)
    K = rbf_kernel(X, gamma=0.1)
    H = np.eye(80) - 1 / 80
    features = pipeline[0].transform(X)
    alpha = ridge * np.trace(H @ K @ H) / features.shape[1]
    scores = KernelRidge(alpha=alpha, kernel="precomputed").fit(H @ K @ H, H @ Y)
    expected = scores.predict(H @ K @ H)
    np.testing.assert_allclose(pdist(pipeline.transform(X)), pdist(expected), atol=1e-8)


def test_kernel_kalda_is_mlda_on_the_features():
    kalda = KernelKaLDA(gamma=0.1, shrinkage=0.2).fit(X, Y)
    sibling = make_pipeline(
        LandmarkFeatures(gamma=0.1), MLDA(ridge=0.25, normalize="sqrt_eig")
    ).fit(X, Y)
    ours, theirs = (cdist(each.transform(X_new), each.transform(X)) for each in (kalda, sibling))
    np.testing.assert_allclose(ours * 0.8, theirs, atol=1e-8)


def test_centres_are_near_all_rows():
    rng = np.random.default_rng(0)
    clusters = np.repeat(rng.normal(size=(12, 6)), 50, axis=0) + 0.01 * rng.normal(size=(600, 6))
    centres, rows = (
        LandmarkFeatures(12, landmarks=choice, random_state=0).fit(clusters)
        for choice in ("kmeans", "random")
    )
    assert centres.landmark_indices_ is None
    np.testing.assert_array_equal(rows.landmarks_, clusters[rows.landmark_indices_])
    distance = [cdist(clusters, each.landmarks_).min(axis=1).mean() for each in (centres, rows)]
    assert distance[0] < distance[1] / 5


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


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_precomputed_kernel_is_the_named_one(kernel):
    params = {"n_landmarks": 30, "landmarks": "random", "random_state": 0}
    K, K_new = (pairwise_kernels(A, X, metric=kernel, **KERNELS[kernel]) for A in (X, X_new))
    given = LandmarkFeatures(kernel="precomputed", **params).fit(K)
    named = LandmarkFeatures(kernel=kernel, **KERNELS[kernel], **params).fit(X)
    np.testing.assert_array_equal(given.landmark_indices_, named.landmark_indices_)
    if kernel in ("linear", "cosine"):  # which have another origin
        assert given.normalization_.shape[1] == named.normalization_.shape[1]
        return
    np.testing.assert_allclose(given.transform(K_new), named.transform(X_new), atol=1e-8)


def test_features_are_in_order_and_of_one_sign():
    features = LandmarkFeatures(30, random_state=0, landmarks="random").fit(X)
    assert (np.diff(np.sum(features.normalization_**2, axis=0)) >= 0).all()
    largest = np.abs(features.normalization_).argmax(axis=0)
    assert (features.normalization_[largest, np.arange(30)] > 0).all()


def test_repeated_rows_leave_no_null_features():
    features = LandmarkFeatures(gamma=0.1).fit(np.vstack([X, X]))
    assert features.landmarks_.shape == (160, 5)
    Z = features.transform(X_new)
    expected = LandmarkFeatures(gamma=0.1).fit(X).transform(X_new)
    assert Z.shape[1] <= 80
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, atol=1e-7)


def test_a_ridge_on_the_features_is_kernel_ridge():
    """Through the whole pipeline of scikit-learn, with rows it has not seen."""
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


def test_dask_batches_of_a_stream():
    features = LandmarkFeatures(6, random_state=0).partial_fit(X[:20])
    features.partial_fit(in_blocks(X[20:]))
    before = features.landmarks_
    features.partial_fit(in_blocks(X + 9)).partial_fit(X + 9)
    np.testing.assert_array_equal(features.landmarks_, before)
    with pytest.raises(ValueError, match="X has 3 features"):
        features.partial_fit(in_blocks(X[:, :3]))


def test_dask_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcde"))
    rows = dd.from_pandas(frame, npartitions=3)
    features = LandmarkFeatures(6, random_state=0).set_output(transform="pandas").fit(rows)
    pd.testing.assert_frame_equal(features.transform(rows).compute(), features.transform(frame))
    pipeline = make_pipeline(LandmarkFeatures(10, random_state=0), OPLS())
    assert pipeline.fit_transform(in_blocks(X), in_blocks(Y)).compute().shape == (80, 4)


def test_up_to_a_thousand_rows_are_landmarks():
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
