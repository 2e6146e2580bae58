"""Without arguments every reducer is regularised, and says so where it is not."""

import ast
import re
import warnings

import numpy as np
import pytest
from sklearn.metrics import f1_score

import skml_kalda
from skml_kalda import CCA, LDA, MLDA, MLR, OPLS, RLDA, ULDA, MLkNN, MultiLabelKaLDA, TraceRatio
from tests.conftest import made

RIDGED = ["CCA", "LDA", "MLDA", "MLR", "MLSI", "OLDA", "OPLS", "RLDA", "SDPLDA", "TraceRatio"]
RIDGED += ["ULDA"]


def tagged_text(n=400, words=190, tags=8, seed=0):
    """Counts of words, of which each tag makes a few more frequent; as many words as rows."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, tags)) < 0.25).astype(int)
    rate = np.full((n, words), 0.15)
    for tag in range(tags):
        rate[:, 6 * tag : 6 * tag + 6] += 0.7 * Y[:, [tag]]
    X = rng.poisson(rate).astype(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


def macro_f1(reducer, X, Y):
    half = len(X) // 2
    near, far = X[:half], X[half:]
    if reducer is not None:
        reducer.fit(near, Y[:half])
        near, far = reducer.transform(near), reducer.transform(far)
    predicted = MLkNN().fit(near, Y[:half]).predict(far)
    return f1_score(Y[half:], predicted, average="macro", zero_division=0)


@pytest.mark.parametrize("name", ["MultiLabelKaLDA", "LDA", "MLDA", "RLDA", "OPLS", "CCA", "MLR"])
def test_defaults_help_where_rows_are_as_few_as_features(name):
    X, Y = tagged_text()
    assert macro_f1(getattr(skml_kalda, name)(), X, Y) > macro_f1(None, X, Y) + 0.05


@pytest.mark.parametrize("name", RIDGED)
def test_the_chosen_ridge_is_reported_and_positive(name):
    X, Y = made(60, 8)
    assert getattr(skml_kalda, name)().fit(X, Y).ridge_ > 0


def test_the_ridge_of_lda_is_the_shrinkage_of_kalda():
    X, Y = made(60, 8, unlabelled=0.2)
    a = MultiLabelKaLDA(shrinkage="auto").fit(X, Y).shrinkage_
    for reducer in (LDA(), MLDA(), RLDA(), ULDA(), TraceRatio()):
        assert reducer.fit(X, Y).ridge_ == pytest.approx(a / (1 - a))


def test_the_ridge_of_regressions_is_the_shrinkage_of_rows_that_count_once():
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


def test_three_rows_per_feature_are_enough_without_regularisation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(ridge=0).fit(*made(24, 8))
    with pytest.warns(UserWarning, match=r"23 .*8 "):
        LDA(ridge=0).fit(*made(23, 8))


@pytest.mark.parametrize("name", [n for n in skml_kalda.__all__ if n[0].isupper()])
def test_defaults_are_those_of_the_docstring(name):
    estimator = getattr(skml_kalda, name)
    documented = dict(re.findall(r"^    (\w+) : .*\bdefault=(.+)$", estimator.__doc__, flags=re.M))
    defaults = estimator().get_params(deep=False)
    assert documented.keys() >= defaults.keys()
    for parameter, value in defaults.items():
        if "..." not in documented[parameter]:
            assert ast.literal_eval(documented[parameter]) == value
