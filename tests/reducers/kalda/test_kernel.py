"""KernelKaLDA against the linear reducer, scikit-learn's kernels, and given landmarks."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from sklearn import config_context
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, rbf_kernel

from skml_kalda import LandmarkFeatures
from tests.classic import KernelKaLDA, MultiLabelKaLDA
from tests.conftest import made

X, Y = made(60, 5, unlabelled=0.1)
X_new = made(20, 5, seed=1)[0]
MANY, MANY_Y = made(500, 4, unlabelled=0.1)
MANY_NEW = made(30, 4, seed=1)[0]
STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
WEIGHTS = pytest.mark.parametrize("weights", ["labels", "rows"])
CHOICES = pytest.mark.parametrize("landmarks", ["kmeans", "random"])


def same_up_to_sign(A, B, tol=1e-8):
    np.testing.assert_allclose(np.abs(A), np.abs(B), atol=tol * np.abs(B).max())


def on_a_grid(X):
    """Round to multiples of 1/16, which float64 holds exactly at offsets up to 1e8."""
    return np.round(X * 16) / 16


# --- all samples are landmarks


@WEIGHTS
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_linear_kernel_is_the_linear_reducer(constraint, weights):
    params = {"constraint": constraint, "weights": weights, "shrinkage": 0.3}
    kernel = KernelKaLDA(kernel="linear", **params).fit(X, Y)
    linear = MultiLabelKaLDA(**params).set_params(tol=1e-10).fit(X, Y)
    same_up_to_sign(
        kernel.transform(X_new), linear.transform(X_new), 1e-8 if constraint == "none" else 1e-5
    )
    for name in ("alignment_", "objective_", "upper_bound_"):
        assert getattr(kernel, name) == pytest.approx(getattr(linear, name), rel=1e-8)


def test_polynomial_kernel_is_the_linear_reducer_on_all_products():
    """k(x, z) = (xᵀz)² has the features x_i x_j."""
    products = lambda A: np.einsum("ni,nj->nij", A, A).reshape(len(A), -1)  # noqa: E731
    kernel = KernelKaLDA(
        kernel="poly", gamma=1.0, kernel_params={"degree": 2, "coef0": 0}, shrinkage=None
    ).fit(X, Y)
    explicit = MultiLabelKaLDA(constraint="none").fit(products(X), Y)
    same_up_to_sign(kernel.transform(X_new), explicit.transform(products(X_new)), 1e-6)


def affinity(a, b, width):
    return np.exp(-np.sum((a - b) ** 2) * width)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
@pytest.mark.parametrize("landmarks", [{}, {"n_landmarks": 20, "landmarks": "random"}], ids=str)
def test_a_precomputed_kernel_is_the_named_one(kernel, landmarks):
    named = KernelKaLDA(kernel=kernel, gamma=0.2, random_state=0, **landmarks).fit(X, Y)
    function = {
        "rbf": lambda A: rbf_kernel(A, X, gamma=0.2),
        "laplacian": lambda A: laplacian_kernel(A, X, gamma=0.2),
        "cosine": lambda A: cosine_similarity(A, X),
    }[kernel]
    given = KernelKaLDA(kernel="precomputed", random_state=0, **landmarks).fit(function(X), Y)
    np.testing.assert_array_equal(given.landmark_indices_, named.landmark_indices_)
    if kernel != "cosine" or not landmarks:  # the origin of cosine is another
        found = given.transform(function(X_new))
        np.testing.assert_allclose(found, named.transform(X_new), atol=1e-8)
    if kernel == "rbf":
        called = KernelKaLDA(
            kernel=affinity, kernel_params={"width": 0.2}, random_state=0, **landmarks
        )
        found = called.fit(X, Y).transform(X_new)
        np.testing.assert_allclose(found, named.transform(X_new), atol=1e-8)


def test_the_default_width_is_the_median_distance():
    distance = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    assert KernelKaLDA().fit(X, Y).gamma_ == pytest.approx(1 / np.median(distance), rel=1e-2)
    manhattan = np.sum(np.abs(X[:, None] - X[None]), axis=2)
    laplacian = KernelKaLDA(kernel="laplacian").fit(X, Y)
    assert laplacian.gamma_ == pytest.approx(1 / np.median(manhattan), rel=1e-2)
    assert KernelKaLDA(kernel="cosine").fit(X, Y).gamma_ is None
    weight = np.random.default_rng(0).integers(0, 4, 60)
    weighted = KernelKaLDA().fit(X, Y, sample_weight=weight)
    repeated = KernelKaLDA().fit(X.repeat(weight, axis=0), Y.repeat(weight, axis=0))
    assert weighted.gamma_ == pytest.approx(repeated.gamma_)


def test_small_working_memory_gives_the_same():
    whole = KernelKaLDA().fit(X, Y)
    with config_context(working_memory=60 * 8 * 7 / 2**20):  # seven samples at a time
        batches = KernelKaLDA().fit(X, Y)
        np.testing.assert_allclose(batches.transform(X), whole.transform(X), atol=1e-9)


# --- digits


@pytest.mark.parametrize("shrinkage", [0.2, "auto"])
def test_small_eigenvalues_of_float32_samples_count(shrinkage):
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
    assert LandmarkFeatures(kernel="precomputed").fit(K).normalization_.shape == (100, 5)
    single = KernelKaLDA(kernel="precomputed").fit(K, Y).transform(K)
    same_up_to_sign(single, KernelKaLDA(kernel="linear").fit(X, Y).transform(X), 1e-4)


@STORES
@pytest.mark.parametrize("offset", [1e2, 1e8])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("landmarks", [{}, {"n_landmarks": 15, "landmarks": "random"}], ids=str)
def test_an_offset_costs_no_digits(landmarks, kernel, store, offset):
    grid = on_a_grid(X)
    far = grid + offset * np.array([1, -1, 0.5, 0, 1])  # not all alike
    kalda = KernelKaLDA(kernel=kernel, random_state=0, shrinkage=0.3, **landmarks)
    expected = kalda.fit(store(grid), Y).transform(store(grid))
    gamma = kalda.gamma_
    found = kalda.fit(store(far), Y).transform(store(far))
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    assert gamma is None or kalda.gamma_ == pytest.approx(gamma, rel=1e-12)


def test_centres_survive_an_offset():
    grid = on_a_grid(MANY)
    near, far = (
        KernelKaLDA(n_landmarks=15, random_state=0).fit(grid + offset, MANY_Y)
        for offset in (0, 1e8)
    )
    assert near.landmarks_.shape == (15, 4)
    # Centres are no multiples of 1/16: at 1e8 they are rounded to 1e-8.
    np.testing.assert_allclose(far.landmarks_ - 1e8, near.landmarks_, atol=1e-7)
    np.testing.assert_allclose(far.transform(grid + 1e8), near.transform(grid), atol=1e-5)


# --- given landmarks, in batches and in blocks


def kalda(**params):
    return KernelKaLDA(**{"n_landmarks": 20, "random_state": 0, **params})


def streamed(reducer, X, Y, n=7):
    for rows in np.array_split(np.arange(X.shape[0]), n):
        reducer.partial_fit(X[rows], Y[rows])
    return reducer


def in_blocks(X, rows=60):
    return da.from_array(X, chunks=(rows, -1))


def assert_given_the_landmarks(fitted, X, Y, *, tol=1e-8, weight=None, new=MANY_NEW):
    """Compare with the linear reducer on the features of Nyström, written out."""
    L = fitted.landmarks_
    values, vectors = linalg.eigh(rbf_kernel(L, gamma=fitted.gamma_))
    keep = values > 1e-10 * values[-1]
    W = vectors[:, keep] / np.sqrt(values[keep])
    linear = MultiLabelKaLDA(
        constraint="none", shrinkage=fitted.shrinkage, weights=fitted.weights
    ).fit(rbf_kernel(X, L, gamma=fitted.gamma_) @ W, Y, sample_weight=weight)
    expected = linear.transform(rbf_kernel(np.asarray(new), L, gamma=fitted.gamma_) @ W)
    np.testing.assert_allclose(np.abs(fitted.transform(new)), np.abs(expected), atol=tol)
    assert fitted.alignment_ == pytest.approx(linear.alignment_, rel=tol)
    np.testing.assert_allclose(fitted.eigenvalues_, linear.eigenvalues_, rtol=tol)


FORMS = {
    "all": lambda reducer, X, Y: reducer.fit(X, Y),
    "batches": streamed,
    "blocks": lambda reducer, X, Y: reducer.fit(in_blocks(X), in_blocks(Y, 90)),
}


@pytest.mark.parametrize("form", FORMS)
@CHOICES
@WEIGHTS
def test_all_batches_and_blocks_are_nystroem_given_the_landmarks(form, landmarks, weights):
    found = FORMS[form](kalda(landmarks=landmarks, weights=weights), MANY, MANY_Y)
    assert found.landmarks_.shape == (20, 4)
    assert_given_the_landmarks(found, MANY, MANY_Y)
    again = FORMS[form](kalda(landmarks=landmarks, weights=weights), MANY, MANY_Y)
    np.testing.assert_array_equal(again.dual_components_, found.dual_components_)
    other = FORMS[form](kalda(landmarks=landmarks, random_state=5), MANY, MANY_Y)
    assert not np.array_equal(other.landmarks_, found.landmarks_)


@pytest.mark.parametrize("params", [{}, {"n_landmarks": "auto"}, {"landmarks": "random"}], ids=str)
def test_few_samples_in_batches_or_blocks_are_a_fit(params):
    """Before there are ten samples for each landmark no landmark is chosen."""
    few, labels = MANY[:190], MANY_Y[:190]
    whole = kalda(**params).fit(few, labels)
    for other in (
        streamed(kalda(**params), few, labels, 3),
        kalda(**params).fit(in_blocks(few), labels),
    ):
        np.testing.assert_array_equal(other.landmarks_, whole.landmarks_)
        found = other.transform(MANY_NEW)
        np.testing.assert_allclose(found, whole.transform(MANY_NEW), atol=1e-10)


def test_landmarks_are_chosen_from_the_first_samples_and_kept():
    far, stream, seen = MANY + 100, kalda(), []
    for rows in np.split(np.arange(500), 10):
        stream.partial_fit(MANY[rows] if rows[0] < 200 else far[rows], MANY_Y[rows])
        seen.append(stream.landmarks_)
    np.testing.assert_array_equal(seen[3], kalda().fit(MANY[:200], MANY_Y[:200]).landmarks_)
    for landmarks in seen[4:]:
        np.testing.assert_array_equal(landmarks, seen[3])
    assert_given_the_landmarks(stream, np.vstack([MANY[:200], far[200:]]), MANY_Y)
    both = kalda().partial_fit(MANY[:99], MANY_Y[:99]).partial_fit(in_blocks(far), MANY_Y)
    assert both.landmarks_.min() < 50 < both.landmarks_.max()


def test_too_few_samples_for_the_landmarks_are_an_error_until_more_come():
    stream = kalda().partial_fit(MANY[:15], MANY_Y[:15])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"n_landmarks=20.*15"):
            stream.transform(MANY_NEW)
    stream.partial_fit(MANY[15:30], MANY_Y[15:30])
    assert stream.transform(MANY_NEW).shape == (30, 3)


def test_classes_may_come_late_and_batches_be_of_any_form():
    y = np.array(list("dcba"))[MANY_Y.argmax(axis=1)]
    order = np.argsort(y, kind="stable")
    stream = streamed(kalda(), MANY[order], y[order], 9)
    assert stream.classes_.tolist() == list("abcd")
    assert_given_the_landmarks(stream, MANY, y)
    thin = np.where(np.random.default_rng(0).random(MANY.shape) < 0.5, MANY, 0)
    mixed = kalda().partial_fit(thin[:50], pd.DataFrame(MANY_Y[:50]))
    mixed.partial_fit(sparse.csr_array(thin[50:250]), sparse.csc_matrix(MANY_Y[50:250]))
    mixed.partial_fit(in_blocks(thin[250:]), MANY_Y[250:])
    assert sparse.issparse(mixed.landmarks_)
    assert_given_the_landmarks(mixed, thin, MANY_Y)


def test_samples_of_zero_weight_are_no_landmarks():
    weight = np.random.default_rng(0).uniform(0.5, 2, 500)
    weight[60:180] = 0
    far = MANY + 100 * (weight[:, None] == 0)
    stream = kalda()
    for rows in np.split(np.arange(500), 10):
        stream.partial_fit(far[rows], MANY_Y[rows], sample_weight=weight[rows])
    blocks = kalda().fit(
        in_blocks(far), in_blocks(MANY_Y, 45), sample_weight=da.from_array(weight, chunks=77)
    )
    for found in (stream, blocks, kalda().fit(far, MANY_Y, sample_weight=weight)):
        assert np.abs(found.landmarks_).max() < 50
        assert_given_the_landmarks(found, far, MANY_Y, weight=weight)
    with pytest.raises(ValueError, match="weight"):
        kalda().fit(in_blocks(MANY), MANY_Y, sample_weight=np.zeros(500))


@pytest.mark.parametrize("gamma", [0.003, 0.03, 0.3])
def test_ill_conditioned_kernel_values_lose_no_digits(gamma):
    for form in FORMS:
        found = FORMS[form](kalda(n_landmarks=30, gamma=gamma, shrinkage=1e-4), MANY, MANY_Y)
        assert_given_the_landmarks(found, MANY, MANY_Y, tol=1e-8)


def test_landmarks_of_low_rank_lose_no_digits():
    """One smooth feature: the eigenvalues of its kernel fall to rounding within twenty."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 1))
    y = np.column_stack([x[:, 0] > 0, np.sin(9 * x[:, 0]) > 0, rng.random(500) < 0.3]).astype(int)
    stream = streamed(kalda(shrinkage=1e-5, gamma=1.0), x, y)
    assert np.linalg.cond(rbf_kernel(stream.landmarks_, gamma=1.0)) > 1e12
    assert_given_the_landmarks(stream, x, y, tol=1e-6, new=x)


def test_landmarks_come_from_all_blocks_alike():
    """Ten blocks far apart, of which one in ten samples is drawn: as often from each of them."""
    apart = MANY + 1000 * np.repeat(np.arange(10), 50)[:, None]
    drawn = np.zeros(10)
    for seed in range(20):
        fit = kalda(landmarks="random", n_landmarks=10, random_state=seed).fit
        L = fit(in_blocks(apart, 50), MANY_Y).landmarks_
        drawn += np.bincount(np.round(L[:, 0] / 1000).astype(int), minlength=10)
    assert drawn.sum() == 200
    assert np.abs(drawn - 20).max() < 4 * np.sqrt(18)


def test_what_blocks_cannot_have_is_refused():
    for reducer in (KernelKaLDA(kernel="precomputed"), LandmarkFeatures(kernel="precomputed")):
        with pytest.raises(AttributeError, match="at once"):
            reducer.partial_fit  # noqa: B018
        with pytest.raises(ValueError, match="at once"):
            reducer.fit(in_blocks(rbf_kernel(X)), Y)
    bad = MANY.copy()
    bad[333, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        kalda().fit(in_blocks(bad), MANY_Y)
