"""Two ways to do one thing, side by side: weights of kaLDA, and `AlignmentScaler` or not.

Run from the root of the project, with the data sets that are not bundled in
``SKML_KALDA_DATA``: ``python -m benchmarks.pairs [set ...]``. What is measured already stays as
it is. Ten neighbours vote by distance, features are standardised on the training rows (sparse
ones without a mean), sets of more than 1,500 rows are sampled, six times two thirds of the rows
are drawn for training. A difference is paired, with its standard error over the splits. Average
precision is that of label ranking. The threshold of F1 is 0.5, or the best single one for the
training rows, of those that leave-one-out votes have.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score, label_ranking_average_precision_score
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.common import RESULTS, environment, markdown_table, write
from benchmarks.defaults import SETS, data
from skml_kalda import AlignmentScaler, BinaryRelevanceKNN, KernelKaLDA, MultiLabelKaLDA

ROWS, SPLITS = 1500, 6
SCORES = ("macro F1", "macro F1, tuned", "micro F1, tuned", "average precision")


def as_they_are():
    return FunctionTransformer(accept_sparse=True)


def scaled(reducer, power):
    """Weigh the features by a power of their alignment before a reducer."""
    return make_pipeline(AlignmentScaler(power), reducer)


# Title: what stands first in a difference, and what is subtracted.
PAIRS = {
    "weights, orthonormal": (
        lambda: MultiLabelKaLDA(weights="rows"),
        lambda: MultiLabelKaLDA(weights="labels"),
    ),
    "weights, closed form": (
        lambda: MultiLabelKaLDA(weights="rows", constraint="none"),
        lambda: MultiLabelKaLDA(weights="labels", constraint="none"),
    ),
    "weights, kernel": (
        lambda: KernelKaLDA(weights="rows", random_state=0),
        lambda: KernelKaLDA(weights="labels", shrinkage=0.2, random_state=0),
    ),
    "scaler, neighbours": (lambda: AlignmentScaler(), as_they_are),
    "scaler of power 1/2, neighbours": (lambda: AlignmentScaler(0.5), as_they_are),
    "scaler, closed form": (
        lambda: scaled(MultiLabelKaLDA(constraint="none"), 1.0),
        lambda: MultiLabelKaLDA(constraint="none"),
    ),
    "scaler, kernel": (
        lambda: scaled(KernelKaLDA(random_state=0), 1.0),
        lambda: KernelKaLDA(random_state=0),
    ),
}


def scores(reducer, near, labels, far, true):
    """Return the scores of votes behind a reducer."""
    reducer.fit(near, labels)
    near, far = reducer.transform(near), reducer.transform(far)
    votes = BinaryRelevanceKNN(10, weights="distance", threshold="auto").fit(near, labels)
    shares = votes.predict_proba(far)
    shares = shares.toarray() if sparse.issparse(shares) else shares
    plain, tuned = shares > 0.5, votes.predict(far)
    return [
        f1_score(true, plain, average="macro", zero_division=0),
        f1_score(true, tuned, average="macro", zero_division=0),
        f1_score(true, tuned, average="micro", zero_division=0),
        label_ranking_average_precision_score(true, shares),
    ]


def splits(name):
    """Yield training rows, their labels, test rows and their labels."""
    X, Y = data(name, ROWS)
    for train, test in ShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(X):
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X[train])
        yield scaler.transform(X[train]), Y[train], scaler.transform(X[test]), Y[test]


def measured(name, title):
    """Return a row: both means, and the differences with their standard errors."""
    pair = PAIRS[title]
    found = np.array([[scores(make(), *split) for make in pair] for split in splits(name)])
    mean, gain = found.mean(axis=0), found[:, 0] - found[:, 1]
    error = gain.std(axis=0, ddof=1) / len(gain) ** 0.5
    row = {"dataset": name, "pair": title}
    for i, score in enumerate(SCORES):
        numbers = {"first": mean[0, i], "second": mean[1, i], "difference": gain[:, i].mean()}
        numbers["standard error"] = error[i]
        row[score] = {key: round(float(value), 4) for key, value in numbers.items()}
    return row


def table(rows, score):
    """Return the differences of one score: sets by pairs, in bold from two standard errors."""
    lines = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        of_set = {row["pair"]: row[score] for row in rows if row["dataset"] == name}
        lines.append([name, *(_cell(of_set.get(title)) for title in PAIRS)])
    return markdown_table(["set", *PAIRS], lines)


def _cell(found):
    if found is None:
        return "–"
    mark = "**" if abs(found["difference"]) > 2 * found["standard error"] else ""
    return f"{mark}{found['difference']:+.3f}{mark}"


def main(names):
    """Measure what is not in the results yet, on all sets or on some."""
    path = RESULTS / "pairs.json"
    rows = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    done = {(row["dataset"], row["pair"]) for row in rows}
    for name in names or SETS:
        for title in PAIRS:
            if (name, title) not in done:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows.append(measured(name, title))
                print(json.dumps(rows[-1]), flush=True)
                write("pairs", {"environment": environment(), "rows": rows})
    parts = [f"## {score}\n\n{table(rows, score)}" for score in SCORES]
    title = '# Weights "rows" minus "labels", and with `AlignmentScaler` minus without\n'
    path.with_suffix(".md").write_text("\n".join([title, *parts]), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
