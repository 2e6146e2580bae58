"""What does not depend on the units of the features in mathematics does not in code."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import skml_kalda
from skml_kalda import MLR, MMC, AlignmentScaler, KernelKaLDA, LandmarkFeatures
from tests.classic import (
    CCA,
    LDA,
    MLDA,
    MLSI,
    OPLS,
    RLDA,
    SDPLDA,
    ULDA,
    MultiLabelKaLDA,
    TraceRatio,
)
from tests.conftest import made
from tests.forms import FORMS, fitted
from tests.reducers.cases import thinned

FREE = {
    "LDA": LDA(tol=1e-12),
    "ULDA": ULDA(),
    "MLDA-entropy": MLDA(weights="entropy", tol=1e-12),
    "CCA": CCA(ridge=0.0, label_ridge=0.0, tol=1e-12),
    "OPLS": OPLS(ridge=0.0, tol=1e-12),
    "kaLDA": MultiLabelKaLDA(constraint="none"),
}
SHAPES = {"tall": (60, 8), "wide": (12, 30)}


def units(p, decades, seed=0):
    """Factors spread evenly over 10^-decades to 10^decades, in random order."""
    powers = np.linspace(-decades, decades, p)
    return 10.0 ** np.random.default_rng(seed).permutation(powers)


@pytest.mark.filterwarnings("ignore:.*without regularisation")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["primal", "dual", "stream"])
@pytest.mark.parametrize("name", FREE)
def test_eigenvalues_do_not_depend_on_units(name, form, shape):
    X, Y = made(*SHAPES[shape])
    expected = clone(FREE[name]).fit(X, Y).eigenvalues_
    for decades, rtol in [(8, 1e-8), (60, 1e-6)]:
        scaled = X * units(X.shape[1], decades)
        if form == "stream":
            found = clone(FREE[name])
            for rows in np.array_split(np.arange(len(X)), 3):
                found.partial_fit(scaled[rows], Y[rows])
        else:
            found = fitted(FREE[name], scaled, Y, form)
        np.testing.assert_allclose(found.eigenvalues_, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", [*FREE, "AlignmentScaler"])
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), decades=st.integers(0, 8))
def test_projections_do_not_depend_on_units(name, seed, decades):
    X, Y = made(40, 6, seed=seed)
    reducer = (FREE | {"AlignmentScaler": AlignmentScaler()})[name]
    a, b = (clone(reducer).fit(x, Y).transform(x) for x in (X, X * units(6, decades, seed)))
    np.testing.assert_allclose(b @ b.T, a @ a.T, atol=1e-6 * np.abs(a @ a.T).max())


@pytest.mark.parametrize("name", FREE)
def test_fewer_samples_than_features_depend_on_units_and_one_warning_says_so(name):
    """Samples of weight zero do not count; with a ridge, by default or not, nothing is promised."""
    X, Y = made(20, 12)
    weight = (np.arange(20) < 12).astype(float)
    with pytest.warns(UserWarning, match=r"12 samples of 12 .* depends on their units") as caught:
        reducer = clone(FREE[name]).fit(X, Y, sample_weight=weight)
    assert len(caught) == 1
    other = made(20, 12, seed=1)[0]
    with pytest.warns(UserWarning, match="depends on their units"):
        scaled = clone(reducer).fit(X * units(12, 0.2), Y, sample_weight=weight)
    Z, scaled_Z = reducer.transform(other), scaled.transform(other * units(12, 0.2))
    assert np.abs(scaled_Z @ scaled_Z.T - Z @ Z.T).max() > 0.1 * np.abs(Z @ Z.T).max()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        type(reducer)(2).fit(X, Y, sample_weight=weight)
        clone(FREE[name]).fit(*made(40, 12))


@pytest.mark.parametrize("reducer", [KernelKaLDA(), LandmarkFeatures()], ids=repr)
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), power=st.integers(-50, 50))
def test_kernels_of_the_median_width_do_not_depend_on_one_unit_of_all(reducer, seed, power):
    X, Y = made(40, 6, seed=seed)
    a, b = (clone(reducer).fit(x, Y).transform(x) for x in (X, X * 10.0**power))
    np.testing.assert_allclose(b @ b.T, a @ a.T, atol=1e-6 * np.abs(a @ a.T).max())


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("shape", "decades"), [((60, 8), 6), ((20, 30), 3)])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_all_directions_of_unevenly_scaled_data_are_found(form, shape, decades, store):
    X, Y = made(*shape)
    k = min(shape[0] - 1, shape[1])
    kalda = fitted(MultiLabelKaLDA(k, shrinkage=0.1), store(X * units(shape[1], decades)), Y, form)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(k), atol=1e-7)


DEPENDENT = {
    "kaLDA": MultiLabelKaLDA(tol=1e-10),
    "MMC": MMC(),
    "SDPLDA": SDPLDA(),
    "TraceRatio": TraceRatio(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", DEPENDENT)
def test_forms_agree_on_units_far_apart_or_refuse_them(name, shape, form):
    """Six decades are the limit: beyond, rounding in large features hides the small ones."""
    X, Y = made(*SHAPES[shape])
    X /= X.std(axis=0)
    near, far = (X * units(X.shape[1], decades) for decades in (2, 3.1))
    expected = fitted(DEPENDENT[name], near, Y, "primal").components_
    found = fitted(DEPENDENT[name], near, Y, form).components_
    np.testing.assert_allclose(found, expected, atol=1e-7)
    frame = pd.DataFrame(far).add_prefix("height ")
    with pytest.raises(ValueError, match=r"0\.0008.* \(.*\) to 1\.3e\+03 \(.*: standard"):
        fitted(DEPENDENT[name], far if form == "operator" else frame, Y, form)


@pytest.mark.parametrize("reducer", [LDA(), MultiLabelKaLDA(tol=1e-10), RLDA()], ids=repr)
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_a_constant_feature_of_any_size_changes_nothing(reducer, form):
    X, Y = made()
    expected = fitted(reducer, np.hstack([X, np.zeros((60, 1))]), Y, form)
    # Not a number of a few bits: its mean is off by rounding.
    found = fitted(reducer, np.hstack([X, np.full((60, 1), 1e20 / 3)]), Y, form)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
    np.testing.assert_allclose(found.components_[:, 8], 0, atol=1e-12)


SIZED = FREE | {
    "LDA-auto": skml_kalda.LDA(normalize="B"),
    "CCA-ridge": CCA(),
    "MLSI": MLSI(),
    "kaLDA-shrunk": MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "kaLDA-orthonormal": MultiLabelKaLDA(shrinkage=0.1),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SIZED)
def test_one_factor_for_all_features_changes_no_eigenvalue(name, form):
    X, Y = made(80, 10)
    X = thinned(X)
    expected = fitted(SIZED[name], X, Y, form).eigenvalues_
    for factor in (1e-60, 1e60):
        found = fitted(SIZED[name], X * factor, Y, form).eigenvalues_
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("decades", [8, 60])
@pytest.mark.parametrize("form", FORMS)
def test_scores_of_regression_do_not_depend_on_units(form, decades):
    X, Y = made(60, 8)
    expected = MLR(ridge=0.0).fit_transform(X, Y)
    scaled = X * units(8, decades)
    found = fitted(MLR(ridge=0.0, tol=1e-10), scaled, Y, form).transform(scaled)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)
