"""Measures of rankings against definitions over all orders, scikit-learn and one another."""

import math
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, fbeta_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from skml_kalda import MLkNN
from skml_kalda.metrics import (
    coverage,
    get_scorer,
    ndcg_at_k,
    one_error,
    per_label,
    precision_at_k,
    propensities,
    propensity_scored_precision_at_k,
)
from tests.conftest import made


def drawn(seed, n=6, K=5, decimals=0):
    """Labels, some rows without any, and scores: negative, zero, positive, with ties."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, K)) < 0.4).astype(int)
    Y[1] = 0
    scores = rng.normal(size=(n, K)).round(decimals) * (rng.random((n, K)) < 0.7)
    return Y, scores, rng.random(n) + 0.1


def orders(scores):
    """Every order of the labels that the scores allow, best first."""
    return [p for p in permutations(range(len(scores))) if (np.diff(scores[list(p)]) <= 0).all()]


def over_orders(Y, scores, weight, of_order, summary=np.mean):
    """Mean over rows of the mean (or worst) of a measure over all orders."""
    rows = [
        summary([of_order(y[list(order)]) for order in orders(s)])
        for y, s in zip(Y, scores, strict=True)
    ]
    return np.average(rows, weights=weight)


def dcg(hits, k):
    return sum(hit / np.log2(rank + 2) for rank, hit in enumerate(hits[:k]))


def ndcg(hits, k):
    return dcg(hits, k) / dcg(sorted(hits, reverse=True), k) if any(hits) else 0


DRAWS = [(seed, decimals) for seed in range(4) for decimals in (0, 3)]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("seed", "decimals"), DRAWS)
def test_measures_are_the_mean_over_all_orders_and_coverage_the_worst(seed, decimals, k):
    Y, scores, weight = drawn(seed, decimals=decimals)
    if k <= Y.shape[1]:
        precision = over_orders(Y, scores, weight, lambda hits: sum(hits[:k]) / k)
        assert precision_at_k(Y, scores, k=k, sample_weight=weight) == pytest.approx(precision)
    gain = over_orders(Y, scores, weight, lambda hits: ndcg(hits, k))
    assert ndcg_at_k(Y, scores, k=k, sample_weight=weight) == pytest.approx(gain)
    error = over_orders(Y, scores, weight, lambda hits: 1 - hits[0])
    assert one_error(Y, scores, sample_weight=weight) == pytest.approx(error)
    depth = over_orders(Y, scores, weight, lambda hits: max(np.flatnonzero(hits), default=0), max)
    assert coverage(Y, scores, sample_weight=weight) == pytest.approx(depth)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize(("seed", "decimals"), DRAWS)
def test_propensity_scored_precision_is_that_of_plain_loops(seed, decimals, k):
    Y, scores, weight = drawn(seed, decimals=decimals)
    p = np.random.default_rng(seed).random(Y.shape[1]) + 0.1
    found = best = 0.0
    for y, s, w in zip(Y, scores, weight, strict=True):
        gains = [sum(y[i] / p[i] for i in order[:k]) / k for order in orders(s)]
        found += w * sum(gains) / len(gains)
        best += w * sum(sorted(y / p, reverse=True)[:k]) / k
    value = propensity_scored_precision_at_k(Y, scores, p, k=k, sample_weight=weight)
    assert value == pytest.approx(found / best)
    assert propensity_scored_precision_at_k(Y, Y / p, p, k=k) == pytest.approx(1)
    assert propensity_scored_precision_at_k(0 * Y, scores, p) == 0


@pytest.mark.parametrize("constants", [{}, {"a": 0.6, "b": 2.6}])
def test_propensities_are_those_of_the_definition(constants):
    Y, _, _ = drawn(0, n=50)
    a, b = constants.get("a", 0.55), constants.get("b", 1.5)
    expected = []
    for label in range(Y.shape[1]):
        count = sum(row[label] for row in Y)
        C = (math.log(50) - 1) * (b + 1) ** a
        expected.append(1 / (1 + C * math.exp(-a * math.log(count + b))))
    for y in (Y, sparse.csr_matrix(Y), pd.DataFrame(Y)):
        assert propensities(y, **constants) == pytest.approx(expected)
    assert propensities([[1, 0]]).tolist() == [1, 1]


@pytest.mark.parametrize("wrong", [[1, 1], [1, 1, 0], [1, 1, np.nan]])
def test_wrong_propensities_are_named(wrong):
    with pytest.raises(ValueError, match=r"propensities must be 3 positive .*training samples"):
        propensity_scored_precision_at_k([[0, 0, 1]], [[0.1, 0.2, 0.3]], wrong)
    with pytest.raises(ValueError, match="y has one dimension"):
        propensities([0, 1])
    with pytest.raises(ValueError, match="a == 0"):
        propensities([[0, 1]], a=0)


MEASURES = {
    "precision_at_1": precision_at_k,
    "precision_at_3": partial(precision_at_k, k=3),
    "ndcg_at_3": partial(ndcg_at_k, k=3),
    "one_error": one_error,
    "coverage": coverage,
    "propensity_scored": lambda Y, scores: propensity_scored_precision_at_k(
        Y, scores, np.arange(1, np.shape(scores)[-1] + 1), k=2
    ),
}


@pytest.fixture(params=MEASURES)
def measure(request):
    return MEASURES[request.param]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_scores_are_the_same_as_dense_ones(measure, form, seed):
    Y, scores, _ = drawn(seed, n=30)
    expected = measure(Y, scores)
    assert measure(Y, form(scores)) == pytest.approx(expected)
    assert measure(form(Y), form(scores)) == pytest.approx(expected)
    assert measure(pd.DataFrame(Y), scores) == pytest.approx(expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "measure", [name for name in MEASURES if name != "propensity_scored"], indirect=True
)
def test_unknown_labels_are_out_of_the_ranking(measure, seed, form):
    Y, scores, weight = drawn(seed, n=12)
    known = np.random.default_rng(seed).random(Y.shape) < 0.6
    known[:, [0, 2, 3]] = True  # at least three labels to rank
    known[3] = False  # counts for nothing
    rows = [i for i in range(12) if known[i].any()]
    alone = [measure(Y[[i]][:, known[i]], scores[[i]][:, known[i]]) for i in rows]
    found = measure(np.where(known, Y, np.nan), form(scores), sample_weight=weight)
    assert found == pytest.approx(np.average(alone, weights=weight[rows]))


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_metrics_of_scikit_learn_for_each_label_where_it_is_known(form):
    Y, scores, weight = drawn(0, n=40, decimals=2)
    known = np.random.default_rng(1).random(Y.shape) < 0.7
    known[:, 4] = False
    y = np.where(known, Y, np.nan)
    found = per_label(average_precision_score, y, form(scores), sample_weight=weight)
    expected = [
        average_precision_score(Y[at, k], scores[at, k], sample_weight=weight[at])
        for k, at in enumerate(known.T[:4])
    ]
    np.testing.assert_allclose(found, [*expected, np.nan])
    f2 = per_label(fbeta_score, Y, (scores > 0).astype(int), beta=2)
    np.testing.assert_allclose(f2, fbeta_score(Y, scores > 0, beta=2, average=None))
    with pytest.raises(ValueError, match=r"y_true has shape \(40, 5\), but y_pred has shape"):
        per_label(f1_score, Y, scores[:, :2])


def test_stored_zeros_and_duplicates_count_as_their_sum(measure):
    Y, _, _ = drawn(0, n=2, K=3)
    rows, labels = [0, 0, 0, 1, 1], [0, 1, 1, 2, 0]
    given = sparse.csr_array(([1.0, 2.0, -2.0, 0.0, -1.0], (rows, labels)), shape=(2, 3))
    given.indices.flags.writeable = given.data.flags.writeable = False
    assert measure(Y, given) == pytest.approx(measure(Y, given.toarray()))


def test_many_labels_need_no_dense_array():
    """A dense array of these scores would have 80 GB."""
    rng = np.random.default_rng(0)
    n = K = 100_000
    rows = np.repeat(np.arange(n), 2)
    labels = rng.integers(K // 2, size=2 * n) + np.tile([0, K // 2], n)
    scores = sparse.csr_array((np.tile([0.9, 0.1], n), (rows, labels)), shape=(n, K))
    Y = sparse.csr_array((np.ones(n), (np.arange(n), labels[::2])), shape=(n, K))
    assert precision_at_k(Y, scores, k=2) == pytest.approx(0.5)
    assert ndcg_at_k(Y, scores, k=2) == pytest.approx(1)
    assert coverage(Y, scores) == 0


@pytest.mark.parametrize(
    ("y_true", "y_score", "message"),
    [
        ([0, 1, 1], [[0.1], [0.2], [0.3]], "y_true has one dimension"),
        ([[0, 1]], [[0.1, 0.2, 0.3]], r"y_true has shape \(1, 2\).*y_score has shape \(1, 3\)"),
        ([[0, 2]], [[0.1, 0.2]], "contains 2"),
        ([[0, 1]], [[0.1, np.nan]], "y_score contains NaN"),
        ([[0, 1]], [0.1, 0.2], "Expected 2D array"),
    ],
)
def test_wrong_input_is_named(y_true, y_score, message, measure):
    with pytest.raises(ValueError, match=message):
        measure(y_true, y_score)


SCORERS = {
    "precision_at_2": (precision_at_k, 1, {"k": 2}),
    "ndcg_at_12": (ndcg_at_k, 1, {"k": 12}),
    "neg_one_error": (one_error, -1, {}),
    "neg_coverage": (coverage, -1, {}),
}


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_score_what_the_classifier_says(name):
    X, Y = made(n=120)
    weight = np.random.default_rng(0).random(120)
    function, sign, options = SCORERS[name]
    classifier = MLkNN().fit(X, Y)
    score, probability = get_scorer(name), classifier.predict_proba(X)
    expected = sign * function(Y, probability, **options)
    assert score(classifier, X, Y) == score(classifier, X, Y.tolist()) == expected
    weighted = sign * function(Y, probability, sample_weight=weight, **options)
    assert score(classifier, X, Y, sample_weight=weight) == weighted != expected
    y = np.where(np.random.default_rng(1).random(Y.shape) < 0.3, np.nan, Y)
    assert score(classifier, X, y) == sign * function(y, probability, **options) != expected


@pytest.mark.filterwarnings("ignore:Label not 1 is present")
def test_scorers_read_labels_that_are_constant_in_a_training_fold():
    X, Y = made(n=120)
    Y[:, 1] = np.arange(120) == 3
    options = {"scoring": get_scorer("precision_at_1"), "cv": KFold(3), "error_score": "raise"}
    for classifier in (KNeighborsClassifier(), OneVsRestClassifier(LogisticRegression())):
        for labels in (Y[:, :2], Y):
            values = cross_val_score(classifier, X, labels, **options)
            assert values.mean() > labels.mean(axis=0).max() - 0.05


@pytest.mark.parametrize("name", ["precision_at_k", "precision_at_0", "f1_macro", "coverage"])
def test_an_unknown_scorer_is_named(name):
    with pytest.raises(ValueError, match=f"name='{name}'.*'precision_at_1'.*neg_coverage"):
        get_scorer(name)


@pytest.mark.parametrize("measure", [precision_at_k, propensity_scored_precision_at_k])
def test_scores_of_another_form_and_a_k_beyond_all_labels_are_refused(measure):
    Y, scores, _ = drawn(0)
    more = [np.ones(Y.shape[1])] if measure is propensity_scored_precision_at_k else []
    with pytest.raises(ValueError, match="k == 6, must be <= 5"):
        measure(Y, scores, *more, k=6)
    of_labels = [np.column_stack([1 - each, each]) for each in scores.T]
    with pytest.raises(ValueError, match=r"y_score = np.column_stack") as error:
        measure(Y, of_labels, *more, k=2)
    scope = {"np": np, "y_score": of_labels}
    exec(str(error.value).partition("pass one array, ")[2].rstrip("."), scope)
    assert measure(Y, scope["y_score"], *more, k=2) == measure(Y, scores, *more, k=2)
