"""Tuned thresholds against brute force, and the conventions of scikit-learn."""

from itertools import product

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from skmultilearn.problem_transform import BinaryRelevance

from skml_kalda import MLkNN, MultiLabelKaLDA
from skml_kalda.model_selection import (
    LabelCalibratedClassifier,
    MultiLabelStratifiedKFold,
    TunedThresholdsCV,
)
from tests.conftest import made, passes
from tests.core.test_thresholds import f1

CLASSIFIERS = {
    "array": MLkNN(),
    "list": KNeighborsClassifier(),
    "list of a forest": RandomForestClassifier(10, random_state=0),
    "list of a wrapper": MultiOutputClassifier(LogisticRegression()),
    "array of a wrapper": OneVsRestClassifier(LogisticRegression()),
    "array of a chain": ClassifierChain(LogisticRegression()),
    "decisions": RidgeClassifier(),
    "sparse": BinaryRelevance(LogisticRegression()),
    "pipeline": make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN()),
}


class Echo(ClassifierMixin, BaseEstimator):
    """Its scores are its features, so that held-out scores are known."""

    def fit(self, X, y, sample_weight=None):
        self.rows_, self.weight_ = np.asarray(X), sample_weight
        self.classes_ = np.tile([0, 1], (np.shape(y)[1], 1))
        return self

    def decision_function(self, X):
        return np.asarray(X)


def echoed(seed=0, n=40, K=3):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, K)) < [0.2, 0.4, 0.6]).astype(int)
    return Y + rng.normal(size=(n, K)), Y


@pytest.mark.parametrize("name", [*CLASSIFIERS, "one label"])
def test_thresholds_come_from_rows_that_were_not_trained_on(name):
    X, Y = made(n=120)
    Y = Y[:, :1] if name == "one label" else Y
    classifier = CLASSIFIERS.get(name, MLkNN())
    tuned = TunedThresholdsCV(classifier, cv=KFold(3)).fit(X, Y)
    method = "predict_proba" if hasattr(classifier, "predict_proba") else "decision_function"

    def scores_of(train, test):
        scores = getattr(clone(classifier).fit(X[train], Y[train]), method)(X[test])
        scores = np.column_stack([p[:, 1] for p in scores]) if isinstance(scores, list) else scores
        return scores.toarray() if sparse.issparse(scores) else scores

    scores = np.vstack([scores_of(*fold) for fold in KFold(3).split(X)])
    best = max(f1(Y, scores >= t) for t in np.unique(scores))
    assert tuned.best_score_ == pytest.approx(best, abs=1e-12)
    # Predictions are those of the classifier fitted to all rows, cut at the thresholds.
    every = slice(None)
    np.testing.assert_array_equal(tuned.predict(X), scores_of(every, every) >= tuned.thresholds_)


ANSWERS = {  # to a label that no training sample has; None for an error
    "certainty of the other class": RandomForestClassifier(10, random_state=0),
    "neighbours of the other class": KNeighborsClassifier(),
    "zero": OneVsRestClassifier(LogisticRegression()),
    "a decision of zero, above all others": OneVsRestClassifier(LinearSVC()),
    "some decision": RidgeClassifier(),
    "an error": MultiOutputClassifier(LogisticRegression()),
    "an error of ours": MLkNN(),
}


