"""Growth with the number of rows, streamed through partial_fit or mapped from a file.

Run from the root of the project: ``python -m benchmarks.scale.rows``. Each batch is
made when it is needed; making it is not timed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import IncrementalPCA

from benchmarks.common import exponent, keep_or_try, memory_added
from skml_kalda import LDA, MultiLabelKaLDA

P, K, BATCH = 100, 10, 10_000
REDUCERS = {
    "kaLDA, free": lambda: MultiLabelKaLDA(constraint="none"),
    "kaLDA, orthonormal": lambda: MultiLabelKaLDA(),
    "LDA": lambda: LDA(),
}


def batches(n, p=P, K=K):
    """Yield batches of rows whose mean depends on their labels, in float32."""
    centres = np.random.default_rng(0).normal(size=(K, p))
    for start in range(0, n, BATCH):
        rng = np.random.default_rng([1, start])
        rows = min(BATCH, n - start)
        Y = np.eye(K, dtype=np.int8)[rng.integers(K, size=rows)]
        Y |= rng.random((rows, K)) < 0.1
        yield (Y @ centres + rng.normal(scale=2, size=(rows, p))).astype(np.float32), Y


def streamed(make, n):
    """Return the seconds of all partial_fit, and of the directions after the last batch."""
    reducer, adding = make(), 0.0
    for X, Y in batches(n):
        begin = time.perf_counter()
        reducer.partial_fit(X, Y)
        adding += time.perf_counter() - begin
    begin = time.perf_counter()
    assert reducer.components_.shape == (K - 1, P)
    return adding + time.perf_counter() - begin


def peer(n):
    """Return the seconds of IncrementalPCA, which also streams but sees no labels."""
    pca, adding = IncrementalPCA(K - 1), 0.0
    for X, _ in batches(n):
        begin = time.perf_counter()
        pca.partial_fit(X)
        adding += time.perf_counter() - begin
    return adding


def stream(name, sizes):
    make = REDUCERS[name]
    streamed(make, BATCH)  # warm
    # Below some hundred thousand rows, fixed costs are as large as those of the rows.
    seconds = [min(streamed(make, n) for _ in range(3 if n < 1e5 else 1)) for n in sizes]
    few = 3 * BATCH  # enough for several batches to be in memory at once
    peaks = [memory_added(lambda n=n: streamed(make, n)) for n in (few, sizes[-1])]
    return {
        "method": name,
        "data": f"{sizes[0]}..{sizes[-1]} x {P} float32, K = {K}, batches of {BATCH}",
        "exponent in n": exponent(sizes, seconds),
        "exponent in n, last two sizes": exponent(sizes[-2:], seconds[-2:]),
        f"peak memory at {sizes[-1]} rows / at {few}": peaks[1] / peaks[0],
        "time at the most rows / IncrementalPCA": seconds[-1] / peer(sizes[-1]),
    }


def from_file(n):
    """Compare a fit on a memory-mapped file with partial_fit of the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X")
        X = np.memmap(path, np.float32, "w+", shape=(n, P))
        Y = np.empty((n, K), dtype=np.int8)
        for i, (x, y) in enumerate(batches(n)):
            X[i * BATCH : i * BATCH + len(x)], Y[i * BATCH : i * BATCH + len(x)] = x, y
        X.flush()
        X = np.memmap(path, np.float32, "r", shape=(n, P))
        lda = LDA()
        begin = time.perf_counter()
        lda.fit(X, Y)
        seconds = time.perf_counter() - begin
        peak = memory_added(lambda: lda.fit(X, Y))
        return {
            "method": "LDA, fit on a memory-mapped file",
            "data": f"{n} x {P} float32, K = {K}",
            "time / partial_fit of the same rows": seconds / streamed(REDUCERS["LDA"], n),
            "peak memory / file": peak / path.stat().st_size,
            "peak memory / file as float64": peak / path.stat().st_size / 2,
        }


def measurements(*, small):
    """Yield the rows of the kept result."""
    sizes = (1_000, 10_000, 50_000) if small else (1_000, 10_000, 100_000, 1_000_000)
    yield from (stream(name, sizes) for name in REDUCERS)
    yield from_file(30_000 if small else 1_000_000)


if __name__ == "__main__":
    keep_or_try("scale-rows", measurements, "threadpoolctl")
