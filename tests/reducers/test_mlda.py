"""MLDA: each kind of weights against its definition."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skml_kalda._core.labels import row_shares
from skml_kalda.reducers._families.label_weights import correlation, dependence, fuzzy
from tests.classic import LDA, MLDA
from tests.conftest import made
from tests.reducers.oracles import assert_same_span, centred, copies, scatters, top

WEIGHTS = ["binary", "entropy", "correlation", "fuzzy", "dependence"]
STORES = [np.asarray, sparse.csr_array]


def mlda(weights, **params):
    return MLDA(weights=weights, random_state=0, **params)


def weights_of(reducer, X, Y):
    W = reducer._class_weights(X, sparse.csr_array(Y.astype(float)), np.ones(len(Y)))
    return W.toarray()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_with_one_label_per_row_all_weights_are_lda(weights):
    X, Y = made(single=True)
    np.testing.assert_allclose(
        mlda(weights).fit(X, Y).components_, LDA().fit(X, Y).components_, atol=1e-10
    )


def test_binary_weights_are_lda_of_copies():
    X, Y = made(unlabelled=0.2)
    peer = LinearDiscriminantAnalysis(solver="svd").fit(*copies(X, Y))
    assert_same_span(mlda("binary").fit(X, Y).components_.T, peer.scalings_[:, :3])


def test_entropy_weights_are_lda_of_as_many_copies_of_every_row():
    X, Y = made(unlabelled=0.2)
    times = np.lcm.reduce(range(1, 5)) // np.maximum(Y.sum(axis=1), 1)
    peer = LinearDiscriminantAnalysis(solver="svd").fit(*copies(X, Y, times))
    assert_same_span(mlda("entropy").fit(X, Y).components_.T, peer.scalings_[:, :3])


def test_correlation_weights_are_those_of_the_paper():
    X, Y = made(unlabelled=0.2)
    n, K = Y.shape
    length = [np.sqrt(Y[:, k] @ Y[:, k]) for k in range(K)]
    C = np.array([[Y[:, k] @ Y[:, j] / length[k] / length[j] for j in range(K)] for k in range(K)])
    Z = np.array([Y[i] @ C / Y[i].sum() if Y[i].any() else np.zeros(K) for i in range(n)])
    np.testing.assert_allclose(weights_of(mlda("correlation"), X, Y), Z)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_directions_are_those_of_the_weighted_scatters(weights, ridge):
    X, Y = made(unlabelled=0.2)
    reducer = mlda(weights, ridge=ridge).fit(X, Y)
    S_b, S_t = scatters(X, weights_of(reducer, X, Y))
    values, G = top(S_b, S_t + ridge * np.trace(S_t) / 8 * np.eye(8), 3)
    np.testing.assert_allclose(reducer.eigenvalues_, values, rtol=1e-8)
    assert_same_span(reducer.components_.T, G)
    with pytest.raises(ValueError, match="rank of the between-class scatter"):
        mlda(weights, n_components=4).fit(X, Y)


@pytest.mark.parametrize("store", STORES)
def test_fuzzy_weights_are_near_a_fixed_point_of_fuzzy_c_means(store, monkeypatch):
    monkeypatch.setattr("skml_kalda.reducers._families.label_weights._FUZZY_TOL", 1e-9)
    X, Y = made(unlabelled=0.1)
    W = fuzzy(store(X), sparse.csr_array(Y.astype(float)), np.ones(len(X))).toarray()
    squares = W**2
    centres = [squares[:, k] @ X / squares[:, k].sum() for k in range(4)]
    near = np.array([[1 / np.sum((x - c) ** 2) for c in centres] for x in X]) * Y
    np.testing.assert_allclose(W, near / np.maximum(near.sum(axis=1), 1e-300)[:, None], atol=1e-7)
    np.testing.assert_allclose(W.sum(axis=1), Y.any(axis=1))


def test_a_row_at_a_centre_belongs_to_it():
    X = np.array([[0.0, 0], [1, 0], [-1, 0], [5, 5], [6, 5], [4, 5]])
    Y = sparse.csr_array(np.array([[1.0, 1], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]))
    W = fuzzy(X, Y, np.ones(6)).toarray()
    assert np.isfinite(W).all()
    assert W[0, 0] > 0.9


def hsic(X, W):
    Q = centred(X) @ centred(X).T
    return np.trace(W.T @ Q @ W)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("seed", range(3))
def test_dependence_weights_are_a_local_maximum_of_hsic(store, seed):
    X, Y = made(40, 5, seed=seed, unlabelled=0.1)
    labels = sparse.csr_array(Y.astype(float))
    rng = np.random.RandomState(seed)
    W = dependence(store(X), labels, np.ones(40), rng).toarray()
    assert set(np.unique(W)) == {0.0, 1.0}
    np.testing.assert_array_equal(W.sum(axis=1), Y.any(axis=1))
    best = hsic(X, W)
    assert best > hsic(X, row_shares(labels).toarray())
    for i, k in zip(*np.nonzero(Y), strict=True):
        other = W.copy()
        other[i] = np.eye(4)[k]
        assert hsic(X, other) <= best + 1e-9 * best


def test_dependence_is_lda_of_the_assigned_labels():
    X, Y = made()
    reducer = mlda("dependence").fit(X, Y)
    assigned = weights_of(reducer, X, Y).argmax(axis=1)
    peer = LinearDiscriminantAnalysis(solver="svd").fit(X, assigned)
    assert_same_span(reducer.components_.T, peer.scalings_[:, :3])


def test_dependence_may_leave_a_class_without_rows():
    X, Y = made(single=True)
    lonely = np.zeros((60, 1), dtype=int)
    lonely[np.flatnonzero(Y[:, 0])[:2]] = 1  # two rows, both of class 0 as well
    Y = np.hstack([Y, lonely])
    reducer = mlda("dependence").fit(X, Y)
    assert weights_of(reducer, X, Y)[:, 4].sum() == 0
    np.testing.assert_allclose(reducer.components_, LDA().fit(X, Y[:, :4]).components_)


@pytest.mark.parametrize("weigh", [fuzzy, lambda *a: dependence(*a, np.random.RandomState(0))])
def test_weights_do_not_depend_on_where_the_data_are(weigh):
    X, Y = made()
    Y = sparse.csr_array(Y.astype(float))
    ones = np.ones(len(X))
    there = weigh(X + 1e5, Y, ones).toarray()
    np.testing.assert_allclose(there, weigh(X, Y, ones).toarray(), atol=1e-6)


def test_weights_of_repeated_rows_are_those_of_weighted_rows():
    X, Y = made()
    Y = sparse.csr_array(Y.astype(float))
    times = np.random.default_rng(0).integers(1, 4, len(X))
    for weigh in (lambda X, Y, s: correlation(Y, s), fuzzy):
        once = weigh(X, Y, times.astype(float)).toarray()
        rows = np.arange(len(X)).repeat(times)
        each = weigh(X[rows], Y[rows], np.ones(len(rows))).toarray()
        np.testing.assert_allclose(each, once[rows], atol=1e-10)


@pytest.mark.parametrize("weights", ["correlation", "fuzzy", "dependence"])
def test_weights_that_need_all_rows_have_no_partial_fit(weights):
    reducer = mlda(weights)
    assert not hasattr(reducer, "partial_fit")
    with pytest.raises(AttributeError, match=f"weights='{weights}' need all rows at once"):
        reducer.partial_fit(*made())
    assert hasattr(mlda("entropy"), "partial_fit")
