"""Wide and large sparse data: nothing dense, as exact as asked for, and refused in time."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import skml_kalda
from benchmarks.speed.reducers import sparse_data
from skml_kalda import CCA, LDA, MDDM, MLDA, MLLS, MLR, MLSI, OPLS, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import fitted
from tests.reducers.cases import KALDA, REDUCERS, short_and_wide, thinned

# They need every eigenvalue of S_t, or n × n arrays, by their nature.
NOT_LARGE = {"MLSI-inverse", "MDDM-kernel", "MMC", "SDPLDA", "TraceRatio", "kaLDA", "kaLDA-shrunk"}
# Their regularisation counts empty features in another way.
BLIND_TO_EMPTY = [n for n in REDUCERS | KALDA if n not in {"MLSI-inverse", "kaLDA-samples"}]
BLIND_TO_EMPTY = [n for n in BLIND_TO_EMPTY if "shrunk" not in n and n != "kaLDA-two"]


def peak(task):
    tracemalloc.start()
    try:
        found = task()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_restricted(found, name, X, Y, columns, atol=1e-7):
    """Directions are zero in empty columns, and elsewhere those of the other columns alone."""
    small = clone((REDUCERS | KALDA)[name])
    if "ridge" in small.get_params():  # a multiple of Tr(S_t)/p
        small.set_params(ridge=small.ridge * len(columns) / X.shape[1])
    expected = small.fit(X[:, columns], Y).components_
    scale = np.abs(expected).max()
    empty = np.setdiff1d(np.arange(X.shape[1]), columns)
    assert np.abs(found.components_[:, empty]).max() <= 1e-12 * scale
    np.testing.assert_allclose(found.components_[:, columns], expected, atol=atol * scale)


@pytest.mark.filterwarnings("ignore:.*without regularisation")
@pytest.mark.parametrize("name", BLIND_TO_EMPTY)
def test_short_and_wide_data_need_no_array_of_the_side_of_the_features(name):
    X, Y, columns = short_and_wide(90, 20_000, 110, 4)  # p × p: 3 GB
    found, memory = peak(lambda: clone((REDUCERS | KALDA)[name]).fit(X, Y))
    assert_restricted(found, name, X, Y, columns)
    assert memory < 1e8
    assert found.transform(X).shape == (90, len(found.components_))


@pytest.fixture(scope="module")
def too_large():
    """Sparse data of 7.2 GB if made dense: 30,000 × 30,000, most samples without labels."""
    X, Y, columns = short_and_wide(400, 30_000, 12, 3)
    rows = np.arange(0, 30_000, 75)
    X, Y = X.tocoo(), sparse.coo_array(Y)
    X = sparse.csr_array((X.data, (rows[X.row], X.col)), shape=(30_000, 30_000))
    Y = sparse.csr_array((Y.data, (rows[Y.row], Y.col)), shape=(30_000, 3))
    return X, Y, columns


@pytest.mark.parametrize("name", [n for n in REDUCERS | KALDA if n not in NOT_LARGE])
def test_nothing_makes_large_sparse_data_dense(name, too_large):
    X, Y, columns = too_large
    reducer = clone((REDUCERS | KALDA)[name])
    if "tol" in reducer.get_params():
        reducer.set_params(tol=1e-7)
    (found, Z), memory = peak(lambda: (reducer.fit(X, Y), reducer.transform(X)))
    assert memory < 5e7
    assert Z.shape == (30_000, len(found.components_))
    if name in BLIND_TO_EMPTY:
        assert_restricted(found, name, X, Y, columns, atol=1e-4)


SOLVED = {
    "kaLDA": MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "RLDA": RLDA(ridge=0.1),
    "MLDA": MLDA(ridge=0.1, weights="entropy"),
    "OLDA": skml_kalda.OLDA(ridge=0.1),
    "OPLS": OPLS(ridge=0.1),
    "CCA": CCA(ridge=0.1),
    "MLR": MLR(ridge=0.1),
    "MLLS": MLLS(),
    "MDDM": MDDM(projection="f"),
}


@pytest.mark.parametrize("shape", [(400, 150), (150, 400)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", list(SOLVED))
def test_directions_are_as_exact_as_asked_for(name, shape):
    """The oracle is the spectrum of S_t: no iteration."""
    X, Y = sparse_data(*shape, K=6, words=20)
    exact = fitted(SOLVED[name], X, Y, "dual" if shape[0] < shape[1] else "primal")
    for tol, limit in [(1e-4, 1e-4), (1e-12, 1e-8)]:
        found = fitted(clone(SOLVED[name]).set_params(tol=tol), X, Y, "operator")
        angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
        assert angles.max() < limit


def indicators(n, p, used, levels, rng):
    """One-hot samples with entries in few of p columns: S_t is singular within these, too."""
    X, columns = np.zeros((n, p)), rng.choice(p, used, replace=False)
    for group in np.array_split(columns, used // levels):
        X[np.arange(n), rng.choice(group, n, p=rng.dirichlet(np.ones(len(group))))] = 1
    return X


WIDE = SOLVED | {
    "LDA": LDA(ridge=0.0),
    "RLDA-small": RLDA(ridge=1e-3),
    "MLSI": MLSI(ridge=0.1),
    "kaLDA-orthonormal": MultiLabelKaLDA(shrinkage=0.1, tol=1e-6),
}


@pytest.mark.parametrize(
    "shape", [(400, 210, 20, 7), (80, 210, 30, 4), (60, 3, 3, 6), (60, 3, 2, 13)]
)
@pytest.mark.parametrize("name", list(WIDE))
def test_few_columns_in_use_cost_no_accuracy(name, shape):
    """Also fewer features than labels. What does not converge says so."""
    n, p, used, K = shape
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = indicators(n, p, used, min(2 + seed, used), rng)
        scores = X @ rng.normal(size=(p, K)) + 0.7 * rng.normal(size=(n, K))
        Y = (scores > np.quantile(scores, 0.7, axis=0)).astype(int)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning)
            warnings.filterwarnings("error", category=ConvergenceWarning)
            exact, found = (fitted(WIDE[name], X, Y, form) for form in ("primal", "operator"))
        angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
        assert angles.max() < 1e-4


@pytest.mark.parametrize("reducer", [LDA(ridge=0.0), MLR(ridge=0.0)], ids=["LDA", "MLR"])
@pytest.mark.parametrize(("size", "reported"), [(0.03, False), (0.003, True), (0.001, True)])
def test_a_quiet_direction_is_found_or_reported(size, reported, reducer):
    """Of 1e-8 to 1e-11 of the variance, at the limit of what is rounding; labels depend on it."""
    X, Y = made(200, 40, seed=2)
    signal = Y[:, 0] + 0.5 * np.random.default_rng(2).normal(size=200)
    X = np.column_stack([X, X.sum(axis=1) + size * signal])
    exact = fitted(reducer, X, Y, "primal")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        found = fitted(reducer, X, Y, "operator")
    assert any(each.category is ConvergenceWarning for each in caught) == reported
    if size > 0.001:  # else an array leaves it out
        angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
        assert angles.max() < 1e-8


def test_units_far_apart_do_not_slow_a_solve():
    """The diagonal of S_t as preconditioner: else 10^12 would be its condition."""
    X, Y = made(200, 40)
    X = thinned(X) * np.geomspace(1, 1e-6, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fitted(LDA(ridge=0.0, tol=1e-10), X, Y, "operator")
    expected = LDA(ridge=0.0).fit(X, Y)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-7)


def test_labels_that_depend_on_one_another_are_solved_for_at_once():
    """Equal, empty and complementary columns, and one that is an eigenvector of S_t."""
    X, Y = made(80, 12, 3)
    X = thinned(X)
    X[:, 0] = 30 * Y[:, 0]
    Y = np.column_stack([Y, Y[:, 0], 1 - Y[:, 0], np.ones(80, dtype=int)])
    for reducer in (OPLS(3, ridge=0.1), MLR(3, ridge=0.1), MLSI(3, ridge=0.1)):
        expected, found = (
            fitted(clone(reducer).set_params(tol=1e-12), X, Y, form)
            for form in ("primal", "operator")
        )
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
        np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-7)


# --- many labels


def topics(n=150, p=200, K=1_050, seed=0):
    """Sparse samples of four topics, and labels that are mostly those of their topic."""
    rng = np.random.default_rng(seed)
    topic = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    words = rng.random((4, p)) ** 4
    X = (rng.random((n, p)) < 0.2 * words[topic] + 0.02) * rng.random((n, p))
    Y = rng.random((n, K)) < np.where(np.arange(K) % 5 == topic[:, None], 0.5, 0.05)
    return sparse.csr_array(X), sparse.csr_array(Y.astype(float))


SKETCHED = {
    "kaLDA": MultiLabelKaLDA(3, constraint="none", shrinkage=0.2),
    "kaLDA-samples": MultiLabelKaLDA(3, constraint="none", shrinkage=0.2, weights="rows"),
    "RLDA": RLDA(3, ridge=0.2),
    "MLDA": MLDA(3, ridge=0.2),
    "OPLS": OPLS(3, ridge=0.2),
    "MDDM": MDDM(3, projection="f"),
    "auto": RLDA(3),
}


@pytest.mark.parametrize("shape", [(150, 200), (250, 120)], ids=["wide", "tall"])
@pytest.mark.parametrize("name", list(SKETCHED))
def test_leading_directions_of_many_labels_are_those_of_all(name, shape):
    X, Y = topics(*shape)
    exact, found = (fitted(SKETCHED[name], X, Y, form) for form in ("dual", "operator"))
    if name == "auto":
        assert abs(np.log10(found.ridge_ / exact.ridge_)) < 0.5
        return
    angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
    assert angles.max() < 1e-3
    np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_, rtol=1e-5)
    expected = getattr(exact, "alignment_", 0)
    assert getattr(found, "alignment_", 0) == pytest.approx(expected, rel=1e-5)


# As many columns as labels, which no machine has the memory for.
@pytest.mark.parametrize(
    "reducer",
    [RLDA(), LDA(3, ridge=0.0), MLLS(3), MDDM(3), MultiLabelKaLDA(3, shrinkage=0.2)],
    ids=lambda reducer: type(reducer).__name__,
)
def test_more_labels_than_memory_are_refused_before_they_are_tried(reducer):
    n, K = 5_000, 100_000
    X = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % 20)), shape=(n, 20))
    Y = sparse.csr_array((np.ones(K), (np.arange(K) % n, np.arange(K))))
    with pytest.raises(MemoryError, match=r"labels.*n_components"):
        clone(reducer).fit(X, Y)
