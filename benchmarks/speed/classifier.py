"""What `KaLDAClassifier` spends on its choices, beside scikit-learn's grid search.

Run from the root of the project: ``python -m benchmarks.speed.classifier``. Both choose on yeast
among the same kernels, scalings, powers of relevance and shrinkages. `GridSearchCV` would fit the
classifier with every combination on five folds and once more on all rows. A random part of these
fits is run, in turns with ours; the whole is estimated from their mean.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, ParameterGrid

from benchmarks.common import keep_or_try
from skml_kalda import KaLDAClassifier
from skml_kalda.classifiers.kalda import KERNELS, RELEVANCES, SCALES, SHRINKAGES
from skml_kalda.datasets import load_dataset

FOLDS = 5
GRID = {
    "kernel": list(KERNELS),
    "scale": list(SCALES),
    "relevance": list(RELEVANCES),
    "shrinkage": list(SHRINKAGES),
}


def seconds_of(task):
    begin = time.process_time()
    task()
    return time.process_time() - begin


def measurements(*, small):
    """Yield the row of the kept result."""
    X, Y = load_dataset("yeast", return_X_y=True)
    folds, candidates = (
        list(KFold(FOLDS, shuffle=True, random_state=0).split(X)),
        ParameterGrid(GRID),
    )
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(candidates), 2 if small else 12, replace=False)
    ours, theirs = [], []
    for i, candidate in enumerate(drawn):
        train, test = folds[i % FOLDS]
        peer = KaLDAClassifier(random_state=0, **candidates[int(candidate)])

        def fold(peer=peer, train=train, test=test):
            predicted = peer.fit(X[train], Y[train]).predict(X[test])
            f1_score(Y[test], predicted, average="macro", zero_division=0)

        theirs.append(seconds_of(fold))
        if i % 4 == 0:
            ours.append(seconds_of(lambda: KaLDAClassifier(random_state=0).fit(X, Y)))
    fits = len(candidates) * FOLDS + 1
    yield {
        "set": "yeast",
        "candidates": len(candidates),
        "fits of GridSearchCV": fits,
        "fits that were run": len(theirs),
        "time / one fit with a given choice": float(np.min(ours) / np.mean(theirs)),
        "time / GridSearchCV, estimated": float(np.min(ours) / (np.mean(theirs) * fits)),
    }


if __name__ == "__main__":
    keep_or_try("speed-classifier", measurements)
