"""Our transformers and scikit-multilearn's classifiers, in every form of the data.

Also run, as it is, in an environment with plain scikit-multilearn (see test_framework.py).
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance, ClassifierChain, LabelPowerset

from skml_kalda import BinaryRelevanceKNN, MLkNN, MultiLabelKaLDA
from skml_kalda.framework import mend_neighbor_classifiers, transformers

TRANSFORMERS = transformers()
FORMS = {
    "list": np.ndarray.tolist,
    "frame": pd.DataFrame,
    "csr_matrix": sparse.csr_matrix,
    "lil_matrix": sparse.lil_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
}
LABEL_FORMS = FORMS | {"float": lambda y: y.astype(float), "bool": lambda y: y.astype(bool)}


def knn():
    return KNeighborsClassifier(3)


OURS = {
    "MLkNN": lambda reducer: make_pipeline(reducer, MLkNN(k=3)),
    "BinaryRelevanceKNN": lambda reducer: make_pipeline(reducer, BinaryRelevanceKNN(3)),
}
THEIRS = {
    "their MLkNN": lambda reducer: make_pipeline(reducer, FrameworkMLkNN(k=3)),
    "after LabelPowerset": lambda reducer: make_pipeline(reducer, LabelPowerset(knn())),
    "in BinaryRelevance": lambda reducer: BinaryRelevance(make_pipeline(reducer, knn())),
    "in ClassifierChain": lambda reducer: ClassifierChain(make_pipeline(reducer, knn())),
    "in LabelPowerset": lambda reducer: LabelPowerset(make_pipeline(reducer, knn())),
}
PIPELINES = OURS | THEIRS

# Samples that are zero in places, every label on some of them, none on others.
rng = np.random.default_rng(7)
X = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.8)
y = (X[:, :3] + 0.3 * rng.normal(size=(90, 3)) > 0.4).astype(int)
X, y, X_test = X[:60], y[:60], X[60:]


@pytest.fixture(scope="module", autouse=True)
def _mended():
    mend_neighbor_classifiers()


def dense(a):
    return a.toarray() if sparse.issparse(a) else np.asarray(a)


@cache
def reference(pipeline, transformer="MultiLabelKaLDA"):
    """Labels and probabilities of a pipeline that was fitted to plain arrays."""
    model = PIPELINES[pipeline](TRANSFORMERS[transformer]()).fit(X, y)
    return dense(model.predict(X_test)), dense(model.predict_proba(X_test))


@pytest.mark.parametrize(
    ("X_form", "y_form"),
    [*((form, np.asarray) for form in FORMS.values()),
     *((np.asarray, form) for form in LABEL_FORMS.values())],
    ids=[*(f"X {form}" for form in FORMS), *(f"y {form}" for form in LABEL_FORMS)],
)  # fmt: skip
@pytest.mark.parametrize("pipeline", OURS)
def test_our_classifiers_take_every_form(pipeline, X_form, y_form):
    model = OURS[pipeline](MultiLabelKaLDA()).fit(X_form(X), y_form(y))
    labels, probability = reference(pipeline)
    assert 0 < labels.mean() < 1
    assert_array_equal(dense(model.predict(X_form(X_test))), labels)
    found = dense(model.predict_proba(X_form(X_test)))
    np.testing.assert_allclose(found, probability, rtol=1e-12)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_every_registered_transformer_takes_its_place(name, pipeline):
    model = PIPELINES[pipeline](TRANSFORMERS[name]())
    model.fit(sparse.csr_matrix(X), sparse.csr_matrix(y))
    found = dense(model.predict(sparse.csr_matrix(X_test)))
    assert (found == reference(pipeline, name)[0]).mean() > 0.99


def test_inside_binary_relevance_each_label_has_a_reducer_of_its_own():
    columns = [make_pipeline(MultiLabelKaLDA(), knn()).fit(X, label).predict(X_test)
               for label in y.T]  # fmt: skip
    assert_array_equal(np.column_stack(columns), reference("in BinaryRelevance")[0])


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_cross_validation_predicts_labels_and_probabilities(pipeline):
    model = PIPELINES[pipeline](MultiLabelKaLDA())
    labels = dense(cross_val_predict(model, X, sparse.csr_matrix(y), cv=3))
    first = np.arange(60) < 20  # the folds of an unshuffled KFold
    alone = clone(model).fit(X[~first], y[~first])
    assert_array_equal(labels[first], dense(alone.predict(X[first])))
    if pipeline in OURS:
        probability = cross_val_predict(model, X, y, cv=3, method="predict_proba")
        assert_array_equal(labels, probability >= 0.5)
