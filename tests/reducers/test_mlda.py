"""MLDA: each kind of weights against its definition."""

from itertools import product

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tests.classic import LDA, MLDA
from tests.conftest import made
from tests.oracles import assert_same_span, centred, copies, shrunk, span, top, weighted_scatters

WEIGHTS = ["binary", "entropy", "correlation", "fuzzy", "dependence"]
STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])


def mlda(weights, **params):
    return MLDA(weights=weights, random_state=0, **params)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_with_one_label_per_sample_all_weights_are_lda(weights):
    X, Y = made(single=True)
    expected = LDA().fit(X, Y).components_
    np.testing.assert_allclose(mlda(weights).fit(X, Y).components_, expected, atol=1e-10)


def test_binary_weights_are_lda_of_copies():
    X, Y = made(unlabelled=0.2)
    peer = LinearDiscriminantAnalysis(solver="svd").fit(*copies(X, Y))
    assert_same_span(mlda("binary").fit(X, Y).components_.T, peer.scalings_[:, :3])


def correlation(X, Y):
    """Z = diag(1/ρ) Y C of the paper, C the cosines between labels."""
    n, K = Y.shape
    length = [np.sqrt(Y[:, k] @ Y[:, k]) for k in range(K)]
    C = np.array([[Y[:, k] @ Y[:, j] / length[k] / length[j] for j in range(K)] for k in range(K)])
    return np.array([Y[i] @ C / Y[i].sum() if Y[i].any() else np.zeros(K) for i in range(n)])


def fuzzy(X, Y):
    """Fuzzy c-means over the labels of each sample, from equal shares, until centres stand."""
    W = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    centres = np.array([(w**2) @ X / np.sum(w**2) for w in W.T])
    for _ in range(100):
        near = Y / np.array([[np.sum((x - c) ** 2) for c in centres] for x in X])
        W = near / np.where(near.any(axis=1), near.sum(axis=1), 1)[:, None]
        before, centres = centres, np.array([(w**2) @ X / np.sum(w**2) for w in W.T])
        size = linalg.norm(centres - X.mean(axis=0))
        if linalg.norm(centres - before) <= 0.01 * size:
            return W
    raise AssertionError("does not converge")


@STORES
@pytest.mark.parametrize("offset", [0, 1e3])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("weigh", [correlation, fuzzy])
def test_directions_are_those_of_the_weighted_scatters(weigh, ridge, offset, store):
    X, Y = made(unlabelled=0.2)
    reducer = mlda(weigh.__name__, ridge=ridge).fit(store(X + offset), Y)
    S_b, S_t = weighted_scatters(X, weigh(X, Y))
    values, G = top(S_b, shrunk(S_t, ridge), 3)
    np.testing.assert_allclose(reducer.eigenvalues_, values, rtol=1e-6)
    assert_same_span(reducer.components_.T, G, atol=1e-6)
    with pytest.raises(ValueError, match="n_components=4"):
        mlda(weigh.__name__, n_components=4).fit(X, Y)


def test_a_sample_at_a_centre_belongs_to_it():
    X = np.array([[0.0, 0], [1, 0], [-1, 0], [5, 5], [6, 5], [4, 5]])
    Y = np.array([[1, 1], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    found = mlda("fuzzy", ridge=0.1).fit(X, Y)
    clear = LDA(ridge=0.1).fit(X, [0, 0, 0, 1, 1, 1])
    assert np.isfinite(found.components_).all()
    np.testing.assert_allclose(found.eigenvalues_, clear.eigenvalues_, rtol=0.1)


def test_a_class_that_loses_all_its_samples_to_others_keeps_its_centre():
    """Classes 0 and 2 have one sample each, their centre, and share those of class 1."""
    X, _ = made(20, 4)
    Y = np.zeros((20, 4), dtype=int)
    Y[[0, 0, 1, 1], [0, 1, 1, 2]] = 1
    Y[2:, 3] = 1
    assert np.all(np.isfinite(mlda("fuzzy").fit(X, Y).components_))


def hsic(X, W):
    return np.trace(W.T @ centred(X) @ centred(X).T @ W)


def local_maxima(X, Y):
    """Each assignment of samples to one of their classes that no single change improves."""
    choices = [np.flatnonzero(y) for y in Y]
    for labels in product(*choices):
        value = hsic(X, np.eye(Y.shape[1])[list(labels)])
        changed = (
            [*labels[:i], other, *labels[i + 1 :]]
            for i, each in enumerate(choices)
            for other in each
            if other != labels[i]
        )
        if all(hsic(X, np.eye(Y.shape[1])[each]) <= value * (1 + 1e-12) for each in changed):
            yield np.array(labels)


@STORES
@pytest.mark.parametrize("seed", range(3))
def test_dependence_assigns_samples_to_a_local_maximum_of_hsic(store, seed):
    X, Y = made(14, 3, 3, seed=seed)
    Y[np.cumsum(Y.sum(axis=1) > 1) > 5] = [1, 0, 0]  # few choices
    offset = 100  # where the data are does not matter
    found = mlda("dependence", ridge=0.1).fit(store(X + offset), Y)
    expected = [LDA(ridge=0.1).fit(X, labels) for labels in local_maxima(X, Y)]
    assert len(expected) < 2 ** np.sum(Y.sum(axis=1) > 1)
    close = [
        np.allclose(span(found.components_.T), span(each.components_.T), atol=1e-6)
        for each in expected
        if each.components_.shape == found.components_.shape
    ]
    assert any(close)


def test_dependence_may_leave_a_class_without_samples():
    X, Y = made(single=True)
    lonely = np.zeros((60, 1), dtype=int)
    lonely[np.flatnonzero(Y[:, 0])[:2]] = 1  # two samples, both of class 0 as well
    reducer = mlda("dependence").fit(X, np.hstack([Y, lonely]))
    np.testing.assert_allclose(reducer.components_, LDA().fit(X, Y).components_)
