"""What scikit-multilearn-ng's own tests assert of its neighbour classifiers holds for ours.

Each claim is tested on both, so that it is seen to be one of theirs.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import ShuffleSplit, cross_val_score, train_test_split
from skmultilearn.adapt import BRkNNaClassifier
from skmultilearn.adapt import MLkNN as FrameworkMLkNN

from skml_kalda import BinaryRelevanceKNN, MLkNN
from tests.classifiers.conftest import SortedSearch, dense, grid_data, smooth_data

MLKNNS = [FrameworkMLkNN(k=3, s=1.0), MLkNN(k=3, s=1.0, sparse_output=True)]
BRKNNS = [BRkNNaClassifier(k=3), BinaryRelevanceKNN(k=3, sparse_output=True)]
name = {"ids": lambda value: f"{type(value).__module__.split('.')[0]}-{type(value).__name__}"}
every = pytest.mark.parametrize("classifier", [*MLKNNS, *BRKNNS], **name)
mlknn = pytest.mark.parametrize("classifier", MLKNNS, **name)
forms = pytest.mark.parametrize("form", [sparse.csr_matrix, np.array], ids=["sparse", "dense"])


def counts_and_labels():
    return make_multilabel_classification(random_state=0)


def parts(form):
    X, y = counts_and_labels()
    return train_test_split(form(X), form(y), test_size=0.33, random_state=42)


@forms
@every
def test_predicts_a_sparse_indicator_of_every_label(classifier, form):
    X_train, X_test, y_train, y_test = parts(form)
    result = clone(classifier).fit(X_train, y_train).predict(X_test)
    assert result.shape == y_test.shape
    assert sparse.issparse(result)
    assert result.dtype == np.int64
    assert set(np.unique(result.toarray())) == {0, 1}


@forms
@mlknn
def test_predicts_sparse_probabilities(classifier, form):
    X_train, X_test, y_train, y_test = parts(form)
    result = clone(classifier).fit(X_train, y_train).predict_proba(X_test).todense()
    assert result.shape == (X_test.shape[0], y_test.shape[1])
    assert 0 <= result.min() < result.max() <= 1


@every
def test_works_with_cross_validation(classifier):
    X, y = counts_and_labels()
    cv = ShuffleSplit(n_splits=3, test_size=0.5, random_state=0)
    scores = cross_val_score(classifier, X, y, cv=cv, scoring="accuracy", error_score="raise")
    assert len(scores) == 3
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("kind", [FrameworkMLkNN, MLkNN, BinaryRelevanceKNN], ids=str)
def test_has_its_neighbour_search_before_fit(kind):
    classifier = kind(k=3, n_jobs=-1)
    assert classifier.knn_.get_params()["n_neighbors"] == 3
    assert classifier.knn_.get_params()["n_jobs"] == -1


@mlknn
def test_takes_its_arguments_in_the_same_order(classifier):
    made = type(classifier)(7, 0.5, 2, -1)
    assert (made.k, made.s, made.ignore_first_neighbours, made.n_jobs) == (7, 0.5, 2, -1)
    assert list(inspect.signature(type(classifier)).parameters)[:4] == [
        "k", "s", "ignore_first_neighbours", "n_jobs",
    ]  # fmt: skip


# BRkNNaClassifier's probabilities are its `confidences_`.
@pytest.mark.parametrize("n_features", [3, 20])
@pytest.mark.parametrize("k", [1, 2, 5, 10])
@forms
def test_binary_relevance_knn_equals_brknna(form, k, n_features):
    X, y, X_test = (form(each) for each in grid_data(n_features, seed=k))
    theirs = BRkNNaClassifier(k=k).fit(X, y)
    theirs.knn_ = SortedSearch().fit(X)
    ours = BinaryRelevanceKNN(k=k).fit(X, y)
    assert_array_equal(dense(ours.predict(X_test)), dense(theirs.predict(X_test)))
    assert_array_equal(ours.predict_proba(X_test), np.asarray(theirs.confidences_))
    assert_array_equal(ours.knn_.kneighbors(X_test, return_distance=False), theirs.neighbors_)


@pytest.mark.parametrize("classifier", [MLkNN(k=3), BinaryRelevanceKNN(k=3)], **name)
@pytest.mark.parametrize(
    ("y_form", "kind"),
    [
        (np.asarray, sparse.csr_matrix),
        (sparse.lil_matrix, sparse.csr_matrix),
        (sparse.coo_array, sparse.csr_array),
    ],
    ids=["dense", "matrix", "array"],
)
def test_sparse_output_decides_over_the_form_of_y(classifier, y_form, kind):
    X, y, X_test = smooth_data()
    plain = clone(classifier).fit(X, y)
    expected = plain.predict(X_test), plain.predict_proba(X_test)
    for sparse_output, form in [(True, kind), (False, np.ndarray)]:
        model = clone(classifier).set_params(sparse_output=sparse_output).fit(X, y_form(y))
        found = model.predict(X_test), model.predict_proba(X_test)
        assert [type(each) for each in found] == [form, form]
        assert_array_equal(dense(found[0]), expected[0])
        assert_array_equal(dense(found[1]), expected[1])


def test_class_labels_stay_dense_and_their_probabilities_can_be_sparse():
    X, y, X_test = smooth_data()
    names = np.where(y[:, 0], "yes", "no")
    plain = MLkNN(k=3).fit(X, names)
    model = MLkNN(k=3, sparse_output=True).fit(X, names)
    assert_array_equal(model.predict(X_test), plain.predict(X_test))
    assert isinstance(model.predict_proba(X_test), sparse.csr_matrix)
    assert_array_equal(model.predict_proba(X_test).toarray(), plain.predict_proba(X_test))


def test_a_wrong_sparse_output_is_named():
    X, y, _ = smooth_data()
    with pytest.raises(ValueError, match="'sparse_output' parameter"):
        MLkNN(k=3, sparse_output="yes").fit(X, y)
