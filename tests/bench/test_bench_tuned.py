"""Nested cross-validation against scikit-learn's, and what follows from its scores."""

import itertools

import numpy as np
import pytest
from sklearn import metrics
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import MLDA, MultiLabelKaLDA
from skml_kalda.bench import figure, read_results, report, run
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.running.measure import choose
from skml_kalda.datasets import load_dataset
from skml_kalda.metrics import precision_at_k
from tests.bench.conftest import scores_by_cell
from tests.conftest import KeptFits, made

REDUCERS = {
    "none": (None, {}),
    "MLDA": (MLDA(), {"ridge": [0.0, 0.3], "normalize": ["B", "sqrt_eig"]}),
    "kaLDA, free": (MultiLabelKaLDA(constraint="none"), {"shrinkage": [0.0, 0.2, 0.6]}),
}
TUNE = {
    "folds": 3,
    "score": "macro_f1",
    "neighbors": [1, 4, 9],
    "grid": {name: grid for name, (_, grid) in REDUCERS.items()},
}
FREE = {"kaLDA, free": {"estimator": "MultiLabelKaLDA", "constraint": "none"}}


def nested(**changes):
    settings = {
        "datasets": ("emotions",), "methods": tuple(REDUCERS), "classifiers": ("k-NN",),
        "parameters": FREE, "folds": 3, "seed": 4, "max_rows": {"emotions": 240}, "tune": TUNE,
    }  # fmt: skip
    return Plan("nested", "Nested", **{**settings, **changes})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = nested(datasets=("emotions", "yeast"), max_rows={"emotions": 240, "yeast": 300})
    return run(plan, tmp_path_factory.mktemp("nested"))


def search_of(method):
    reducer, grid = REDUCERS[method]
    steps = [("scale", StandardScaler()), ("reduce", reducer), ("knn", KNeighborsClassifier())]
    grid = {f"reduce__{name}": values for name, values in grid.items()}
    return GridSearchCV(
        Pipeline(steps, memory=KeptFits()),
        {**grid, "knn__n_neighbors": TUNE["neighbors"]},
        scoring="f1_macro",
        cv=KFold(TUNE["folds"], shuffle=True, random_state=4),
    )


def best_f1(y, shares):
    """The best macro F1 of one threshold for all labels."""
    cuts = np.unique(shares)
    return max(metrics.f1_score(y, shares >= cut, average="macro") for cut in cuts)


def mean_precision(y, shares):
    return np.mean([precision_at_k(y, shares, k=k) for k in (1, 3)])


@pytest.mark.parametrize(
    ("score", "of_fold"),
    [("macro_f1_tuned", best_f1), (["precision_at_1", "precision_at_3"], mean_precision)],
)
def test_the_score_may_be_that_of_a_threshold_or_a_mean(score, of_fold):
    X, y = made(150, 10, 4, 1)
    tune = {**TUNE, "score": score, "neighbors": [1, 4], "grid": {}}
    (cell, *_) = nested(methods=("none",), parameters={}, tune=tune).cells()
    means = {}
    for k in tune["neighbors"]:
        found = []
        for train, test in KFold(TUNE["folds"], shuffle=True, random_state=cell.seed).split(X):
            scaler = StandardScaler().fit(X[train])
            knn = KNeighborsClassifier(k).fit(scaler.transform(X[train]), y[train])
            shares = [p[:, 1] for p in knn.predict_proba(scaler.transform(X[test]))]
            found.append(of_fold(y[test], np.column_stack(shares)))
        means[k] = np.mean(found)
    chosen = choose(cell, X, y)
    assert chosen.k == max(means, key=means.get)
    assert chosen.score == pytest.approx(means[chosen.k])


