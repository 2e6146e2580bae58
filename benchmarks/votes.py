"""How many neighbours vote, with which weights and which distance, after closed-form kaLDA.

Run from the root of the project: ``python -m benchmarks.votes [set ...]``. What is measured already
stays as it is. ``SKML_KALDA_DATA`` has the sets that are not bundled. Sparse samples get unit
length, dense features are standardised on the training samples, sets of more than 2,000 samples are
sampled, three times two thirds of the samples are drawn for training. Macro F1 is that of the
thresholds that leave-one-out votes choose.
"""

from __future__ import annotations

import json
import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.metrics import f1_score, label_ranking_average_precision_score
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import Normalizer, StandardScaler

from benchmarks.common import RESULTS, environment, write
from skml_kalda import BinaryRelevanceKNN, MultiLabelKaLDA
from skml_kalda.datasets import load_dataset
from skml_kalda.metrics import precision_at_k

KNOWN = ("bibtex", "imdb", "tmc2007-500")
NEW = ("CHD_49", "PlantPseAAC", "GpositiveGO", "3sources_bbc1000", "langlog", "slashdot")
NEW += ("stackex_chess", "stackex_philosophy", "corel16k002", "rcv1sub2", "yahoo_business")
SAMPLES, SPLITS = 2000, 3
SETTINGS = list(
    product(("uniform", "distance", "tricube"), (10, 20, 50, 100, 200), ("euclidean", "cosine"))
)
SCORES = ("precision at 1", "average precision", "macro F1")


def data(name):
    """Return at most so many samples of a set."""
    X, Y = load_dataset(name, return_X_y=True)
    dense = not sparse.issparse(X)
    X = np.asarray(X, float) if dense else sparse.csr_array(X, dtype=float)
    n = X.shape[0]
    kept = np.random.default_rng(0).choice(n, min(n, SAMPLES), replace=False)
    return X[kept], np.asarray(Y)[kept]


def scores(setting, near, labels, far, true):
    """Return the scores of one way to vote."""
    weights, k, metric = setting
    votes = BinaryRelevanceKNN(k, weights=weights, metric=metric, threshold="auto")
    shares = votes.fit(near, labels).predict_proba(far)
    predicted = shares >= votes.thresholds_
    return [
        precision_at_k(true, shares),
        label_ranking_average_precision_score(true, shares),
        f1_score(true, predicted, average="macro", zero_division=0),
    ]


def measured(name):
    """Yield a row for each way to vote: the means of its scores over the splits."""
    X, Y = data(name)
    found = []
    for train, test in ShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(X):
        scaler = Normalizer() if sparse.issparse(X) else StandardScaler()
        near, far = scaler.fit_transform(X[train]), scaler.transform(X[test])
        reducer = MultiLabelKaLDA(constraint="none").fit(near, Y[train])
        parts = reducer.transform(near), Y[train], reducer.transform(far), Y[test]
        found.append([scores(setting, *parts) for setting in SETTINGS])
    for setting, values in zip(SETTINGS, np.mean(found, axis=0), strict=True):
        weights, k, metric = setting
        named = dict(zip(SCORES, values.round(4).tolist(), strict=True))
        yield {"dataset": name, "weights": weights, "k": k, "metric": metric, **named}


def main(names):
    """Measure what is not in the results yet, on all sets or on some."""
    path = RESULTS / "votes.json"
    rows = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    for name in names or (*KNOWN, *NEW):
        if name not in {row["dataset"] for row in rows}:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows += measured(name)
            write("votes", {"environment": environment(), "rows": rows})
    print(ranks(rows).to_string())


def ranks(rows):
    """Return the mean rank over the sets of each way to vote, by each score; 1 is best."""
    frame = pd.DataFrame(rows)
    ranked = frame.groupby("dataset")[list(SCORES)].rank(ascending=False)
    by = [frame["metric"], frame["weights"], frame["k"]]
    return ranked.groupby(by).mean().round(1)


if __name__ == "__main__":
    main(sys.argv[1:])
