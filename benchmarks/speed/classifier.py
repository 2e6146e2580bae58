"""What `KaLDAClassifier().fit` costs, beside what a user would take instead.

Run from the root of the project: ``python -m benchmarks.speed.classifier``, or some of its parts,
such as ``python -m benchmarks.speed.classifier trees text``. All times are of the processor, on
one thread, and the two sides take turns, but for the part ``threads``, which compares wall clocks.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common import fastest, keep_parts, memory_added
from benchmarks.scale.wide import text
from skml_kalda import KaLDAClassifier
from skml_kalda.classifiers.kalda import KERNELS, RELEVANCES, SCALES, SHRINKAGES
from skml_kalda.datasets import load_dataset

CPU = time.process_time
SETS = ("emotions", "yeast", "scene", "words")
GRID = {"kernel": KERNELS, "scale": SCALES, "relevance": RELEVANCES, "shrinkage": SHRINKAGES}


def ours(**parameters):
    """Return the classifier with its defaults."""
    return KaLDAClassifier(random_state=0, **parameters)


def data(name):
    """Return a dataset; "words" has about the size of enron, 1,700 texts of binary words."""
    if name != "words":
        return load_dataset(name, return_X_y=True)
    X, Y = text(1700, 1001, 53, words=90, labels=3)
    return sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape), Y.toarray()


def trees():
    """Yield the cost beside 300 trees for each set."""
    for name in SETS:
        X, Y = data(name)
        seconds = fastest(
            3,
            CPU,
            ours=lambda X=X, Y=Y: ours().fit(X, Y),
            trees=lambda X=X, Y=Y: ExtraTreesClassifier(300, random_state=0).fit(X, Y),
        )
        yield {"set": name, "time / ExtraTreesClassifier(300)": seconds["ours"] / seconds["trees"]}


def threads():
    """Yield the wall clock with the default number of threads beside that with one."""
    for name in SETS:
        X, Y = data(name)

        def several(X=X, Y=Y):
            with threadpool_limits(None):
                ours().fit(X, Y)

        seconds = fastest(5, one=lambda X=X, Y=Y: ours().fit(X, Y), several=several)
        yield {"set": name, "default threads / one": seconds["several"] / seconds["one"]}


def labels(n=12_920, p=500, K=983):
    """Yield the cost for many labels beside the bare work on the kernel that is fitted."""
    X, Y = make_multilabel_classification(n, p, n_classes=K, n_labels=19, random_state=0)
    kernel = ours().fit(X, Y)._log_odds.feature_map

    def bare():
        blocks = (kernel.values(X[start : start + 1000]) for start in range(0, n, 1000))
        np.linalg.eigh(sum(values.T @ values for values in blocks))

    seconds = fastest(3, CPU, ours=lambda: ours().fit(X, Y), bare=bare)
    ratio = seconds["ours"] / seconds["bare"]
    yield {"set": f"{n} x {p}, {K} labels", "time / kernel blocks, Gram, eigh": ratio}


def wide():
    """Yield the cost and the memory for wide text beside logistic regression after a reduction."""
    X, Y = text(20_000, 50_000, 50)
    Y = Y.toarray().astype(int)

    def reduced():
        Z = TruncatedSVD(300, random_state=0).fit_transform(X)
        OneVsRestClassifier(LogisticRegression(max_iter=1000)).fit(Z, Y)

    seconds = fastest(1, CPU, ours=lambda: ours().fit(X, Y), reduced=reduced)
    yield {
        "set": "20000 x 50000 sparse, 50 labels",
        "time / TruncatedSVD(300) and LogisticRegression": seconds["ours"] / seconds["reduced"],
        "GiB added": memory_added(lambda: ours().fit(X, Y)) / 2**30,
    }


def choice(folds=5, tried=12):
    """Yield the cost beside a grid search over the same choices, estimated from some fits."""
    X, Y = load_dataset("yeast", return_X_y=True)
    candidates = ParameterGrid({name: list(values) for name, values in GRID.items()})
    drawn = np.random.default_rng(0).choice(len(candidates), tried, replace=False)
    rows = np.arange(len(X)) % folds > 0

    def grid():
        for i in drawn:
            ours(**candidates[int(i)]).fit(X[rows], Y[rows]).predict(X[~rows])

    seconds = fastest(2, CPU, ours=lambda: ours().fit(X, Y), grid=grid)
    fits, one = len(candidates) * folds + 1, seconds["grid"] / tried
    yield {
        "set": "yeast",
        "candidates": len(candidates),
        "fits of GridSearchCV": fits,
        "time / one fit with a given choice": seconds["ours"] / one,
        "time / GridSearchCV, estimated": seconds["ours"] / (one * fits),
    }


PARTS = {"trees": trees, "threads": threads, "labels": labels, "text": wide, "choice": choice}

if __name__ == "__main__":
    keep_parts("speed-classifier", PARTS)
