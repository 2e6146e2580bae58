"""Stratified folds beside those of iterative-stratification and random ones.

Run from the root of the project: ``python -m benchmarks.speed.splits``. It needs the package
iterative-stratification, which nothing else here does. Times are ratios of both in turns in one
run; deviations are means over seeds.
"""

from __future__ import annotations

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from scipy import sparse
from sklearn.model_selection import KFold

from benchmarks.common import fastest, keep
from skml_kalda.datasets import load_dataset
from skml_kalda.model_selection import MultiLabelStratifiedKFold

SPLITTERS = {
    "ours": MultiLabelStratifiedKFold,
    "iterative-stratification": MultilabelStratifiedKFold,
    "random": KFold,
}


def drawn(n, K):
    """Labels from one row in a thousand to one in three, some of them together."""
    rng = np.random.default_rng(0)
    share = np.geomspace(0.001, 0.3, K)
    common = rng.random((n, 1))
    return (np.where(rng.random((n, K)) < 0.3, common, rng.random((n, K))) < share).astype(int)


def speed(n, K, folds, repeats):
    """Time of ours over theirs, with dense labels on both sides and with sparse ones on ours."""
    Y = drawn(n, K)
    stored, rows = sparse.csr_array(Y), np.zeros(n)

    def split(splitter, labels):
        return list(splitter(folds, shuffle=True, random_state=0).split(rows, labels))

    seconds = fastest(
        repeats=repeats,
        ours=lambda: split(MultiLabelStratifiedKFold, Y),
        sparse=lambda: split(MultiLabelStratifiedKFold, stored),
        theirs=lambda: split(MultilabelStratifiedKFold, Y),
    )
    return {
        "rows": n,
        "labels": K,
        "folds": folds,
        "time / iterative-stratification": seconds["ours"] / seconds["theirs"],
        "time with sparse labels / iterative-stratification": seconds["sparse"] / seconds["theirs"],
    }


def deviation(tests, Y):
    """Mean over folds and labels of |share of the label in the fold − its share in all rows|."""
    return np.abs([Y[test].mean(axis=0) - Y.mean(axis=0) for test in tests]).mean()


def quality(name, Y, folds, seeds):
    row = {"set": name, "rows": len(Y), "labels": Y.shape[1], "folds": folds, "seeds": seeds}
    for peer, splitter in SPLITTERS.items():
        runs = [
            [test for _, test in splitter(folds, shuffle=True, random_state=seed).split(Y, Y)]
            for seed in range(seeds)
        ]
        row[f"mean absolute deviation, {peer}"] = float(np.mean([deviation(r, Y) for r in runs]))
        sizes = [[len(test) for test in tests] for tests in runs]
        row[f"largest difference of sizes, {peer}"] = int(np.ptp(sizes, axis=1).max())
    return row


def measurements():
    """Every row of the kept result, as it is measured."""
    for folds in (5, 10):
        yield speed(100_000, 100, folds, repeats=3)
    for name in ("emotions", "scene", "yeast"):
        Y = np.asarray(load_dataset(name, return_X_y=True)[1])
        yield from (quality(name, Y, folds, seeds=10) for folds in (5, 10))
    yield from (quality("drawn", drawn(20_000, 100), folds, seeds=3) for folds in (5, 10))


if __name__ == "__main__":
    keep("speed-splits", measurements(), "iterative-stratification")
