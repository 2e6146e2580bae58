"""Names of labels and unknown labels in KaLDAClassifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import KaLDAClassifier
from skml_kalda._core.scatter import PrimalScatter
from skml_kalda._core.scores.leave_one_out import RidgePath
from skml_kalda._core.scores.thresholds import best_thresholds, without_unknown
from skml_kalda.classifiers._labelled_rows import Rows
from skml_kalda.classifiers._scores import _calibrated
from tests.classifiers.conftest import smooth_data

NAMES = ["sea", "sun", "sky"]


def classifier(**parameters):
    return KaLDAClassifier("linear", relevance=1.0, with_std=True, random_state=0, **parameters)


@pytest.fixture(scope="module")
def data():
    X, y, X_test = smooth_data(n_train=120, n_labels=3)
    return X, y, X_test


def with_nan(y, share=0.3, seed=0):
    return np.where(np.random.default_rng(seed).random(y.shape) < share, np.nan, y)


def test_columns_name_the_labels_of_predictions(data):
    X, y, X_test = data
    frame = pd.DataFrame(X_test, index=[f"row {i}" for i in range(len(X_test))])
    plain = classifier().fit(X, y)
    named = classifier(as_frame=True).fit(X, pd.DataFrame(y, columns=NAMES))
    assert named.classes_.tolist() == NAMES
    for method in ("predict", "predict_proba"):
        found = getattr(named, method)(frame)
        assert found.columns.tolist() == NAMES
        assert found.index.equals(frame.index)
        assert_array_equal(found, getattr(plain, method)(X_test))


def test_polars_in_polars_out(data):
    X, y, X_test = data
    found = classifier(as_frame=True).fit(X, pl.DataFrame(y, schema=NAMES)).predict(X_test)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == NAMES


def test_frames_of_labels_without_names_and_of_sparse_labels_have_numbers(data):
    X, y, X_test = data
    found = classifier(as_frame=True).fit(X, sparse.csr_array(y)).predict(X_test)
    assert found.columns.tolist() == [0, 1, 2]


def test_classes_of_a_1d_y_are_no_frame(data):
    X, y, X_test = data
    model = classifier(as_frame=True).fit(X, np.where(y[:, 0], "sea", "sun"))
    assert isinstance(model.predict(X_test), np.ndarray)
    assert isinstance(model.predict_proba(X_test), np.ndarray)


def test_frames_pass_through_pipelines_and_searches(data):
    X, y, X_test = data
    model = make_pipeline(StandardScaler(), classifier(as_frame=True))
    grid = {"kaldaclassifier__shrinkage": [0.1, 0.5]}
    for scoring in ("f1_macro", "roc_auc"):
        search = GridSearchCV(model, grid, scoring=scoring, cv=2, error_score="raise")
        search.fit(X, pd.DataFrame(y, columns=NAMES))
        assert search.predict(X_test).columns.tolist() == NAMES


def test_names_of_batches_must_agree(data):
    X, y, _ = data
    model = classifier().partial_fit(X[:60], y[:60])
    model.partial_fit(X[60:], pd.DataFrame(y[60:], columns=NAMES))
    assert model.classes_.tolist() == NAMES
    with pytest.raises(ValueError, match="they differ from column 1 on"):
        model.partial_fit(X, pd.DataFrame(y, columns=["sea", "sky", "sun"]))


def test_leave_one_out_counts_known_labels_only():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(25, 3)), rng.random(25) + 0.5
    y = with_nan((X[:, :2] + rng.normal(size=(25, 2)) > 0).astype(float))
    unknown = np.isnan(y)
    mean = np.ma.average(np.ma.masked_invalid(y), axis=0, weights=w)
    filled = np.where(unknown, mean, y)
    scatter = PrimalScatter.of(X, sparse.csr_array(filled), w)
    path = RidgePath.of(scatter)
    found = path.without_each(X, np.nan_to_num(y), w, unknown.astype(float))
    error = 0.0
    for i in range(25):
        rest = np.arange(25) != i
        score = Ridge(0.7).fit(X[rest], filled[rest], w[rest]).predict(X[[i]])[0]
        assert_allclose(found.scores(0.7)[i], score)
        error += w[i] * np.sum((y[i] - score)[~unknown[i]] ** 2)
    assert_allclose(found.squared_error(0.7), error)


@pytest.mark.parametrize(
    ("average", "per_label"), [("macro", True), ("macro", False), ("micro", True)]
)
def test_thresholds_of_known_labels_are_those_without_the_unknown(average, per_label):
    """Of one label, where unknown rows can simply be dropped."""
    rng = np.random.default_rng(1)
    y = with_nan((rng.random((40, 1)) < 0.5).astype(float))
    scores, unknown = rng.random((40, 1)).round(1), np.isnan(y)
    Y = sparse.csr_array(np.nan_to_num(y))
    found = best_thresholds(
        without_unknown(scores, sparse.csr_array(unknown)), Y, average=average, per_label=per_label
    )
    known = ~unknown[:, 0]
    assert_array_equal(
        found, best_thresholds(scores[known], Y[known], average=average, per_label=per_label)
    )


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_probabilities_and_thresholds_are_those_without_the_unknown(average):
    """Of one label, where unknown rows can simply be dropped."""
    rng = np.random.default_rng(2)
    scores = rng.random((60, 1))
    y = with_nan((scores + rng.normal(size=(60, 1)) > 0.7).astype(float))
    unknown = sparse.csr_array(np.isnan(y).astype(float))
    rows = Rows(None, sparse.csr_array(np.nan_to_num(y)), rng.random(60) + 0.5, unknown)
    known = np.flatnonzero(~np.isnan(y))
    fewer = Rows(None, rows.Y[known], rows.weight[known])
    found, expected = _calibrated(scores, rows, average), _calibrated(scores[known], fewer, average)
    assert_allclose(np.ravel(found[0]), np.ravel(expected[0]))
    assert_allclose(found[1], expected[1])


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_label_that_nobody_knows_changes_nothing_for_the_others(kernel, data):
    X, y, X_test = data
    model = KaLDAClassifier(kernel, random_state=0)
    expected = model.fit(X, y).predict_proba(X_test)
    thresholds = model.thresholds_
    model.fit(X, np.column_stack([y, np.full(len(y), np.nan)]))
    assert_allclose(model.predict_proba(X_test)[:, :3], expected, atol=1e-10)
    assert_allclose(model.thresholds_[:3], thresholds, atol=1e-10)
    assert not model.predict(X_test)[:, 3].any()


def test_batches_give_the_scores_of_all_rows(data):
    X, y, X_test = data
    y = with_nan(y)
    y[:40] = data[1][:40]
    model = classifier(shrinkage=0.2)
    expected = model.fit(X, y).predict_proba(X_test)
    for rows in (slice(40), slice(40, 90), slice(90, None)):
        model.partial_fit(X[rows], y[rows])
    assert_allclose(model.predict_proba(X_test), expected, atol=1e-10)


def test_unknown_labels_are_not_taken_for_absent_ones(data):
    X, y, _ = data
    half = with_nan(y, 0.5)
    unknown = classifier().fit(X, half)
    absent = classifier().fit(X, np.nan_to_num(half))
    prevalence = np.nanmean(half, axis=0)
    assert_allclose(unknown.predict_proba(X).mean(axis=0), prevalence, atol=0.05)
    assert np.all(absent.predict_proba(X).mean(axis=0) < 0.7 * prevalence)
    scores = [f1_score(y, each.predict(X), average="macro") for each in (unknown, absent)]
    assert scores[0] > 0.6
