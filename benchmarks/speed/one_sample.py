"""How long a service waits for the labels of one sample, beside scikit-learn's classifiers.

Run from the root of the project: ``python -m benchmarks.speed.one_sample``. All models are fitted
to yeast and called in turns in one process, with one sample at each call. Ratios are those of the
medians, and of the slowest call in a hundred, to scikit-learn's `KNeighborsClassifier` or
pipeline. They are taken twice: with the threads that the libraries take by default, and with one.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.common import keep
from skml_kalda import (
    BinaryRelevanceKNN,
    KaLDAClassifier,
    KernelKaLDA,
    MLkNN,
    MultiLabelKaLDA,
)
from skml_kalda.datasets import load_dataset

KALDA = MultiLabelKaLDA(constraint="none")

# What we measure beside what of scikit-learn.
PAIRS = {
    "MLkNN": (MLkNN(10), KNeighborsClassifier(10)),
    "BinaryRelevanceKNN": (BinaryRelevanceKNN(10), KNeighborsClassifier(10)),
    "KaLDAClassifier": (KaLDAClassifier(random_state=0), OneVsRestClassifier(LogisticRegression())),
    "MultiLabelKaLDA": (
        make_pipeline(StandardScaler(), KALDA),
        make_pipeline(StandardScaler(), PCA(13)),
    ),
    "MultiLabelKaLDA, then MLkNN": (
        make_pipeline(StandardScaler(), KALDA, MLkNN(10)),
        make_pipeline(StandardScaler(), PCA(13), KNeighborsClassifier(10)),
    ),
    "KernelKaLDA, then MLkNN": (
        make_pipeline(StandardScaler(), KernelKaLDA(random_state=0), MLkNN(10)),
        make_pipeline(StandardScaler(), PCA(13), KNeighborsClassifier(10)),
    ),
}


def answer(model, sample):
    """Predict the labels of a sample, or project it."""
    return model.predict(sample) if hasattr(model, "predict") else model.transform(sample)


def milliseconds(models, X, calls):
    """Return the time of each call (row) of each model, the models taking turns."""
    times = np.empty((calls, len(models)))
    for call in range(-20, calls):  # the first ones warm up
        sample = X[[call % len(X)]]
        # The first of a pair finds cold caches, so the order changes with every call.
        for column in range(len(models))[:: 1 if call % 2 else -1]:
            begin = perf_counter()
            answer(models[column], sample)
            times[call, column] = 1000 * (perf_counter() - begin)
    return times


def measurements(calls):
    """Yield a row for each pair and number of threads."""
    X, Y = load_dataset("yeast", split="train", return_X_y=True)
    X_test, _ = load_dataset("yeast", split="test", return_X_y=True)
    models = [model.fit(X, Y) for pair in PAIRS.values() for model in pair]
    for threads in (None, 1):
        with threadpool_limits(threads):
            times = milliseconds(models, X_test, calls)
        medians, slow = np.median(times, axis=0), np.quantile(times, 0.99, axis=0)
        for column, name in enumerate(PAIRS):
            ours, theirs = 2 * column, 2 * column + 1
            yield {
                "model": name,
                "beside": " + ".join(_names(models[theirs])),
                "threads": "default" if threads is None else threads,
                "median_ms": round(float(medians[ours]), 3),
                "p99_ms": round(float(slow[ours]), 2),
                "median_ratio": round(float(medians[ours] / medians[theirs]), 2),
                "p99_ratio": round(float(slow[ours] / slow[theirs]), 2),
            }


def _names(model):
    steps = model.named_steps.values() if hasattr(model, "named_steps") else [model]
    return [type(step).__name__ for step in steps]


if __name__ == "__main__":
    if sys.argv[1:] == ["--small"]:
        print(*measurements(50), sep="\n")
    else:
        load = {"load at the start": round(os.getloadavg()[0], 1)}
        keep("speed-one-sample", measurements(1000), **load)
