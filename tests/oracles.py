"""The problem in the space of the data, and pymanopt's way to its maximum."""

import numpy as np
import pymanopt
from pymanopt.manifolds import Grassmann
from pymanopt.optimizers import TrustRegions
from scipy import linalg

from skml_kalda.reducers.kalda.objective import Alignment


def scatters(X, Y):
    """S_b and S_t by dense products, as the paper writes them."""
    rho, n_k = Y.sum(axis=1), Y.sum(axis=0)
    X = X - rho @ X / rho.sum()
    F = X.T @ Y / np.sqrt(n_k)
    return F @ F.T, (X.T * rho) @ X


def eigenbasis(S_b, S_t):
    values, U = linalg.eigh(S_t)
    keep = values > 1e-10 * values[-1]
    values, U = values[keep], U[:, keep]
    lam, vectors = linalg.eigh(U.T @ S_b @ U)
    occupied = lam > 1e-12 * lam[-1]
    factor = (vectors[:, occupied] * np.sqrt(lam[occupied])).T  # M: S_b = MᵀM
    return Alignment(values, factor), U


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
