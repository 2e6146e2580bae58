"""threshold of the neighbour classifiers against one refit for every row that is left out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score

from skml_kalda import BinaryRelevanceKNN, MLkNN
from skml_kalda._core.scores.thresholds import best_thresholds
from skml_kalda.datasets import load_dataset
from tests.classifiers.conftest import dense, smooth_data

VOTES = {
    "uniform": BinaryRelevanceKNN(k=5),
    "distance": BinaryRelevanceKNN(k=5, weights="distance"),
    "cosine": BinaryRelevanceKNN(k=5, weights="distance", metric="cosine"),
}
TABLES = {
    "with self": MLkNN(k=5),
    "without self": MLkNN(k=5, include_self=False),
    "ignoring two": MLkNN(k=5, ignore_first_neighbours=2),
}


def data():
    X, y, X_test = smooth_data(n_train=40, n_labels=6)
    y[:, 2] = 0
    return X, y, X_test


def refits(classifier, X, y, weight=None):
    """Return the votes on each row of a fit to all others."""
    weight = np.ones(len(X)) if weight is None else weight
    votes = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        model = classifier.fit(X[rest], y[rest], sample_weight=weight[rest])
        votes.append(model.predict_proba(X[[i]])[0])
    return np.array(votes)


def macro_f1(y, predicted):
    hits, size = (y * predicted).sum(axis=0), y.sum(axis=0) + predicted.sum(axis=0)
    return np.mean(2 * hits / np.maximum(size, 1))


def assert_best(thresholds, scores, y):
    """Compare with the exact search, and with the F1 of every threshold there is."""
    assert_array_equal(thresholds, best_thresholds(scores, sparse.csr_array(y)))
    tried = [macro_f1(y, scores >= threshold) for threshold in np.unique(scores)]
    assert macro_f1(y, scores >= thresholds) == pytest.approx(max(tried), rel=1e-12)
    assert_array_equal(np.isinf(thresholds), ~y.any(axis=0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", VOTES)
def test_the_threshold_of_votes_is_best_for_rows_left_out(name, weighted):
    X, y, X_test = data()
    weight = np.random.default_rng(0).random(len(X)) + 0.5 if weighted else None
    scores = refits(clone(VOTES[name]), X, y, weight)
    model = clone(VOTES[name]).set_params(threshold="auto").fit(X, y, sample_weight=weight)
    assert_best(model.best_thresholds_, scores, y)
    assert_array_equal(model.predict(X_test), model.predict_proba(X_test) >= model.best_thresholds_)


@pytest.mark.parametrize("name", TABLES)
def test_the_threshold_of_mlknn_is_best_for_counts_of_rows_left_out(name):
    X, y, X_test = data()
    model = TABLES[name].set_params(threshold="auto").fit(X, y)
    wide = BinaryRelevanceKNN(k=5 + model.ignore_first_neighbours)
    counts = wide.k * refits(wide, X, y)
    if model.ignore_first_neighbours:
        counts -= 2 * refits(BinaryRelevanceKNN(k=2), X, y)
    counts = np.rint(counts).astype(int)
    scores = model._probability_table()[np.arange(y.shape[1]), counts]
    assert_best(model.best_thresholds_, scores, y)
    assert_array_equal(model.predict(X_test), model.predict_proba(X_test) >= model.best_thresholds_)


def test_mlknn_needs_no_further_search(monkeypatch):
    X, y, _ = data()
    model = MLkNN(k=5, threshold="auto")
    searches = []
    kind = type(model.knn_)
    search = kind.kneighbors
    monkeypatch.setattr(
        kind, "kneighbors", lambda self, *args: searches.append(args[1:]) or search(self, *args)
    )
    model.fit(X, y)
    assert searches == [(6,)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("threshold", [0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(
    ("kind", "rule"), [(BinaryRelevanceKNN, np.greater), (MLkNN, np.greater_equal)]
)
def test_a_number_is_the_threshold(kind, rule, threshold, form):
    X, y, X_test = data()
    model = kind(k=5, threshold=threshold).fit(X, form(y))
    assert_array_equal(dense(model.predict(X_test)), rule(model.predict_proba(X_test), threshold))
    assert not hasattr(model, "best_thresholds_")


@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_classes_have_no_threshold(kind):
    X, y, X_test = data()
    names = np.where(y[:, 0], "yes", "no")
    model = kind(threshold="auto").fit(X, names)
    assert_array_equal(model.predict(X_test), kind().fit(X, names).predict(X_test))


@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_where_no_row_has_a_label_none_is_predicted(kind):
    X, y, X_test = data()
    assert not kind(threshold="auto").fit(X, np.zeros_like(y)).predict(X_test).any()


@pytest.mark.parametrize(
    ("classifier", "least"), [(MLkNN(), 0.03), (BinaryRelevanceKNN(weights="distance"), 0.03)]
)
def test_tuned_thresholds_help_on_yeast(classifier, least):
    X, y = load_dataset("yeast", split="train", return_X_y=True)
    X_test, y_test = load_dataset("yeast", split="test", return_X_y=True)
    plain, tuned = (
        f1_score(
            y_test,
            classifier.set_params(threshold=threshold).fit(X, y).predict(X_test),
            average="macro",
            zero_division=0,
        )
        for threshold in (0.5, "auto")
    )
    assert tuned > plain + least


@pytest.mark.parametrize("threshold", ["best", -0.1, 1.5, None])
@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_a_wrong_threshold_is_named(kind, threshold):
    X, y, _ = data()
    with pytest.raises(ValueError, match="'threshold' parameter"):
        kind(threshold=threshold).fit(X, y)


@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_one_more_row_is_needed(kind):
    X, y, _ = data()
    with pytest.raises(ValueError, match="k=40 needs at least 41 training rows"):
        kind(k=40, threshold="auto").fit(X, y)
