"""Weights of rows reach our estimators through scikit-learn's pipelines and searches."""

from __future__ import annotations

import io

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import (
    BinaryRelevanceKNN,
    KaLDAClassifier,
    KernelKaLDA,
    MLkNN,
    MultiLabelKaLDA,
    trusted_types,
)
from tests.conftest import made

X, Y = made(n=80)
WEIGHT = np.random.default_rng(0).integers(1, 4, 80).astype(float)


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted(estimator):
    return estimator.set_fit_request(sample_weight=True)


def pipeline(reducer, classifier):
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    return make_pipeline(scaler, weighted(reducer), weighted(classifier))


@pytest.mark.parametrize("reducer", [MultiLabelKaLDA(), KernelKaLDA(random_state=0)], ids=repr)
@pytest.mark.parametrize("classifier", [MLkNN(3), BinaryRelevanceKNN(3)], ids=repr)
def test_weights_go_through_a_pipeline(reducer, classifier):
    model = pipeline(reducer, classifier).fit(X, Y, sample_weight=WEIGHT)
    scaled = StandardScaler().fit_transform(X)
    rows = reducer.fit(scaled, Y, sample_weight=WEIGHT).transform(scaled)
    expected = classifier.fit(rows, Y, sample_weight=WEIGHT).predict_proba(rows)
    assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    without = pipeline(reducer, classifier).fit(X, Y).predict_proba(X)
    assert not np.allclose(without, expected)


@pytest.mark.parametrize(
    "classifier",
    [MLkNN(3), BinaryRelevanceKNN(3), KaLDAClassifier("linear", random_state=0)],
    ids=repr,
)
def test_models_of_named_and_unknown_labels_are_kept_by_joblib_and_skops(classifier):
    y = pd.DataFrame(Y, columns=["sea", "sun", "sky", "sand"]).astype("boolean")
    y.iloc[::7, 1] = pd.NA
    model = make_pipeline(MultiLabelKaLDA(), classifier).fit(X, y)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    saved = skops.io.dumps(model)
    for kept in (joblib.load(file), skops.io.loads(saved, trusted=trusted_types())):
        assert_array_equal(kept.predict(X), model.predict(X))
        assert kept[0].classes_.tolist() == y.columns.tolist()
