"""Growth with the number of labels, two to a thousand.

Run from the root of the project: ``python -m benchmarks.scale.labels``.
"""

from __future__ import annotations

from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import TruncatedSVD

from benchmarks.common import exponent, fastest, keep_or_try, memory_added, ratio, stored
from benchmarks.speed.reducers import sparse_data
from skml_kalda import OPLS, RLDA, MultiLabelKaLDA

REDUCERS = {
    "kaLDA, free": lambda k: MultiLabelKaLDA(k, constraint="none", shrinkage=0.1),
    "kaLDA, orthonormal": lambda k: MultiLabelKaLDA(k, shrinkage=0.1),
    "RLDA": lambda k: RLDA(k),
    "OPLS": lambda k: OPLS(k, ridge=0.1),
}
COMPONENTS = 20  # at most, as a user with a thousand labels would choose


def at(n, p, K):
    """Measure every reducer at one number of labels."""
    X, Y = sparse_data(n, p, K)
    Y = Y[:, Y.sum(axis=0) > 0]
    k = min(COMPONENTS, Y.shape[1] - 1)
    tasks = {name: (lambda make=make: make(k).fit(X, Y)) for name, make in REDUCERS.items()}
    peaks = {name: memory_added(task) for name, task in tasks.items()}
    tasks["TruncatedSVD"] = lambda: TruncatedSVD(k, random_state=0).fit(X)
    if K <= 100:
        dense, labels = X.toarray(), Y.toarray()
        tasks["PLSRegression"] = lambda: PLSRegression(k, scale=False).fit(dense, labels)
    return X, fastest(repeats=1, **tasks), peaks


def measurements(*, small):
    """Yield the rows of the kept result."""
    n, p, sizes = (300, 100, (2, 5)) if small else (5_000, 2_000, (2, 10, 100, 1_000))
    found = {K: at(n, p, K) for K in sizes}
    for K, (X, seconds, peaks) in found.items():
        for name in REDUCERS:
            yield {
                "method": name,
                "data": f"{n} x {p} sparse, {X.nnz} stored, K = {K}",
                "peak added / CSR matrix": peaks[name] / stored(X),
                "time / TruncatedSVD": ratio(seconds[name], seconds["TruncatedSVD"]),
                "time / PLSRegression": ratio(seconds[name], seconds.get("PLSRegression")),
            }
    for name in REDUCERS:
        yield {
            "method": name,
            "data": f"{n} x {p} sparse, K = {sizes[0]}..{sizes[-1]}",
            "exponent in K": exponent(sizes, [found[K][1][name] for K in sizes]),
            "exponent of memory in K": exponent(sizes, [found[K][2][name] for K in sizes]),
        }


if __name__ == "__main__":
    keep_or_try("scale-labels", measurements, "threadpoolctl")
