"""Warnings that help are given where they do, in words that say what to do, and not elsewhere."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import (
    CCA,
    LDA,
    MDDM,
    MMC,
    OCM,
    OLDA,
    OPLS,
    AlignmentScaler,
    BinaryRelevanceKNN,
    KaLDAClassifier,
    KernelKaLDA,
    LandmarkFeatures,
    MultiLabelKaLDA,
)

NAMES = ["sea", "sun", "sky"]
UNITS = [1, 0.01, 1, 5000]


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return X, pd.DataFrame(X[:, :3] > 0.2, columns=NAMES).astype(int)


def advice(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(each.message) for each in caught if each.category is UserWarning]


def test_empty_labels_are_named_once(data):
    X, y = data
    (found,) = advice(lambda: make_pipeline(LDA(), BinaryRelevanceKNN(3)).fit(X, y.assign(snow=0)))
    assert "['snow']" in found
    assert not advice(lambda: LDA().fit(X, y))


COUNTING = [
    MultiLabelKaLDA(),
    LDA(),
    OPLS(),
    KernelKaLDA(random_state=0),
    AlignmentScaler(),
    KaLDAClassifier("linear", random_state=0),
]


@pytest.mark.parametrize("estimator", COUNTING, ids=repr)
def test_weights_that_are_shares_are_named_once_where_they_count_as_samples(estimator, data):
    """Weights of mean one are counts, whatever their spread; so are a few samples of many."""
    X, y = data
    weight = np.linspace(0.2, 1.8, 60) * (np.arange(60) % 3 > 0)
    assert not advice(lambda: estimator.fit(X, y, sample_weight=weight))
    (found,) = advice(lambda: estimator.fit(X, y, sample_weight=weight / 60))
    assert f"{type(estimator).__name__} takes" in found
    assert "mean of the positive values of sample_weight is 0.017" in found
    assert not advice(lambda: LDA(ridge=0.2).fit(X, y, sample_weight=weight / 60))


DEPENDENT = [
    KernelKaLDA(random_state=0),
    LandmarkFeatures(random_state=0),
    MultiLabelKaLDA(shrinkage=0.1),
    MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    LDA(ridge=0.1),
    MDDM(),
    MMC(),
    OCM(),
    OLDA(ridge=0),
]
INDEPENDENT = [
    MultiLabelKaLDA(constraint="none", shrinkage=None),
    LDA(ridge=0),
    CCA(ridge=0),
    OPLS(ridge=0),
    KernelKaLDA(kernel=lambda a, b: a @ b.T, random_state=0),
]


@pytest.mark.parametrize("reducer", DEPENDENT, ids=repr)
def test_features_of_other_units_are_named_once(reducer, data):
    X, y = data
    frame = pd.DataFrame(X * UNITS, columns=["a", "b", "c", "d"])
    (found,) = advice(lambda: reducer.fit(frame, y))
    for part in (type(reducer).__name__, "units", "'b'", "'d'", "StandardScaler"):
        assert part in found
    (found,) = advice(lambda: reducer.fit(X * UNITS, y))  # without names, by number
    assert "column 1" in found
    assert "column 3" in found
    assert not advice(lambda: make_pipeline(StandardScaler(), reducer).fit(frame, y))


@pytest.mark.parametrize("reducer", INDEPENDENT, ids=lambda each: type(each).__name__)
def test_methods_without_units_give_no_hint(reducer, data):
    X, y = data
    assert not advice(lambda: reducer.fit(X * UNITS, y))


def test_no_hint_on_a_constant_or_a_single_feature_or_on_counts_of_words(data):
    X, y = data
    assert not advice(lambda: MMC().fit(X * [1, 1, 1, 0], y))
    assert not advice(lambda: MMC(1).fit(1e9 * X[:, :1], y))
    assert not advice(lambda: MMC().fit(sparse.csr_array(X * UNITS), y))
