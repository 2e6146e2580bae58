"""LDA, RLDA, ULDA, OLDA and OCM against scikit-learn and their definitions."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skml_kalda import OCM
from tests.classic import LDA, OLDA, RLDA, ULDA
from tests.conftest import made
from tests.oracles import assert_same_span, centred, scatters, span, top


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_lda_spans_what_scikit_learn_finds(k, seed):
    X, Y = made(single=True, seed=seed)
    peer = LinearDiscriminantAnalysis(solver="svd").fit(X, Y.argmax(axis=1))
    lda = LDA(n_components=k).fit(X, Y)
    assert_same_span(lda.components_.T, peer.scalings_[:, :k])


def test_normalizations_of_lda():
    X, Y = made(single=True)
    S_b, S_t = (S / len(X) for S in scatters(X, Y))
    G = {s: LDA(normalize=s).fit(X, Y) for s in ("B", "unit", "sqrt_eig", "qr")}
    eigenvalues = G["B"].eigenvalues_
    np.testing.assert_allclose(eigenvalues, top(S_b, S_t, 3)[0], rtol=1e-9)
    G = {s: lda.components_ for s, lda in G.items()}
    np.testing.assert_allclose(G["B"] @ S_t @ G["B"].T, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(
        G["sqrt_eig"] @ S_t @ G["sqrt_eig"].T, np.diag(eigenvalues), atol=1e-10
    )
    np.testing.assert_allclose(linalg.norm(G["unit"], axis=1), 1)
    np.testing.assert_allclose(G["qr"] @ G["qr"].T, np.eye(3), atol=1e-12)
    for other in G.values():
        assert_same_span(other.T, G["B"].T)


def test_rlda_without_ridge_is_lda_and_with_a_large_one_ocm():
    X, Y = made()
    np.testing.assert_allclose(
        RLDA(ridge=0.0).fit(X, Y).components_, LDA().fit(X, Y).components_, atol=1e-12
    )
    assert_same_span(
        RLDA(n_components=2, ridge=1e9).fit(X, Y).components_.T,
        OCM(n_components=2).fit(X, Y).components_.T,
        atol=1e-6,
    )


@pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])
def test_ulda_is_the_algorithm_of_ye(shape):
    X, Y = made(*shape, single=True)
    H_t = centred(X).T
    m_k = (Y.T @ X) / Y.sum(axis=0)[:, None]
    H_b = ((m_k - X.mean(axis=0)) * np.sqrt(Y.sum(axis=0))[:, None]).T
    U, s, _ = linalg.svd(H_t, full_matrices=False)
    U, s = U[:, s > 1e-8], s[s > 1e-8]
    P, lam, _ = linalg.svd(U.T @ H_b / s[:, None], full_matrices=False)
    q = int(np.sum(lam > 1e-8))
    G = (U / s) @ P[:, :q]
    ulda = ULDA().fit(X, Y)
    assert ulda.components_.shape == (q, shape[1])
    assert_same_span(ulda.components_.T, G)
    S_t = H_t @ H_t.T / len(X)
    np.testing.assert_allclose(ulda.components_ @ S_t @ ulda.components_.T, np.eye(q), atol=1e-9)
    assert_same_span(OLDA().fit(X, Y).components_.T, G)


def test_olda_is_orthonormal_and_nested():
    X, Y = made()
    G = OLDA().fit(X, Y).components_
    np.testing.assert_allclose(G @ G.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(OLDA(n_components=2).fit(X, Y).components_, G[:2], atol=1e-10)
    assert_same_span(G[:2].T, ULDA(n_components=2).fit(X, Y).components_.T)


def test_olda_of_independent_samples_is_null_space_lda():
    X, Y = made(12, 30, single=True)
    S_b, S_t = scatters(X, Y)
    within = S_t - S_b
    null = span(linalg.null_space(within, rcond=1e-9)) @ span(centred(X).T[:, :11])
    G = linalg.orth(null @ centred(X).T, rcond=1e-9)  # in null(S_w) and range(S_t)
    olda = OLDA().fit(X, Y)
    np.testing.assert_allclose(olda.components_ @ within @ olda.components_.T, 0, atol=1e-9)
    assert_same_span(olda.components_.T, G, atol=1e-7)
