"""What both neighbour classifiers owe to scikit-learn and to scikit-multilearn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsTransformer
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_inplace_ensure_writeable,
    check_param_validation,
    parametrize_with_checks,
)

from skml_kalda import BinaryRelevanceKNN, MLkNN
from tests.classifiers.conftest import dense, smooth_data
from tests.conftest import passes

CLASSIFIERS = [
    MLkNN(k=3),
    MLkNN(k=3, include_self=False),
    BinaryRelevanceKNN(k=3),
]
BY_DISTANCE = [BinaryRelevanceKNN(k=3, weights=weights) for weights in ("distance", "tricube")]
CHECKED = [*CLASSIFIERS, *BY_DISTANCE, MLkNN(), BinaryRelevanceKNN()]
both = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
every = pytest.mark.parametrize("classifier", [*CLASSIFIERS, *BY_DISTANCE], ids=repr)

REPEATED_ROWS = [
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]

FORMS = {
    "array": np.asarray,
    "list": lambda a: np.asarray(a).tolist(),
    "frame": lambda a: pd.DataFrame(np.asarray(a)),
    "csr_matrix": sparse.csr_matrix,
    "lil_matrix": sparse.lil_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
}
LABEL_FORMS = FORMS | {"bool": lambda a: a.astype(bool), "float": lambda a: a.astype(float)}
# Each form of X and each form of y once: what converts one sees nothing of the other.
EITHER_FORM = pytest.mark.parametrize(
    ("X_form", "y_form"),
    [*((form, "csr_matrix") for form in FORMS), *(("array", form) for form in LABEL_FORMS)],
)
SPARSE_ANSWERS = {
    "csr_matrix": sparse.csr_matrix,
    "lil_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csr_array,
    "coo_array": sparse.csr_array,
}


def expected_failed_checks(classifier):
    excluded = {
        "check_mixin_order": "scikit-multilearn's base class, which ours has to be, puts "
        "BaseEstimator before ClassifierMixin; no order of ours can undo that",
        "check_supervised_y_2d": "a y of shape (n, 1) is the indicator of one label, not a "
        "column of class numbers, and so 2 is an error in it",
        **dict.fromkeys(
            REPEATED_ROWS, "a row of weight two takes one place among the k neighbours"
        ),
    }
    if classifier.k == 10:
        excluded["check_classifiers_one_label_sample_weights"] = (
            "it leaves five rows of positive weight, too few for ten neighbours"
        )
    if isinstance(classifier, BinaryRelevanceKNN):
        excluded["check_classifiers_multilabel_output_format_predict_proba"] = (
            "it wants probabilities strictly between 0 and 1; an unanimous vote is 0 or 1, as "
            "in scikit-learn's KNeighborsClassifier, whose list of arrays this check lets pass"
        )
    return excluded


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failed_checks)
def test_scikit_learns_checks(estimator, check, request):
    passes(check, estimator, request)


@pytest.mark.parametrize(
    "check",
    [
        check_param_validation,
        check_dataframe_column_names_consistency,
        check_inplace_ensure_writeable,
    ],
)
@both
def test_scikit_learns_checks_that_are_not_run_by_themselves(classifier, check):
    check(type(classifier).__name__, clone(classifier))


@EITHER_FORM
@both
def test_every_form_of_the_data_gives_the_same_answer(classifier, X_form, y_form):
    X, y, X_test = smooth_data()
    reference = clone(classifier).fit(X, y)
    make, label = FORMS[X_form], LABEL_FORMS[y_form]
    model = clone(classifier).fit(make(X), label(y))
    predicted, probability = model.predict(make(X_test)), model.predict_proba(make(X_test))
    assert isinstance(predicted, SPARSE_ANSWERS.get(y_form, np.ndarray))
    assert predicted.dtype == np.int64
    assert isinstance(probability, np.ndarray)
    assert_array_equal(dense(predicted), reference.predict(X_test))
    assert_array_equal(probability, reference.predict_proba(X_test))


# Log-loss takes each row for one distribution over the labels and says that it is none.
@pytest.mark.filterwarnings("ignore:The y_pr.* values do not sum to one")
@pytest.mark.parametrize("n_labels", [1, 2, 5])
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "neg_log_loss", "f1_macro"])
@both
def test_scikit_learns_scorers_accept_the_probabilities(classifier, scoring, n_labels):
    X, y, _ = smooth_data(n_labels=n_labels)
    model = clone(classifier).fit(X, y)
    scorer = get_scorer(scoring)
    answer = model.predict(X) if scoring == "f1_macro" else model.predict_proba(X)
    assert scorer(model, X, y) == scorer._sign * scorer._score_func(y, answer, **scorer._kwargs)


@both
def test_precomputed_distances_are_cut_in_both_directions_by_cross_validation(classifier):
    X, y, _ = smooth_data()
    distances = np.abs(X[:, None] - X[None]).sum(axis=2)
    assert_array_equal(
        cross_val_predict(clone(classifier).set_params(metric="precomputed"), distances, y),
        cross_val_predict(clone(classifier).set_params(metric="manhattan"), X, y),
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 61}, r"k=61 needs at least 6\d training samples.*n_samples=60"),
        (
            {"algorithm": KNeighborsTransformer(), "metric": "cosine"},
            r"metric='cosine' has no effect on algorithm=KNeighborsTransformer\(\)",
        ),
        ({"k": 60, "threshold": "auto"}, "k=60 needs at least 61 training samples"),
    ],
)
@both
def test_wrong_input_is_named(classifier, params, message):
    X, y, _ = smooth_data(n_train=60)
    with pytest.raises(ValueError, match=message):
        clone(classifier).set_params(**params).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "params", "message"),
    [
        (np.r_[-1.0, np.ones(59)], {}, "sample_weight"),
        (
            np.r_[0.0, np.ones(59)],
            {"metric": "precomputed"},
            "zero for 1 samples.*rows",
        ),
        (
            np.r_[np.ones(2), np.zeros(58)],
            {},
            "k=3 needs at least .* of positive weight.* n_samp.*=2",
        ),
    ],
    ids=["negative", "precomputed", "too few"],
)
@every
def test_wrong_weights_are_named(classifier, weight, params, message):
    X, y, _ = smooth_data(n_train=60, n_features=60)
    with pytest.raises(ValueError, match=message):
        clone(classifier).set_params(**params).fit(X, y, sample_weight=weight)


@every
def test_a_search_of_scikit_learn_can_take_the_place_of_ours(classifier):
    X, y, X_test = smooth_data()
    expected = clone(classifier).fit(X, y).predict_proba(X_test)
    model = clone(classifier).set_params(algorithm=KNeighborsTransformer(n_neighbors=2))
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X_test), expected, rtol=1e-12)
    assert model.algorithm.n_neighbors == 2  # the caller's object is left alone
    assert_array_equal(
        clone(model).fit(X, y).predict(X_test), clone(classifier).fit(X, y).predict(X_test)
    )
