"""Tens of thousands of labels: time and memory of some hundred directions.

Run from the root of the project: ``python -m benchmarks.scale.many_labels``. Times are of the
processor, on one thread. One solve for each label would need a K × K and a p × K array.
"""

from __future__ import annotations

import time

from sklearn.decomposition import TruncatedSVD

from benchmarks.common import fastest, keep_or_try, memory_added
from benchmarks.scale.wide import text
from skml_kalda import RLDA


def measurements(*, small):
    """Yield the rows of the kept result."""
    n, p, K, k = (1_000, 2_000, 2_000, 20) if small else (14_000, 100_000, 30_000, 300)
    X, Y = text(n, p, K, words=75, labels=19)
    reducer = RLDA(k, ridge=1.0)
    seconds = fastest(
        repeats=1,
        clock=time.process_time,
        TruncatedSVD=lambda: TruncatedSVD(k, random_state=0).fit(X),
        RLDA=lambda: reducer.fit(X, Y),
    )
    yield {
        "method": repr(reducer),
        "data": f"text, {n} x {p} sparse, {X.nnz} stored, K = {K}, {Y.nnz} labels stored",
        "time / TruncatedSVD": seconds["RLDA"] / seconds["TruncatedSVD"],
        "peak added, GiB": memory_added(lambda: reducer.fit(X, Y)) / 2**30,
        "one K x K and one p x K array, GiB": 8 * K * (K + p) / 2**30,
    }


if __name__ == "__main__":
    keep_or_try("scale-many-labels", measurements, "threadpoolctl")
