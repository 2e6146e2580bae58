"""MLkNN gives the published results of ML-kNN: ten neighbours, s = 1, features as they are."""

from __future__ import annotations

import pytest
from sklearn.metrics import (
    hamming_loss,
    label_ranking_average_precision_score,
    label_ranking_loss,
)
from sklearn.model_selection import KFold, cross_val_predict

from skml_kalda import MLkNN
from skml_kalda.datasets import load_dataset
from skml_kalda.metrics import coverage, one_error


# G. Madjarov et al., "An extensive experimental comparison of methods for multi-label learning",
# Pattern Recognition 45 (2012): three digits, on the training and test rows of the sets.
@pytest.mark.parametrize(
    ("name", "loss"), [("emotions", 0.294), ("scene", 0.099), ("yeast", 0.198)]
)
def test_hamming_loss_on_the_published_splits(name, loss):
    X, y = load_dataset(name, split="train", return_X_y=True)
    X_test, y_test = load_dataset(name, split="test", return_X_y=True)
    model = MLkNN(k=10, s=1, include_self=False).fit(X, y)
    assert round(hamming_loss(y_test, model.predict(X_test)), 3) == loss


# M.-L. Zhang and Z.-H. Zhou, Pattern Recognition 40 (2007): ten folds, which are not known. The
# tolerances are twice what the choice of folds changes.
def test_ten_folds_of_yeast_as_in_the_first_paper():
    X, y = load_dataset("yeast", return_X_y=True)
    scores = cross_val_predict(
        MLkNN(k=10, s=1, include_self=False), X, y, cv=KFold(10), method="predict_proba"
    )
    assert hamming_loss(y, scores >= 0.5) == pytest.approx(0.194, abs=0.002)
    assert one_error(y, scores) == pytest.approx(0.230, abs=0.005)
    assert coverage(y, scores) == pytest.approx(6.275, abs=0.03)
    assert label_ranking_loss(y, scores) == pytest.approx(0.167, abs=0.002)
    assert label_ranking_average_precision_score(y, scores) == pytest.approx(0.765, abs=0.003)
