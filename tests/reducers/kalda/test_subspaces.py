"""Orthonormal kaLDA in growing subspaces against pymanopt and the spectrum of S_t."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks.speed.reducers import sparse_data
from skml_kalda import scatter_form
from tests.classic import MultiLabelKaLDA
from tests.conftest import made
from tests.oracles import pymanopt_maximum, scatters
from tests.reducers.test_contracts import SHAPES, thinned
from tests.reducers.test_forms import assert_same


@pytest.mark.parametrize("shrinkage", [None, 0.1])
def test_implicit_optimum_is_that_of_pymanopt(shrinkage):
    X, Y = made(300, 40, 6)
    X = thinned(X)
    kalda = MultiLabelKaLDA(shrinkage=shrinkage)
    with scatter_form("implicit"):
        kalda.fit(sparse.csr_array(X), Y)
    S_b, S_t = scatters(X, Y)
    a = shrinkage or 0.0
    S_t = (1 - a) * S_t + a * np.trace(S_t) / 40 * np.eye(40)
    _, vectors = linalg.eigh(S_b, S_t)
    start = linalg.qr(vectors[:, -5:], mode="economic")[0]
    assert kalda.objective_ == pytest.approx(pymanopt_maximum(S_b, S_t, start), rel=1e-8)
    assert kalda.converged_
    G = kalda.components_.T
    J = np.trace(G.T @ S_b @ G) / linalg.norm(G.T @ S_t @ G)
    assert pytest.approx(kalda.objective_, rel=1e-10) == J
    assert (np.diff(kalda.objective_history_) >= -1e-14).all()


@pytest.mark.parametrize("shrinkage", [None, 0.1])
@pytest.mark.parametrize("shape", [(800, 300), (250, 300)], ids=["tall", "wide"])
def test_a_few_rounds_reach_the_maximum_in_many_dimensions(shrinkage, shape):
    X, Y = sparse_data(*shape, K=6, words=20)
    kalda = MultiLabelKaLDA(shrinkage=shrinkage)
    moments = clone(kalda).fit(X, Y)
    with scatter_form("implicit"):
        kalda.fit(X, Y)
    assert kalda.converged_
    assert kalda.n_iter_ <= 18  # of five columns each: far from all dimensions
    assert kalda.objective_ == pytest.approx(moments.objective_, rel=1e-12)
    np.testing.assert_allclose(kalda.components_, moments.components_, atol=1e-7)


def test_half_of_the_columns_in_a_round_lead_to_the_same_maximum(monkeypatch):
    X, Y = sparse_data(250, 300, K=6, words=20)
    kalda = MultiLabelKaLDA(shrinkage=0.1)
    moments = clone(kalda).fit(X, Y)
    with scatter_form("implicit"):
        whole = clone(kalda).fit(X, Y)
        monkeypatch.setattr("skml_kalda.reducers.kalda.bases.GENEROUS", 0)
        kalda.fit(X, Y)
    assert whole.n_iter_ < kalda.n_iter_ < 2 * whole.n_iter_
    assert kalda.objective_ == pytest.approx(moments.objective_, rel=1e-12)
    np.testing.assert_allclose(kalda.components_, moments.components_, atol=1e-7)


def test_dependent_features_add_no_directions_of_their_own():
    """J would gain from what no row varies in; rounding leads there."""
    X, Y = made(300, 20, 5)
    X = np.hstack([thinned(X), thinned(X)])  # twice: S_t is singular with more rows than features
    for shrinkage in (None, 0.05):
        kalda = MultiLabelKaLDA(shrinkage=shrinkage)
        moments = clone(kalda).fit(X, Y)
        with scatter_form("implicit"):
            kalda.fit(sparse.csr_array(X), Y)
        np.testing.assert_allclose(kalda.components_, moments.components_, atol=1e-7)


def test_many_rounds_start_again_and_end_at_the_same(monkeypatch):
    X, Y = made(300, 60, 6)
    X = sparse.csr_array(thinned(X))
    moments = MultiLabelKaLDA(tol=1e-10).fit(X, Y)
    monkeypatch.setattr("skml_kalda.reducers.kalda.bases.TALL_WIDTH", 3)
    with scatter_form("implicit"):
        kalda = MultiLabelKaLDA(tol=1e-10).fit(X, Y)
    assert_same(kalda, moments)
    assert kalda.n_iter_ > 3


@pytest.mark.parametrize("k", [1, 3])
@SHAPES
def test_a_tolerance_below_rounding_ends_when_all_is_spanned(k, shape):
    X, Y = made(*shape)
    X = sparse.csr_array(X)
    moments = MultiLabelKaLDA(k, shrinkage=0.3).fit(X, Y)
    with scatter_form("implicit"):
        kalda = MultiLabelKaLDA(k, shrinkage=0.3, tol=0).fit(X, Y)
    assert kalda.converged_
    np.testing.assert_allclose(kalda.components_, moments.components_, atol=1e-7)


def test_what_implicit_kalda_cannot_do_is_said(monkeypatch):
    X, Y = made(60, 20)
    X = sparse.csr_array(X)
    with scatter_form("implicit"):
        with pytest.raises(ValueError, match=r'solver="paper" needs the whole spectrum'):
            MultiLabelKaLDA(solver="paper").fit(X, Y)
        with pytest.raises(ValueError, match=r"at most 3, .* a further direction needs the whole"):
            MultiLabelKaLDA(n_components=4).fit(X, Y)
        with pytest.warns(ConvergenceWarning, match="in 1 iterations: increase max_iter"):
            assert not MultiLabelKaLDA(max_iter=1, tol=1e-12).fit(X, Y).converged_
        monkeypatch.setattr("skml_kalda.reducers.kalda.subspaces.MAX_ROUNDS", 2)
        with pytest.warns(ConvergenceWarning, match="in 2 iterations: use some shrinkage"):
            assert MultiLabelKaLDA(tol=1e-12).fit(X, Y).n_iter_ == 2
