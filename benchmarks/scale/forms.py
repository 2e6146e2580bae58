"""Products with X against the p × p array: the basis for choosing between them.

Run from the root of the project: ``python -m benchmarks.scale.forms``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.common import fastest, keep_or_try, memory_added
from benchmarks.speed.reducers import sparse_data
from skml_kalda import RLDA, MultiLabelKaLDA
from skml_kalda._core.scatter import cheapest_form, forced_form

K = 20
REDUCERS = {
    "RLDA": RLDA(),
    "kaLDA, free": MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "kaLDA, orthonormal": MultiLabelKaLDA(shrinkage=0.1),
}


def compared(name, n, p):
    """Compare the time, memory and results of the two forms."""
    X, Y = sparse_data(n, p, K)
    reducer, found = REDUCERS[name], {}

    def fit(form):
        with forced_form(form):
            found[form] = reducer.fit(X, Y).components_

    tasks = {form: partial(fit, form) for form in ("operator", "primal")}
    seconds = fastest(repeats=1, **tasks)
    peaks = {form: memory_added(task) for form, task in tasks.items()}
    apart = np.abs(found["operator"] - found["primal"]).max()
    return {
        "method": name,
        "data": f"{n} x {p} sparse, {X.nnz} stored, K = {K}",
        "p^3 / (nnz K)": p**3 / (X.nnz * K),
        "chosen by fit": cheapest_form(n, p, K, X.nnz),
        "time, operator / primal": seconds["operator"] / seconds["primal"],
        "peak memory, operator / primal": peaks["operator"] / peaks["primal"],
        "largest difference / largest entry": apart / np.abs(found["primal"]).max(),
    }


def measurements(*, small):
    """Yield the rows of the kept result."""
    for n, p in [(500, 100)] if small else [(6_000, 1_000), (6_000, 2_000), (8_000, 4_000)]:
        yield from (compared(name, n, p) for name in REDUCERS)


if __name__ == "__main__":
    keep_or_try("scale-forms", measurements, "threadpoolctl")
