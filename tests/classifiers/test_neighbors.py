"""The neighbour classifiers against scikit-multilearn-ng's, scikit-learn's and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance, LabelPowerset

from skml_kalda import BinaryRelevanceKNN, KaLDAClassifier, MLkNN, top_labels
from skml_kalda._core.thresholds import label_scores
from skml_kalda.datasets import load_dataset
from skml_kalda.model_selection import LabelCalibratedClassifier, TunedThresholdsCV
from tests.classifiers.conftest import SortedSearch, bundled, dense, grid_data, smooth_data


def assert_same_as_framework(X, y, X_test, search=None, **params):
    """Compare bit by bit: no tolerance."""
    ours, theirs = MLkNN(**params).fit(X, y), FrameworkMLkNN(**params)
    theirs.knn_ = search or theirs.knn_
    theirs.fit(X, y)
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), dense(theirs.predict_proba(X_test)))


# 2 features are searched by a tree, 20 and all sparse ones by brute force.
@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(("k", "s"), [(1, 1.0), (4, 0.3), (10, 4)])
def test_equals_the_frameworks_with_ties_in_the_order_of_rows(k, s, form, n_features):
    X, y, X_test = grid_data(n_features, n_train=260, seed=k)
    assert_same_as_framework(form(X), form(y), form(X_test), SortedSearch(), k=k, s=s)


def test_equals_the_frameworks_with_empty_and_full_labels():
    X, y, X_test = smooth_data()
    y[:, 0], y[:, 1] = 0, 1
    assert_same_as_framework(X, y, X_test, k=5)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("emotions", {}),
        ("emotions", {"k": 3, "s": 0.5}),
        pytest.param("scene", {}, marks=pytest.mark.slow),
        pytest.param("yeast", {}, marks=pytest.mark.slow),
    ],
)
def test_equals_the_frameworks_on_bundled_data(name, params):
    assert_same_as_framework(*bundled(name), **params)


# G. Madjarov et al., "An extensive experimental comparison of methods for multi-label learning",
# Pattern Recognition 45 (2012): three digits, on the training and test rows of the sets.
@pytest.mark.parametrize(
    ("name", "loss"), [("emotions", 0.294), ("scene", 0.099), ("yeast", 0.198)]
)
def test_hamming_loss_on_the_published_splits(name, loss):
    X, y = load_dataset(name, split="train", return_X_y=True)
    X_test, y_test = load_dataset(name, split="test", return_X_y=True)
    model = MLkNN(k=10, s=1, include_self=False).fit(X, y)
    assert round(hamming_loss(y_test, model.predict(X_test)), 3) == loss


def assert_same_as_binary_relevance(X, y, X_test, k, metric="minkowski"):
    """Compare bit by bit: no tolerance."""
    # By default BinaryRelevance makes a sparse X dense, which breaks ties in another way.
    theirs = BinaryRelevance(
        KNeighborsClassifier(k, metric=metric), require_dense=[not sparse.issparse(X), True]
    ).fit(X, y)
    ours = BinaryRelevanceKNN(k=k, metric=metric).fit(X, y)
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), dense(theirs.predict_proba(X_test)))


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_equals_binary_relevance_without_ties(k, form, n_features):
    X, y, X_test = smooth_data(n_train=260, n_features=n_features, seed=k)
    assert_same_as_binary_relevance(form(X), form(y), form(X_test), k)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_with_a_1d_y_it_is_scikit_learns_classifier(k):
    X, _, X_test = smooth_data()
    y = np.random.default_rng(0).choice(["sea", "sky", "sun"], len(X))
    ours, theirs = BinaryRelevanceKNN(k=k).fit(X, y), KNeighborsClassifier(k).fit(X, y)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_array_equal(ours.predict(X_test), theirs.predict(X_test))
    np.testing.assert_allclose(ours.predict_proba(X_test), theirs.predict_proba(X_test), rtol=1e-15)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_features", [4, 30])
def test_distance_weighted_votes_are_scikit_learns(n_features, form, metric):
    X, y, X_test = smooth_data(n_features=n_features)
    params = {"weights": "distance", "metric": metric}
    ours = BinaryRelevanceKNN(k=7, **params).fit(form(X), y)
    theirs = KNeighborsClassifier(7, **params).fit(form(X), y)
    expected = np.column_stack([each[:, 1] for each in theirs.predict_proba(form(X_test))])
    np.testing.assert_allclose(ours.predict_proba(form(X_test)), expected, rtol=1e-10, atol=1e-14)
    assert_array_equal(ours.predict(form(X_test)), theirs.predict(form(X_test)))


def gaussian(distances):
    return np.exp(-(distances**2))


def vote_of(weights, d, last, following):
    """Return the vote of a neighbour at distance d, by the definition."""
    if weights == "distance":
        return 1 / max(d, last / 1000) if last else 1.0
    if weights == "tricube":
        return (1 - (d / following) ** 3) ** 3 if following else 1.0
    return math.exp(-(d**2)) if weights is gaussian else 1.0


def looped_votes(X, y, rows, k, weights):
    """Ask neighbour by neighbour; those at the bandwidth vote if there are no others."""
    shares = []
    for row in rows:
        distances = [math.dist(row, other) for other in X]
        order = sorted(range(len(X)), key=lambda i: (distances[i], i))
        last, following = distances[order[k - 1]], distances[order[min(k, len(X) - 1)]]
        votes = [vote_of(weights, distances[i], last, following) for i in order[:k]]
        votes = votes if any(votes) else [1.0] * k
        shares.append(sum(v * y[i] for v, i in zip(votes, order[:k], strict=True)) / sum(votes))
    return np.array(shares)


WEIGHTS = pytest.mark.parametrize("weights", ["uniform", "distance", "tricube", gaussian])


@WEIGHTS
@pytest.mark.parametrize("k", [1, 7, 60])
@pytest.mark.parametrize("data", ["smooth", "on a grid", "all equal", "at equal distances"])
def test_votes_are_those_of_plain_loops(data, k, weights):
    X, y, rows = grid_data(3, n_train=60) if data == "on a grid" else smooth_data()
    if data == "all equal":
        X = np.zeros_like(X)
        rows[0] = 0
    if data == "at equal distances":
        X, rows = np.eye(60), np.zeros((1, 60))
    model = BinaryRelevanceKNN(k, weights=weights).fit(X, y)
    expected = looped_votes(X, y, rows, k, weights)
    assert_allclose(model.predict_proba(rows), expected, rtol=1e-9, atol=1e-14)
    assert_array_equal(top_labels(model, rows, 2)[1], -np.sort(-model.predict_proba(rows))[:, :2])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("weights", ["distance", "tricube"])
def test_neither_rounding_nor_units_change_the_votes_of_duplicates(weights, metric):
    X, y, _ = smooth_data(n_train=200)
    X[1], X[2] = X[0], X[0] * (1 + 1e-15)
    y[:3], y[3:] = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], [0, 0, 0, 1]
    model = BinaryRelevanceKNN(6, weights=weights, metric=metric)
    shares = model.fit(X, y).predict_proba(X[:3])
    assert_allclose(shares, shares[[0]].repeat(3, axis=0), rtol=1e-6)
    assert_allclose(shares[:, 0], 2 * shares[:, 1], rtol=1e-6)
    assert (shares[:, 3] > 0).all()  # the others are heard, too
    assert_allclose(model.fit(X / 2**20, y).predict_proba(X[:3] / 2**20), shares, rtol=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.sum, r"weights returned an array of shape \(\) for distances of shape \(5, 3\)"),
        (np.negative, "weights returned a negative or infinite weight, NaN, or only zeros"),
        (lambda d: np.full_like(d, np.nan), "NaN"),
        (np.zeros_like, "only zeros for a sample: return finite"),
    ],
)
def test_wrong_functions_of_distances_are_named(weights, message):
    X, y, _ = smooth_data()
    model = BinaryRelevanceKNN(3, weights=weights).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict_proba(X[:5])


def rows_with_an_empty_label():
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
    """Compare with the F1 of every threshold there is."""
    tried = [macro_f1(y, scores >= threshold) for threshold in np.unique(scores)]
    assert macro_f1(y, scores >= thresholds) == pytest.approx(max(tried), rel=1e-12)
    assert_array_equal(np.isinf(thresholds), ~y.any(axis=0))


VOTES = {
    "uniform": BinaryRelevanceKNN(k=5),
    "distance": BinaryRelevanceKNN(k=5, weights="distance"),
    "cosine": BinaryRelevanceKNN(k=5, weights="distance", metric="cosine"),
    "tricube": BinaryRelevanceKNN(k=5, weights="tricube"),
    "all": BinaryRelevanceKNN(k=39, weights="tricube"),
    "function": BinaryRelevanceKNN(k=5, weights=gaussian),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", VOTES)
def test_the_threshold_of_votes_is_best_for_rows_left_out(name, weighted):
    X, y, X_test = rows_with_an_empty_label()
    weight = np.random.default_rng(0).random(len(X)) + 0.5 if weighted else None
    scores = refits(clone(VOTES[name]), X, y, weight)
    model = clone(VOTES[name]).set_params(threshold="auto").fit(X, y, sample_weight=weight)
    assert_best(model.thresholds_, scores, y)
    assert_array_equal(model.predict(X_test), model.predict_proba(X_test) >= model.thresholds_)


@pytest.mark.parametrize("include_self", [True, False])
def test_the_threshold_of_mlknn_is_best_for_counts_of_rows_left_out(include_self):
    X, y, X_test = rows_with_an_empty_label()
    model = MLkNN(k=5, include_self=include_self, threshold="auto").fit(X, y)
    counts = np.rint(5 * refits(BinaryRelevanceKNN(k=5), X, y)).astype(int)
    scores = model._probability_table[np.arange(y.shape[1]), counts]
    assert_best(model.thresholds_, scores, y)
    assert_array_equal(model.predict(X_test), model.predict_proba(X_test) >= model.thresholds_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("threshold", [0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_a_score_equal_to_its_threshold_is_predicted(kind, threshold, form):
    X, y, X_test = rows_with_an_empty_label()
    model = kind(k=5, threshold=threshold).fit(X, form(y))
    assert_array_equal(model.thresholds_, np.full(6, threshold))
    assert_array_equal(dense(model.predict(X_test)), model.predict_proba(X_test) >= threshold)


def test_half_of_the_votes_is_no_majority_but_reaches_a_threshold_of_one_half():
    X, y = [[0.0], [1.0]], [[1, 0], [0, 1]]
    assert_array_equal(BinaryRelevanceKNN(k=2).fit(X, y).predict([[0.5]]), [[0, 0]])
    assert_array_equal(BinaryRelevanceKNN(k=2, threshold=0.5).fit(X, y).predict([[0.5]]), [[1, 1]])


@pytest.mark.parametrize("kind", [BinaryRelevanceKNN, MLkNN])
def test_classes_have_no_threshold(kind):
    X, y, X_test = rows_with_an_empty_label()
    names = np.where(y[:, 0], "yes", "no")
    model = kind(threshold="auto").fit(X, names)
    assert_array_equal(model.predict(X_test), kind().fit(X, names).predict(X_test))


K, N_LABELS = 5, 3
NAMES = np.array(["sun", "sea", "sky"], dtype=object)


@pytest.fixture(scope="module")
def partly_known():
    """Rows, their labels with unknown ones, weights, and rows to predict."""
    X, y, X_test = smooth_data(n_train=60, n_labels=N_LABELS)
    rng = np.random.default_rng(5)
    y = np.where(rng.random(y.shape) < 0.4, np.nan, y)
    return X, y, rng.random(60) + 0.5, X_test


def test_small_votes_are_heard_where_a_large_one_is_unknown():
    """Those at the bandwidth of the tricube weigh 1e-35 of the sample itself."""
    X, y = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0]]), np.array([[np.nan, 1, 1, 0, 0]]).T
    model = BinaryRelevanceKNN(4, weights="tricube").fit(X, y)
    assert_allclose(model.predict_proba([[0.0]]), 2 / 3)


@pytest.mark.parametrize("threshold", [0.5, "auto"])
@pytest.mark.parametrize("kind", [MLkNN, BinaryRelevanceKNN])
def test_a_label_that_nobody_knows_changes_nothing_for_the_others(kind, threshold, partly_known):
    X, y, w, X_test = partly_known
    y = np.nan_to_num(y)
    model = kind(K, threshold=threshold)
    plain = [f(X_test) for m in [model.fit(X, y, w)] for f in (m.predict, m.predict_proba)]
    model.fit(X, np.column_stack([y, np.full(60, np.nan)]), w)
    assert_allclose(model.predict(X_test)[:, :3], plain[0])
    assert_allclose(model.predict_proba(X_test)[:, :3], plain[1])


@pytest.mark.parametrize(
    "classifier",
    [
        MLkNN(K),
        BinaryRelevanceKNN(K),
        KaLDAClassifier("linear", random_state=0),
        TunedThresholdsCV(MLkNN(K)),
        TunedThresholdsCV(KNeighborsClassifier(K)),
        LabelCalibratedClassifier(KNeighborsClassifier(K)),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:X has feature names")
def test_predictions_of_frames_are_frames_if_labels_have_names(classifier, partly_known):
    X, y, _, X_test = partly_known
    y = np.nan_to_num(y).astype(int)
    frame = pd.DataFrame(X_test, index=np.arange(len(X_test)) + 100)
    plain = clone(classifier).fit(X, y)
    model = clone(classifier).fit(X, pd.DataFrame(y, columns=NAMES))
    for method in ("predict", "predict_proba"):
        found, expected = getattr(model, method)(frame), getattr(plain, method)(X_test)
        if isinstance(expected, list):
            expected = np.column_stack([label[:, 1] for label in expected])
        assert_array_equal(found.columns, NAMES)
        assert_array_equal(found.index, frame.index)
        assert_array_equal(found, expected)
        of_polars = getattr(model, method)(pl.DataFrame(X_test))
        assert of_polars.columns == list(NAMES)
        assert_array_equal(of_polars, expected)
        assert type(getattr(model, method)(X_test)) is type(getattr(plain, method)(frame))


@pytest.mark.parametrize("model", [MLkNN(K), TunedThresholdsCV(MLkNN(K))], ids=repr)
def test_sparse_labels_and_classes_are_no_frames(model, partly_known):
    X, y, _, X_test = partly_known
    y, frame = np.nan_to_num(y), pd.DataFrame(X_test)
    assert sparse.issparse(model.fit(X, sparse.csr_array(y)).predict(frame))
    if isinstance(model, MLkNN):
        assert isinstance(model.fit(X, y[:, 0]).predict_proba(frame), np.ndarray)


@pytest.mark.parametrize(
    "model",
    [MLkNN(K), BinaryRelevanceKNN(K), KaLDAClassifier("linear", random_state=0)],
    ids=["MLkNN", "BinaryRelevanceKNN", "KaLDAClassifier"],
)
def test_top_labels_have_the_names_of_columns(model, partly_known):
    X, y, _, X_test = partly_known
    y = np.nan_to_num(y)
    numbers, scores = top_labels(model.fit(X, y), X_test, 2)
    names, same_scores = top_labels(model.fit(X, pd.DataFrame(y, columns=NAMES)), X_test, 2)
    assert_array_equal(names, NAMES[numbers])
    assert_array_equal(scores, same_scores)
    with pytest.raises(ValueError, match="names has 2 names, but the classifier has 3 labels"):
        top_labels(model, X_test, 2, names=["a", "b"])


WITH_TOP_LABELS = [
    MLkNN(k=4),
    BinaryRelevanceKNN(k=4),
    BinaryRelevanceKNN(k=4, weights="distance", metric="cosine"),
    KaLDAClassifier(kernel="linear", random_state=0),
]


with_top_labels = pytest.mark.parametrize("classifier", WITH_TOP_LABELS, ids=repr)


def sorted_labels(probabilities, n):
    """Sort all labels of all rows; a stable sort leaves equal ones in the order of numbers."""
    labels = np.argsort(-probabilities, axis=1, kind="stable")[:, :n]
    return labels, np.take_along_axis(probabilities, labels, axis=1)


# Votes of four neighbours on twelve labels tie often, and few labels get any.
@pytest.mark.parametrize("working_memory", [1e-2, 1024], ids=["batches", "at once"])
@pytest.mark.parametrize("n", [1, 5, 12])
@with_top_labels
def test_is_the_top_of_sorted_probabilities(classifier, n, working_memory):
    X, y, X_test = smooth_data(n_labels=12)
    y[:, [2, 3, 8]] = 0
    classifier.fit(X, y)
    with sklearn.config_context(working_memory=working_memory):
        labels, scores = top_labels(classifier, X_test, n=n)
    expected, highest = sorted_labels(classifier.predict_proba(X_test), n)
    assert_array_equal(labels, expected)
    assert_array_equal(scores, highest)


OTHERS = [
    OneVsRestClassifier(LogisticRegression()),
    MultiOutputClassifier(LogisticRegression()),
    BinaryRelevance(LogisticRegression()),
    LabelPowerset(LogisticRegression()),
    GridSearchCV(
        make_pipeline(StandardScaler(), BinaryRelevanceKNN()), {"binaryrelevanceknn__k": [4]}
    ),
    TunedThresholdsCV(make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression()))),
]


@pytest.mark.parametrize("classifier", OTHERS, ids=lambda each: type(each).__name__)
def test_top_labels_of_any_classifier(classifier):
    X, y, X_test = smooth_data(n_labels=4)
    model = clone(classifier).fit(X, y)
    probabilities = dense(label_scores(model, X_test, 4))
    expected, highest = sorted_labels(probabilities, 2)
    with sklearn.config_context(working_memory=1e-3):
        labels, scores = top_labels(model, X_test, 2, names=list("abcd"))
    assert_array_equal(labels, np.array(list("abcd"))[expected])
    assert_array_equal(scores, highest)
    if not isinstance(classifier, LabelPowerset):  # its classes are sets of labels
        assert_array_equal(top_labels(model, X_test, 2)[0], expected)


def test_names_are_asked_for_where_the_classifier_has_none():
    class Nameless(BaseEstimator):
        def fit(self, X, y):
            self.fitted_ = True
            return self

    with pytest.raises(ValueError, match="Nameless does not tell its labels: pass their names"):
        top_labels(Nameless().fit(None, None), np.zeros((2, 2)), 2)


def test_top_labels_of_classes_are_classes(partly_known):
    X, y, _, X_test = partly_known
    named = np.array(["no", "yes"])[np.nan_to_num(y)[:, 0].astype(int)]
    model = make_pipeline(StandardScaler(), KaLDAClassifier("linear", random_state=0)).fit(X, named)
    assert_array_equal(top_labels(model, X_test, 1)[0][:, 0], model.predict(X_test))


@pytest.mark.parametrize("classifier", [MLkNN(k=3), BinaryRelevanceKNN(k=3)], ids=repr)
@pytest.mark.parametrize(
    ("y_form", "kind"),
    [
        (np.asarray, sparse.csr_matrix),
        (sparse.lil_matrix, sparse.csr_matrix),
        (sparse.coo_array, sparse.csr_array),
    ],
    ids=["dense", "matrix", "array"],
)
def test_sparse_output_decides_over_the_form_of_y(classifier, y_form, kind):
    X, y, X_test = smooth_data()
    plain = clone(classifier).fit(X, y)
    expected = plain.predict(X_test), plain.predict_proba(X_test)
    for sparse_output, form in [(True, kind), (False, np.ndarray)]:
        model = clone(classifier).set_params(sparse_output=sparse_output).fit(X, y_form(y))
        found = model.predict(X_test), model.predict_proba(X_test)
        assert [type(each) for each in found] == [form, form]
        assert_array_equal(dense(found[0]), expected[0])
        assert_array_equal(dense(found[1]), expected[1])
