import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from skml_kalda._core.scores import calibration
from skml_kalda._core.scores.calibration import label_sigmoids, softmax_slope


def scored(n=400, K=5, seed=0):
    """Labels that follow sigmoids of their scores, and the true log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(n, K)) * rng.uniform(1, 3, K) + rng.uniform(-3, 1, K)
    Y = (rng.random((n, K)) < expit(log_odds)).astype(float)
    return (log_odds - 1) * rng.uniform(0.5, 1.5, K), Y, log_odds


def test_many_rows_give_the_logistic_regression_of_each_label():
    scores, Y, _ = scored(n=20000)
    slope, intercept = label_sigmoids(scores, Y, np.ones(20000))
    for k in range(5):
        alone = LogisticRegression(C=np.inf).fit(scores[:, [k]], Y[:, k])
        assert slope[k] == pytest.approx(alone.coef_[0, 0], rel=0.02)
        assert intercept[k] == pytest.approx(alone.intercept_[0], rel=0.02, abs=0.02)


def test_it_is_the_minimum_of_the_penalised_losses():
    scores, Y, _ = scored(n=60)
    weight = np.random.default_rng(1).uniform(0.5, 2, 60)
    q = (weight @ Y + 0.5) / (weight.sum() + 1)
    unit = np.sqrt(q * (1 - q))
    x = (scores - q) / unit

    def loss(theta, columns, prior, firmness):
        z = logit(q)[columns] + theta[0] * x[:, columns] + theta[1]
        likelihood = Y[:, columns] * np.log(expit(z)) + (1 - Y[:, columns]) * np.log(expit(-z))
        return -np.sum(weight[:, None] * likelihood) + firmness / 2 * np.sum((theta - prior) ** 2)

    def best(columns, prior, firmness):
        return minimize(loss, prior, (columns, prior, firmness), tol=1e-10).x

    common = best(np.arange(5), np.array([1.0, 0.0]), 1e-3)
    slope, intercept = label_sigmoids(scores, Y, weight)
    for k in range(5):
        a, b = best(np.array([k]), common, 3.0)
        assert slope[k] == pytest.approx(a / unit[k], rel=1e-3)
        assert intercept[k] == pytest.approx(logit(q[k]) + b - a * q[k] / unit[k], rel=1e-3)


def test_newton_steps_converge_quickly(monkeypatch):
    scores, Y, _ = scored(n=60)
    expected = label_sigmoids(scores, Y, np.ones(60))
    monkeypatch.setattr(calibration, "_STEPS", 8)
    np.testing.assert_allclose(label_sigmoids(scores, Y, np.ones(60)), expected, rtol=1e-8)


def test_a_rare_label_learns_from_the_others():
    rng = np.random.default_rng(0)
    losses = []
    for seed in range(20):
        scores, Y, log_odds = scored(n=60, K=8, seed=seed)
        true = expit(log_odds)
        slope, intercept = label_sigmoids(scores, Y, np.ones(60))
        together = expit(slope * scores + intercept)
        alone = np.column_stack(
            [
                LogisticRegression(C=np.inf)
                .fit(scores[:, [k]], Y[:, k])
                .predict_proba(scores[:, [k]])[:, 1]
                if 0 < Y[:, k].sum() < 60
                else np.full(60, Y[:, k].mean())
                for k in range(8)
            ]
        ).clip(1e-12, 1 - 1e-12)
        fresh = (rng.random(true.shape) < true).astype(int)
        losses.append([log_loss(fresh.ravel(), p.ravel()) for p in (together, alone)])
    together, alone = np.mean(losses, axis=0)
    assert together < alone


def test_scores_that_say_the_opposite_give_the_prevalence():
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 2)) < 0.3).astype(float)
    scores = np.column_stack([Y[:, 0], -Y[:, 1]]) + rng.normal(size=(500, 2))
    slope, intercept = label_sigmoids(scores, Y, np.ones(500))
    assert slope[0] > 0
    assert slope[1] == 0
    assert expit(intercept[1]) == pytest.approx(Y[:, 1].mean(), abs=0.01)


@pytest.mark.parametrize("column", [0.0, 1.0])
def test_separable_and_constant_labels_stay_finite(column):
    rng = np.random.default_rng(0)
    Y = np.column_stack([np.repeat([0.0, 1], 50), np.full(100, column)])
    scores = np.column_stack([Y[:, 0] * 2 - 1, rng.normal(size=100) * 0.01 + column])
    slope, intercept = label_sigmoids(scores, Y, np.ones(100))
    p = expit(slope * scores + intercept)
    assert np.isfinite([slope, intercept]).all()
    assert (p[:50, 0] < 0.05).all()
    assert (p[50:, 0] > 0.95).all()
    assert abs(p[:, 1] - column).max() < 0.05


def test_a_weight_counts_as_so_many_rows():
    scores, Y, _ = scored(n=80)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    given = label_sigmoids(scores, Y, weight.astype(float))
    repeated = label_sigmoids(
        np.repeat(scores, weight, axis=0), np.repeat(Y, weight, axis=0), np.ones(weight.sum())
    )
    np.testing.assert_allclose(given, repeated, rtol=1e-6)


def test_the_slope_of_the_softmax_is_found():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20000, 4))
    p = softmax(2.5 * scores, axis=1)
    classes = (p.cumsum(axis=1) < rng.random((20000, 1))).sum(axis=1)
    assert softmax_slope(scores, classes, np.ones(20000)) == pytest.approx(2.5, rel=0.03)
    # Scores that separate the classes, or say the opposite, still have a finite slope.
    apart = np.eye(4)[classes]
    assert 10 < softmax_slope(apart, classes, np.ones(20000)) < np.inf
    assert 0 < softmax_slope(-apart, classes, np.ones(20000)) < 0.01
