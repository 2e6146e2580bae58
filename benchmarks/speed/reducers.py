"""The reducers beside the dense generalised eigensolver, and on sparse data too large for it.

Run from the root of the project: ``python -m benchmarks.speed.reducers``. All numbers are
ratios of times in one run on one thread, or bytes over bytes.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from threadpoolctl import threadpool_limits

from benchmarks.common import fastest, keep, memory_added, stored
from skml_kalda import CCA, LDA, MDDM, MLDA, MLLS, MLR, OCM, OPLS, RLDA
from skml_kalda._core.labels import indicator
from skml_kalda._core.scatter import scatter_of

DENSE = [LDA(), MLDA(), RLDA(), OPLS(), CCA(), MDDM(projection="f")]
SPARSE = [RLDA(), MLDA(ridge=0.1), OPLS(ridge=0.1), CCA(ridge=0.1), MLR(), MLLS(), MDDM(), OCM()]


def dense_data(n=4_000, p=2_000, K=10):
    rng = np.random.default_rng(0)
    Y = (rng.random((n, K)) < 0.2).astype(int)
    Y[np.arange(n), rng.integers(K, size=n)] = 1
    return rng.normal(size=(n, p)) + 0.3 * Y @ rng.normal(size=(K, p)), Y


def eigenproblem(reducer, X, Y):
    """Return A and B of the method, from dense products."""
    if isinstance(reducer, (LDA, MLDA, RLDA)):
        rho, n_k = Y.sum(axis=1), Y.sum(axis=0)
        X = X - rho @ X / rho.sum()
        F, B = X.T @ Y / np.sqrt(n_k), (X.T * rho) @ X
    else:
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
        F, B = X.T @ Y, X.T @ X
    if isinstance(reducer, CCA):
        gram = Y.T @ Y
        gram.flat[:: len(gram) + 1] += reducer.label_ridge * np.trace(gram) / len(gram)
        F = F @ linalg.inv(linalg.sqrtm(gram))
    if isinstance(reducer, MDDM):
        return F @ F.T, (B + np.eye(len(B))) / 2
    return F @ F.T, B + reducer.ridge * np.trace(B) / len(B) * np.eye(len(B))


def against_dense(reducer, X, Y):
    """Compare the dense solver with ours, without and with the products before it."""
    p, k = X.shape[1], Y.shape[1] - 1
    A, B = eigenproblem(reducer, X, Y)
    scatter = scatter_of(X, *reducer._weigh(X, indicator(Y).matrix, np.ones(len(X))))

    def dense(A, B):
        return linalg.eigh(A, B, subset_by_index=(p - k, p - 1))

    seconds = fastest(
        repeats=4,
        directions=lambda: reducer._directions(scatter),
        dense=lambda: dense(A, B),
        fit=lambda: reducer.fit(X, Y),
        products_and_dense=lambda: dense(*eigenproblem(reducer, X, Y)),
    )
    angle = linalg.subspace_angles(reducer.components_.T, dense(A, B)[1]).max()
    return {
        "method": repr(reducer),
        "data": f"{len(X)} x {p} dense, K = {Y.shape[1]}",
        "eigh(A, B) / directions from the scatter": seconds["dense"] / seconds["directions"],
        "products and eigh(A, B) / fit": seconds["products_and_dense"] / seconds["fit"],
        "largest angle between the subspaces": angle,
    }


def sparse_data(n, p, K=20, words=50):
    """Make word counts: frequent and rare words, and some that belong to one label."""
    rng = np.random.default_rng(0)
    # By position: SciPy 1.15 renamed the last argument.
    Y = sparse.csr_array(sparse.random(n, K, 0.1, "csr", None, rng))
    Y.data[:] = 1
    frequency = 1 / np.arange(1, p + 1)
    columns = rng.choice(p, size=n * words, p=frequency / frequency.sum())
    topic = np.repeat(Y.argmax(axis=1), words)
    own = rng.random(n * words) < 0.2
    columns[own] = (columns[own] * K + topic[own]) % p
    values = np.log1p(rng.poisson(1.0, n * words) + 1.0)
    rows = np.repeat(np.arange(n), words)
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n, p))), Y


def on_sparse(reducer, X, Y):
    """Compare the peak memory of a fit with the data, and its time with one product with S_t."""
    csr = stored(X)
    peak = memory_added(lambda: reducer.fit(X, Y))
    V = np.ones((X.shape[1], Y.shape[1]))
    seconds = fastest(repeats=2, fit=lambda: reducer.fit(X, Y), product=lambda: X.T @ (X @ V))
    return {
        "method": repr(reducer),
        "data": f"{X.shape[0]} x {X.shape[1]} sparse, {X.nnz} stored, K = {Y.shape[1]}",
        "peak added by fit / CSR matrix": peak / csr,
        "one p x p array / CSR matrix": X.shape[1] ** 2 * 8 / csr,
        "fit / product with X.T @ X @ (p x K)": seconds["fit"] / seconds["product"],
    }


def measurements():
    """Yield the rows of the kept result."""
    data = dense_data()
    yield from (against_dense(reducer, *data) for reducer in DENSE)
    for n, p in [(20_000, 10_000), (40_000, 20_000)]:
        data = sparse_data(n, p)
        yield from (on_sparse(reducer, *data) for reducer in SPARSE)


if __name__ == "__main__":
    with threadpool_limits(1):
        keep("speed-reducers", measurements(), "threadpoolctl")
