"""BinaryRelevanceKNN against BinaryRelevance(KNeighborsClassifier)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from skmultilearn.problem_transform import BinaryRelevance

from skml_kalda import BinaryRelevanceKNN
from tests.classifiers.conftest import bundled, dense, smooth_data


def assert_same_as_binary_relevance(X, y, X_test, k, metric="minkowski"):
    """Compare bit by bit: no tolerance."""
    # By default BinaryRelevance makes a sparse X dense, which breaks ties in another way.
    theirs = BinaryRelevance(
        KNeighborsClassifier(k, metric=metric), require_dense=[not sparse.issparse(X), True]
    ).fit(X, y)
    ours = BinaryRelevanceKNN(k=k, metric=metric).fit(X, y)
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), dense(theirs.predict_proba(X_test)))


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_equals_binary_relevance_without_ties(k, form, n_features):
    X, y, X_test = smooth_data(n_train=260, n_features=n_features, seed=k)
    assert_same_as_binary_relevance(form(X), form(y), form(X_test), k)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_equals_binary_relevance_in_other_metrics(metric):
    assert_same_as_binary_relevance(*smooth_data(), k=6, metric=metric)


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize(
    "name", ["emotions", *(pytest.param(n, marks=pytest.mark.slow) for n in ("scene", "yeast"))]
)
def test_equals_binary_relevance_on_bundled_data(name, k):
    assert_same_as_binary_relevance(*bundled(name), k=k)


def test_a_constant_label_has_the_probability_zero_or_one():
    X, y, X_test = smooth_data()
    y[:, 0], y[:, 1] = 0, 1
    probability = BinaryRelevanceKNN(k=5).fit(X, y).predict_proba(X_test)
    assert_array_equal(probability[:, :2], np.tile([0.0, 1.0], (len(X_test), 1)))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_with_a_1d_y_it_is_scikit_learns_classifier(k):
    X, _, X_test = smooth_data()
    y = np.random.default_rng(0).choice(["sea", "sky", "sun"], len(X))
    ours, theirs = BinaryRelevanceKNN(k=k).fit(X, y), KNeighborsClassifier(k).fit(X, y)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_array_equal(ours.predict(X_test), theirs.predict(X_test))
    np.testing.assert_allclose(ours.predict_proba(X_test), theirs.predict_proba(X_test), rtol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_features", [4, 30])
def test_distance_weighted_votes_are_scikit_learns(n_features, form, metric):
    X, y, X_test = smooth_data(n_features=n_features)
    params = {"weights": "distance", "metric": metric}
    ours = BinaryRelevanceKNN(k=7, **params).fit(form(X), y)
    theirs = KNeighborsClassifier(7, **params).fit(form(X), y)
    expected = np.column_stack([each[:, 1] for each in theirs.predict_proba(form(X_test))])
    np.testing.assert_allclose(ours.predict_proba(form(X_test)), expected, rtol=1e-10, atol=1e-14)
    assert_array_equal(ours.predict(form(X_test)), theirs.predict(form(X_test)))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_features", [1, 3, 40])
def test_equal_rows_vote_alone(n_features, metric):
    X, y, _ = smooth_data(n_train=200, n_features=n_features)
    X[1] = X[0]
    y[0], y[1] = [1, 0, 1, 0], [1, 0, 0, 0]
    model = BinaryRelevanceKNN(k=4, weights="distance", metric=metric).fit(X, y)
    if n_features > 1 or metric == "euclidean":  # on a line, all directions are equal
        assert_array_equal(model.predict_proba(X[:2]), [[1, 0, 0.5, 0]] * 2)


def test_a_unanimous_vote_is_one():
    X, _, X_test = smooth_data()
    one = BinaryRelevanceKNN(k=9, weights="distance").fit(X, np.ones((len(X), 1)))
    assert_array_equal(one.predict_proba(X_test), np.ones((len(X_test), 1)))


def weighted_votes(X, y, X_test, k, weight, by_distance):
    """Vote row by row, in plain Python: a row of weight w has w votes."""
    shares = []
    for point in X_test:
        distances = np.linalg.norm(X - point, axis=1)
        nearest = np.argsort(distances)[:k]
        votes = [weight[i] / distances[i] if by_distance else weight[i] for i in nearest]
        shares.append(sum(v * y[i] for v, i in zip(votes, nearest, strict=True)) / sum(votes))
    return np.array(shares)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_a_neighbour_votes_with_its_weight(weights):
    X, y, X_test = smooth_data()
    weight = np.random.default_rng(0).random(len(X)) + 0.1
    model = BinaryRelevanceKNN(k=6, weights=weights).fit(X, y, sample_weight=weight)
    expected = weighted_votes(X, y, X_test, 6, weight, weights == "distance")
    np.testing.assert_allclose(model.predict_proba(X_test), expected, rtol=1e-12)


def test_equal_integer_weights_equal_repeated_rows_and_as_many_times_the_neighbours():
    X, y, X_test = smooth_data()
    weighted = BinaryRelevanceKNN(k=4).fit(X, y, sample_weight=np.full(len(X), 3))
    repeated = BinaryRelevanceKNN(k=12).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3, axis=0))
    np.testing.assert_allclose(
        weighted.predict_proba(X_test), repeated.predict_proba(X_test), rtol=1e-15
    )
