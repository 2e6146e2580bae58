"""KernelKaLDA against the linear reducer, explicit features, and kernels written out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tests.classic import KernelKaLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.reducers.kalda.test_theorems import kernel_alignment, label_kernel

X, Y = made(60, 5, unlabelled=0.1)
X_new = made(20, 5, seed=1)[0]


def same_up_to_sign(A, B, atol=1e-8):
    np.testing.assert_allclose(np.abs(A), np.abs(B), atol=atol)


@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_linear_kernel_is_the_linear_reducer(constraint):
    kernel = KernelKaLDA(kernel="linear", constraint=constraint, shrinkage=0.3).fit(X, Y)
    linear = MultiLabelKaLDA(constraint=constraint, shrinkage=0.3).fit(X, Y)
    tolerance = 1e-8 if constraint == "none" else 1e-5
    same_up_to_sign(kernel.transform(X_new), linear.transform(X_new), tolerance)
    assert kernel.alignment_ == pytest.approx(linear.alignment_, rel=1e-8)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    assert kernel.upper_bound_ == pytest.approx(linear.upper_bound_, rel=1e-8)


def test_polynomial_kernel_is_the_linear_reducer_on_all_products():
    """k(x, z) = (xᵀz)² has the features x_i x_j."""
    products = lambda A: np.einsum("ni,nj->nij", A, A).reshape(len(A), -1)  # noqa: E731
    kernel = KernelKaLDA(
        kernel="poly", gamma=1.0, kernel_params={"degree": 2, "coef0": 0}, shrinkage=None
    ).fit(X, Y)
    explicit = MultiLabelKaLDA(constraint="none").fit(products(X), Y)
    same_up_to_sign(kernel.transform(X_new), explicit.transform(products(X_new)), 1e-6)


def test_theorem_2_with_a_kernel_that_is_not_linear():
    """The alignment of explicit kernels, from the functions' values alone."""
    kalda = KernelKaLDA(gamma=0.1).fit(X, Y)
    rho = Y.sum(axis=1)
    projected = kalda.transform(X) * np.sqrt(rho)[:, None]
    expected = kernel_alignment(projected @ projected.T, label_kernel(Y))
    assert kalda.alignment_ == pytest.approx(expected, rel=1e-8)
    centring = np.eye(60) - np.outer(np.ones(60), rho / rho.sum())
    whole = centring @ rbf_kernel(X, gamma=0.1) @ centring.T * np.sqrt(np.outer(rho, rho))
    assert kalda.alignment_ > kernel_alignment(whole, label_kernel(Y))


def test_projected_rows_have_weighted_mean_zero():
    rho = Y.sum(axis=1)
    np.testing.assert_allclose(rho @ KernelKaLDA().fit_transform(X, Y), 0, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_a_precomputed_kernel_is_the_named_one(kernel):
    named = KernelKaLDA(kernel=kernel, gamma=0.2).fit(X, Y)
    function = {
        "rbf": lambda A: rbf_kernel(A, X, gamma=0.2),
        "laplacian": lambda A: laplacian_kernel(A, X, gamma=0.2),
        "cosine": lambda A: cosine_similarity(A, X),
    }[kernel]
    given = KernelKaLDA(kernel="precomputed").fit(function(X), Y)
    np.testing.assert_allclose(given.transform(function(X_new)), named.transform(X_new), atol=1e-8)


def test_a_precomputed_kernel_takes_landmarks_too():
    params = {"n_landmarks": 20, "landmarks": "random", "random_state": 0}
    named = KernelKaLDA(gamma=0.2, **params).fit(X, Y)
    given = KernelKaLDA(kernel="precomputed", **params).fit(rbf_kernel(X, gamma=0.2), Y)
    np.testing.assert_array_equal(given.landmark_indices_, named.landmark_indices_)
    np.testing.assert_allclose(
        given.transform(rbf_kernel(X_new, X, gamma=0.2)), named.transform(X_new), atol=1e-8
    )


def test_a_callable_kernel_is_the_named_one():
    def affinity(a, b, width):
        return np.exp(-np.sum((a - b) ** 2) * width)

    named = KernelKaLDA(gamma=0.2).fit(X, Y)
    called = KernelKaLDA(kernel=affinity, kernel_params={"width": 0.2}).fit(X, Y)
    np.testing.assert_allclose(called.transform(X_new), named.transform(X_new), atol=1e-8)


def test_all_landmarks_are_exact_and_those_of_scikit_learn():
    exact = KernelKaLDA(gamma=0.2).fit(X, Y)
    drawn = KernelKaLDA(gamma=0.2, n_landmarks=60).fit(X, Y)
    np.testing.assert_allclose(drawn.transform(X_new), exact.transform(X_new), atol=1e-8)
    features = Nystroem(gamma=0.2, n_components=60, random_state=0).fit(X)
    theirs = MultiLabelKaLDA(constraint="none", shrinkage=0.2).fit(features.transform(X), Y)
    same_up_to_sign(exact.transform(X_new), theirs.transform(features.transform(X_new)), 1e-6)


def test_more_landmarks_come_closer_to_the_exact_alignment():
    exact = KernelKaLDA(gamma=0.2, shrinkage=None, n_components=2).fit(X, Y).alignment_
    few, more = (
        KernelKaLDA(gamma=0.2, shrinkage=None, n_components=2, n_landmarks=m, random_state=0)
        .fit(X, Y)
        .alignment_
        for m in (8, 40)
    )
    assert few < more <= exact * (1 + 1e-9)


def test_the_median_is_that_of_all_pairs():
    distance = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    assert KernelKaLDA().fit(X, Y).gamma_ == pytest.approx(1 / np.median(distance), rel=1e-2)
    manhattan = np.sum(np.abs(X[:, None] - X[None]), axis=2)
    laplacian = KernelKaLDA(kernel="laplacian").fit(X, Y)
    assert laplacian.gamma_ == pytest.approx(1 / np.median(manhattan), rel=1e-2)
    assert KernelKaLDA(kernel="cosine").fit(X, Y).gamma_ is None


@pytest.mark.parametrize("kernel", ["rbf", "cosine", "laplacian"])
def test_dense_and_sparse_data_give_the_same(kernel):
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.4, X, 0) + np.eye(60, 5)
    dense = KernelKaLDA(kernel=kernel).fit(thin, Y)
    other = KernelKaLDA(kernel=kernel).fit(sparse.csr_array(thin), sparse.lil_matrix(Y))
    expected = dense.transform(X_new)
    np.testing.assert_allclose(other.transform(sparse.csc_array(X_new)), expected, atol=1e-8)


