"""Time the neighbour classifiers beside scikit-multilearn-ng's, in one run.

    python -m benchmarks.speed.neighbors

Both sides fit and predict the same data in turns; a ratio is of their best times. It is taken
twice: by the clock on the wall with all cores, as a user waits for it, which needs a machine that
does nothing else; and by the time of the processor with one thread on each side, which does not.
"""

from __future__ import annotations

import json
import os
from time import perf_counter, process_time

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance
from threadpoolctl import threadpool_limits

from benchmarks.speed._measure import RESULTS, environment
from skml_kalda import BinaryRelevanceKNN, MLkNN

MLKNN = "MLkNN vs. scikit-multilearn-ng's"
BR = "BinaryRelevanceKNN vs. BinaryRelevance(KNN)"

# Rows to fit and to predict, features, labels, repeats, what is wanted. 103 features and 14
# labels are those of yeast; 13 and 49 features are what a reducer leaves for 14 and 50 labels.
CASES = [
    (MLKNN, 1200, 103, 14, 10, 30.0),
    (MLKNN, 1200, 50, 14, 10, 30.0),
    (MLKNN, 1200, 20, 14, 10, 30.0),
    (MLKNN, 1200, 13, 14, 10, 30.0),
    (MLKNN, 10_000, 100, 50, 2, 15.0),
    (MLKNN, 10_000, 49, 50, 2, 15.0),
    (BR, 1200, 103, 14, 10, 7.0),
    (BR, 1200, 13, 14, 10, 7.0),
    (BR, 10_000, 49, 50, 2, 25.0),
]

PAGE = """# Speed of the neighbour classifiers

Fit, and predict as many rows again, with k = 10; best of the repeats, both sides in turns in one
run. `ratio` is by the clock on the wall with all cores, `one_thread_ratio` by the time of the
processor with one thread on each side. Both sides search the same neighbours with scikit-learn:
that is nearly all of our time and bounds the ratio, the more so the more features there are. Up to
15 features it is a tree that searches, which takes longer than brute force does with 103.

Environment: {facts}.

{table}
"""


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


def seconds(model, data, threads, clock):
    X, y, X_test = data
    with threadpool_limits(threads):
        start = clock()
        labels = model.fit(X, y).predict(X_test)
        elapsed = clock() - start
    return elapsed, labels.toarray() if sparse.issparse(labels) else labels


def in_turns(name, data, repeats, threads, clock):
    """Time both sides; return their best times and how many predictions differ."""
    best = [np.inf, np.inf]
    for _ in range(repeats):
        (ours, labels), (theirs, their_labels) = (
            seconds(model, data, threads, clock) for model in pair(name)
        )
        best = [min(best[0], ours), min(best[1], theirs)]
    return *best, int((labels != their_labels).sum())


def compare(name, n, p, n_labels, repeats, wanted):
    data = draw(n, p, n_labels)
    ours, theirs, different = in_turns(name, data, repeats, None, perf_counter)
    ours_cpu, theirs_cpu, _ = in_turns(name, data, repeats, 1, process_time)
    return {
        "comparison": name,
        "rows": n,
        "features": p,
        "labels": n_labels,
        "ours_s": round(ours, 4),
        "theirs_s": round(theirs, 4),
        "ratio": round(theirs / ours, 1),
        "one_thread_ratio": round(theirs_cpu / ours_cpu, 1),
        "wanted": wanted,
        "different_predictions": different,
    }


def markdown(result):
    head = list(result["cases"][0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case in result["cases"]:
        cells = ("" if cell is None else str(cell) for cell in case.values())
        lines.append("| " + " | ".join(cells) + " |")
    facts = ", ".join(f"{key} {value}" for key, value in result["environment"].items())
    return PAGE.format(facts=facts, table="\n".join(lines))


def main():
    # Other work on the machine lengthens what runs on several cores more than what does not.
    facts = environment("scikit-multilearn-ng") | {
        "load at the start": round(os.getloadavg()[0], 1)
    }
    result = {"environment": facts, "cases": []}
    for case in CASES:
        result["cases"].append(compare(*case))
        print(result["cases"][-1], flush=True)
    (RESULTS / "speed_neighbors.json").write_text(json.dumps(result, indent=2) + "\n")
    (RESULTS / "speed_neighbors.md").write_text(markdown(result))


if __name__ == "__main__":
    main()
