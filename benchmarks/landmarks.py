"""Landmarks of k-means against random samples: what `KernelKaLDA` gains and pays.

Run from the root of the project, with the datasets that are not bundled in ``SKML_KALDA_DATA``:
``python -m benchmarks.landmarks [set ...]``; datasets that are measured already are left as they
are. Five folds, three seeds for the landmarks, K − 1 components, a vote of ten neighbours, at most
4,000 samples. Dense features are standardised on the training samples and have the rbf kernel;
words are taken as they are and have the cosine. A difference is that of the same fold and seed,
k-means minus random, with its standard error over the folds. The time is that of fit.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.common import RESULTS, environment
from skml_kalda import BinaryRelevanceKNN, KernelKaLDA
from skml_kalda.datasets import load_dataset

DENSE = ("emotions", "yeast", "scene", "msrc-mom", "msrc-sift")
TEXT = ("bibtex", "tmc2007-500")
NUMBERS, SEEDS, CHOICES = (25, 50, 100, 200), (0, 1, 2), ("random", "kmeans")
SCORES = ("macro", "micro")
PATH = RESULTS / "landmarks.json"


def data(name, at_most=4000):
    """Return some samples of a dataset, and the labels that they have."""
    X, Y = load_dataset(name, return_X_y=True)
    X, Y = sparse.csr_array(X, dtype=float), sparse.csr_array(Y, dtype=float)
    if X.shape[0] > at_most:
        kept = np.sort(np.random.default_rng(0).choice(X.shape[0], at_most, replace=False))
        X, Y = X[kept], Y[kept]
    return (X if name in TEXT else X.toarray()), Y[:, np.flatnonzero(Y.sum(axis=0))]


def folds(name):
    """Yield training and test samples and their labels."""
    X, Y = data(name)
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        near, far = X[train], X[test]
        if name in DENSE:
            scaler = StandardScaler().fit(near)
            near, far = scaler.transform(near), scaler.transform(far)
        yield near, Y[train].astype(int), far, Y[test].astype(int)


def scores(kalda, near, labels, far, true):
    """Scores of the vote after a reducer, and the seconds of its fit."""
    begin = time.process_time()
    kalda.fit(near, labels)
    seconds = time.process_time() - begin
    votes = BinaryRelevanceKNN(k=10).fit(kalda.transform(near), labels)
    predicted = votes.predict(kalda.transform(far))
    return *(f1_score(true, predicted, average=a, zero_division=0) for a in SCORES), seconds


def measured(name, n_landmarks):
    """One row of the result."""
    kernel = "rbf" if name in DENSE else "cosine"
    table = np.array(
        [
            [
                [
                    scores(
                        KernelKaLDA(
                            kernel=kernel,
                            landmarks=choice,
                            n_landmarks=n_landmarks,
                            random_state=seed,
                        ),
                        *fold,
                    )
                    for choice in CHOICES
                ]
                for seed in SEEDS
            ]
            for fold in folds(name)
        ]
    )  # folds × seeds × choices × (scores, seconds)
    mean, gain = table.mean(axis=(0, 1)), np.diff(table, axis=2)[:, :, 0].mean(axis=1)
    row = {"data": name, "kernel": kernel, "landmarks": n_landmarks}
    for i, score in enumerate(SCORES):
        row |= {f"{score} F1, {choice}": round(mean[c, i], 4) for c, choice in enumerate(CHOICES)}
        row[f"{score} F1, difference"] = round(gain[:, i].mean(), 4)
        row[f"{score} F1, standard error"] = round(gain[:, i].std(ddof=1) / len(gain) ** 0.5, 4)
    return row | {"time, k-means / random": round(mean[1, -1] / mean[0, -1], 2)}


def main(names):
    """Measure what is not in the results yet, of all sets or of some."""
    kept = json.loads(PATH.read_text())["rows"] if PATH.exists() else []
    done = {(row["data"], row["landmarks"]) for row in kept}
    for name in names or (*DENSE, *TEXT):
        for number in NUMBERS:
            if (name, number) not in done:
                kept.append(measured(name, number))
                print(json.dumps(kept[-1]), flush=True)
                text = json.dumps({"environment": environment(), "rows": kept}, indent=1)
                PATH.write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
