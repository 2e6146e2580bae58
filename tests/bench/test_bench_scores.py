"""The scores of cells against plain loops, and against the published numbers."""

from functools import partial

import numpy as np
import pytest
from sklearn import metrics
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from skml_kalda import OCM
from skml_kalda.bench import run
from skml_kalda.bench.methods import make_estimator
from skml_kalda.bench.plan import Plan, read_plan
from skml_kalda.bench.scores import SCORES, scores_of
from skml_kalda.datasets import load_dataset, save_arff
from skml_kalda.metrics import (
    one_error,
    precision_at_k,
    propensities,
    propensity_scored_precision_at_k,
)
from skml_kalda.model_selection import MultiLabelStratifiedKFold
from tests import classic
from tests.classic import MLDA

PUBLISHED_FORMS = {name: make for name, make in vars(classic).items() if isinstance(make, partial)}
PUBLISHED_FORMS.pop("KernelKaLDA")  # never published


@pytest.mark.parametrize(
    ("reducer", "standardize", "splitter"),
    [(PCA(4, random_state=0), True, KFold), (MLDA(4), False, MultiLabelStratifiedKFold)],
)
def test_scores_of_cells_are_those_of_a_plain_loop(tmp_path, standardize, reducer, splitter):
    X, Y = load_dataset("emotions", return_X_y=True)
    expected = []
    for repeat in range(2):
        for train, test in splitter(3, shuffle=True, random_state=5 + repeat).split(X, Y):
            A, B = X[train], X[test]
            if standardize:
                scaler = StandardScaler().fit(A)
                A, B = scaler.transform(A), scaler.transform(B)
            A, B = reducer.fit(A, Y[train]).transform(A), reducer.transform(B)
            knn = KNeighborsClassifier(3).fit(A, Y[train])
            predicted = knn.predict(B)
            probability = np.column_stack([each[:, 1] for each in knn.predict_proba(B)])
            chances = propensities(Y[train])
            expected.append(plain_scores(Y[test], predicted, probability, chances))
    plan = Plan(
        "loop", "Loop", datasets=("emotions",), methods=(type(reducer).__name__,),
        classifiers=("3-NN",), dimensions=(4,), folds=3, repeats=2, seed=5, standardize=standardize,
        stratified=splitter is MultiLabelStratifiedKFold, published=True,
    )  # fmt: skip
    found = run(plan, tmp_path).ok
    assert len(found) == len(expected) == 6
    for row, scores in zip(found, expected, strict=True):
        assert row["scores"] == pytest.approx(scores, abs=1e-12)


def plain_scores(Y, predicted, probability, chances):
    true = (Y * predicted).sum(axis=0)
    wrong = (predicted != Y).sum(axis=0)
    either = np.maximum(Y, predicted).sum(axis=1)
    overlap = np.where(either > 0, (Y * predicted).sum(axis=1) / np.maximum(either, 1), 1)
    return {
        "accuracy": (predicted == Y).mean(),
        "macro_f1": np.mean(2 * true / (2 * true + wrong)),
        "micro_f1": 2 * true.sum() / (2 * true.sum() + wrong.sum()),
        "samples_f1": np.mean(2 * (Y * predicted).sum(axis=1) / (Y + predicted).sum(axis=1)),
        "subset_accuracy": (predicted == Y).all(axis=1).mean(),
        "hamming_loss": (predicted != Y).mean(),
        "jaccard": overlap.mean(),
        "coverage": metrics.coverage_error(Y, probability),
        "ranking_loss": metrics.label_ranking_loss(Y, probability),
        "average_precision": metrics.label_ranking_average_precision_score(Y, probability),
        "macro_average_precision": metrics.average_precision_score(Y, probability),
        "micro_average_precision": metrics.average_precision_score(Y, probability, average="micro"),
        "roc_auc": metrics.roc_auc_score(Y, probability),
        "one_error": one_error(Y, probability),
        **{
            f"{name}_at_{k}": score(Y, probability, *more, k=k)
            for name, score, *more in (
                ("precision", precision_at_k),
                ("ndcg", metrics.ndcg_score),
                ("propensity_scored_precision", propensity_scored_precision_at_k, chances),
            )
            for k in (1, 3, 5)
        },
    }


def test_single_label_cells_are_those_of_a_plain_loop(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat([f"digit{number}" for number in range(10)], 15)
    X = rng.normal(size=(150, 784)) + rng.normal(size=(10, 784)).repeat(15, axis=0) / 4
    save_arff(tmp_path / "mnist150.arff", X, labels)
    X, y = load_dataset("mnist", data_home=tmp_path, return_X_y=True)
    expected = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        ocm = OCM(9).fit(X[train], y[train])
        knn = KNeighborsClassifier(3).fit(ocm.transform(X[train]), y[train])
        expected.append((knn.predict(ocm.transform(X[test])) == y[test]).mean())
    plan = read_plan("singlelabel").changed(datasets=("mnist",), methods=("OCM",))
    found = run(plan, tmp_path / "out", data_home=tmp_path)
    assert found.frame()["accuracy"].tolist() == pytest.approx(expected, abs=1e-12)
    assert 0.2 < np.mean(expected) < 0.99


HALF = {"macro": 0.5, "micro": 0.5}


def test_a_perfect_prediction_has_the_best_value_of_every_score():
    """Against all predictions with one label flipped, as probabilities too."""
    Y = np.random.default_rng(0).permuted(np.tile([1, 0, 0, 0, 1, 1], (6, 1)), axis=1)
    flips = []
    for place in np.ndindex(Y.shape):
        predicted = Y.copy()
        predicted[place] ^= 1
        flips.append(scores_of(Y, predicted, predicted, HALF, np.ones(6)))
    perfect = scores_of(Y, Y, Y, HALF, np.ones(6))
    assert set(perfect) == set(SCORES)
    for name, score in SCORES.items():
        values = np.array([each[name] for each in flips])
        assert score.best(np.append(values, perfect[name])) == perfect[name], name
        assert (values != perfect[name]).any(), name


def test_a_plan_of_published_forms_has_them_and_other_plans_have_the_defaults():
    aliases = {"kaLDA": "MultiLabelKaLDA", "TR": "TraceRatio", "sdpLDA": "SDPLDA"}
    forms = PUBLISHED_FORMS | {alias: PUBLISHED_FORMS[name] for alias, name in aliases.items()}
    for name, make in forms.items():
        for published, expected in ((True, make()), (False, make.func())):
            plan = Plan("a", "A", datasets=("emotions",), methods=(name,), published=published)
            found = make_estimator(name, plan.cells()[0].parameters, None, None)
            assert vars(found) == vars(expected), name
