"""Our transformers and scikit-multilearn's classifiers, in every form of the data.

Also run, as it is, in an environment with plain scikit-multilearn (see test_framework.py).
"""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance, ClassifierChain, LabelPowerset

from skml_kalda import BinaryRelevanceKNN, MLkNN, MultiLabelKaLDA
from skml_kalda.framework import mend_neighbor_classifiers, transformers
from skml_kalda.model_selection import multilabel_train_test_split

TRANSFORMERS = transformers()

FORMS = {
    "array": np.asarray,
    "list": lambda a: a.tolist(),
    "frame": pd.DataFrame,
    "csr_matrix": sparse.csr_matrix,
    "lil_matrix": sparse.lil_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
}
LABEL_FORMS = FORMS | {"float": lambda a: a.astype(float), "bool": lambda a: a.astype(bool)}
# Each form of X and each form of y, beside an array: what converts one does not see the other.
EITHER_FORM = pytest.mark.parametrize(
    ("X_form", "y_form"),
    [*((form, "array") for form in FORMS), *(("array", form) for form in [*LABEL_FORMS][1:])],
)


def knn():
    return KNeighborsClassifier(3)


OURS = {
    "reducer > MLkNN": lambda reducer: make_pipeline(reducer, MLkNN(k=3)),
    "reducer > BinaryRelevanceKNN": lambda reducer: make_pipeline(reducer, BinaryRelevanceKNN(3)),
}
# The reducer takes X in every form and hands a dense array on; y reaches their classifier as it is.
AFTER_OURS = {
    "reducer > their MLkNN": lambda reducer: make_pipeline(reducer, FrameworkMLkNN(k=3)),
    "reducer > BinaryRelevance": lambda reducer: make_pipeline(reducer, BinaryRelevance(knn())),
    "reducer > ClassifierChain": lambda reducer: make_pipeline(reducer, ClassifierChain(knn())),
    "reducer > LabelPowerset": lambda reducer: make_pipeline(reducer, LabelPowerset(knn())),
}
AROUND_OURS = {
    "BinaryRelevance(reducer)": lambda reducer: BinaryRelevance(make_pipeline(reducer, knn())),
    "ClassifierChain(reducer)": lambda reducer: ClassifierChain(make_pipeline(reducer, knn())),
    "LabelPowerset(reducer)": lambda reducer: LabelPowerset(make_pipeline(reducer, knn())),
    "BinaryRelevance(reducer > MLkNN)": lambda reducer: BinaryRelevance(
        make_pipeline(reducer, MLkNN(k=3))
    ),
}
THEIRS = AFTER_OURS | AROUND_OURS


@pytest.fixture(scope="module", autouse=True)
def _mended():
    mend_neighbor_classifiers()


