"""Methods that classify by themselves, classifiers of any library, and tuned thresholds."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from skmultilearn.problem_transform import BinaryRelevance

from skml_kalda import BinaryRelevanceKNN, KaLDAClassifier, MLkNN
from skml_kalda.bench import run
from skml_kalda.bench.methods import classifies, make_estimator, method_names
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.reporting.ranks import corrected_t_test
from skml_kalda.bench.running.measure import LabelClassifier
from skml_kalda.bench.scores import SCORES, scores_of
from skml_kalda.datasets import load_dataset
from tests.conftest import made

ANY = [
    LogisticRegression(),
    GaussianNB(),
    SVC(),
    ExtraTreesClassifier(10, random_state=0),
    MultiOutputClassifier(GaussianNB()),
    ClassifierChain(LogisticRegression()),
    BinaryRelevance(GaussianNB()),
    MLkNN(k=3),
    KaLDAClassifier(random_state=0),
]


@pytest.mark.parametrize("classifier", ANY, ids=lambda each: type(each).__name__)
def test_labels_that_do_not_vary_are_predicted_as_they_are(classifier):
    X, Y = made()
    Y[:, 1], Y[:, 2] = 1, 0
    fitted = LabelClassifier.fit(classifier, X, Y)
    predicted, scores = fitted.predict(X), fitted.scores(X)
    assert predicted.shape == scores.shape == Y.shape
    assert set(np.unique(predicted)) <= {0, 1}
    assert predicted[:, 1].all()
    assert not predicted[:, 2].any()
    assert (scores.argmax(axis=1) == 1).all()
    assert (scores.argmin(axis=1) == 2).all()
    # The other labels are learned.
    assert metrics.roc_auc_score(Y[:, [0, 3]], scores[:, [0, 3]]) > 0.6


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_a_classifier_without_scores_has_no_measures_of_rankings():
    X, Y = made()
    fitted = LabelClassifier.fit(MultiOutputClassifier(OnlyPredicts()), X, Y)
    found = scores_of(Y, fitted.predict(X), fitted.scores(X), {})
    assert "micro_f1" in found
    assert not {name for name in found if SCORES[name].needs_probabilities}


def test_the_baselines_are_there_by_name():
    rows = {
        "KaLDAClassifier", "kNN", "MLkNN", "LogisticRegression", "LinearSVC", "SVC", "ExtraTrees",
        "RandomForest", "ClassifierChain", "PCA", "TruncatedSVD", "kaLDA, shrunk", "KernelKaLDA",
        "kaLDA, tricube votes",
        "KernelCCA", "KernelMDDM", "KernelMLDA", "KernelMLLS", "KernelMLSI", "KernelOPLS",
    }  # fmt: skip
    assert rows <= set(method_names())
    X, Y = made(120)
    reducers = {name for name in rows if not classifies(name, {})}
    assert len(reducers) == 10
    for name in rows:
        estimator = make_estimator(name, {}, 2, 0)
        if name in reducers:
            assert estimator.fit(X, Y).transform(X).shape == (120, 2)
        else:
            assert LabelClassifier.fit(estimator, X, Y).scores(X).shape == Y.shape


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = Plan(
        "strong", "Strong", datasets=("emotions",), folds=2, thresholds=3, classifiers=("3-NN",),
        methods=("none", "PCA", "kNN", "LogisticRegression"),
        parameters={"kNN": {"k": 3}},
    )  # fmt: skip
    return run(plan, tmp_path_factory.mktemp("strong"))


def test_a_method_that_classifies_has_one_cell_for_each_fold(results):
    found = [(row["method"], row["classifier"]) for row in results.ok]
    assert found == [
        *2 * [("none", "3-NN")], *2 * [("PCA", "3-NN")],
        *2 * [("kNN", "itself")], *2 * [("LogisticRegression", "itself")],
    ]  # fmt: skip
    scores = {(row["method"], row["fold"]): row["scores"] for row in results.ok}
    assert scores["none", 0] == scores["kNN", 0], "neighbours without a reduction"
    assert all(row["train_seconds"] > 0 < row["predict_seconds"] for row in results.ok)


def test_thresholds_are_the_best_on_held_out_training_rows(results):
    """Brute force over all distinct scores, with scikit-learn's measures."""
    X, Y = load_dataset("emotions", return_X_y=True)
    train, test = next(KFold(2, shuffle=True, random_state=0).split(X))
    held_out = np.zeros((len(train), Y.shape[1]))
    for inner, out in KFold(3, shuffle=True, random_state=0).split(train):
        held_out[out] = probabilities(X, Y, train[inner], train[out])
    outer = probabilities(X, Y, train, test)
    (row,) = [r for r in results.ok if (r["method"], r["fold"]) == ("none", 0)]
    for average in ("macro", "micro"):
        f1 = {
            cut: metrics.f1_score(Y[train], held_out >= cut, average=average)
            for cut in np.unique(held_out)
        }
        best = max(cut for cut, value in f1.items() if value == max(f1.values()))
        expected = metrics.f1_score(Y[test], outer >= best, average=average)
        assert row["scores"][f"{average}_f1_tuned"] == pytest.approx(expected)
        assert row["scores"][f"{average}_f1_tuned"] != row["scores"][f"{average}_f1"]


def probabilities(X, Y, train, test):
    scaler = StandardScaler().fit(X[train])
    knn = BinaryRelevanceKNN(k=3).fit(scaler.transform(X[train]), Y[train])
    return np.asarray(knn.predict_proba(scaler.transform(X[test])))


def test_the_lead_of_one_method_is_tested_over_the_folds():
    """The corrected t-test by hand, and its words."""
    gaps = np.array([0.02, -0.01, 0.03, 0.01, 0.02])
    t = gaps.mean() / np.sqrt(gaps.var(ddof=1) * (1 / 5 + 1 / 4))
    p = 2 * (1 - stats.t.cdf(t, 4))
    assert corrected_t_test(gaps, 1 / 4) == pytest.approx(p)
    assert corrected_t_test(np.zeros(5), 1 / 4) == 1
    assert corrected_t_test(np.full(5, 0.5), 1 / 4) == 0


def test_measures_of_rankings_are_defined_on_odd_labels():
    """A label without rows, one of all rows, a row without labels, ties: a number or no label."""
    Y = np.array([[1, 0, 1, 0, 0], [1, 0, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]])
    ties = np.full(Y.shape, 0.5)
    found = scores_of(Y, Y, ties, {}, np.ones(5))
    assert np.isfinite(list(found.values())).all()
    assert found["roc_auc"] == 0.5
    assert found["macro_average_precision"] == pytest.approx((1 + 0 + 0.5 + 0 + 0) / 5)
    assert np.isnan(SCORES["roc_auc"].function(Y[:, :2], ties[:, :2]))
