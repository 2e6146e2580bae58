"""Without arguments every reducer is regularised, and says so where it is not."""

import ast
import re
import warnings

import numpy as np
import pytest

import skml_kalda
from skml_kalda import CCA, LDA, MLDA, MLR, OPLS, RLDA, ULDA, MultiLabelKaLDA, TraceRatio
from tests.conftest import made

RIDGED = ["CCA", "LDA", "MLDA", "MLR", "MLSI", "OLDA", "OPLS", "RLDA", "SDPLDA", "TraceRatio"]
RIDGED += ["ULDA"]


@pytest.mark.parametrize("name", RIDGED)
def test_the_chosen_ridge_is_reported_and_positive(name):
    X, Y = made(60, 8)
    assert getattr(skml_kalda, name)().fit(X, Y).ridge_ > 0


def test_the_ridge_of_lda_is_the_shrinkage_of_kalda():
    X, Y = made(60, 8, unlabelled=0.2)
    a = MultiLabelKaLDA(shrinkage="auto").fit(X, Y).shrinkage_
    for reducer in (LDA(), MLDA(), RLDA(), ULDA(), TraceRatio()):
        assert reducer.fit(X, Y).ridge_ == pytest.approx(a / (1 - a))


def test_the_ridge_of_regressions_is_the_shrinkage_of_samples_that_count_once():
    X, Y = made(60, 8, unlabelled=0.2)
    a = MultiLabelKaLDA(weights="rows").fit(X, Y).shrinkage_
    for reducer in (OPLS(), CCA(), MLR()):
        assert reducer.fit(X, Y).ridge_ == pytest.approx(a / (1 - a))


@pytest.mark.parametrize("reducer", [LDA, MLDA, RLDA])
def test_lda_in_the_default_scale_is_closed_form_kalda(reducer):
    """One statistic, one shrinkage, one scale: the same distances."""
    X, Y = made(60, 8)
    kalda = MultiLabelKaLDA(constraint="none").fit(X, Y)
    lda = reducer().fit(X, Y)
    # GᵀSG = Λ for S = (1 − a)(S_t + γI) and for S_t + γI: a factor of the whole.
    ratio = lda.components_ / kalda.components_
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-8)


@pytest.mark.parametrize("name", [*RIDGED, "MultiLabelKaLDA", "MDDM", "MLLS", "MMC", "OCM"])
def test_a_default_that_would_not_reduce_is_capped(name):
    X, Y = made(60, 3, 6)
    with pytest.warns(UserWarning, match="n_components"):
        assert getattr(skml_kalda, name)().fit(X, Y).transform(X).shape[1] == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(skml_kalda, name)(n_components=3).fit(X, Y).transform(X).shape[1] == 3


def test_three_samples_per_feature_are_enough_without_regularisation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(ridge=0).fit(*made(24, 8))
    for published in (LDA(ridge=0), MLDA(ridge=0), MultiLabelKaLDA(shrinkage=None)):
        with pytest.warns(UserWarning, match=r'23 .*8 .*\w+="auto"'):
            published.fit(*made(23, 8))


@pytest.mark.parametrize("name", [n for n in skml_kalda.__all__ if n[0].isupper()])
def test_defaults_are_those_of_the_docstring(name):
    estimator = getattr(skml_kalda, name)
    documented = dict(re.findall(r"^    (\w+) : .*\bdefault=(.+)$", estimator.__doc__, flags=re.M))
    defaults = estimator().get_params(deep=False)
    assert documented.keys() >= defaults.keys()
    for parameter, value in defaults.items():
        if "..." not in documented[parameter]:
            assert ast.literal_eval(documented[parameter]) == value
