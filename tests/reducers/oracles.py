"""What the reducers are compared with: definitions written out, in numpy and SciPy alone."""

import numpy as np
from scipy import linalg


def span(G):
    """Projector on the columns of G."""
    Q = np.linalg.qr(G)[0]
    return Q @ Q.T


def assert_same_span(G, H, atol=1e-8):
    assert G.shape == H.shape
    np.testing.assert_allclose(span(G), span(H), atol=atol)


def scatters(X, W):
    """S_b and S_t of rows that belong to class k with weight W_ik, summed one by one."""
    m = sum(W[i].sum() * X[i] for i in range(len(X))) / W.sum()
    S_b, S_t = np.zeros((2, X.shape[1], X.shape[1]))
    for k in range(W.shape[1]):
        m_k = W[:, k] @ X / W[:, k].sum()
        S_b += W[:, k].sum() * np.outer(m_k - m, m_k - m)
        S_t += sum(W[i, k] * np.outer(X[i] - m, X[i] - m) for i in range(len(X)))
    return S_b, S_t


def centred(X):
    return X - X.mean(axis=0)


def top(A, B, k):
    """The k largest eigenvalues of A g = λ B g, descending, and their vectors."""
    values, vectors = linalg.eigh(A, B)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


def copies(X, Y, times=None):
    """Each row once for each of its labels (or `times` as often), and that label."""
    times = np.ones(len(X), dtype=int) if times is None else times
    rows, labels = np.nonzero(Y)
    return X[rows].repeat(times[rows], axis=0), labels.repeat(times[rows])
