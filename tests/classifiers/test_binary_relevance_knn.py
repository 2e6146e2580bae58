"""BinaryRelevanceKNN against BinaryRelevance(KNeighborsClassifier)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from skmultilearn.problem_transform import BinaryRelevance

from skml_kalda import BinaryRelevanceKNN
from tests.classifiers.conftest import bundled, dense, grid_data, smooth_data


def assert_same_as_binary_relevance(X, y, X_test, k, metric="minkowski"):
    """Compare bit by bit: no tolerance."""
    # By default BinaryRelevance makes a sparse X dense, which breaks ties in another way.
    theirs = BinaryRelevance(
        KNeighborsClassifier(k, metric=metric), require_dense=[not sparse.issparse(X), True]
    ).fit(X, y)
    ours = BinaryRelevanceKNN(k=k, metric=metric).fit(X, y)
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), dense(theirs.predict_proba(X_test)))


@pytest.mark.parametrize("n_features", [3, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 2, 5, 10])
@pytest.mark.parametrize("seed", range(3))
def test_equals_binary_relevance_with_ties(seed, k, form, n_features):
    X, y, X_test = grid_data(n_features, seed=seed)
    assert_same_as_binary_relevance(form(X), form(y), form(X_test), k)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_equals_binary_relevance_in_other_metrics(metric):
    assert_same_as_binary_relevance(*smooth_data(), k=6, metric=metric)


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
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
