"""Warnings that help: at the caller's line, once for a search."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict
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
    BinaryRelevanceKNN,
    KernelKaLDA,
    LandmarkFeatures,
    MultiLabelKaLDA,
    MultiLabelKaLDACV,
)
from skml_kalda.model_selection import TunedThresholdsCV


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = pd.DataFrame(X[:, :3] > 0.2, columns=["sea", "sun", "sky"]).astype(int)
    y = y.assign(snow=0, rare=np.arange(60) == 59)  # one never, one in a single row
    return X, y.astype(int)


def advice(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [each for each in caught if each.category is UserWarning]


def searches():
    pipeline = make_pipeline(LDA(), BinaryRelevanceKNN(3))
    return {
        "grid": GridSearchCV(pipeline, {"lda__ridge": [0.1, 1.0]}, scoring="f1_micro", cv=3),
        "thresholds": TunedThresholdsCV(pipeline, cv=3),
        "kaLDA": MultiLabelKaLDACV(n_neighbors=3, cv=2, shrinkages=[0.1, 0.5]),
    }


@pytest.mark.parametrize("name", searches())
def test_a_search_names_empty_labels_once(name, data):
    found = advice(lambda: searches()[name].fit(*data))
    assert [str(each.message) for each in found] == [
        "y has 1 class(es) without rows, which are left out: ['snow']."
    ]


def test_folds_without_a_fit_on_all_rows_are_silent(data):
    assert not advice(lambda: cross_val_predict(make_pipeline(LDA(), BinaryRelevanceKNN(3)), *data))


def test_a_warning_points_at_the_line_that_called_fit(data):
    (found,) = advice(lambda: make_pipeline(LDA(), BinaryRelevanceKNN(3)).fit(*data))
    assert found.filename == __file__


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
    frame = pd.DataFrame(X * [1, 0.01, 1, 5000], columns=["a", "b", "c", "d"])
    (found,) = advice(lambda: reducer.fit(frame, y[["sea", "sun", "sky"]]))
    assert "depends on the units" in str(found.message)
    assert "('b')" in str(found.message)
    assert "('d')" in str(found.message)
    scaled = make_pipeline(StandardScaler(), reducer)
    assert not advice(lambda: scaled.fit(frame, y[["sea", "sun", "sky"]]))


def test_features_without_names_are_named_by_their_columns(data):
    X, y = data
    (found,) = advice(lambda: MMC().fit(X * [1, 0.01, 1, 5000], y[["sea", "sun", "sky"]]))
    assert re.search(r"range from \S+ \(column 1\) to \S+ \(column 3\): ", str(found.message))


@pytest.mark.parametrize("reducer", INDEPENDENT, ids=lambda each: type(each).__name__)
def test_methods_without_units_give_no_hint(reducer, data):
    X, y = data
    assert not advice(lambda: reducer.fit(X * [1, 0.01, 1, 5000], y[["sea", "sun", "sky"]]))


def test_a_constant_feature_or_a_single_one_is_no_matter_of_units(data):
    X, y = data
    y = y[["sea", "sun", "sky"]]
    assert not advice(lambda: MMC().fit(X * [1, 1, 1, 0], y))
    assert not advice(lambda: MMC(1).fit(1e9 * X[:, :1], y))
