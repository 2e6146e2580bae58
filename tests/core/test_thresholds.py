"""Scores of labels of any classifier, and thresholds against brute force over all there are."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance, LabelPowerset

from skml_kalda import MLkNN
from skml_kalda._core.thresholds import best_thresholds, label_scores
from tests.conftest import made


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


def best(scores, Y, **options):
    return best_thresholds(scores, sparse.csr_array(Y), **options)


DRAWS = [(seed, levels) for seed in range(5) for levels in (None, 2)]


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


@pytest.mark.parametrize(
    ("average", "per_label"), [("macro", True), ("macro", False), ("micro", True)]
)
def test_unknown_labels_count_for_nothing(average, per_label):
    """Of one label, where unknown rows can simply be dropped."""
    rng = np.random.default_rng(1)
    Y, unknown = rng.random((40, 1)) < 0.5, rng.random((40, 1)) < 0.3
    scores, Y = rng.random((40, 1)).round(1), sparse.csr_array((Y & ~unknown).astype(float))
    options = {"average": average, "per_label": per_label}
    found = best_thresholds(scores, Y, sparse.csr_array(unknown), **options)
    known = ~unknown[:, 0]
    np.testing.assert_array_equal(found, best_thresholds(scores[known], Y[known], **options))


CLASSIFIERS = {
    "lists": KNeighborsClassifier(),
    "lists of a forest": RandomForestClassifier(50, max_depth=3, random_state=0),
    "lists of a pipeline": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "lists of a wrapper": MultiOutputClassifier(LogisticRegression()),
    "array": MLkNN(),
    "array of a wrapper": OneVsRestClassifier(LogisticRegression()),
    "array of a chain": ClassifierChain(LogisticRegression()),
    "decisions": RidgeClassifier(),
    "decisions of a wrapper": OneVsRestClassifier(LinearSVC()),
    "sparse": BinaryRelevance(LogisticRegression()),
    "sparse of a powerset": LabelPowerset(KNeighborsClassifier()),
    "sparse of the framework's MLkNN": FrameworkMLkNN(),
}


@pytest.mark.parametrize("form", CLASSIFIERS)
def test_scores_of_every_form_rank_as_the_labels_say(form):
    X, Y = made(n=200)
    classifier = CLASSIFIERS[form].fit(X, Y)
    scores = label_scores(classifier, X, 4)
    assert sparse.issparse(scores) == form.startswith("sparse")
    scores = scores.toarray() if sparse.issparse(scores) else scores
    assert scores.shape == (200, 4)
    for score, labels in zip(scores.T, Y.T, strict=True):
        assert score[labels == 1].mean() > score[labels == 0].mean() + 0.1


@pytest.mark.parametrize("classifier", [KNeighborsClassifier(), RandomForestClassifier(5)])
def test_a_label_that_no_or_every_training_row_has(classifier):
    X, Y = made()
    Y[:, 1], Y[:, 2] = 0, 1
    scores = label_scores(classifier.fit(X, Y), X, 4)
    np.testing.assert_array_equal(scores[:, 1], np.zeros(60))
    np.testing.assert_array_equal(scores[:, 2], np.ones(60))
    np.testing.assert_array_equal(scores[:, 3], classifier.predict_proba(X)[3][:, 1])


@pytest.mark.parametrize("classifier", [LogisticRegression(), MLkNN(), LinearSVC()])
def test_a_single_label_has_one_column(classifier):
    X, Y = made(n=200)
    y = Y[:, :1] if isinstance(classifier, MLkNN) else Y[:, 0]
    scores = label_scores(classifier.fit(X, y), X, 1)
    assert scores.shape == (200, 1)
    assert scores[Y[:, 0] == 1].mean() > scores[Y[:, 0] == 0].mean() + 0.1


def test_a_classifier_without_scores_is_named():
    X, Y = made()
    classifier = MultiOutputClassifier(LinearSVC()).fit(X, Y)
    with pytest.raises(ValueError, match="MultiOutputClassifier has no predict_proba or decision"):
        label_scores(classifier, X, 4)


def test_scores_of_classes_instead_of_labels_are_named():
    X, Y = made()
    classifier = KNeighborsClassifier().fit(X, Y.argmax(axis=1))
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.*\(60, 4\).*each of 7 labels"):
        label_scores(classifier, X, 7)
