"""Time the neighbour classifiers beside scikit-multilearn-ng's, in one run.

Usage: python benchmarks/speed/neighbors.py [folder of the results]

Both sides fit and predict the same data in turns; the ratio is of the best times.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance

from skml_kalda import BinaryRelevanceKNN, MLkNN

PACKAGES = ("numpy", "scipy", "scikit-learn", "scikit-multilearn-ng")
MLKNN = "MLkNN vs. scikit-multilearn-ng's"
BR = "BinaryRelevanceKNN vs. BinaryRelevance(KNN)"

# Rows to fit and to predict, features, labels, repeats, what is wanted. 103 features and 14
# labels are those of yeast; 13 features are what is left of them after reduction, where a tree
# searches instead of brute force.
CASES = [
    (MLKNN, 1200, 103, 14, 10, 30.0),
    (MLKNN, 1200, 13, 14, 10, None),
    (MLKNN, 10_000, 100, 50, 3, 15.0),
    (BR, 1200, 103, 14, 10, 7.0),
    (BR, 1200, 13, 14, 10, 7.0),
    (BR, 10_000, 100, 50, 3, 25.0),
]


def pair(name):
    if name == MLKNN:
        return MLkNN(k=10), FrameworkMLkNN(k=10)
    return BinaryRelevanceKNN(k=10), BinaryRelevance(KNeighborsClassifier(10))


def draw(n, p, n_labels):
    """Draw Gaussian features whose labels, a quarter of them set, depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, p))
    score = X @ rng.normal(size=(p, n_labels)) + rng.normal(size=(2 * n, n_labels))
    y = (score > np.quantile(score, 0.75, axis=0)).astype(int)
    return X[:n], y[:n], X[n:]


def seconds(model, X, y, X_test):
    start = perf_counter()
    labels = model.fit(X, y).predict(X_test)
    elapsed = perf_counter() - start
    return elapsed, labels.toarray() if sparse.issparse(labels) else labels


def compare(name, n, p, n_labels, repeats, wanted):
    data = draw(n, p, n_labels)
    ours, theirs = zip(
        *[tuple(seconds(model, *data) for model in pair(name)) for _ in range(repeats)],
        strict=True,
    )
    best_ours, best_theirs = (min(time for time, _ in side) for side in (ours, theirs))
    return {
        "comparison": name,
        "rows": n,
        "features": p,
        "labels": n_labels,
        "ours_s": round(best_ours, 4),
        "theirs_s": round(best_theirs, 4),
        "ratio": round(best_theirs / best_ours, 1),
        "wanted": wanted,
        "different_predictions": int((ours[0][1] != theirs[0][1]).sum()),
    }


def environment():
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        **{package: version(package) for package in PACKAGES},
    }


def markdown(result):
    head = ["comparison", "rows", "features", "labels", "ours [s]", "theirs [s]", "ratio", "wanted"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case in result["cases"]:
        cells = [case[key] for key in list(case)[:8]]
        lines.append("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |")
    differences = sum(case["different_predictions"] for case in result["cases"])
    facts = ", ".join(f"{key} {value}" for key, value in result["environment"].items())
    return "\n".join(
        [
            "# Speed of the neighbour classifiers",
            "",
            "Fit and predict as many rows again, k = 10, best of the repeats, both in one run;",
            f"{differences} predictions differ. Both sides search the same neighbours with",
            "scikit-learn, which is nearly all of our time and bounds the ratio: with 13 features",
            "its tree takes longer than brute force does with 103.",
            "",
            f"Environment: {facts}.",
            "",
            *lines,
            "",
        ]
    )


def main(folder):
    result = {"environment": environment(), "cases": []}
    for case in CASES:
        result["cases"].append(compare(*case))
        print(result["cases"][-1], flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "speed_neighbors.json").write_text(json.dumps(result, indent=2) + "\n")
    (folder / "speed_neighbors.md").write_text(markdown(result))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "benchmarks/results"))
