"""Weights of rows reach our estimators through scikit-learn's pipelines and searches."""

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


@pytest.mark.parametrize("reducer", [MultiLabelKaLDA(), KernelKaLDA(random_state=0)], ids=repr)
@pytest.mark.parametrize("classifier", [MLkNN(3), BinaryRelevanceKNN(3)], ids=repr)
@sklearn.config_context(enable_metadata_routing=True)
def test_weights_go_through_a_pipeline(reducer, classifier):
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    weighted = (each.set_fit_request(sample_weight=True) for each in (reducer, classifier))
    pipeline = make_pipeline(scaler, *weighted)
    found = pipeline.fit(X, Y, sample_weight=WEIGHT).predict_proba(X)
    scaled = StandardScaler().fit_transform(X)
    rows = reducer.fit(scaled, Y, sample_weight=WEIGHT).transform(scaled)
    expected = classifier.fit(rows, Y, sample_weight=WEIGHT).predict_proba(rows)
    assert_allclose(found, expected, atol=1e-10)
    assert not np.allclose(pipeline.fit(X, Y).predict_proba(X), expected)


@pytest.mark.parametrize("classifier", [MLkNN(3), BinaryRelevanceKNN(3), KaLDAClassifier("linear")])
def test_models_of_named_and_unknown_labels_are_kept_by_joblib_and_skops(classifier, tmp_path):
    y = pd.DataFrame(Y, columns=["sea", "sun", "sky", "sand"]).astype("boolean")
    y.iloc[::7, 1] = pd.NA
    model = make_pipeline(MultiLabelKaLDA(), classifier).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    saved = skops.io.dumps(model)
    loaded = skops.io.loads(saved, trusted=trusted_types())
    for kept in (joblib.load(tmp_path / "model"), loaded):
        assert_array_equal(kept.predict(X), model.predict(X))
        assert kept[0].classes_.tolist() == y.columns.tolist()
