"""Random splits of a given size, and published results beside ours."""

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from skml_kalda import MLkNN
from skml_kalda.bench import report, run
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.running import measure
from skml_kalda.datasets import load_dataset
from skml_kalda.metrics import precision_at_k, propensities, propensity_scored_precision_at_k

PUBLISHED_FORM = {"ML-kNN": {"estimator": "MLkNN", "include_self": False}}


PLAN = Plan(
    "small", "Small", datasets=("emotions",), methods=("ML-kNN",), folds=2, seed=2,
    parameters=PUBLISHED_FORM, standardize=False, train_rows={"emotions": 391},
)  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(PLAN.changed(folds=3), tmp_path_factory.mktemp("outside"))


def test_scores_are_those_of_random_splits(results):
    X, y = load_dataset("emotions", return_X_y=True)
    expected = [
        (MLkNN(include_self=False).fit(X[a], y[a]).predict(X[b]) != y[b]).mean()
        for a, b in ShuffleSplit(3, train_size=391, random_state=2).split(X)
    ]
    assert results.frame()["hamming_loss"].tolist() == pytest.approx(expected)


def test_published_results_stand_beside_ours(results, tmp_path):
    text = report(results, tmp_path).with_name("report.md").read_text("utf-8")
    section = text.split("### Published results and ours")[1].split("###")[0]
    published, ours = (line for line in section.splitlines() if line.startswith("| ML-kNN"))
    assert "0.294" in published
    assert "Madjarov et al. 2012" in published
    mean = results.frame()["hamming_loss"].mean()
    assert f"**{mean:.4f}**<br>± " in ours
    assert "3 random splits" in text


def test_published_splits_take_the_place_of_random_ones(tmp_path, monkeypatch):
    order = np.random.default_rng(0).permutation(593)
    published = [(order[:391], order[391:]), (order[202:], order[:202])]
    monkeypatch.setattr(measure, "published_splits", lambda source: published)
    X, y = load_dataset("emotions", return_X_y=True)
    for row, (a, b) in zip(run(PLAN, tmp_path).ok, published, strict=True):
        scores = MLkNN(include_self=False).fit(X[a], y[a]).predict_proba(X[b])
        expected = propensity_scored_precision_at_k(y[b], scores, propensities(y[a]), k=3)
        assert row["scores"]["propensity_scored_precision_at_3"] == pytest.approx(expected)
        assert row["scores"]["precision_at_3"] == pytest.approx(precision_at_k(y[b], scores, k=3))
