"""Every reducer is a citizen of scikit-learn."""

import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from skml_kalda import (
    CCA,
    LDA,
    MDDM,
    MLDA,
    MLLS,
    MLR,
    MLSI,
    MMC,
    OCM,
    OLDA,
    OPLS,
    RLDA,
    SDPLDA,
    ULDA,
    KernelKaLDA,
    KernelKaLDACV,
    MultiLabelKaLDA,
    MultiLabelKaLDACV,
    TraceRatio,
)


class LabelCCA(CCA):
    """CCA by another name: scikit-learn checks any "CCA" as its own, with two-sided transform."""


class RbfKernel:
    """A callable whose repr, and so the name of its test, is the same in every process."""

    def __call__(self, Y):
        return rbf_kernel(Y)

    def __repr__(self):
        return "rbf"


REDUCERS = [
    KernelKaLDA(),
    KernelKaLDA(kernel="linear", constraint="orthonormal"),
    MultiLabelKaLDA(),
    MultiLabelKaLDA(constraint="none"),
    MultiLabelKaLDA(shrinkage="auto"),
    MultiLabelKaLDACV(n_neighbors=3, cv=2),
    KernelKaLDACV(n_neighbors=3, cv=2),
    LabelCCA(),
    LDA(),
    LDA(normalize="sqrt_eig"),
    MDDM(),
    MDDM(projection="f"),
    MDDM(label_kernel=RbfKernel()),
    MLDA(),
    MLDA(weights="entropy"),
    MLDA(weights="correlation"),
    MLDA(weights="fuzzy"),
    MLDA(weights="dependence"),
    MLLS(),
    MLR(),
    MLSI(),
    MLSI(form="inverse"),
    MMC(),
    OCM(),
    OLDA(),
    OPLS(),
    RLDA(),
    SDPLDA(),
    TraceRatio(),
    ULDA(),
]

# What scikit-learn checks of its own transformers but does not yield for others.
FURTHER_CHECKS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_inplace_ensure_writeable",
    "check_estimators_partial_fit_n_features",
]


@parametrize_with_checks(REDUCERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", FURTHER_CHECKS)
@pytest.mark.parametrize("reducer", REDUCERS, ids=repr)
def test_further_scikit_learn_checks(reducer, check):
    getattr(estimator_checks, check)(type(reducer).__name__, reducer)
