"""Votes of neighbours against scikit-learn's classifier."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

from skml_kalda._votes import neighbor_votes


@pytest.mark.parametrize("as_sparse", [False, True])
def test_votes_are_those_of_k_neighbors_classifiers(as_sparse):
    X, Y = make_multilabel_classification(120, n_classes=6, random_state=0)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    train, test = slice(0, 80), slice(80, None)
    data = sparse.csr_array(X) if as_sparse else X
    votes = dict(neighbor_votes(data[train], sparse.csr_array(Y[train]), data[test], [7, 1, 4]))
    assert list(votes) == [1, 4, 7]
    for k, predicted in votes.items():
        expected = KNeighborsClassifier(k).fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_array_equal(predicted, expected)