def test_small_batches_give_the_same():
    whole = KernelKaLDA().fit(X, Y)
    with config_context(working_memory=60 * 8 * 7 / 2**20):  # seven rows at a time
        batches = KernelKaLDA().fit(X, Y)
        np.testing.assert_allclose(batches.transform(X), whole.transform(X), atol=1e-9)


def test_class_labels_keep_their_names():
    y = np.array(list("wxyz"))[made(single=True)[1].argmax(axis=1)]
    assert list(KernelKaLDA().fit(X, y).classes_) == list("wxyz")
    with pytest.warns(UserWarning, match="without rows"):
        kalda = KernelKaLDA().fit(X, np.insert(Y, 1, 0, axis=1))
    np.testing.assert_array_equal(kalda.classes_, [0, 2, 3, 4])


def test_it_separates_what_no_line_can():
    """Two rings: the linear reducer sees equal means, the kernel sees the radius."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 200)
    radius = np.repeat([1.0, 2.0], 100) + 0.1 * rng.normal(size=200)
    rings = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = np.repeat([0, 1], 100)
    train, test = np.arange(0, 200, 2), np.arange(1, 200, 2)

    def score(reducer):
        model = make_pipeline(reducer, KNeighborsClassifier(5))
        return model.fit(rings[train], y[train]).score(rings[test], y[test])

    assert score(MultiLabelKaLDA()) < 0.8
    assert score(KernelKaLDA()) > 0.95


def test_in_a_grid_search_over_the_kernel():
    pipeline = make_pipeline(KernelKaLDA(random_state=0), KNeighborsClassifier(3))
    grid = {"kernelkalda__kernel": ["rbf", "cosine"], "kernelkalda__shrinkage": [0.1, "auto"]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1_micro").fit(X, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_the_same_seed_draws_the_same_landmarks():
    fits = [KernelKaLDA(n_landmarks=15, random_state=4).fit(X, Y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].dual_components_, fits[1].dual_components_)
    other = clone(fits[0]).set_params(random_state=5).fit(X, Y)
    assert not np.array_equal(other.landmarks_, fits[0].landmarks_)


def test_names_and_dtype():
    kalda = KernelKaLDA().fit(X.astype(np.float32), Y)
    assert list(kalda.get_feature_names_out()) == ["kernelkalda0", "kernelkalda1", "kernelkalda2"]
    assert kalda.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("X", "y", "params", "message"),
    [
        (X, Y, {"n_landmarks": 61}, "n_landmarks=61 is more than the 60 rows"),
        (X, Y, {"n_landmarks": 0}, "'n_landmarks' parameter"),
        (X, Y, {"kernel": "magic"}, "'kernel' parameter"),
        (X, Y, {"gamma": -1.0}, "'gamma' parameter"),
        (X, Y, {"kernel": "precomputed"}, r"X has shape \(60, 5\), but .* must be square"),
        (X, Y, {"n_components": 4}, "n_components=4 is more than KernelKaLDA can give"),
        (X, Y[:-1], {}, "inconsistent numbers of samples"),
        (X, Y[:, :1], {}, "y has one class only"),
        (np.where(X > 2, np.nan, X), Y, {}, "Input X contains NaN"),
        (np.ones((60, 3)), Y, {}, "no direction"),
    ],
)
def test_bad_input_is_named(X, y, params, message):
    with pytest.raises(ValueError, match=message):
        KernelKaLDA(**params).fit(X, y)
