"""top_labels against a stable sort of all probabilities."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skml_kalda import BinaryRelevanceKNN, KaLDAClassifier, MLkNN
from tests.classifiers.conftest import smooth_data

CLASSIFIERS = [
    MLkNN(k=4),
    BinaryRelevanceKNN(k=4),
    BinaryRelevanceKNN(k=4, weights="distance", metric="cosine"),
    KaLDAClassifier(kernel="linear", random_state=0),
]
every = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)


def sorted_labels(probabilities, n):
    """Sort all labels of all rows; a stable sort leaves equal ones in the order of numbers."""
    labels = np.argsort(-probabilities, axis=1, kind="stable")[:, :n]
    return labels, np.take_along_axis(probabilities, labels, axis=1)


# Votes of four neighbours on twelve labels tie often, and few labels get any.
@pytest.mark.parametrize("working_memory", [1e-2, 1024], ids=["batches", "at once"])
@pytest.mark.parametrize("n", [1, 5, 12])
@every
def test_is_the_top_of_sorted_probabilities(classifier, n, working_memory):
    X, y, X_test = smooth_data(n_labels=12)
    y[:, [2, 3, 8]] = 0
    classifier.fit(X, y)
    with sklearn.config_context(working_memory=working_memory):
        labels, scores = classifier.top_labels(X_test, n=n)
    expected, highest = sorted_labels(classifier.predict_proba(X_test), n)
    assert_array_equal(labels, expected)
    assert_array_equal(scores, highest)


@every
def test_positions_of_classes_are_returned_for_a_1d_y(classifier):
    X, _, X_test = smooth_data()
    names = np.array(["sea", "sky", "sun"])[X[:, 0].argsort().argsort() % 3]
    labels, scores = classifier.fit(X, names).top_labels(X_test, n=2)
    expected, highest = sorted_labels(classifier.predict_proba(X_test), 2)
    assert_array_equal(labels, expected)
    assert_array_equal(scores, highest)


def test_thousands_of_labels_take_no_dense_array():
    n, K = 2000, 20_000
    X, _, _ = smooth_data(n_train=n, n_test=0, n_features=3)
    rng = np.random.default_rng(0)
    y = sparse.csr_array(
        (np.ones(3 * n), (np.repeat(np.arange(n), 3), rng.integers(K, size=3 * n))), shape=(n, K)
    )
    y.data[:] = 1
    model = BinaryRelevanceKNN(k=5, weights="distance").fit(X, y)
    tracemalloc.start()
    labels, scores = model.top_labels(X, n=10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * n * K / 20
    assert labels.shape == scores.shape == (n, 10)
    # Every training row is its own nearest neighbour, at distance zero.
    assert_array_equal(scores[:, 0], np.ones(n))
    assert (y[np.arange(n), labels[:, 0]] == 1).all()


@pytest.mark.parametrize("n", [0, 5, 2.0, True])
@every
def test_a_wrong_n_is_named(classifier, n):
    X, y, X_test = smooth_data(n_labels=4)
    with pytest.raises(ValueError, match=f"n={n!r} must be an integer from 1 to 4"):
        classifier.fit(X, y).top_labels(X_test, n=n)


@every
def test_needs_a_fit(classifier):
    with pytest.raises(NotFittedError):
        sklearn.clone(classifier).top_labels([[0.0]])
