"""Thresholds against brute force over every threshold there is."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from skml_kalda._core.scores.thresholds import best_thresholds


def drawn(seed, n=12, K=3, levels=None):
    """Random labels, each with a row, and scores that know more of the frequent ones."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.1, 0.7, K)
    Y = (rng.random((n, K)) < share).astype(int)
    Y[rng.integers(n, size=K), np.arange(K)] = 1
    scores = 2 * share * Y + rng.normal(size=(n, K))
    return (np.round(scores * levels) / levels if levels else scores), Y


def candidates(scores):
    """One threshold for every prediction that thresholds on these scores can make."""
    return [*np.unique(scores), np.inf]


def f1(Y, predicted, average="macro"):
    """Mean over labels, over all pairs or over rows; zero where there is nothing."""
    axis = {"macro": 0, "micro": None, "samples": 1}[average]
    hits, size = np.sum(Y * predicted, axis), np.sum(Y, axis) + np.sum(predicted, axis)
    return float(np.mean(2 * hits / np.maximum(size, 1)))


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_f1_of_these_tests_is_that_of_scikit_learn(average):
    scores, Y = drawn(0, n=30)
    expected = f1_score(Y, scores > 1, average=average, zero_division=0)
    assert f1(Y, scores > 1, average) == pytest.approx(expected)


def best(scores, Y, **options):
    return best_thresholds(scores, sparse.csr_array(Y), **options)


DRAWS = [(seed, levels) for seed in range(8) for levels in (None, 2)]


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize(("seed", "levels"), DRAWS)
def test_one_threshold_is_the_best_of_all(average, seed, levels):
    scores, Y = drawn(seed, levels=levels)
    thresholds = best(scores, Y, average=average)
    assert len(set(thresholds)) == 1
    reached = f1(Y, scores >= thresholds, average)
    assert reached == pytest.approx(
        max(f1(Y, scores >= t, average) for t in candidates(scores)), abs=1e-12
    )


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize(("seed", "levels"), DRAWS)
def test_a_threshold_per_label_is_the_best_of_all_combinations(average, seed, levels):
    scores, Y = drawn(seed, n=8, levels=levels)
    thresholds = best(scores, Y, average=average, per_label=True)
    reached = f1(Y, scores >= thresholds, average)
    every = product(*(candidates(column) for column in scores.T))
    assert reached == pytest.approx(max(f1(Y, scores >= t, average) for t in every), abs=1e-12)


def test_micro_and_macro_choose_other_thresholds_per_label():
    """Otherwise the test above would not tell them apart."""
    chosen = [
        [best(*drawn(seed, n=8), average=a, per_label=True).tolist() for a in ("macro", "micro")]
        for seed in range(8)
    ]
    assert any(macro != micro for macro, micro in chosen)


@pytest.mark.parametrize("per_label", [False, True])
def test_the_threshold_lies_midway_between_two_scores(per_label):
    scores = np.array([[0.9], [0.7], [0.4], [0.1]])
    np.testing.assert_allclose(best(scores, [[1], [1], [0], [0]], per_label=per_label), [0.55])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adjacent_numbers_are_told_apart(dtype):
    low = dtype(0.1)
    scores = np.array([[np.nextafter(low, dtype(1))], [low]])
    np.testing.assert_array_equal(scores >= best(scores, [[1], [0]]), [[True], [False]])


def test_the_largest_scores_do_not_overflow():
    scores = np.array([[1.7e308], [1.6e308]])
    np.testing.assert_array_equal(scores >= best(scores, [[1], [0]]), [[True], [False]])


def test_where_all_rows_are_best_predicted_the_threshold_is_the_lowest_score():
    assert best(np.array([[0.3], [0.2], [0.6]]), [[1], [1], [1]]) == [0.2]


@pytest.mark.parametrize("per_label", [False, True])
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_label_without_rows_is_never_predicted_and_leaves_the_others_alone(average, per_label):
    scores, Y = drawn(3)
    alone = best(scores, Y, average=average, per_label=per_label)
    wider = np.insert(scores, 1, 9.0, axis=1)
    thresholds = best(wider, np.insert(Y, 1, 0, axis=1), average=average, per_label=per_label)
    np.testing.assert_array_equal(thresholds, np.insert(alone, 1, np.inf))


def test_a_label_that_only_lowers_micro_f1_is_never_predicted():
    scores = np.array([[1.0, 0.0]] * 9 + [[0.0, 0.0]])
    Y = np.array([[1, 0]] * 9 + [[0, 1]])
    np.testing.assert_array_equal(best(scores, Y, average="micro", per_label=True), [0.5, np.inf])


def test_rows_without_labels_count_for_nothing_in_the_mean_over_rows():
    scores, Y = drawn(5)
    assert Y.any(axis=1).all() is np.False_
    labelled = Y.any(axis=1)
    np.testing.assert_array_equal(
        best(scores, Y, average="samples"), best(scores[labelled], Y[labelled], average="samples")
    )


def test_no_labels_at_all():
    thresholds = best(np.ones((3, 2)), np.zeros((3, 2)))
    np.testing.assert_array_equal(thresholds, [np.inf, np.inf])


@pytest.mark.parametrize(
    ("average", "per_label"), [("weighted", False), ("weighted", True), ("samples", True)]
)
def test_an_unknown_average_is_named(average, per_label):
    with pytest.raises(ValueError, match=rf"average='{average}'.*per_label={per_label}.*macro"):
        best(*drawn(0), average=average, per_label=per_label)


def test_scores_are_left_as_they_are():
    scores, Y = drawn(1)
    scores.flags.writeable = False
    before = scores.copy()
    for average, per_label in [("macro", False), ("macro", True), ("micro", False)]:
        best(scores, Y, average=average, per_label=per_label)
    np.testing.assert_array_equal(scores, before)
