"""Leave-one-out scores against refits by scikit-learn, and their calibration."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax

from skml_kalda._core import leave_one_out
from skml_kalda._core.leave_one_out import RidgePath, label_sigmoids, softmax_slope
from skml_kalda._core.scatter import PrimalScatter


def path_of(X, Y, weight):
    return RidgePath.of(PrimalScatter.of(X, sparse.csr_array(Y.astype(float)), weight))


def test_errors_of_many_labels_are_those_of_all_up_to_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 20))
    y = (X @ rng.normal(size=(20, 600)) + 3 * rng.normal(size=(80, 600)) > 3).astype(float)
    left_out = path_of(X, y, np.ones(80)).without_each(X, y, np.ones(80))
    ridges = np.array([1.0, 30.0, 1e3])
    expected = [np.sum((y - left_out.scores(ridge)) ** 2) for ridge in ridges]
    found = left_out.condensed().squared_errors(ridges)
    np.testing.assert_allclose(found, expected, rtol=0.05)
    np.testing.assert_allclose(found / found[0], expected / expected[0], rtol=0.02)


def test_sigmoids_of_known_labels_are_those_without_the_unknown():
    """Of one label, where unknown rows can simply be dropped."""
    scores, Y, _ = scored(n=60, K=1)
    rng = np.random.default_rng(2)
    weight, known = rng.random(60) + 0.5, rng.random((60, 1)) < 0.7
    found = label_sigmoids(scores, Y * known, weight, known.astype(float))
    rows = known[:, 0]
    np.testing.assert_allclose(found, label_sigmoids(scores[rows], Y[rows], weight[rows]))


def scored(n=400, K=5, seed=0):
    """Labels that follow sigmoids of their scores, and the true log-odds."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(n, K)) * rng.uniform(1, 3, K) + rng.uniform(-3, 1, K)
    Y = (rng.random((n, K)) < expit(log_odds)).astype(float)
    return (log_odds - 1) * rng.uniform(0.5, 1.5, K), Y, log_odds


def test_samples_of_nearly_the_same_score_can_be_put_together(monkeypatch):
    scores, Y, _ = scored(n=3000)
    weight = np.random.default_rng(1).uniform(0.5, 2, 3000)
    found = label_sigmoids(scores, Y, weight)
    monkeypatch.setattr(leave_one_out, "_GROUPS", 3000)
    np.testing.assert_allclose(found, label_sigmoids(scores, Y, weight), atol=2e-3)


def test_it_is_the_minimum_of_the_penalised_losses():
    scores, Y, _ = scored(n=60)
    weight = np.random.default_rng(1).uniform(0.5, 2, 60)
    q = (weight @ Y + 0.5) / (weight.sum() + 1)
    unit = np.sqrt(q * (1 - q))
    x = (scores - q) / unit

    def loss(theta, columns, prior, strength):
        z = logit(q)[columns] + theta[0] * x[:, columns] + theta[1]
        likelihood = Y[:, columns] * np.log(expit(z)) + (1 - Y[:, columns]) * np.log(expit(-z))
        return -np.sum(weight[:, None] * likelihood) + strength / 2 * np.sum((theta - prior) ** 2)

    def best(columns, prior, strength):
        return minimize(loss, prior, (columns, prior, strength), tol=1e-10).x

    common = best(np.arange(5), np.array([1.0, 0.0]), 1e-3)
    slope, intercept = label_sigmoids(scores, Y, weight)
    for k in range(5):
        a, b = best(np.array([k]), common, 3.0)
        assert slope[k] == pytest.approx(a / unit[k], rel=1e-3)
        assert intercept[k] == pytest.approx(logit(q[k]) + b - a * q[k] / unit[k], rel=1e-3)


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
