"""What does not depend on the units of the features in mathematics does not in code."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import skml_kalda
from skml_kalda import MLR, scatter_form
from tests.classic import CCA, LDA, MLDA, MLSI, OPLS, RLDA, ULDA, MultiLabelKaLDA
from tests.conftest import made

FREE = {
    "LDA": LDA(),
    "ULDA": ULDA(),
    "MLDA": MLDA(ridge=0.0),
    "MLDA-entropy": MLDA(weights="entropy", ridge=0.0),
    "RLDA": RLDA(ridge=0.0),
    "CCA": CCA(ridge=0.0, label_ridge=0.0),
    "OPLS": OPLS(ridge=0.0),
    "kaLDA": MultiLabelKaLDA(constraint="none", shrinkage=None),
}
SHAPES = {"tall": (60, 8), "wide": (12, 30)}


def units(p, decades, seed=0):
    """Factors spread evenly over 10^-decades to 10^decades, in random order."""
    powers = np.linspace(-decades, decades, p)
    return 10.0 ** np.random.default_rng(seed).permutation(powers)


@pytest.mark.parametrize(("decades", "rtol"), [(8, 1e-8), (100, 1e-6)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["moments", "rows", "stream"])
@pytest.mark.parametrize("name", FREE)
def test_eigenvalues_do_not_depend_on_units(name, form, shape, decades, rtol):
    X, Y = made(*SHAPES[shape])
    expected = clone(FREE[name]).fit(X, Y)
    found = clone(FREE[name])
    scaled = X * units(X.shape[1], decades)
    if form == "stream":
        for rows in np.array_split(np.arange(len(X)), 3):
            found.partial_fit(scaled[rows], Y[rows])
    else:
        with scatter_form(form):
            found.fit(scaled, Y)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
@pytest.mark.parametrize("name", FREE)
def test_eigenvalues_of_sparse_data_do_not_depend_on_units(name, form):
    X, Y = made(80, 10)
    X = sparse.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.4))
    scaled = X @ sparse.diags_array(units(10, 8))
    with scatter_form(form):
        expected = clone(FREE[name]).fit(X, Y).eigenvalues_
        found = clone(FREE[name]).fit(sparse.csr_array(scaled), Y).eigenvalues_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", FREE)
def test_projections_do_not_depend_on_units(name):
    X, Y = made()
    expected = clone(FREE[name]).fit_transform(X, Y)
    found = clone(FREE[name]).fit_transform(X * units(X.shape[1], 8), Y)
    sign = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * sign, expected, atol=1e-7 * np.abs(expected).max())


def test_raw_and_standardised_features_give_the_same_eigenvalues():
    X, y = load_breast_cancer(return_X_y=True)
    raw, standard = (LDA().fit(x, y).eigenvalues_ for x in (X, StandardScaler().fit_transform(X)))
    np.testing.assert_allclose(raw, standard, rtol=1e-10)
    np.testing.assert_allclose(raw, 0.7743, atol=1e-4)


def test_one_column_in_other_units_costs_no_direction():
    X, y = load_iris(return_X_y=True)
    X[:, 2] *= 1e6
    assert LDA().fit(X, y).components_.shape == (2, 4)


@pytest.mark.parametrize("form", ["moments", "rows"])
def test_all_directions_of_unevenly_scaled_data_are_found(form):
    X, Y = made(60, 8)
    X *= units(8, 6)
    with scatter_form(form):
        kalda = MultiLabelKaLDA(n_components=8, shrinkage=None).fit(X, Y)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(8), atol=1e-10)


@pytest.mark.parametrize("reducer", [LDA(), MultiLabelKaLDA(), RLDA()], ids=repr)
@pytest.mark.parametrize("form", ["moments", "rows"])
def test_a_constant_feature_of_any_size_changes_nothing(reducer, form):
    X, Y = made()
    with scatter_form(form):
        expected = clone(reducer).fit(np.hstack([X, np.zeros((60, 1))]), Y)
        # Not a number of a few bits: its mean is off by rounding.
        found = clone(reducer).fit(np.hstack([X, np.full((60, 1), 1e20 / 3)]), Y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)


@pytest.mark.parametrize("decades", [3, 6, 8])
@pytest.mark.parametrize("shape", [(60, 8), (20, 30)])
def test_all_directions_of_sparse_rows_in_uneven_units_are_found(shape, decades):
    X, Y = made(*shape)
    X = sparse.csr_array(X * units(shape[1], decades))
    k = min(shape[0] - 1, shape[1])
    with scatter_form("rows"):
        kalda = MultiLabelKaLDA(n_components=k, shrinkage=None).fit(X, Y)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(k), atol=1e-7)


def test_sparse_rows_in_wild_units_are_refused_if_their_basis_is_too_large(monkeypatch):
    X, Y = made(20, 30)
    monkeypatch.setattr("skml_kalda._core.scatter.rows._LARGEST_BASIS", 100)
    X = sparse.csr_array(X * units(30, 8))
    with scatter_form("rows"), pytest.raises(ValueError, match="of 19 directions are lost to ro"):
        MultiLabelKaLDA().fit(X, Y)
    with scatter_form("rows"):
        assert RLDA(ridge="auto").fit(X, Y).ridge_ > 0


@pytest.mark.parametrize("name", ["MLSI", "CCA"])
@pytest.mark.parametrize("form", ["moments", "rows"])
def test_the_labels_alone_limit_the_directions_of_regression(name, form):
    X, Y = made(60, 8)
    reducer = {"MLSI": MLSI(beta=1.0, ridge=0.0), "CCA": CCA(ridge=0.0)}[name]
    with scatter_form(form):
        found = reducer.fit(X * units(8, 60), Y)
    expected = clone(reducer).fit(X, Y)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-6)


SIZED = FREE | {
    "LDA-auto": skml_kalda.LDA(normalize="B"),
    "RLDA-ridge": RLDA(),
    "CCA-ridge": CCA(),
    "MLSI": MLSI(),
    "kaLDA-shrunk": MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "kaLDA-orthonormal": MultiLabelKaLDA(shrinkage=0.1),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("factor", [1e-100, 1e-20, 1e20, 1e100])
@pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
@pytest.mark.parametrize("name", SIZED)
def test_one_factor_for_all_features_changes_no_eigenvalue(name, form, factor):
    X, Y = made(80, 10)
    X = sparse.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.4))
    with scatter_form(form):
        expected = clone(SIZED[name]).fit(X, Y).eigenvalues_
        found = clone(SIZED[name]).fit(X * factor, Y).eigenvalues_
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("decades", [8, 20, 100])
@pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
def test_scores_of_regression_do_not_depend_on_units(form, decades):
    X, Y = made(60, 8)
    expected = MLR(ridge=0.0).fit_transform(X, Y)
    scaled = X * units(8, decades)
    with scatter_form(form):
        mlr = MLR(ridge=0.0, tol=1e-10)
        found = mlr.fit_transform(sparse.csr_array(scaled) if form == "implicit" else scaled, Y)
    # Distances between rows are those between their scores, however the axes are turned.
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)
    assert mlr.eigenvalues_.shape == (4,)
