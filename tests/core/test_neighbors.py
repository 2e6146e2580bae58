"""Votes of neighbours against scikit-learn's classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

from skml_kalda._core.neighbors import neighbor_votes


@pytest.mark.parametrize("as_sparse", [False, True])
def test_votes_are_those_of_k_neighbors_classifiers(as_sparse):
    X, Y = make_multilabel_classification(120, 12, n_classes=6, random_state=0)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    train, test = slice(0, 80), slice(80, None)
    data = sparse.csr_array(X) if as_sparse else X
    votes = dict(neighbor_votes(data[train], sparse.csr_array(Y[train]), data[test], [7, 1, 4]))
    assert list(votes) == [1, 4, 7]
    for k, predicted in votes.items():
        expected = KNeighborsClassifier(k).fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_array_equal(predicted, expected)


def test_more_features_are_searched_as_well():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 20)), rng.integers(2, size=(60, 3))
    ((_, predicted),) = neighbor_votes(X[:40], sparse.csr_array(Y[:40]), X[40:], [5])
    expected = KNeighborsClassifier(5).fit(X[:40], Y[:40]).predict(X[40:])
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize("p", [3, 20])
def test_more_neighbours_than_rows_are_refused(p):
    X, Y = np.eye(6, p), sparse.csr_array(np.eye(6, 2))
    with pytest.raises(ValueError, match="n_neighbors=7 is more than the 6 training rows"):
        list(neighbor_votes(X, Y, X, [2, 7]))
