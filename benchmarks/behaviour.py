"""What every public estimator returns, kept before a change of the code and compared after it.

    python -m benchmarks.behaviour keep before.npz
    python -m benchmarks.behaviour compare before.npz

Fits every estimator on the bundled sets and on made dense, wide, sparse and streamed data, and
keeps components, eigenvalues, projections, probabilities and predictions. `compare` prints the
largest difference per array relative to its largest entry, and fails above 1e-12.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import StandardScaler

import skml_kalda as sk
from skml_kalda._core.scatter import forced_form
from skml_kalda.datasets import load_dataset

# The settings are spelled out, so that a change of defaults does not show. Where a setting is newer
# than some version, `AS_BEFORE` replaces its default by what the code did without it.
AS_BEFORE = {"ridge": ("auto", 0.0), "tol": (1e-4, 1e-12), "landmarks": ("kmeans", "random")}
REDUCERS = {
    "kaLDA": sk.MultiLabelKaLDA(shrinkage=None, tol=1e-8),
    "kaLDA shrunk": sk.MultiLabelKaLDA(shrinkage="auto", tol=1e-8),
    "kaLDA closed": sk.MultiLabelKaLDA(constraint="none", shrinkage=None),
    "kaLDA closed auto": sk.MultiLabelKaLDA(constraint="none", shrinkage="auto"),
    "kaLDA paper": sk.MultiLabelKaLDA(solver="paper", max_iter=50, shrinkage=None),
    "KernelKaLDA": sk.KernelKaLDA(shrinkage=0.2, n_landmarks=80, random_state=0),
    "KernelKaLDA orthonormal": sk.KernelKaLDA(
        kernel="linear", constraint="orthonormal", shrinkage=0.2, n_landmarks=80, random_state=0
    ),
    "CCA": sk.CCA(ridge=1e-4, normalize="B"),
    "LDA": sk.LDA(normalize="B"),
    "MDDM": sk.MDDM(),
    "MDDM f": sk.MDDM(projection="f", normalize="B"),
    "MLDA": sk.MLDA(ridge=0.0, normalize="B"),
    "MLDA ridge": sk.MLDA(ridge=1.0, normalize="sqrt_eig"),
    "MLDA entropy": sk.MLDA(weights="entropy", ridge=0.1, normalize="B"),
    "MLDA correlation": sk.MLDA(weights="correlation", ridge=0.1, normalize="B"),
    "MLDA fuzzy": sk.MLDA(weights="fuzzy", ridge=0.1, normalize="B"),
    "MLDA dependence": sk.MLDA(weights="dependence", ridge=0.1, normalize="B", random_state=0),
    "MLLS": sk.MLLS(),
    "MLR": sk.MLR(ridge=0.1),
    "MLSI": sk.MLSI(ridge=1e-6, normalize="B"),
    "MLSI inverse": sk.MLSI(form="inverse", ridge=1e-6, normalize="B"),
    "MMC": sk.MMC(),
    "OCM": sk.OCM(),
    "OLDA": sk.OLDA(),
    "OPLS": sk.OPLS(ridge=1e-4, normalize="B"),
    "RLDA": sk.RLDA(ridge=0.1, normalize="B"),
    "SDPLDA": sk.SDPLDA(ridge=1e-4),
    "TraceRatio": sk.TraceRatio(),
    "ULDA": sk.ULDA(),
}
CLASSIFIERS = {
    "MLkNN": sk.MLkNN(k=10),
    "MLkNN without self": sk.MLkNN(k=5, include_self=False),
    "BinaryRelevanceKNN": sk.BinaryRelevanceKNN(k=5),
}
# Methods that need the whole spectrum.
NOT_BY_PRODUCTS = {"kaLDA paper", "MLSI inverse"}


def _data():
    for name in ("emotions", "yeast", "scene"):
        X, Y = load_dataset(name, return_X_y=True)
        yield name, StandardScaler().fit_transform(X)[:600], Y[:600], None
    X, Y = make_multilabel_classification(80, 200, n_classes=5, random_state=1)
    yield "wide", X, Y, None
    rng = np.random.default_rng(2)
    X = sparse.random_array((300, 90), density=0.1, rng=rng, format="csr")
    Y = (rng.random((300, 5)) < 0.3).astype(int)
    Y[np.arange(300), rng.integers(5, size=300)] = 1
    for form in ("primal", "dual", "operator"):
        yield f"sparse {form}", X, Y, form


def behaviour():
    """Yield the name and the value of every array."""
    for data, X, Y, form in _data():
        for name, estimator in REDUCERS.items():
            _set_as_before(estimator)
            if form == "operator" and name in NOT_BY_PRODUCTS:
                continue
            with forced_form(form):
                try:
                    fitted = clone(estimator).fit(X, Y)
                except ValueError as error:
                    print(f"{data}, {name}: {error}", file=sys.stderr)
                    continue
            yield from _arrays(f"{data}, {name}", fitted, X)
            if data in ("emotions", "wide") and hasattr(estimator, "partial_fit"):
                streamed = clone(estimator)
                for rows in np.array_split(np.arange(len(Y)), 3):
                    streamed.partial_fit(X[rows], Y[rows])
                yield from _arrays(f"{data} streamed, {name}", streamed, X)
        for name, classifier in CLASSIFIERS.items():
            classifier = clone(classifier).fit(X[:200], Y[:200])
            yield f"{data}, {name}: labels", np.asarray(classifier.predict(X))
            yield f"{data}, {name}: probabilities", classifier.predict_proba(X)


def _set_as_before(estimator):
    given = estimator.get_params()
    for name, (default, before) in AS_BEFORE.items():
        if name in given and given[name] == default:
            estimator.set_params(**{name: before})


def _arrays(name, fitted, X):
    yield f"{name}: projection", fitted.transform(X)
    for attribute in ("components_", "mean_", "eigenvalues_", "dual_components_", "objective_"):
        if hasattr(fitted, attribute):
            yield f"{name}: {attribute}", np.asarray(getattr(fitted, attribute))


def compare(kept, now):
    """Print the differences; return the largest."""
    largest, equal = 0.0, 0
    for name in sorted(kept.keys() | now.keys()):
        if name not in kept or name not in now or kept[name].shape != now[name].shape:
            print(f"{name}: {'only one run has it, or another shape'}")
            largest = np.inf
            continue
        size = np.abs(kept[name]).max(initial=0.0)
        gap = np.abs(kept[name] - now[name]).max(initial=0.0) / (size or 1.0)
        equal += bool(np.array_equal(kept[name], now[name]))
        if gap > 1e-12:
            print(f"{name}: {gap:.1e}")
        largest = max(largest, gap)
    print(f"{len(now)} arrays, {equal} equal to the bit, largest relative difference {largest:.1e}")
    return largest


def main(command, path):
    """Keep the behaviour in a file, or compare it with the one kept there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = dict(behaviour())
    if command == "keep":
        np.savez_compressed(path, **now)
        print(f"{len(now)} arrays kept in {path}")
        return 0
    return int(compare(dict(np.load(path)), now) > 1e-12)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
