"""Calibrated probabilities against scikit-learn's, and what they promise."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from skml_kalda.metrics import per_label
from skml_kalda.model_selection import LabelCalibratedClassifier
from tests.conftest import made, standardized
from tests.model_selection.test_thresholds import Echo


@pytest.mark.parametrize("classifier", [RidgeClassifier(), LogisticRegression(), GaussianNB()])
def test_probabilities_are_those_of_scikit_learn_where_samples_are_many(classifier):
    X, Y = made(n=4000, K=3)
    one_vs_rest = OneVsRestClassifier(classifier)
    ours = LabelCalibratedClassifier(one_vs_rest, cv=KFold(4)).fit(X, Y).predict_proba(X)
    for k in range(3):
        theirs = CalibratedClassifierCV(classifier, cv=KFold(4), ensemble=False).fit(X, Y[:, k])
        np.testing.assert_allclose(ours[:, k], theirs.predict_proba(X)[:, 1], atol=0.02)


def test_overconfident_probabilities_become_better_on_new_samples():
    X, Y = standardized("emotions")
    plain = OneVsRestClassifier(GaussianNB()).fit(X[:400], Y[:400])
    calibrated = LabelCalibratedClassifier(plain).fit(X[:400], Y[:400])
    X, Y = X[400:], Y[400:]
    before, after = (per_label(log_loss, Y, m.predict_proba(X)) for m in (plain, calibrated))
    assert np.all(after < before / 2)
    np.testing.assert_array_equal(calibrated.predict(X), calibrated.predict_proba(X) >= 0.5)


def test_scores_without_information_give_the_prevalence():
    Y = (np.arange(100)[:, None] % [2, 5] == 0).astype(int)
    noise = np.random.default_rng(0).normal(size=Y.shape) - 0.3 * Y
    found = LabelCalibratedClassifier(Echo(), cv=KFold(2)).fit(noise, Y).predict_proba(noise)
    np.testing.assert_allclose(found, np.tile([0.5, 0.2], (100, 1)), atol=0.02)


def test_unknown_labels_and_samples_of_no_weight_do_not_count():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 2)) < 0.4).astype(float)
    scores = Y + rng.normal(size=Y.shape)
    model = LabelCalibratedClassifier(Echo().fit(scores, Y), cv="prefit")
    expected = model.fit(scores[:50], Y[:50]).predict_proba(scores)
    y = np.where(np.arange(80)[:, None] < 50, Y, np.nan)
    np.testing.assert_allclose(model.fit(scores, y).predict_proba(scores), expected)
    model.fit(scores, Y, sample_weight=np.arange(80) < 50)
    np.testing.assert_allclose(model.predict_proba(scores), expected)


def test_classes_are_named():
    with pytest.raises(ValueError, match=r"one class per sample see .*CalibratedClassifierCV"):
        LabelCalibratedClassifier(RidgeClassifier()).fit(made()[0], np.arange(60) % 3)
