"""kaLDA beside its peers: pymanopt, the paper's iteration, scikit-learn's LDA.

Run from the root of the project, with the data sets that are not bundled in
``SKML_KALDA_DATA``: ``python -m benchmarks.speed.kalda``. All numbers are ratios of times
in one run, or bytes over bytes.
"""

from __future__ import annotations

import os

import numpy as np
from scipy import linalg, sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.common import exponent, fastest, keep, memory_added, stored
from skml_kalda import MultiLabelKaLDA
from skml_kalda.datasets import load_dataset
from skml_kalda.reducers.kalda.newton import Stop, best_of
from tests.forms import objective as objective_of
from tests.oracles import pymanopt_maximum, scatters

PROBLEMS = [
    ("yeast", 5),
    ("yeast", 13),
    ("yeast", 30),
    ("scene", 5),
    ("emotions", 5),
    ("msrc-mom", 22),
]


def problem(name):
    """Return S_b and S_t of a standardised set, divided by the norm of S_t."""
    X, Y = load_dataset(name, return_X_y=True)
    X, Y = StandardScaler().fit_transform(X), np.asarray(Y, dtype=float)
    S_b, S_t = scatters(X, Y[:, Y.any(axis=0)])
    scale = linalg.norm(S_t, 2)
    return S_b / scale, S_t / scale


def paper_as_printed(S_b, S_t, G, tau=1e-3, iterations=200):
    """Run the paper's iteration with p × p products, its sign corrected; return J at the end."""
    for _ in range(iterations):
        A, C = S_b @ G, S_t @ G
        D = G.T @ C
        square, trace = np.sum(D * D), np.sum(G * A)
        step = 2 * A / np.sqrt(square) - 2 * trace / square**1.5 * (C @ D)
        step -= G @ (step.T @ G)
        G = G + tau * np.abs(G).sum() / np.abs(step).sum() * step
    G = linalg.qr(G, mode="economic")[0]
    return np.sum(G * (S_b @ G)) / linalg.norm(G.T @ S_t @ G)


def eigenbasis(S_b, S_t):
    """Return the objective in the eigenvectors of S_t, and these."""
    values, U = linalg.eigh(S_t)
    kept = values > 1e-10 * values[-1]
    values, U = values[kept], U[:, kept]
    between, vectors = linalg.eigh(U.T @ S_b @ U)
    kept = between > 1e-12 * between[-1]
    return objective_of(values, (vectors[:, kept] * np.sqrt(between[kept])).T), U


def optimum(name, k):
    """Compare the time to the optimum with pymanopt's and with 200 iterations of the paper."""
    S_b, S_t = problem(name)
    objective, U = eigenbasis(S_b, S_t)
    start = objective.lda_start(k)
    G = U @ start
    rng = np.random.RandomState(0)
    full = best_of(objective, k, Stop(), 1, rng)
    target = pymanopt_maximum(S_b, S_t, G)
    near = int(np.argmax(full.history >= target * (1 - 1e-6)))
    paper = paper_as_printed(S_b, S_t, G)
    seconds = fastest(
        repeats=1 if name == "msrc-mom" else 3,
        ours=lambda: best_of(objective, k, Stop(), 1, rng),
        near=lambda: best_of(objective, k, Stop(max_iter=near), 1, rng),
        paper=lambda: paper_as_printed(S_b, S_t, G),
        pymanopt=lambda: pymanopt_maximum(S_b, S_t, G),
    )
    return {
        "set": name,
        "k": k,
        "J ours": full.value,
        "J pymanopt, same start": target,
        "J paper, 200 iterations": paper,
        "J ours, n_init=10": best_of(objective, k, Stop(), 10, rng).value,
        "iterations": full.n_iter,
        "time to 1e-6 of pymanopt's optimum / pymanopt": seconds["near"] / seconds["pymanopt"],
        "time to 1e-6 of pymanopt's optimum / paper": seconds["near"] / seconds["paper"],
        "time to full convergence / pymanopt": seconds["ours"] / seconds["pymanopt"],
        "time to full convergence / paper": seconds["ours"] / seconds["paper"],
    }


def closed_form(threads, n=20_000, p=500, classes=20):
    """Compare a whole fit with the product and eigendecomposition that it cannot avoid."""
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, p)) + rng.normal(size=(classes, p))[y]
    peers = {
        "product + eigendecomposition": lambda: np.linalg.eigh(X.T @ X),
        "LinearDiscriminantAnalysis(eigen)": lambda: LinearDiscriminantAnalysis(solver="eigen").fit(
            X, y
        ),
    }
    row = {"data": f"{n} x {p} dense, {classes} classes", "threads": threads}
    # One peer at a time: the threads of SciPy's BLAS keep spinning after LDA has returned.
    with threadpool_limits(threads):
        for name, peer in peers.items():
            fit = lambda: MultiLabelKaLDA(constraint="none").fit(X, y)  # noqa: E731
            seconds = fastest(repeats=15, fit=fit, peer=peer)
            row[f"fit / ({name})"] = seconds["fit"] / seconds["peer"]
    return row


def growth(sizes=(10_000, 20_000, 40_000, 80_000), p=200):
    """Return how the time of a fit grows with the number of rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(max(sizes), p))
    y = rng.integers(10, size=max(sizes))
    tasks = {
        str(n): (lambda n=n: MultiLabelKaLDA(constraint="none").fit(X[:n], y[:n])) for n in sizes
    }
    seconds = fastest(repeats=5, **tasks)
    return {
        "data": f"{min(sizes)}..{max(sizes)} x {p} dense",
        "exponent in n": exponent(sizes, [seconds[str(n)] for n in sizes]),
    }


def imdb_memory():
    """Compare the peak memory of a fit on imdb with the CSR matrix."""
    X, Y = load_dataset("imdb", return_X_y=True)
    X, Y = sparse.csr_array(X, dtype=np.float64), sparse.csr_array(Y)
    csr, square = stored(X), X.shape[1] ** 2 * 8
    peak = memory_added(lambda: MultiLabelKaLDA().fit(X, Y))
    return {
        "data": f"imdb, {X.shape[0]} x {X.shape[1]} sparse, K = {Y.shape[1]}",
        "peak added by fit / CSR matrix": peak / csr,
        "p x p arrays / CSR matrix": square / csr,
        "(peak added - 3 CSR) / p x p array": (peak - 3 * csr) / square,
    }


def measurements():
    """Yield the rows of the kept result."""
    yield closed_form(1)
    yield closed_form(os.cpu_count())
    yield growth()
    yield imdb_memory()
    yield from (optimum(*each) for each in PROBLEMS)


if __name__ == "__main__":
    keep("speed-kalda", measurements(), "pymanopt")
