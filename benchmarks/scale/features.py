"""Growth with the number of features of sparse data, beside the alternatives of a user.

Run from the root of the project: ``python -m benchmarks.scale.features``. TruncatedSVD sees no
labels; PLSRegression and pymanopt need dense arrays, so they run on the smaller sizes only.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import exponent, fastest, keep_or_try, memory_added, ratio, stored
from benchmarks.speed.reducers import sparse_data
from skml_kalda import OPLS, RLDA, MultiLabelKaLDA
from tests.oracles import pymanopt_maximum, scatters

K = 20
REDUCERS = {
    "kaLDA, free": MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "kaLDA, orthonormal": MultiLabelKaLDA(shrinkage=0.1),
    "RLDA": RLDA(),
    "OPLS": OPLS(ridge=0.1),
}
DENSE_AT_MOST = 1_000  # features


def pymanopt(X, Y, shrinkage=0.1):
    """Return the maximum of the orthonormal problem by trust regions, from dense scatters."""
    X, Y = X.toarray(), Y.toarray()
    S_b, S_t = scatters(X, Y)
    p = len(S_t)
    S_t = (1 - shrinkage) * S_t + shrinkage * np.trace(S_t) / p * np.eye(p)
    _, vectors = linalg.eigh(S_b, S_t, subset_by_index=(p - K + 1, p - 1))
    return pymanopt_maximum(S_b, S_t, linalg.qr(vectors, mode="economic")[0])


def peers(X, Y):
    """Return the seconds of the alternatives; None where one needs too much memory."""
    tasks = {"TruncatedSVD": lambda: TruncatedSVD(K - 1, random_state=0).fit(X)}
    if X.shape[1] <= DENSE_AT_MOST:
        dense, labels = X.toarray(), Y.toarray()
        tasks["PLSRegression"] = lambda: PLSRegression(K - 1, scale=False).fit(dense, labels)
        tasks["pymanopt"] = lambda: pymanopt(X, Y)
    seconds = fastest(repeats=1, **tasks)
    return {name: seconds.get(name) for name in ("TruncatedSVD", "PLSRegression", "pymanopt")}


def at(n, p):
    """Measure every reducer at one size."""
    X, Y = sparse_data(n, p, K)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        tasks = {name: (lambda r=r: r.fit(X, Y)) for name, r in REDUCERS.items()}
        seconds = fastest(repeats=2 if p < 50_000 else 1, **tasks)
        peaks = {name: memory_added(task) for name, task in tasks.items()}
    return {
        "X": X,
        "seconds": seconds,
        "peaks": peaks,
        "peers": peers(X, Y),
        "warnings": len(caught),
        "J": REDUCERS["kaLDA, orthonormal"].objective_,
    }


def measurements(*, small):
    """Yield the rows of the kept result."""
    n, sizes = (500, (100, 300)) if small else (5_000, (100, 1_000, 10_000, 100_000))
    found = {p: at(n, p) for p in sizes}
    for p, each in found.items():
        for name in REDUCERS:
            yield {
                "method": name,
                "data": f"{n} x {p} sparse, {each['X'].nnz} stored, K = {K}",
                "peak added / CSR matrix": each["peaks"][name] / stored(each["X"]),
                "one p x p array / CSR matrix": 8 * p * p / stored(each["X"]),
                "warnings of all methods": each["warnings"],
                **{
                    f"time / {peer}": ratio(each["seconds"][name], seconds)
                    for peer, seconds in each["peers"].items()
                },
            }
    for name in REDUCERS:
        yield {
            "method": name,
            "data": f"{n} x {sizes[0]}..{sizes[-1]} sparse, K = {K}",
            "exponent in p": exponent(sizes, [found[p]["seconds"][name] for p in sizes]),
            "exponent of memory in p": exponent(sizes, [found[p]["peaks"][name] for p in sizes]),
        }


if __name__ == "__main__":
    keep_or_try("scale-features", measurements, "pymanopt", "threadpoolctl")
