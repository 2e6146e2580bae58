"""Wide sparse text beside what a user would take instead: TruncatedSVD, and Ridge of the labels.

Run from the root of the project, with bibtex in ``SKML_KALDA_DATA``:
``python -m benchmarks.scale.wide``, or some of its parts, such as
``python -m benchmarks.scale.wide 5000x10000-0.5 bibtex-0.1``. All times are of the
processor, on one thread, and the methods take turns. `fit` chooses the form of the scatter:
products for the text, the p × p array for bibtex. Bibtex is measured with products too.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import Ridge

from benchmarks.common import fastest, keep_parts, memory_added, stored
from skml_kalda import MLDA, MLSI, OPLS, RLDA, MultiLabelKaLDA
from skml_kalda._core.scatter import cheapest_form, forced_form
from skml_kalda.datasets import load_dataset

SIZES = {
    "5000x10000": (5_000, 10_000, 20),
    "20000x50000": (20_000, 50_000, 50),
    "20000x100000": (20_000, 100_000, 20),
}
SHRINKAGES = (0.5, 0.1)


def text(n, p, K, words=75, labels=2):
    """Make TF-IDF-like rows of unit length: frequent and rare words, some of them of a label."""
    rng = np.random.default_rng(0)
    share = 1 / np.sqrt(np.arange(1, K + 1))
    rows = np.repeat(np.arange(n), labels)
    columns = rng.choice(K, n * labels, p=share / share.sum())
    Y = sparse.csr_array((np.ones(n * labels), (rows, columns)), shape=(n, K))
    Y.data[:] = 1
    frequency = 1 / np.arange(2, p + 2) ** 1.05
    columns = rng.choice(p, n * words, p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n), words)
    own = np.flatnonzero(rng.random(n * words) < 0.3)
    of_row = rng.integers(np.diff(Y.indptr)[rows[own]]) + Y.indptr[rows[own]]
    columns[own] = (7 * columns[own] + rng.integers(p, size=K)[Y.indices[of_row]]) % p
    counts = sparse.csr_array((np.ones(n * words), (rows, columns)), shape=(n, p))
    rarity = np.log((1 + n) / (1 + np.bincount(counts.indices, minlength=p))) + 1
    X = sparse.csr_array(
        ((1 + np.log(counts.data)) * rarity[counts.indices], counts.indices, counts.indptr),
        shape=(n, p),
    )
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
    X.data /= np.repeat(length, np.diff(X.indptr))
    indices, indptr = (part.astype(np.int32) for part in (X.indices, X.indptr))
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape), Y


def reducers(shrinkage):
    """Return the methods by name, with the same ridge."""
    ridge = shrinkage / (1 - shrinkage)
    return {
        "kaLDA, free": MultiLabelKaLDA(constraint="none", shrinkage=shrinkage),
        "RLDA": RLDA(ridge=ridge),
        "OPLS": OPLS(ridge=ridge),
        "MLDA": MLDA(ridge=ridge),
        "MLSI": MLSI(ridge=ridge),
        "kaLDA, orthonormal": MultiLabelKaLDA(shrinkage=shrinkage),
    }


def ridge_regression(X, Y, shrinkage):
    """Return scikit-learn's ridge regression of the labels, with the same ridge."""
    n, p = X.shape
    mean = X.mean(axis=0)
    trace = X.multiply(X).sum() - n * (mean @ mean)
    alpha = shrinkage / (1 - shrinkage) * trace / p
    return Ridge(alpha, solver="sparse_cg", tol=1e-4).fit(X, Y.toarray())


def fitted(reducer, X, Y, form):
    """Fit with a form of the scatter."""
    with forced_form(form):
        return reducer.fit(X, Y)


def angle(reducer, X, Y, form):
    """Return the largest angle to the directions at a tolerance of 1e-12."""
    found = fitted(reducer, X, Y, form).components_
    exact = fitted(clone(reducer).set_params(tol=1e-12), X, Y, form).components_
    return float(linalg.subspace_angles(found.T, exact.T).max())


def compared(name, X, Y, shrinkage, form=None):
    """Yield one row for each method at one size and shrinkage."""
    (n, p), K, methods = X.shape, Y.shape[1], reducers(shrinkage)
    tasks = {
        "TruncatedSVD": lambda: TruncatedSVD(K - 1, random_state=0).fit(X),
        "Ridge": lambda: ridge_regression(X, Y, shrinkage),
        **{each: partial(fitted, reducer, X, Y, form) for each, reducer in methods.items()},
    }
    small = X.nnz < 400_000  # short times vary more; exact fits of more data take too long
    seconds = fastest(repeats=7 if small else 2, clock=time.process_time, **tasks)
    exact = {"kaLDA, free", "MLSI", "kaLDA, orthonormal"} if small else set()
    rival = memory_added(tasks["TruncatedSVD"])
    for each, reducer in methods.items():
        added = memory_added(tasks[each]) - reducer.components_.nbytes
        yield {
            "method": each,
            "data": f"{name}, {n} x {p} sparse, {X.nnz} stored, K = {K}",
            "form": cheapest_form(n, p, K, X.nnz) if form is None else f"{form}, by force",
            "shrinkage": shrinkage,
            "time / TruncatedSVD": seconds[each] / seconds["TruncatedSVD"],
            "time / Ridge": seconds[each] / seconds["Ridge"],
            "peak added beyond the directions / CSR matrix": added / stored(X),
            "peak added by TruncatedSVD / CSR matrix": rival / stored(X),
            "largest angle to tol=1e-12": angle(reducer, X, Y, form) if each in exact else None,
        }


def of_text(size, shrinkage):
    """Return the rows of made text."""
    return compared("text", *text(*size), shrinkage)


def of_bibtex(form, shrinkage):
    """Return the rows of bibtex."""
    X, Y = map(sparse.csr_array, load_dataset("bibtex", return_X_y=True))
    return compared("bibtex", X, Y, shrinkage, form)


if __name__ == "__main__":
    data = {name: partial(of_text, size) for name, size in SIZES.items()}
    data |= {
        "bibtex": partial(of_bibtex, None),
        "bibtex-operator": partial(of_bibtex, "operator"),
    }
    keep_parts(
        "scale-wide",
        {f"{name}-{a}": partial(rows, a) for name, rows in data.items() for a in SHRINKAGES},
        "threadpoolctl",
    )
