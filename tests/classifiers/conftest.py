"""Data on which neighbour classifiers are easily told apart."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from skml_kalda.datasets import load_dataset


def dense(a):
    return a.toarray() if sparse.issparse(a) else np.asarray(a)


def grid_data(n_features, *, n_train=70, n_test=50, n_labels=4, seed=0):
    """Draw points on a coarse grid: many duplicates, so that most distances are tied."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n_train + n_test, n_features)).astype(float)
    y = (rng.random((n_train, n_labels)) < 0.35).astype(int)
    return X[:n_train], y, X[n_train:]


def smooth_data(*, n_train=60, n_test=40, n_features=5, n_labels=4, seed=0):
    """Draw points without ties whose labels depend on where they lie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_train + n_test, n_features))
    y = (X @ rng.normal(size=(n_features, n_labels)) > 0.5).astype(int)
    return X[:n_train], y[:n_train], X[n_train:]


def bundled(name):
    """Load the two halves of a bundled data set."""
    X, y = load_dataset(name, return_X_y=True)
    half = X.shape[0] // 2
    return X[:half], y[:half], X[half:]


class SortedSearch:
    """Sorts all rows by distance, then by number, in place of scikit-learn's search."""

    def fit(self, X):
        self.X = dense(X)
        return self

    def kneighbors(self, X, k, return_distance=False):
        return np.argsort(cdist(dense(X), self.X), axis=1, kind="stable")[:, :k]
