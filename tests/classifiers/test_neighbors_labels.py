"""Names of labels and unknown labels in the neighbour classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import f1_score

from skml_kalda import BinaryRelevanceKNN, KaLDAClassifier, MLkNN
from tests.classifiers.conftest import smooth_data

K, N_LABELS = 5, 3
NAMES = np.array(["sun", "sea", "sky"], dtype=object)


@pytest.fixture(scope="module")
def data():
    """Rows, their labels with unknown ones, weights, and rows to predict."""
    X, y, X_test = smooth_data(n_train=60, n_labels=N_LABELS)
    rng = np.random.default_rng(5)
    y = np.where(rng.random(y.shape) < 0.4, np.nan, y)
    return X, y, rng.random(60) + 0.5, X_test


def near(X, rows, drop=0):
    return np.argsort(cdist(rows, X), axis=1, kind="stable")[:, drop : K + drop]


def shares_of_knowers(X, y, weight, rows, *, by_distance=False, drop=0):
    """Ask neighbour by neighbour."""
    shares = np.zeros((len(rows), N_LABELS))
    for i, found in enumerate(near(X, rows, drop)):
        for label in range(N_LABELS):
            for_it = every = 0.0
            for j in found:
                if np.isnan(y[j, label]):
                    continue
                vote = weight[j] / (np.linalg.norm(rows[i] - X[j]) if by_distance else 1)
                for_it, every = for_it + vote * y[j, label], every + vote
            shares[i, label] = for_it / every if every else 0
    return shares


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_shares_of_votes_are_those_of_neighbours_who_know(weights, data):
    X, y, w, X_test = data
    model = BinaryRelevanceKNN(K, weights=weights).fit(X, y, sample_weight=w)
    expected = shares_of_knowers(X, y, w, X_test, by_distance=weights == "distance")
    assert_allclose(model.predict_proba(X_test), expected)
    assert_array_equal(model.predict(X_test), expected > 0.5)


def test_mlknn_counts_those_who_know(data):
    X, y, w, X_test = data
    model = MLkNN(K).fit(X, y, sample_weight=w)
    counts, new = (
        np.rint(K * shares_of_knowers(X, y, np.ones(60), rows)).astype(int) for rows in (X, X_test)
    )
    expected = np.empty(new.shape)
    for label in range(N_LABELS):
        known = [i for i in range(60) if not np.isnan(y[i, label])]
        sides = []
        for value in (1, 0):
            rows = [i for i in known if y[i, label] == value]
            prior = (1 + sum(w[i] for i in rows)) / (2 + sum(w[i] for i in known))
            histogram = np.ones(K + 1)
            for i in rows:
                histogram[counts[i, label]] += w[i]
            sides.append(prior * histogram / histogram.sum())
        table = sides[0] / (sides[0] + sides[1])
        expected[:, label] = table[new[:, label]]
    assert_allclose(model.predict_proba(X_test), expected)
    assert_array_equal(model.predict(X_test), expected >= 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_a_threshold_is_the_best_for_known_labels(seed):
    X, y, _ = smooth_data(n_train=60, n_labels=N_LABELS)
    rng = np.random.default_rng(seed)
    # Mostly in rows without the label, so that they would count as errors.
    y = np.where(rng.random(y.shape) < np.where(y, 0.1, 0.6), np.nan, y)
    model = BinaryRelevanceKNN(K, threshold="auto").fit(X, y)
    votes = shares_of_knowers(X, y, np.ones(60), X, drop=1)
    known = ~np.isnan(y)

    def macro_f1(threshold):
        return np.mean(
            [
                f1_score(y[rows, label], votes[rows, label] >= threshold)
                for label, rows in enumerate(known.T)
            ]
        )

    best = max(macro_f1(threshold) for threshold in np.unique(votes))
    assert macro_f1(model.best_thresholds_[0]) == pytest.approx(best)


@pytest.mark.parametrize("threshold", [0.5, "auto"])
@pytest.mark.parametrize("kind", [MLkNN, BinaryRelevanceKNN])
def test_a_label_that_nobody_knows_changes_nothing_for_the_others(kind, threshold, data):
    X, y, w, X_test = data
    y = np.nan_to_num(y)
    model = kind(K, threshold=threshold)
    plain = [f(X_test) for m in [model.fit(X, y, w)] for f in (m.predict, m.predict_proba)]
    model.fit(X, np.column_stack([y, np.full(60, np.nan)]), w)
    assert_allclose(model.predict(X_test)[:, :3], plain[0])
    assert_allclose(model.predict_proba(X_test)[:, :3], plain[1])


def test_rows_of_weight_zero_and_their_unknown_labels_are_left_out(data):
    X, y, w, X_test = data
    weight = np.where(np.arange(60) % 3, w, 0)
    counted = weight > 0
    found = MLkNN(K).fit(X, y, weight).predict_proba(X_test)
    expected = MLkNN(K).fit(X[counted], y[counted], weight[counted]).predict_proba(X_test)
    assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [MLkNN, BinaryRelevanceKNN])
def test_frames_on_request(kind, data):
    X, y, _, X_test = data
    y = np.nan_to_num(y).astype(int)
    frame = pd.DataFrame(X_test, index=np.arange(len(X_test)) + 100)
    plain = kind(K).fit(X, y)
    model = kind(K, as_frame=True).fit(X, pd.DataFrame(y, columns=NAMES))
    for method in ("predict", "predict_proba"):
        found = getattr(model, method)(frame)
        assert_array_equal(found.columns, NAMES)
        assert_array_equal(found.index, frame.index)
        assert_array_equal(found, getattr(plain, method)(X_test))
    assert isinstance(model.fit(X, pl.DataFrame(y)).predict(X_test), pl.DataFrame)
    assert isinstance(model.fit(X, y[:, 0]).predict_proba(X_test), np.ndarray)


@pytest.mark.parametrize(
    "model",
    [MLkNN(K), BinaryRelevanceKNN(K), KaLDAClassifier("linear", random_state=0)],
    ids=["MLkNN", "BinaryRelevanceKNN", "KaLDAClassifier"],
)
def test_top_labels_have_the_names_of_columns(model, data):
    X, y, _, X_test = data
    y = np.nan_to_num(y)
    numbers, scores = model.fit(X, y).top_labels(X_test, 2)
    names, same_scores = model.fit(X, pd.DataFrame(y, columns=NAMES)).top_labels(X_test, 2)
    assert_array_equal(names, NAMES[numbers])
    assert_array_equal(scores, same_scores)
