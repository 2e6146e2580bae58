"""Whether another criterion chooses a better shrinkage where most labels are rare.

Run from the root of the project: ``python -m benchmarks.shrinkage [set ...]``. Data, splits and
samples are those of `benchmarks.votes`. Rows of ``results/shrinkage.json`` have the label-ranking
average precision of tricube votes after closed-form kaLDA: with "auto", which weights the errors of
label k by 1/n_k (`n_k` samples have it); with generalised cross-validation at other weights; and
with the best of fixed values on the test samples, which no criterion can exceed by more than luck.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import linalg, sparse
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import Normalizer, StandardScaler

from benchmarks.common import keep
from benchmarks.votes import KNOWN, NEW, SPLITS, data
from skml_kalda import BinaryRelevanceKNN, MultiLabelKaLDA

SETS = ("emotions", "yeast", "scene", *KNOWN, *NEW)
WEIGHTS = {"auto": -1.0, "n^-0.5": -0.5, "1": 0.0, "n^0.5": 0.5}
FIXED = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)


def criterion(X, Y):
    """Return what chooses the shrinkage by generalised cross-validation, given label weights."""
    counted = Y.sum(axis=1) > 0
    X, Y = X[counted], Y[counted]
    omega = Y.sum(axis=1)
    B = Y / omega[:, None]
    B = np.sqrt(omega)[:, None] * (B - omega @ B / omega.sum())
    X = X.toarray() if sparse.issparse(X) else X
    X = np.sqrt(omega)[:, None] * (X - omega @ X / omega.sum())
    values, vectors = linalg.eigh(X @ X.T)
    values, projected = np.maximum(values, 0), vectors.T @ B
    n, unit = len(X), values.sum() / X.shape[1]

    def choose(power):
        weights = np.maximum(Y.sum(axis=0), 1) ** power

        def error(ridge):
            left = ridge / (values + ridge)
            free = n - 1 - (1 - left).sum()
            residual = (left[:, None] ** 2 * projected**2).sum(axis=0) @ weights
            return residual / free**2 if free >= (n - 1) / 2 else np.inf

        ridge = min(np.logspace(4, -4, 321), key=lambda each: error(each * unit))
        return ridge / (1 + ridge)

    return choose


def quality(shrinkage, near, labels, far, true):
    """Return the label-ranking average precision of votes after kaLDA."""
    reducer = MultiLabelKaLDA(constraint="none", shrinkage=shrinkage).fit(near, labels)
    votes = BinaryRelevanceKNN(100, weights="tricube")
    votes.fit(reducer.transform(near), labels)
    return label_ranking_average_precision_score(true, votes.predict_proba(reducer.transform(far)))


def row(name):
    """Return the means over the splits for a dataset."""
    X, Y = data(name)
    found = []
    for train, test in ShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(X):
        scaler = Normalizer() if sparse.issparse(X) else StandardScaler()
        parts = scaler.fit_transform(X[train]), Y[train], scaler.transform(X[test]), Y[test]
        choose = criterion(*parts[:2])
        chosen = {each: choose(power) for each, power in WEIGHTS.items()}
        scores = {each: quality(value, *parts) for each, value in chosen.items()}
        scores["best fixed"] = max(quality(value, *parts) for value in FIXED)
        found.append([*scores.values(), chosen["auto"], quality("auto", *parts)])
    means = dict(zip([*scores, "chosen by auto", "as fitted"], np.mean(found, axis=0), strict=True))
    if abs(means["auto"] - means.pop("as fitted")) > 1e-3:
        raise SystemExit(f"{name}: the criterion of this file is not that of MultiLabelKaLDA")
    return {"dataset": name, **{each: round(float(value), 4) for each, value in means.items()}}


if __name__ == "__main__":
    keep("shrinkage", map(row, sys.argv[1:] or SETS))