@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_label_whose_samples_are_in_one_fold_is_not_known_there(answer, n_labels):
    """All its samples are held out at once, so that no threshold is better than to predict all."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), np.zeros((60, n_labels), dtype=int)
    Y[:, 1:] = X[:, 1:n_labels] > 0
    Y[:10, 0], X[:10, 0] = 1, X[:10, 0] + 3
    options = {"objective": lambda y, found: f1(y, found) if y.sum() == 10 else 0.0}
    tuned = TunedThresholdsCV(ANSWERS[answer], cv=KFold(5), per_label=True, **options)
    if answer == "an error" or (answer == "an error of ours" and n_labels == 1):
        with pytest.raises(ValueError, match=r"\[0\] are held out: pass cv=Multi"):
            tuned.fit(X, Y)
        return
    assert tuned.fit(X, Y).best_score_ == pytest.approx(20 / 70 / n_labels)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.lil_matrix])
def test_sparse_labels_give_sparse_predictions(form):
    X, Y = made(n=120)
    tuned, dense = (TunedThresholdsCV(MLkNN()).fit(X, each) for each in (form(Y), Y))
    predicted = tuned.predict(X)
    assert isinstance(predicted, sparse.sparray) == (form is sparse.csr_array)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(X))
    assert tuned.best_score_ == dense.best_score_


def test_a_fitted_classifier_is_tuned_as_it_is():
    X, Y = made(n=120)
    fitted = MLkNN().fit(X[:60], Y[:60])
    tuned = TunedThresholdsCV(fitted, cv="prefit").fit(X[60:], Y[60:])
    assert tuned.estimator_ is fitted
    scores = fitted.predict_proba(X[60:])
    best = max(f1(Y[60:], scores >= t) for t in np.unique(scores))
    assert tuned.best_score_ == pytest.approx(best)
    with pytest.raises(NotFittedError):
        TunedThresholdsCV(MLkNN(), cv="prefit").fit(X, Y)


def test_weights_of_rows_reach_the_fit_and_metadata_are_routed():
    X, Y = echoed(n=60)
    weight, groups = np.arange(60.0), np.repeat(np.arange(6), 10)
    tuned = TunedThresholdsCV(Echo()).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(tuned.estimator_.weight_, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Echo().set_fit_request(sample_weight=True)
        tuned = TunedThresholdsCV(inner, cv=GroupKFold(3))
        tuned.fit(X, Y, sample_weight=weight, groups=groups)
        np.testing.assert_array_equal(tuned.estimator_.weight_, weight)
        with pytest.raises(TypeError, match="unexpected argument"):
            tuned.fit(X, Y, colour="red", groups=groups)


def test_scores_of_the_classifier_are_passed_on_if_it_has_them():
    X, Y = made()
    tuned = TunedThresholdsCV(RidgeClassifier()).fit(X, Y)
    assert not hasattr(tuned, "predict_proba")
    np.testing.assert_array_equal(tuned.decision_function(X), tuned.estimator_.decision_function(X))
    classifier = TunedThresholdsCV(KNeighborsClassifier()).fit(X, Y)
    assert not hasattr(classifier, "decision_function")
    assert [c.tolist() for c in classifier.classes_] == [[0, 1]] * 4


def test_the_response_can_be_chosen():
    X, Y = made(n=90)
    classifier = OneVsRestClassifier(LogisticRegression())
    scores = {
        name: TunedThresholdsCV(classifier, response_method=name, per_label=True).fit(X, Y)
        for name in ("auto", "predict_proba", "decision_function")
    }
    assert (scores["decision_function"].thresholds_ < 0).any()
    np.testing.assert_array_equal(scores["auto"].thresholds_, scores["predict_proba"].thresholds_)
    # One is a monotone function of the other, so a threshold per label cuts at the same rows.
    np.testing.assert_array_equal(scores["auto"].predict(X), scores["decision_function"].predict(X))


COST = np.array([[0.0, 1.0], [5.0, 0.5]])


def cost_of(Y, predicted):
    return -np.mean(COST[Y, predicted])


def recall_at_precision(Y, predicted):
    precise = metrics.precision_score(Y, predicted, zero_division=0) >= 0.6
    return precise * metrics.recall_score(Y, predicted, zero_division=0)


def over(average, measure):
    """The mean of a measure over labels or samples, or that of all pairs."""

    def averaged(Y, predicted):
        if average == "micro":
            return measure(Y.ravel(), predicted.ravel())
        each = (Y, predicted) if average == "samples" else (Y.T, predicted.T)
        return np.mean(list(map(measure, *each)))

    return averaged


def f_beta(beta):
    return lambda Y, predicted: metrics.fbeta_score(Y, predicted, beta=beta, zero_division=0)


OBJECTIVES = {
    "f1": f_beta(1),
    "f2": f_beta(2),
    "recall_at_precision_0.6": recall_at_precision,
    "cost": cost_of,
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    ("average", "per_label"),
    [("macro", False), ("micro", False), ("samples", False), ("macro", True), ("micro", True)],
)
def test_thresholds_are_the_best_for_every_objective(objective, average, per_label):
    X, Y = (each[:, 1:] for each in echoed(n=9))
    given = COST if objective == "cost" else objective
    tuned = TunedThresholdsCV(Echo(), cv=3, objective=given, average=average, per_label=per_label)
    if (objective, average, per_label) == ("recall_at_precision_0.6", "micro", True):
        with pytest.raises(ValueError, match=r"'micro' is not available.*pass one of \['macro'\]"):
            tuned.fit(X, Y)
        return
    tuned.fit(X, Y)
    value = over(average, OBJECTIVES[objective])
    every = [[*np.unique(X if not per_label else X[:, k]), np.inf] for k in range(2)]
    pairs = product(*every) if per_label else zip(*every, strict=True)
    best = max(value(Y, (pair <= X).astype(int)) for pair in pairs)
    assert tuned.best_score_ == pytest.approx(best, abs=1e-12)
    assert value(Y, tuned.predict(X)) == pytest.approx(best, abs=1e-12)
    folds = [
        value(Y[test], tuned.predict(X[test]))
        for _, test in MultiLabelStratifiedKFold(3).split(X, Y)
    ]
    np.testing.assert_allclose(tuned.fold_scores_, folds)


@pytest.mark.parametrize("per_label", [False, True])
@pytest.mark.parametrize(
    "scorer",
    [
        metrics.make_scorer(metrics.fbeta_score, beta=0.5, zero_division=0),
        metrics.make_scorer(metrics.hamming_loss, greater_is_better=False),
    ],
)
def test_the_best_threshold_of_one_label_is_found_for_any_scorer(scorer, per_label):
    X, Y = (each[:, :1] for each in echoed(n=90))
    options = {"objective": scorer, "per_label": per_label}
    ours = TunedThresholdsCV(Echo(), cv=KFold(3), **options).fit(X, Y)

    def value(predicted):
        return scorer._sign * scorer._score_func(Y[:, 0], predicted, **scorer._kwargs)

    every = [value((X[:, 0] >= t).astype(int)) for t in [*X[:, 0], np.inf]]
    assert ours.best_score_ == pytest.approx(max(every))
    assert value(ours.predict(X)[:, 0]) == pytest.approx(max(every))


def test_a_callable_scores_each_label_where_it_is_known():
    X, Y = echoed(n=60)
    y = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, np.nan, Y)
    options = {"objective": metrics.matthews_corrcoef, "per_label": True, "cv": 3}
    found = TunedThresholdsCV(Echo(), **options).fit(X, y).thresholds_
    for k, known in enumerate(~np.isnan(y.T)):
        alone = TunedThresholdsCV(Echo(), **options).fit(X[known, k : k + 1], Y[known, k : k + 1])
        np.testing.assert_allclose(found[k], alone.thresholds_[0])
    with pytest.raises(ValueError, match=r"unknown labels .* set per_label=True"):
        TunedThresholdsCV(Echo(), objective=metrics.jaccard_score).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"objective": "f"}, "objective='f'"),
        ({"objective": "recall_at_precision_2"}, "objective='recall_at_precision_2'"),
        ({"objective": [[1, 0], [1, 0]]}, "errors cost no less"),
        ({"average": "weighted"}, "average"),
        ({"average": "samples", "per_label": True}, "average='samples'.*per_label=True"),
        ({"cv": "five"}, "cv"),
        ({"cv": 1}, "cv"),
        ({"response_method": "predict"}, "response_method"),
        ({"response_method": "decision_function"}, "MLkNN has no decision_function"),
        ({"per_label": "yes"}, "per_label"),
    ],
)
def test_wrong_parameters_are_named(parameters, error):
    with pytest.raises(ValueError, match=error):
        TunedThresholdsCV(MLkNN(), **parameters).fit(*made())


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y"),
        (np.arange(60) % 3, "one dimension.*TunedThresholdClassifierCV"),
        (np.full((60, 2), 2), "contains 2"),
        (np.zeros((59, 2)), r"\[60, 59\]"),
    ],
)
def test_wrong_labels_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        TunedThresholdsCV(MLkNN()).fit(made()[0], y)


INDICATOR = "passes a y that is not an indicator matrix"
COLUMN = "expects a prediction of one column to be 1-D, or two probabilities for it"
NOT_FOR_IT = {
    "check_classifier_data_not_an_array": INDICATOR,
    "check_classifier_not_supporting_multiclass": INDICATOR,
    "check_classifiers_classes": INDICATOR,
    "check_classifiers_one_label_sample_weights": INDICATOR,
    "check_classifiers_train": COLUMN,
    "check_estimator_sparse_array": COLUMN,
    "check_estimator_sparse_matrix": COLUMN,
    "check_estimators_dtypes": INDICATOR,
    "check_fit2d_1feature": INDICATOR,
}
OF_THRESHOLDS = {"check_classifier_multioutput": "expects a threshold of 0.5"}


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="the checks of older versions pass two classes other than 0 and 1",
)
@parametrize_with_checks(
    [TunedThresholdsCV(MLkNN(k=3), cv=3), LabelCalibratedClassifier(MLkNN(k=3), cv=3)],
    expected_failed_checks=lambda each: (
        NOT_FOR_IT | (OF_THRESHOLDS if isinstance(each, TunedThresholdsCV) else {})
    ),
)
def test_conventions_of_scikit_learn(estimator, check, request):
    passes(check, estimator, request)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_unknown_labels_do_not_count_in_f1(average):
    """`Echo` returns its features, so held-out scores are the features of the held-out rows."""
    rng = np.random.default_rng(0)
    scores = rng.random((50, 3)).round(2)
    y = (scores + 0.4 * rng.normal(size=(50, 3)) > 0.6).astype(float)
    y[rng.random(y.shape) < 0.3] = np.nan
    tuned = TunedThresholdsCV(Echo(), average=average, cv=3).fit(scores, y)
    axis = None if average == "micro" else 0

    def f1_of_known(threshold):
        predicted = (scores >= threshold) & ~np.isnan(y)
        hits, errors = (predicted & (y == 1)).sum(axis), (predicted != (y == 1)).sum(axis)
        return np.mean(2 * hits / (2 * hits + errors))

    best = max(map(f1_of_known, np.unique(scores)))
    assert tuned.best_score_ == pytest.approx(best)
    assert f1_of_known(tuned.thresholds_[0]) == pytest.approx(best)