@pytest.fixture(scope="module")
def data():
    """Draw rows that are zero in places, every label on some of them, none on others."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 6)) * (rng.random((90, 6)) < 0.8)
    y = (X[:, :3] + 0.3 * rng.normal(size=(90, 3)) > 0.4).astype(int)
    return X[:60], y[:60], X[60:]


class Answer:
    """Predictions and probabilities of a model, each computed when it is first asked for."""

    def __init__(self, model, X):
        self.model, self.X = model, X

    @cached_property
    def labels(self):
        return dense(self.model.predict(self.X))

    @cached_property
    def probability(self):
        return dense(self.model.predict_proba(self.X))


@pytest.fixture(scope="module")
def reference(data):
    """The answer of a pipeline to plain arrays, once for each."""
    X, y, X_test = data
    kept = {}

    def answer(build, reducer):
        key = (build, reducer)
        if key not in kept:
            kept[key] = Answer(build(reducer()).fit(X, y), X_test)
        return kept[key]

    return answer


def dense(a):
    return a.toarray() if sparse.issparse(a) else np.asarray(a)


def assert_answers(model, X_test, expected):
    assert 0 < expected.labels.mean() < 1
    assert_array_equal(dense(model.predict(X_test)), expected.labels)
    found = dense(model.predict_proba(X_test))
    np.testing.assert_allclose(found, expected.probability, rtol=1e-12)


@EITHER_FORM
@pytest.mark.parametrize("pipeline", OURS)
def test_our_classifiers_take_every_form(pipeline, X_form, y_form, data, reference):
    X, y, X_test = data
    X_make, y_make = FORMS[X_form], LABEL_FORMS[y_form]
    model = OURS[pipeline](MultiLabelKaLDA()).fit(X_make(X), y_make(y))
    assert_answers(model, X_make(X_test), reference(OURS[pipeline], MultiLabelKaLDA))


# After a reducer, each kind of classifier; around one, each kind of data that it is handed.
PLACES = {
    name: build
    for name, build in (OURS | THEIRS).items()
    if name
    not in {
        "reducer > BinaryRelevance",
        "reducer > ClassifierChain",
        "BinaryRelevance(reducer > MLkNN)",
        "ClassifierChain(reducer)",
    }
}


@pytest.mark.parametrize("pipeline", PLACES)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_every_registered_transformer_takes_its_place(name, pipeline, data, reference):
    X, y, X_test = data
    build = PLACES[pipeline]
    model = build(TRANSFORMERS[name]()).fit(sparse.csr_matrix(X), sparse.csr_matrix(y))
    labels = reference(build, TRANSFORMERS[name]).labels
    assert (dense(model.predict(sparse.csr_matrix(X_test))) == labels).mean() > 0.99


def test_a_pipeline_is_its_steps_one_after_the_other(data, reference):
    X, y, X_test = data
    reducer = MultiLabelKaLDA().fit(X, y)
    classifier = FrameworkMLkNN(k=3).fit(reducer.transform(X), y)
    labels = reference(AFTER_OURS["reducer > their MLkNN"], MultiLabelKaLDA).labels
    assert_array_equal(dense(classifier.predict(reducer.transform(X_test))), labels)
    ours = reference(OURS["reducer > MLkNN"], MultiLabelKaLDA).labels
    assert_array_equal(ours, labels)


def test_inside_binary_relevance_each_label_has_a_reducer_of_its_own(data, reference):
    X, y, X_test = data
    columns = []
    for label in y.T:
        reducer = MultiLabelKaLDA().fit(X, label)
        classifier = knn().fit(reducer.transform(X), label)
        columns.append(classifier.predict(reducer.transform(X_test)))
    labels = reference(AROUND_OURS["BinaryRelevance(reducer)"], MultiLabelKaLDA).labels
    assert_array_equal(np.column_stack(columns), labels)


def standard_pipeline():
    return make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN(k=10))


def test_grid_search_over_reducer_and_classifier(data):
    X, y, _ = data
    grid = {"multilabelkalda__n_components": [1, 2], "mlknn__k": [3, 5]}
    search = GridSearchCV(standard_pipeline(), grid, scoring="roc_auc", cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert 0.5 < search.best_score_ <= 1


@pytest.mark.parametrize("pipeline", OURS)
def test_cross_validation_predicts_labels_and_probabilities(pipeline, data):
    X, y, _ = data
    model = OURS[pipeline](MultiLabelKaLDA())
    labels = cross_val_predict(model, X, y, cv=3)
    probability = cross_val_predict(model, X, y, cv=3, method="predict_proba")
    assert_array_equal(labels, probability >= 0.5)
    assert_array_equal(dense(cross_val_predict(model, X, sparse.csr_matrix(y), cv=3)), labels)


@pytest.mark.parametrize("pipeline", THEIRS)
def test_cross_validation_predicts_labels_with_their_classifiers(pipeline, data):
    X, y, _ = data
    model = THEIRS[pipeline](MultiLabelKaLDA())
    labels = dense(cross_val_predict(model, X, sparse.csr_matrix(y), cv=3))
    first = np.arange(len(X)) < len(X) // 3  # the folds of an unshuffled KFold
    model = clone(model).fit(X[~first], y[~first])
    assert_array_equal(labels[first], dense(model.predict(X[first])))


@pytest.mark.parametrize("form", FORMS)
def test_a_split_is_in_scikit_learns_order(form, data):
    X, y, _ = data
    parts = multilabel_train_test_split(FORMS[form](X), FORMS[form](y), test_size=0.25)
    X_train, X_test, y_train, y_test = (dense(part) for part in parts)
    assert X_train.shape[1:] == X_test.shape[1:] == X.shape[1:]
    assert len(X_test) == len(y_test) == pytest.approx(15, abs=2)
    rows = {(*x, *labels) for x, labels in zip(X, y, strict=True)}
    found = np.hstack([np.vstack([X_train, X_test]), np.vstack([y_train, y_test])])
    assert {tuple(row) for row in found} == rows
    assert np.abs(y_test.mean(axis=0) - y.mean(axis=0)).max() < 0.1


def test_a_split_goes_through_the_pipeline(data):
    X, y, _ = data
    X_train, X_test, y_train, y_test = multilabel_train_test_split(X, y, test_size=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = standard_pipeline().fit(X_train, y_train).score(X_test, y_test)
    assert 0 <= score <= 1
