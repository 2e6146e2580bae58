"""Every reducer without any argument, in front of `MLkNN()`, against no reduction.

Run from the root of the project, with the data sets that are not bundled in
``SKML_KALDA_DATA``: ``python -m benchmarks.defaults [--methods NAME ...] [set ...]``. What is
measured already stays as it is. Features are standardised on the training rows (sparse ones
without a mean), sets of more than 2,000 rows are sampled, ten times two thirds of the rows are
drawn for training. Each difference is paired. Its standard error is given twice: over the splits
as if they were independent, and corrected for training sets that overlap (Nadeau and Bengio 2003).
The made sets differ in what is hard about them; see `MADE`.
"""

from __future__ import annotations

import argparse
import json
import warnings

import numpy as np
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

import skml_kalda
from benchmarks.common import RESULTS, environment, markdown_table, write
from skml_kalda import MLkNN
from skml_kalda.datasets import load_dataset

SETS = ("emotions", "scene", "yeast", "msrc-mom", "msrc-sift", "bibtex", "tmc2007-500", "imdb")
PLAIN = (
    *("MultiLabelKaLDA", "KernelKaLDA", "LDA", "MLDA", "RLDA", "CCA", "OPLS", "MLR", "MLLS"),
    *("MLSI", "MDDM", "ULDA", "OLDA", "OCM", "SDPLDA", "TraceRatio", "MMC"),
)
# Their criteria have no term that regularisation could act on, or it does not help them.
NOT_REGULARISED = ("SDPLDA", "TraceRatio", "MMC")
ROWS, SPLITS, TEST = 2000, 10, 1 / 3


def tagged_text(rng, n=1000, words=850, K=12):
    """Word counts: every tag has words of its own, among ten times as many words of no tag."""
    Y = _tags(rng, n, np.full(K, 0.15))
    rates = np.full((n, words), 0.02)
    for k in range(K):
        own = rng.choice(words, 8, replace=False)
        rates[:, own] += 0.25 * Y[:, [k]]
    return sparse.csr_array(rng.poisson(rates).astype(float)), Y


def few_rows(rng, n=150, p=2000, K=5):
    """Ten times as many features as rows; each label moves one feature in twenty."""
    Y = _tags(rng, n, np.full(K, 0.3))
    moved = rng.normal(size=(K, p)) * (rng.random((K, p)) < 0.05)
    return Y @ moved + rng.normal(size=(n, p)), Y


def many_labels(rng, n=1000, p=100, K=80):
    """More labels than the features can tell apart well; a few causes behind all of them."""
    causes = rng.normal(size=(n, 10))
    scores = causes @ rng.normal(size=(10, K)) + rng.normal(size=(n, K))
    Y = (scores > np.quantile(scores, 0.92, axis=0)).astype(int)
    return causes @ rng.normal(size=(10, p)) + 2 * rng.normal(size=(n, p)), Y


def imbalanced(rng, n=2000, p=60, K=10):
    """Labels from 2 to 30 per cent of the rows, and many rows without any."""
    Y = _tags(rng, n, np.geomspace(0.02, 0.3, K))
    return Y @ rng.normal(size=(K, p)) + 1.5 * rng.normal(size=(n, p)), Y


def clusters(rng, n=1200, p=30, K=6):
    """Labels by the cluster of a row, so that no label is a linear function of the features."""
    centres, of_cluster = 2.5 * rng.normal(size=(12, p)), (rng.random((12, K)) < 0.35).astype(int)
    cluster = rng.integers(12, size=n)
    return centres[cluster] + 2 * rng.normal(size=(n, p)), of_cluster[cluster]


def few_labels(rng, n=800, p=20, K=3):
    """Three labels, and so two components."""
    X = rng.normal(size=(n, p))
    return X, (X @ rng.normal(size=(p, K)) + rng.normal(size=(n, K)) > 1.0).astype(int)


