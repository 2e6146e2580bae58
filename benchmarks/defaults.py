"""Every reducer without any argument, in front of `MLkNN()`, against no reduction.

Run from the root of the project, with the data sets that are not bundled in
``SKML_KALDA_DATA``: ``python -m benchmarks.defaults [set ...]``. Features are standardised on the
training rows, sets of more than 2,000 rows are sampled, ten times two thirds of the rows are
drawn for training. The difference is paired: its standard error is corrected for training sets
that overlap (Nadeau and Bengio 2003).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

import skml_kalda
from skml_kalda import MLkNN
from skml_kalda.datasets import load_dataset

RESULTS = Path(__file__).parent / "results" / "defaults.json"
SETS = ("emotions", "scene", "yeast", "msrc-mom", "msrc-sift", "bibtex", "tmc2007-500")
METHODS = (
    *("MultiLabelKaLDA", "KernelKaLDA", "LDA", "MLDA", "RLDA", "CCA", "OPLS", "MLR", "MLLS"),
    *("MLSI", "MDDM", "SDPLDA", "TraceRatio", "ULDA", "OLDA", "OCM", "MMC"),
)
ROWS, SPLITS, TEST = 2000, 10, 1 / 3


def data(name):
    """Return at most ROWS rows of a set, dense, without labels that have fewer than ten rows."""
    X, Y = load_dataset(name, return_X_y=True)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    if len(X) > ROWS:
        kept = np.random.default_rng(0).choice(len(X), ROWS, replace=False)
        X, Y = X[kept], Y[kept]
    return X.astype(float), Y[:, Y.sum(axis=0) >= 10]


def scores(X, Y, method):
    """Return macro F1 on each split."""
    found = []
    for train, test in ShuffleSplit(SPLITS, test_size=TEST, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train])
        near, far = scaler.transform(X[train]), scaler.transform(X[test])
        if method is not None:
            reducer = getattr(skml_kalda, method)().fit(near, Y[train])
            near, far = reducer.transform(near), reducer.transform(far)
        predicted = MLkNN().fit(near, Y[train]).predict(far)
        found.append(f1_score(Y[test], predicted, average="macro", zero_division=0))
    return np.array(found)


def row(name, method, found, none):
    """Return the mean, the paired difference and its standard error."""
    gain = found - none
    error = np.sqrt((1 / SPLITS + TEST / (1 - TEST)) * gain.var(ddof=1))
    return {
        "dataset": name,
        "method": method,
        "macro_f1": round(float(found.mean()), 4),
        "gain": round(float(gain.mean()), 4),
        "standard_error": round(float(error), 4),
        "below": bool(gain.mean() < -2 * error),
    }


def main(names):
    """Measure every method on every set."""
    rows = []
    for name in names or SETS:
        X, Y = data(name)
        none = scores(X, Y, None)
        rows.append({"dataset": name, "method": "none", "macro_f1": round(float(none.mean()), 4)})
        for method in METHODS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append(row(name, method, scores(X, Y, method), none))
            print(rows[-1], flush=True)
        RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
