"""Data that the tests make, and the bundled datasets."""

import gc
import os
import sys
from contextlib import suppress

# The suite runs in several processes: threads of BLAS and OpenMP would only wait for one another.
# Read when the libraries are loaded, so this comes before NumPy; started processes inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import joblib
import numpy as np
import pytest
from hypothesis import settings
from sklearn.preprocessing import StandardScaler

from skml_kalda.datasets import load_dataset

# The same examples at every run, and no clock: a busy machine is not a failure.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")


# Collecting the tests makes a million objects that stay: looking for those that do not takes longer
# than a second, in every process.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def made(n=60, p=8, K=4, seed=0, *, single=False, unlabelled=0.0):
    """Samples whose mean depends on their labels: X of shape (n, p), Y of shape (n, K)."""
    rng = np.random.default_rng(seed)
    Y = np.eye(K)[rng.integers(K, size=n)]
    Y[:K] = np.eye(K)  # every class has a sample
    if not single:
        Y = np.maximum(Y, rng.random((n, K)) < 0.25)
    Y[K:][rng.random(n - K) < unlabelled] = 0
    scales = rng.uniform(0.3, 3, p)
    X = (Y @ rng.normal(size=(K, p)) + rng.normal(size=(n, p))) * scales + rng.normal(size=p)
    return X, Y.astype(int)


def standardized(name):
    """Load a bundled dataset, every feature of zero mean and unit variance."""
    X, Y = load_dataset(name, return_X_y=True)
    return StandardScaler().fit_transform(X), Y


@pytest.fixture(params=["emotions", "yeast", "scene"])
def bundled(request):
    """X and Y of each bundled dataset, standardised."""
    return standardized(request.param)


class KeptFits:
    """A memory of a pipeline: a grid search fits the same step on the same samples once."""

    def __init__(self):
        self.kept = {}

    def __deepcopy__(self, memo):
        return self  # one for all clones

    def cache(self, function, **_):
        def cached(step, X, y, *rest, **more):
            key = joblib.hash((type(step), step.get_params(), X, y))
            if key not in self.kept:
                self.kept[key] = function(step, X, y, *rest, **more)
            return self.kept[key]

        return cached


def passes(check, estimator, request):
    """Run a check of scikit-learn, which may fail where it is marked so.

    Such a failure is told without its traceback: to write that, pytest parses the whole module of
    checks, which takes longer than the check.
    """
    expected = request.node.get_closest_marker("xfail")
    if expected is None:
        check(estimator)
        return
    with suppress(Exception):
        check(estimator)
        return
    pytest.xfail(expected.kwargs["reason"])


def without(library, monkeypatch):
    """Make an import of the library fail."""
    monkeypatch.setitem(sys.modules, library, None)
