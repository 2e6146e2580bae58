"""What the package is compared with: definitions written out, and pymanopt's maximum."""

import numpy as np
import pymanopt
from pymanopt.manifolds import Grassmann
from pymanopt.optimizers import TrustRegions
from scipy import linalg


def span(G):
    """Projector on the columns of G."""
    Q = np.linalg.qr(G)[0]
    return Q @ Q.T


def assert_same_span(G, H, atol=1e-8):
    assert G.shape == H.shape
    np.testing.assert_allclose(span(G), span(H), atol=atol)


def centred(X):
    return X - X.mean(axis=0)


def top(A, B, k):
    """The k largest eigenvalues of A g = λ B g in the range of B, descending, and their vectors."""
    values, U = linalg.eigh(B)
    keep = values > 1e-10 * values[-1]
    root = U[:, keep] / np.sqrt(values[keep])
    values, V = linalg.eigh(root.T @ A @ root)
    return values[::-1][:k], (root @ V)[:, ::-1][:, :k]


def shrunk(S, ridge):
    """S + ridge · Tr(S)/p · I."""
    return S + ridge * np.trace(S) / len(S) * np.eye(len(S))


def copies(X, Y, times=None):
    """Each sample once for each of its labels (or `times` as often), and that label."""
    times = np.ones(len(X), dtype=int) if times is None else times
    rows, labels = np.nonzero(Y)
    return X[rows].repeat(times[rows], axis=0), labels.repeat(times[rows])


def weighted_scatters(X, W):
    """S_b and S_t of samples that belong to class k with weight W_ik, summed one by one."""
    m = sum(W[i].sum() * X[i] for i in range(len(X))) / W.sum()
    S_b, S_t = np.zeros((2, X.shape[1], X.shape[1]))
    for k in range(W.shape[1]):
        m_k = W[:, k] @ X / W[:, k].sum()
        S_b += W[:, k].sum() * np.outer(m_k - m, m_k - m)
        S_t += sum(W[i, k] * np.outer(X[i] - m, X[i] - m) for i in range(len(X)))
    return S_b, S_t


def covariances(X, Y, weight=None):
    """X_cᵀ W X_c, X_cᵀ W Y_c and Y_cᵀ W Y_c about the weighted means."""
    weight = np.ones(len(X)) if weight is None else weight
    X, Y = X - weight @ X / weight.sum(), Y - weight @ Y / weight.sum()
    return (X.T * weight) @ X, (X.T * weight) @ Y, (Y.T * weight) @ Y


def scatters(X, Y):
    """S_b and S_t by dense products, as the paper writes them."""
    rho, n_k = Y.sum(axis=1), Y.sum(axis=0)
    X = X - rho @ X / rho.sum()
    F = X.T @ Y / np.sqrt(n_k)
    return F @ F.T, (X.T * rho) @ X


def pymanopt_maximum(S_b, S_t, start):
    """Trust regions on the Grassmannian with exact derivatives, in the space of the data."""
    manifold = Grassmann(*start.shape)
    scale = linalg.norm(S_t, 2)
    S_b, S_t = S_b / scale, S_t / scale

    @pymanopt.function.numpy(manifold)
    def cost(G):
        return -np.sum(G * (S_b @ G)) / linalg.norm(G.T @ S_t @ G)

    @pymanopt.function.numpy(manifold)
    def gradient(G):
        A, C = S_b @ G, S_t @ G
        D = G.T @ C
        return -2 * A / linalg.norm(D) + 2 * np.sum(G * A) / linalg.norm(D) ** 3 * C @ D

    @pymanopt.function.numpy(manifold)
    def hessian(G, Z):
        A, C, dA, dC = S_b @ G, S_t @ G, S_b @ Z, S_t @ Z
        D, b = G.T @ C, np.sum(G * A)
        s, db, dD = linalg.norm(D), 2 * np.sum(A * Z), Z.T @ C + G.T @ dC
        ds = np.sum(D * dD) / s
        return -(
            2 * dA / s
            - 2 * A * ds / s**2
            - 2 * (db / s**3 - 3 * b * ds / s**4) * C @ D
            - 2 * b / s**3 * (dC @ D + C @ dD)
        )

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    return -TrustRegions(verbosity=0).run(task, initial_point=start).cost
