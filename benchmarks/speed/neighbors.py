"""Time the neighbour classifiers beside scikit-multilearn-ng's, in one run.

    python -m benchmarks.speed.neighbors

Both sides fit and predict the same data in turns; a ratio compares their best times. It is taken
twice: by wall-clock time with all cores, which needs an idle machine, and by processor time with
one thread on each side, which does not.
"""

from __future__ import annotations

import os
from time import perf_counter, process_time

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance
from threadpoolctl import threadpool_limits

from benchmarks.common import RESULTS, keep, markdown_table, one_line
from skml_kalda import BinaryRelevanceKNN, MLkNN

MLKNN = "MLkNN vs. scikit-multilearn-ng's"
BR = "BinaryRelevanceKNN vs. BinaryRelevance(KNN)"

# Rows to fit and to predict, features, labels, repeats, the ratio aimed at. yeast has 103 features
# and 14 labels; a reducer leaves 13 and 49 features for 14 and 50 labels.
CASES = [
    (MLKNN, 1200, 103, 14, 3, 30.0),
    (MLKNN, 1200, 50, 14, 3, 30.0),
    (MLKNN, 1200, 20, 14, 3, 30.0),
    (MLKNN, 1200, 13, 14, 3, 30.0),
    (MLKNN, 10_000, 100, 50, 1, 15.0),
    (MLKNN, 10_000, 49, 50, 1, 15.0),
    (BR, 1200, 103, 14, 3, 7.0),
    (BR, 1200, 13, 14, 3, 7.0),
    (BR, 10_000, 49, 50, 1, 25.0),
]

PAGE = """# Speed of the neighbour classifiers

Fit, then predict as many rows, with k = 10; best of the repeats, both sides in turns in one run.
`ratio` compares wall-clock times with all cores, `one_thread_ratio` processor times with one thread
on each side. Both sides find the same neighbours. The search takes most of our time and limits the
ratio, more so with more features. scikit-learn, which the other side takes, searches a tree with
up to 15 features; ours does so only where rows are many for the number of features.

Environment: {facts}.

{table}"""


def pair(name):
    if name == MLKNN:
        return MLkNN(k=10), FrameworkMLkNN(k=10)
    return BinaryRelevanceKNN(k=10), BinaryRelevance(KNeighborsClassifier(10))


def draw(n, p, n_labels):
    """Draw Gaussian features and labels that depend on them; a quarter of the labels is set."""
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
    rows = result["rows"]
    table = markdown_table(list(rows[0]), [list(map(str, row.values())) for row in rows])
    return PAGE.format(facts=one_line(result["environment"]), table=table)


def main():
    # Other work on the machine slows down multi-threaded code more than single-threaded code.
    load = {"load at the start": round(os.getloadavg()[0], 1)}
    rows = (compare(*case) for case in CASES)
    result = keep("speed-neighbors", rows, "scikit-multilearn-ng", **load)
    (RESULTS / "speed-neighbors.md").write_text(markdown(result), "utf-8")


if __name__ == "__main__":
    main()
