"""The reducers that choose their parameters beside scikit-learn's grid search.

Run from the root of the project: ``python -m benchmarks.speed.selection``. Both go through the
same grid and the same five folds of yeast, standardised, by one job; all numbers are ratios of
times in one run.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import fastest, keep
from skml_kalda import (
    BinaryRelevanceKNN,
    KernelKaLDA,
    KernelKaLDACV,
    MultiLabelKaLDA,
    MultiLabelKaLDACV,
)
from skml_kalda.datasets import load_dataset

SHRINKAGES = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9]
SIZES = [2, 5, 9, 13]
NEIGHBORS = [5, 10, 20]
CLASSIFIERS = {
    "KNeighborsClassifier": (KNeighborsClassifier, "n_neighbors"),
    "BinaryRelevanceKNN": (BinaryRelevanceKNN, "k"),
}


def grid_search(reducer, classifier, grid):
    make, k = CLASSIFIERS[classifier]
    step = {"n_neighbors": f"classifier__{k}"}
    names = {step.get(name, f"reducer__{name}"): values for name, values in grid.items()}
    pipeline = Pipeline([("reducer", reducer), ("classifier", make())])
    return GridSearchCV(pipeline, names, scoring="f1_macro")


def compared(title, ours, plain, grid, repeats):
    """Compare our time with a grid search with either classifier, and the scores found."""
    X, Y = load_dataset("yeast", return_X_y=True)
    X = StandardScaler().fit_transform(X)
    candidates = int(np.prod([len(values) for values in grid.values()]))
    row = {"search": title, "grid": grid, "candidates": candidates, "folds": 5}
    for classifier in CLASSIFIERS:
        search = grid_search(plain, classifier, grid)
        seconds = fastest(
            repeats=repeats,
            ours=lambda: ours.fit(X, Y),
            peer=lambda search=search: search.fit(X, Y),
            plain=lambda: plain.fit(X, Y),
        )
        row[f"time / GridSearchCV, {classifier}"] = seconds["ours"] / seconds["peer"]
        row["time / one fit"] = seconds["ours"] / seconds["plain"]
        theirs = np.sort(search.cv_results_["mean_test_score"])
        apart = np.abs(np.sort(ours.cv_results_["mean_test_score"]) - theirs)
        row[f"largest difference of sorted mean scores, {classifier}"] = float(apart.max())
        row[f"best scores, ours and {classifier}"] = [ours.best_score_, search.best_score_]
    return row


def measurements():
    """Yield the rows of the kept result."""
    for neighbors in (NEIGHBORS, [10]):
        grid = {"shrinkage": SHRINKAGES, "n_components": SIZES, "n_neighbors": neighbors}
        ours = MultiLabelKaLDACV(SIZES, shrinkages=SHRINKAGES, n_neighbors=neighbors)
        yield compared("linear", ours, MultiLabelKaLDA(constraint="none"), grid, repeats=3)
    plain = KernelKaLDA(n_landmarks=300, random_state=0)
    for neighbors in (NEIGHBORS, [10]):
        grid = {"gamma": [0.005, 0.01], "shrinkage": SHRINKAGES, "n_components": SIZES}
        grid["n_neighbors"] = neighbors
        ours = KernelKaLDACV(
            SIZES,
            shrinkages=SHRINKAGES,
            gammas=grid["gamma"],
            gamma_unit=None,
            n_neighbors=neighbors,
            n_landmarks=300,
            random_state=0,
        )
        # The peer takes minutes. One run is enough: the ratio is far from one fifth.
        yield compared("rbf, 300 landmarks", ours, plain, grid, repeats=1)


if __name__ == "__main__":
    keep("speed-selection", measurements())
