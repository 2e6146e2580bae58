"""A million samples into KaLDAClassifier: in batches, and on a Dask cluster.

Run from the root of the project: ``python -m benchmarks.scale.classifier``. The rows of
``results/scale-classifier.json`` say how large this process was at the peak after a tenth of the
batches and after all, and how far the weights of the scores are apart in the two ways, if the
landmarks of the one are given to the other. ``--rows`` makes a quicker trial.
"""

from __future__ import annotations

import argparse
import json
import logging
import resource
from dataclasses import replace

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from benchmarks.common import keep, labelled_batch
from skml_kalda import KaLDAClassifier

N_FEATURES, N_LABELS, BATCH = 50, 20, 50_000


def batch(seed):
    """Make one batch."""
    return labelled_batch(seed, BATCH, N_FEATURES, N_LABELS)


def blocks(n_blocks):
    """Return the same samples as dask arrays, made on the workers."""
    made = [delayed(batch)(seed) for seed in range(n_blocks)]
    shapes = ((BATCH, N_FEATURES), np.float32), ((BATCH, N_LABELS), np.int8)
    return [da.concatenate([da.from_delayed(each[i], *shapes[i]) for each in made]) for i in (0, 1)]


def peak():
    """Return the largest size of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def rows(n_batches):
    """Yield a row for each kernel."""
    for kernel in ("linear", "rbf"):
        # The samples that choose the shrinkage are drawn, so it is given.
        model = KaLDAClassifier(kernel, shrinkage=0.1, random_state=0)
        with (
            LocalCluster(2, threads_per_worker=1, silence_logs=logging.CRITICAL) as cluster,
            Client(cluster),
        ):
            on_dask = model._sum_of_blocks(*blocks(n_batches), None)
        # A stream with the same feature map, and so the same landmarks.
        first = model._sums_of_block(on_dask.feature_map, *batch(0), None, seed=0)
        model._running, peaks = replace(on_dask, sums=first), [peak()]
        for i in range(1, n_batches):
            model.partial_fit(*batch(i))
            peaks.append(peak())
        found, expected = (model._ridge(each).weights for each in (on_dask, model._running))
        yield {
            "kernel": kernel,
            "data": f"{n_batches * BATCH} x {N_FEATURES} float32, {N_LABELS} labels",
            "MiB at the peak, a tenth of the batches": round(peaks[max(n_batches // 10, 1)]),
            "MiB at the peak, all batches": round(peaks[-1]),
            "relative difference of the weights": float(
                np.abs(found - expected).max() / np.abs(expected).max()
            ),
        }


def main():
    """Measure, and keep what is measured on all samples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    n = parser.parse_args().rows
    if n == parser.get_default("rows"):
        keep("scale-classifier", rows(n // BATCH), "dask")
    else:
        print(json.dumps(list(rows(n // BATCH)), indent=1))


if __name__ == "__main__":
    main()