def _tags(rng, n, shares):
    """Labels that occur together more often than by chance."""
    common = rng.normal(size=(n, 1))
    scores = 0.6 * common + 0.8 * rng.normal(size=(n, len(shares)))
    return np.column_stack(
        [s > np.quantile(s, 1 - share) for s, share in zip(scores.T, shares, strict=True)]
    ).astype(int)


MADE = (tagged_text, few_rows, many_labels, imbalanced, clusters, few_labels)
_MAKERS = {f"made: {make.__name__.replace('_', ' ')}": make for make in MADE}


def data(name, rows=ROWS):
    """Return at most so many rows of a set without labels that have fewer than ten rows."""
    if name in _MAKERS:
        return _MAKERS[name](np.random.default_rng(0))
    X, Y = load_dataset(name, return_X_y=True)
    X = sparse.csr_array(X, dtype=float) if sparse.issparse(X) else np.asarray(X, dtype=float)
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    if X.shape[0] > rows:
        kept = np.random.default_rng(0).choice(X.shape[0], rows, replace=False)
        X, Y = X[kept], Y[kept]
    return X, Y[:, Y.sum(axis=0) >= 10]


def scores(X, Y, method):
    """Return macro F1 on each split."""
    found = []
    for train, test in ShuffleSplit(SPLITS, test_size=TEST, random_state=0).split(X):
        scaler = StandardScaler(with_mean=not sparse.issparse(X)).fit(X[train])
        near, far = scaler.transform(X[train]), scaler.transform(X[test])
        if method != "none":
            reducer = getattr(skml_kalda, method)().fit(near, Y[train])
            near, far = reducer.transform(near), reducer.transform(far)
        predicted = MLkNN().fit(near, Y[train]).predict(far)
        found.append(f1_score(Y[test], predicted, average="macro", zero_division=0))
    return np.array(found)


def row(name, method, found, none):
    """Return the mean, the paired difference and its standard errors."""
    gain = found - none
    variance = gain.var(ddof=1)
    errors = {
        "standard_error": np.sqrt(variance / SPLITS),
        "corrected_error": np.sqrt((1 / SPLITS + TEST / (1 - TEST)) * variance),
    }
    numbers = {"macro_f1": found.mean(), "gain": gain.mean(), **errors}
    below = {
        "below": bool(gain.mean() < -2 * errors["corrected_error"]),
        "below_by_the_smaller_error": bool(gain.mean() < -2 * errors["standard_error"]),
    }
    rounded = {key: round(float(value), 4) for key, value in numbers.items()}
    return {"dataset": name, "method": method, **rounded, **below}


def table(rows):
    """Return the gains as a table: sets by methods."""
    methods = list(dict.fromkeys(each["method"] for each in rows))
    lines = []
    for name in dict.fromkeys(each["dataset"] for each in rows):
        of_set = {each["method"]: each for each in rows if each["dataset"] == name}
        lines.append([name, *(_cell(of_set.get(method)) for method in methods)])
    return markdown_table(["set", *methods], lines)


def _cell(found):
    if found is None:
        return "–"
    if found["method"] == "none":
        return f"{found['macro_f1']:.3f}"
    mark = "**" if found["below"] else "*" if found["below_by_the_smaller_error"] else ""
    return f"{mark}{found['gain']:+.3f}{mark}"


def main(names, methods):
    """Measure every method on every set, but for what is kept already."""
    path = RESULTS / "defaults.json"
    rows = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []
    for name in names or (*SETS, *_MAKERS):
        X, Y = data(name)
        none = scores(X, Y, "none")
        for method in ("none", *(methods or PLAIN)):
            if any((each["dataset"], each["method"]) == (name, method) for each in rows):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = none if method == "none" else scores(X, Y, method)
            rows.append(row(name, method, found, none))
            print(rows[-1], flush=True)
            write("defaults", {"environment": environment(), "rows": rows})
    text = "# Every reducer without arguments, gain in macro F1 over no reduction\n\n"
    path.with_suffix(".md").write_text(f"{text}{table(rows)}", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--methods", nargs="+", default=())
    arguments = parser.parse_args()
    main(arguments.sets, arguments.methods)
