"""Every reducer is a citizen of scikit-learn."""

import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import skml_kalda
from skml_kalda import (
    CCA,
    MDDM,
    MLDA,
    MLSI,
    OLDA,
    RLDA,
    KaLDAClassifier,
    KernelKaLDA,
    LandmarkFeatures,
    MultiLabelKaLDA,
)
from skml_kalda.reducers.base import BaseReducer
from tests.classifiers.test_neighbors_common import CHECKED
from tests.conftest import passes
from tests.reducers import cases


class LabelCCA(CCA):
    """CCA by another name: scikit-learn takes any "CCA" for its own, whose transform takes y."""


class RbfKernel:
    """A callable whose repr, and so the name of its test, is the same in every process."""

    def __call__(self, Y):
        return rbf_kernel(Y)

    def __repr__(self):
        return "rbf"


PUBLIC = [getattr(skml_kalda, name) for name in skml_kalda.__all__]
TRANSFORMERS = {each for each in PUBLIC if hasattr(each, "transform")}
SLOW = [KaLDAClassifier()]
# Other names of LDA and ULDA: they share all that scikit-learn checks but the constructor.
OTHER_NAMES = [OLDA(), RLDA()]
BY_DEFAULT = TRANSFORMERS - {CCA, OLDA, RLDA} | {LabelCCA}
REDUCERS = [
    *(each() for each in sorted(BY_DEFAULT, key=lambda each: each.__name__)),
    KernelKaLDA(kernel="linear", constraint="orthonormal"),
    KernelKaLDA(kernel="precomputed", weights="rows"),
    LandmarkFeatures(kernel="precomputed"),
    MultiLabelKaLDA(constraint="none", weights="rows"),
    MDDM(projection="f"),
    MDDM(label_kernel=RbfKernel()),
    MLDA(weights="fuzzy"),
    MLDA(weights="dependence"),
    MLSI(form="inverse"),
]

TWO_SIDED = "taken for scikit-learn's own CCA; LabelCCA, the same class by another name, passes"
WEIGHTS = "a row of weight two is not two where one is left out: its twin would tell its label"
ONE_LABEL = "a y of shape (n, 1) is the indicator of one label, and so 2 is an error in it"


def expected_failed_checks(estimator):
    if isinstance(estimator, KaLDAClassifier):
        kinds = (f"check_sample_weight_equivalence_on_{x}_data" for x in ("dense", "sparse"))
        return dict.fromkeys(kinds, WEIGHTS) | {"check_supervised_y_2d": ONE_LABEL}
    kinds = ("check_transformer_general", "check_transformer_data_not_an_array")
    return dict.fromkeys(kinds, TWO_SIDED) if type(estimator) is CCA else {}


# What scikit-learn checks of its own transformers but does not yield for others: how output is
# wrapped and named, and which parameters are allowed. That is the same for all of a class.
FURTHER_CHECKS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_inplace_ensure_writeable",
    "check_estimators_partial_fit_n_features",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
]


@parametrize_with_checks([*REDUCERS, CCA()], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator, check, request):
    passes(check, estimator, request)


@pytest.mark.parametrize("estimator", OTHER_NAMES, ids=repr)
def test_other_names_pass_the_checks_of_their_constructor(estimator):
    for check in ("check_no_attributes_set_in_init", "check_parameters_default_constructible"):
        getattr(estimator_checks, check)(type(estimator).__name__, estimator)
    estimator_checks.check_param_validation(type(estimator).__name__, estimator)
    estimator_checks.check_estimators_pickle(type(estimator).__name__, estimator)


@pytest.mark.slow
@parametrize_with_checks(SLOW, expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks_of_slow_estimators(estimator, check, request):
    passes(check, estimator, request)


ONE_OF_EACH_CLASS = list({type(each): each for each in reversed(REDUCERS)}.values())


@pytest.mark.parametrize("check", FURTHER_CHECKS)
@pytest.mark.parametrize("reducer", ONE_OF_EACH_CLASS, ids=repr)
def test_further_scikit_learn_checks(reducer, check):
    getattr(estimator_checks, check)(type(reducer).__name__, reducer)


def test_every_public_estimator_is_checked_with_its_default_arguments():
    """Transformers are found by themselves; classifiers are checked beside their other tests."""
    classifiers = {each for each in PUBLIC if hasattr(each, "predict")}
    checked = [*SLOW, *CHECKED]
    assert classifiers == {type(e) for e in checked if e.get_params() == type(e)().get_params()}


def test_every_linear_reducer_has_a_case_in_the_tests_of_the_contracts():
    linear = {each.__name__ for each in TRANSFORMERS if issubclass(each, BaseReducer)}
    assert linear == {type(each).__name__ for each in (cases.REDUCERS | cases.KALDA).values()}
