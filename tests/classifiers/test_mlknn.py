"""MLkNN against scikit-multilearn-ng's, and against a plain loop over the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from skmultilearn.adapt import MLkNN as FrameworkMLkNN

from skml_kalda import MLkNN
from tests.classifiers.conftest import SortedSearch, bundled, dense, grid_data, smooth_data


def assert_same_as_framework(X, y, X_test, search=None, **params):
    """Compare bit by bit: no tolerance."""
    ours, theirs = MLkNN(**params).fit(X, y), FrameworkMLkNN(**params)
    theirs.knn_ = search or theirs.knn_
    theirs.fit(X, y)
    assert_array_equal(ours._prior_prob_true, theirs._prior_prob_true)
    assert_array_equal(ours._cond_prob_true, dense(theirs._cond_prob_true))
    assert_array_equal(ours._cond_prob_false, dense(theirs._cond_prob_false))
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), dense(theirs.predict_proba(X_test)))


# 2 features are searched by a tree, 20 and all sparse ones by brute force.
@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("ignored", [0, 2])
@pytest.mark.parametrize(("k", "s"), [(1, 1.0), (4, 0.3), (10, 4)])
def test_equals_the_frameworks_with_ties_in_the_order_of_rows(k, s, ignored, form, n_features):
    X, y, X_test = grid_data(n_features, n_train=260, seed=k)
    assert_same_as_framework(
        form(X), form(y), form(X_test), SortedSearch(), k=k, s=s, ignore_first_neighbours=ignored
    )


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("ignored", [0, 2])
def test_equals_the_frameworks_with_its_own_search_without_ties(ignored, form, n_features):
    X, y, X_test = smooth_data(n_train=260, n_features=n_features)
    assert_same_as_framework(form(X), form(y), form(X_test), k=7, ignore_first_neighbours=ignored)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_frameworks_without_ties(seed):
    assert_same_as_framework(*smooth_data(seed=seed), k=5)


def test_equals_the_frameworks_with_empty_and_full_labels():
    X, y, X_test = smooth_data()
    y[:, 0], y[:, 1] = 0, 1
    assert_same_as_framework(X, y, X_test, k=5)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("emotions", {}),
        ("emotions", {"k": 3, "s": 0.5}),
        pytest.param("scene", {}, marks=pytest.mark.slow),
        pytest.param("yeast", {}, marks=pytest.mark.slow),
    ],
)
def test_equals_the_frameworks_on_bundled_data(name, params):
    assert_same_as_framework(*bundled(name), **params)


def test_equals_the_frameworks_on_sparse_bundled_data():
    X, y, X_test = bundled("emotions")
    assert_same_as_framework(sparse.csr_matrix(X), sparse.csr_matrix(y), sparse.csr_matrix(X_test))


def zhang_zhou(X, y, X_test, k, s, w=None):
    """ML-KNN, step by step as in the table of the paper, for one label and point at a time."""

    def neighbors(point, candidates):
        return sorted(candidates, key=lambda i: math.dist(point, X[i]))[:k]

    def count(point, candidates, label):
        return sum(y[i][label] for i in neighbors(point, candidates))

    everyone = range(len(X))
    w = w or [1] * len(X)
    posterior = np.empty((len(X_test), len(y[0])))
    for label in range(len(y[0])):
        prior = (s + sum(w[i] * y[i][label] for i in everyone)) / (s * 2 + sum(w))
        c, c_prime = [0] * (k + 1), [0] * (k + 1)
        for i in everyone:
            delta = count(X[i], [j for j in everyone if j != i], label)
            (c if y[i][label] else c_prime)[delta] += w[i]
        for t, point in enumerate(X_test):
            j = count(point, everyone, label)
            yes = prior * (s + c[j]) / (s * (k + 1) + sum(c))
            no = (1 - prior) * (s + c_prime[j]) / (s * (k + 1) + sum(c_prime))
            posterior[t, label] = yes / (yes + no)
    return posterior


@pytest.mark.parametrize("s", [0.5, 1.0])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_without_self_it_is_zhang_and_zhous_definition(k, s):
    X, y, X_test = smooth_data(seed=k)
    model = MLkNN(k=k, s=s, include_self=False).fit(X, y)
    expected = zhang_zhou(X.tolist(), y.tolist(), X_test.tolist(), k, s)
    np.testing.assert_allclose(model.predict_proba(X_test), expected, rtol=1e-13)
    assert_array_equal(model.predict(X_test), expected >= 0.5)


def test_weights_count_rows_in_the_estimates_but_not_as_neighbours():
    X, y, X_test = smooth_data()
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    model = MLkNN(k=4, include_self=False).fit(X, y, sample_weight=weight)
    expected = zhang_zhou(X.tolist(), y.tolist(), X_test.tolist(), 4, 1.0, weight.tolist())
    np.testing.assert_allclose(model.predict_proba(X_test), expected, rtol=1e-13)


def test_a_duplicate_of_a_point_is_a_neighbour_but_the_point_is_not():
    X, y = [[0.0], [0.0], [9.0], [9.0]], [[1], [0], [1], [1]]
    model = MLkNN(k=1, include_self=False).fit(X, y)
    # With the label: both 9s meet a twin with it, the first 0 one without. Without: one with it.
    assert_array_equal(model._cond_prob_true, [[2 / 5, 3 / 5]])
    assert_array_equal(model._cond_prob_false, [[1 / 3, 2 / 3]])


def test_equal_evidence_is_predicted_as_the_label():
    X, y = [[0.0], [1.0]], [[1, 0], [0, 1]]
    model = MLkNN(k=2).fit(X, y)
    assert_array_equal(model.predict_proba([[0.5]]), [[0.5, 0.5]])
    assert_array_equal(model.predict([[0.5]]), [[1, 1]])


def test_the_two_classes_of_a_1d_y_are_the_label_and_its_complement():
    X, y, X_test = smooth_data()
    by_class = MLkNN(k=5).fit(X, y[:, 0]).predict_proba(X_test)
    by_label = MLkNN(k=5).fit(X, y[:, :1]).predict_proba(X_test)
    np.testing.assert_allclose(by_class, np.hstack([1 - by_label, by_label]), rtol=1e-13)


@pytest.mark.parametrize("name", ["k", "s", "ignore_first_neighbours", "n_jobs"])
def test_takes_the_frameworks_parameters_with_their_defaults(name):
    assert MLkNN().get_params()[name] == FrameworkMLkNN().get_params()[name]


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"s": 0}, "s"),
        ({"ignore_first_neighbours": -1}, "ignore_first_neighbours"),
        ({"include_self": "no"}, "include_self"),
        ({"k": 60, "ignore_first_neighbours": 1}, "k=60 needs at least 61"),
        ({"k": 60, "include_self": False}, "k=60 needs at least 61"),
    ],
)
def test_wrong_parameters_are_named(params, name):
    X, y, _ = smooth_data(n_train=60)
    with pytest.raises(ValueError, match=name):
        MLkNN(**params).fit(X, y)
