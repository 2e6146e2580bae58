"""TraceRatio, SDPLDA and MMC against restarts, definitions and each other."""

import numpy as np
import pytest
from scipy import linalg
from scipy.optimize import minimize

from skml_kalda import MMC
from tests.classic import LDA, SDPLDA, MultiLabelKaLDA, TraceRatio
from tests.conftest import made
from tests.oracles import assert_same_span, scatters, top

SEEDS = pytest.mark.parametrize("seed", range(3))


def ratio(G, S_b, S_t):
    G = np.linalg.qr(G)[0]
    return np.trace(G.T @ S_b @ G) / np.trace(G.T @ S_t @ G)


@pytest.mark.parametrize("k", [1, 2, 3])
@SEEDS
def test_trace_ratio_is_the_best_of_many_restarts(k, seed):
    X, Y = made(30, 5, 4, seed=seed)
    S_b, S_t = scatters(X, Y)
    tr = TraceRatio(n_components=k).fit(X, Y)
    rng = np.random.default_rng(seed)
    tries = [
        -minimize(lambda g: -ratio(g.reshape(5, k), S_b, S_t), start, tol=1e-12).fun
        for start in rng.normal(size=(3, 5 * k))
    ]
    assert tr.ratio_ == pytest.approx(max(tries), rel=1e-6)
    assert tr.ratio_ >= max(tries) - 1e-9
    assert ratio(tr.components_.T, S_b, S_t) == pytest.approx(tr.ratio_, rel=1e-12)


@SEEDS
def test_at_the_trace_ratio_the_largest_eigenvalues_add_up_to_zero(seed):
    X, Y = made(seed=seed)
    S_b, S_t = scatters(X, Y)
    tr = TraceRatio(n_components=5).fit(X, Y)
    values = linalg.eigvalsh(S_b - tr.ratio_ * S_t)[::-1][:5] / Y.sum()
    np.testing.assert_allclose(tr.eigenvalues_, values, atol=1e-12)
    assert abs(values.sum()) < 1e-12
    assert 2 < tr.n_iter_ < 15


def test_trace_ratio_falls_with_every_direction():
    X, Y = made()
    ratios = [TraceRatio(n_components=k).fit(X, Y).ratio_ for k in range(1, 9)]
    assert (np.diff(ratios) <= 1e-12).all()
    S_b, S_t = scatters(X, Y)
    assert ratios[-1] == pytest.approx(np.trace(S_b) / np.trace(S_t))


@SEEDS
def test_mmc_takes_the_algebraically_largest(seed):
    X, Y = made(seed=seed)
    S_b, S_t = scatters(X, Y)
    values, G = top(S_b - (S_t - S_b), np.eye(8), 4)
    mmc = MMC(n_components=4).fit(X, Y)
    np.testing.assert_allclose(mmc.eigenvalues_, values / Y.sum(), atol=1e-12)
    np.testing.assert_allclose(np.abs(mmc.components_.T), np.abs(G), atol=1e-8)
    assert mmc.eigenvalues_[-1] < 0  # and others are of larger magnitude
    assert np.abs(linalg.eigvalsh(2 * S_b - S_t)).max() > abs(values[-1])


@SEEDS
def test_sdp_lda_is_its_definition(seed):
    X, Y = made(seed=seed)
    S_b, S_t = scatters(X, Y)
    S_w = S_t - S_b
    largest = linalg.eigvalsh(S_b, S_w)[-1]
    values, G = top(S_b - largest * S_w, np.eye(8), 3)
    sdp = SDPLDA(ridge=0.0).fit(X, Y)
    assert sdp.lambda_ == pytest.approx(largest, rel=1e-9)
    np.testing.assert_allclose(sdp.eigenvalues_, values / Y.sum(), atol=1e-10)
    np.testing.assert_allclose(np.abs(sdp.components_.T), np.abs(G), atol=1e-7)
    assert abs(sdp.eigenvalues_[0]) < 1e-10  # the matrix is negative semi-definite


def test_ridge_of_sdp_lda():
    X, Y = made(15, 30)
    S_b, S_t = scatters(X, Y)
    S_w = S_t - S_b + 1e-4 * np.trace(S_t) / 30 * np.eye(30)
    assert SDPLDA().fit(X, Y).lambda_ == pytest.approx(linalg.eigvalsh(S_b, S_w)[-1], rel=1e-6)
    with pytest.raises(ValueError, match=r"ridge=0\.0"):
        SDPLDA(ridge=0.0).fit(*made(12, 30, single=True))


@pytest.mark.parametrize("single", [True, False])
def test_one_direction_is_the_same_for_all(single):
    X, Y = made(single=single)
    first = LDA(n_components=1, normalize="unit").fit(X, Y).components_
    for reducer in (
        TraceRatio(n_components=1),
        SDPLDA(n_components=1, ridge=0.0),
        MultiLabelKaLDA(n_components=1, tol=1e-14),
    ):
        np.testing.assert_allclose(reducer.fit(X, Y).components_, first, atol=1e-7)


@pytest.mark.parametrize("reducer", [TraceRatio(), SDPLDA(), MMC()])
@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_directions_are_orthonormal(reducer, shape):
    G = reducer.fit(*made(*shape)).components_
    np.testing.assert_allclose(G @ G.T, np.eye(3), atol=1e-12)


def test_trace_ratio_of_independent_samples_collapses_classes_canonically():
    X, Y = made(12, 30, single=True)
    tr = TraceRatio(n_components=2).fit(X, Y)
    assert tr.ratio_ == pytest.approx(1)
    rotate = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    rotated = TraceRatio(n_components=2).fit(X @ rotate, Y)
    assert_same_span(rotate @ rotated.components_.T, tr.components_.T, atol=1e-6)