def test_nested_scores_are_those_of_a_plain_loop_over_grid_searches(tmp_path):
    X, y = load_dataset("emotions", return_X_y=True)
    drawn = sorted(np.random.default_rng(4).choice(len(y), 240, replace=False))
    X, y = X[drawn], y[drawn]
    methods = ("none", "kaLDA, free")
    ok = run(nested(methods=methods, folds=2), tmp_path).ok
    rows = {(row["method"], row["fold"]): row for row in ok}
    assert len(rows) == 4
    outer = KFold(2, shuffle=True, random_state=4).split(X)
    for (fold, (train, test)), method in itertools.product(enumerate(outer), methods):
        row = rows[method, fold]
        search = search_of(method).fit(X[train], y[train])
        chosen = {f"reduce__{name}": value for name, value in row["chosen"].items()}
        chosen["knn__n_neighbors"] = row["chosen_k"]
        found = search.cv_results_["mean_test_score"]
        assert row["inner_score"] == pytest.approx(search.best_score_, abs=1e-12)
        place = search.cv_results_["params"].index(chosen)
        assert found[place] == pytest.approx(search.best_score_, abs=1e-12)
        assert np.ptp(found) > 0.005, "nothing to choose"
        model = search.estimator.set_params(**chosen)
        predicted = model.fit(X[train], y[train]).predict(X[test])
        expected = {
            "accuracy": (predicted == y[test]).mean(),
            "macro_f1": metrics.f1_score(y[test], predicted, average="macro"),
            "micro_f1": metrics.f1_score(y[test], predicted, average="micro"),
        }
        assert {name: row["scores"][name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_neither_jobs_nor_resuming_change_a_nested_score(tmp_path, jobs):
    # Few landmarks, drawn at random: the seed of a cell must not depend on its neighbours.
    grid = {"KernelKaLDA": {"n_landmarks": [20, 40], "shrinkage": [0.1, 0.5]}}
    methods, tune = ("none", "KernelKaLDA"), {**TUNE, "grid": grid}
    plan = nested(methods=methods, max_rows={"emotions": 120}, folds=2, tune=tune)
    whole = run(plan, tmp_path, jobs=jobs)
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    assert read_results(tmp_path).missing == 3
    again = run(plan, tmp_path)
    assert scores_by_cell(whole.ok) == scores_by_cell(again.ok)
    assert [row["chosen_k"] for row in again.ok] == [row["chosen_k"] for row in whole.ok]


def test_a_setting_that_fails_is_not_chosen(tmp_path):
    tune = {**TUNE, "grid": {"PCA": {"n_components": [1000, 3]}}}
    rows = run(nested(methods=("PCA",), tune=tune), tmp_path / "one").ok
    assert [row["chosen"] for row in rows] == 3 * [{"n_components": 3}]
    assert any("{'n_components': 1000} failed" in each for each in rows[0]["warnings"])
    tune["grid"] = {"PCA": {"n_components": [1000]}}
    failed = run(nested(methods=("PCA",), tune=tune), tmp_path / "all").failed
    assert [row["error"] for row in failed] == 3 * [
        "ValueError: every setting of PCA failed on some inner fold: see warnings"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classifiers": ("3-NN",)}, "classifiers must be k-NN"),
        ({"tune": {}}, "k-NN needs a plan that says how to tune"),
        ({"datasets": ("mnist",)}, "several labels per sample, not for mnist"),
        ({"tune": {**TUNE, "fold": 3}}, "tune must have folds, score, neighbors, grid, not"),
        ({"tune": {**TUNE, "score": "f1_macro"}}, "not a known score to tune by"),
        ({"tune": {**TUNE, "neighbors": 3}}, "'neighbors' parameter of tune must be"),
        ({"tune": {**TUNE, "grid": {"MLD": {}}}}, "did you mean 'MLDA'"),
        ({"tune": {**TUNE, "grid": {"MLDA": {"rigde": [1]}}}}, "Invalid parameter 'rigde'"),
    ],
)
def test_a_wrong_tuning_is_refused_before_any_work(changes, message):
    with pytest.raises(ValueError, match=message):
        nested(**changes).with_methods()


def test_the_report_of_a_tuned_plan_tells_all(results, tmp_path):
    page = report(results, tmp_path)
    text = page.with_name("report.md").read_text("utf-8")
    for name in ("macro F1", "micro F1", "label ranking average precision", "ranking loss"):
        assert f"By {name} with k-NN, Friedman's test over 2 datasets" in text
    assert "240 of 593 samples" in text
    for score in ("macro-f1", "micro-f1", "average-precision", "ranking-loss"):
        assert (tmp_path / "figures" / f"nested-ranks-{score}.svg").exists()
    (axis,) = figure(results, "ranks", score="micro_f1").axes
    means = results.frame().pivot_table(index="dataset", columns="method", values="micro_f1")
    best = rank_methods(means).mean_ranks.index[0]
    assert axis.get_yticklabels()[0].get_text().startswith(best)
