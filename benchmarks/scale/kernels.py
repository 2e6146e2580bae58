"""Rows without end into KernelKaLDA, beside the bare kernel blocks and their Gram matrix.

Run from the root of the project: ``python -m benchmarks.scale.kernels stream``, then ``dask``;
each keeps its row of ``results/scale-kernels.json``. The two sides take turns on every part of
the rows, which are made from a seed off the clock. ``--rows`` makes a quicker trial.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
import time

import dask.array as da
import numpy as np
from dask import delayed, persist
from distributed import Client, LocalCluster, wait
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.common import RESULTS, environment, labelled_batch, write
from skml_kalda import KernelKaLDA

NAME = "scale-kernels"
N_FEATURES, N_LABELS, N_LANDMARKS = 100, 10, 500
BATCH = 100_000
# Blocks of a part on the cluster: 400 MB of rows.
BLOCKS = 10


def batch(seed):
    """Make one batch."""
    return labelled_batch(seed, BATCH, N_FEATURES, N_LABELS)


def bare(X, landmarks, gamma, rows=2048):
    """Return the Gram matrix of the kernel values, block by block, in double precision."""
    total = np.zeros((len(landmarks), len(landmarks)))
    for start in range(0, len(X), rows):
        K = rbf_kernel(X[start : start + rows].astype(np.float64), landmarks, gamma=gamma)
        total += K.T @ K
    return total


class Race:
    """The two sides, each with its own clock."""

    def __init__(self):
        self.kalda = KernelKaLDA(n_landmarks=N_LANDMARKS, random_state=0)
        self.seconds = {"kalda": 0.0, "bare": 0.0}
        # The landmarks come from these rows, off the clock.
        self.kalda.partial_fit(*batch(0))
        self.landmarks = self.kalda.landmarks_.astype(np.float64)
        self.gamma = self.kalda.gamma_
        self.gram = np.zeros((N_LANDMARKS, N_LANDMARKS))

    def both(self, X, Y, gram):
        """Run the two sides on some rows, one after the other."""
        self._timed("kalda", lambda: self.kalda.partial_fit(X, Y))
        self._timed("bare", lambda: np.add(self.gram, gram(X), out=self.gram))

    def _timed(self, side, task):
        begin = time.perf_counter()
        task()
        self.seconds[side] += time.perf_counter() - begin

    def result(self, method, n_rows):
        """Return the row of the table; the solve at the end counts too."""
        self._timed("kalda", lambda: self.kalda.dual_components_)
        return {
            "method": method,
            "data": f"{n_rows} x {N_FEATURES} float32, K = {N_LABELS}, {N_LANDMARKS} landmarks",
            "time / kernel blocks and Gram matrix": self.seconds["kalda"] / self.seconds["bare"],
        }

    def projection(self):
        """Return the projections of some rows, to compare runs by."""
        return self.kalda.transform(batch(0)[0][:5].astype(np.float64))


def stream(n_rows):
    """Stream rows through this process."""
    race, peaks = Race(), []
    with threadpool_limits(1):
        for seed in range(1, n_rows // BATCH):
            race.both(*batch(seed), lambda X: bare(X, race.landmarks, race.gamma))
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    growth = {"peak memory / that after a tenth of the rows": peaks[-1] / peaks[len(peaks) // 10]}
    return race.result("KernelKaLDA, streamed", n_rows) | growth, race.projection()


def on_cluster(n_rows):
    """Send the same rows through two processes of one thread."""
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, **quiet)
    with cluster, Client(cluster) as client:
        client.run(bare, np.zeros((1, 1)), np.zeros((1, 1)), 1.0)  # modules are imported
        race = Race()
        seeds = range(1, n_rows // BATCH)
        for start in range(0, len(seeds), BLOCKS):
            race.both(*_on_workers(seeds[start : start + BLOCKS]), lambda X: _gram(X, race))
        return race.result("KernelKaLDA, Dask, two processes", n_rows), race.projection()


def _on_workers(seeds):
    parts = [delayed(batch, nout=2)(seed) for seed in seeds]
    forms = [(N_FEATURES, np.float32), (N_LABELS, np.int8)]
    arrays = persist(
        *(
            da.concatenate([da.from_delayed(part[i], (BATCH, d), dtype) for part in parts])
            for i, (d, dtype) in enumerate(forms)
        )
    )
    wait(arrays)
    return arrays


def _gram(X, race):
    parts = [delayed(bare)(block, race.landmarks, race.gamma) for block in X.to_delayed().ravel()]
    while len(parts) > 1:
        parts = [delayed(sum)(parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def with_difference(row, projection, others):
    """Compare with the projections of the other run on the same rows."""
    for other in others:
        difference = np.abs(projection - other).max() / np.abs(projection).max()
        row |= {"largest difference / largest projection": float(difference)}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["stream", "dask"])
    parser.add_argument("--rows", type=int, default=10**7)
    given = parser.parse_args()
    path = RESULTS / f"{NAME}.json"
    kept = json.loads(path.read_text()) if path.exists() else {"rows": [], "projections": {}}
    row, projection = {"stream": stream, "dask": on_cluster}[given.part](given.rows)
    others = [found for key, found in kept["projections"].items() if key != given.part]
    if given.rows != parser.get_default("rows"):
        print(json.dumps(row, indent=1))
        return
    row = with_difference(row, projection, others)
    print(json.dumps(row, indent=1))
    rows = [each for each in kept["rows"] if each["method"] != row["method"]]
    write(
        NAME,
        {
            "environment": environment("dask", "distributed"),
            "rows": [*rows, row],
            "projections": kept["projections"] | {given.part: projection.tolist()},
        },
    )


if __name__ == "__main__":
    main()
