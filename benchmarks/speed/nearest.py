"""Time the neighbour search of MLkNN beside SciPy's tree, and an approximate index beside both.

    python -m benchmarks.speed.nearest [tree | full | index]

"tree": fitting and predicting with MLkNN, and the searches by cKDTree that this needs, in turns,
for features near a plane of five dimensions; "full": for features that fill all ten.
"index": the searches of MLkNN on a million rows, exact and by an index of faiss (pip install
faiss-cpu). Building is timed in full, searching on a sample: each row is searched by itself.
All times are of the processor, on one thread, so that other work on the machine matters less.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from benchmarks.common import fastest, keep
from skml_kalda import MLkNN

K = 10
FEATURES = 10
LABELS = 10


class FaissTransformer(BaseEstimator):
    """Approximate neighbours: the rows of the cells around the nearest centres of k-means."""

    def __init__(self, n_neighbors=K, n_cells=4096, n_probed=48):
        self.n_neighbors = n_neighbors
        self.n_cells = n_cells
        self.n_probed = n_probed

    def fit(self, X, y=None):
        """Find the centres of the cells, and sort the rows into them."""
        import faiss

        X = np.ascontiguousarray(X, dtype=np.float32)
        centres = faiss.IndexFlatL2(X.shape[1])
        self.index_ = faiss.IndexIVFFlat(centres, X.shape[1], self.n_cells)
        self.index_.train(X)
        self.index_.add(X)
        self.index_.nprobe = self.n_probed
        return self

    def transform(self, X):
        """Return the distances to the neighbours that are found, as a sparse matrix."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        squares, rows = self.index_.search(X, self.n_neighbors)
        ends = np.arange(0, rows.size + 1, self.n_neighbors)
        distances = np.sqrt(np.maximum(squares, 0)).ravel()
        return sparse.csr_array((distances, rows.ravel(), ends), (len(X), self.index_.ntotal))


def draw(n, m, dimensions=FEATURES):
    """Draw Gaussian features near a plane of some dimensions, and labels that depend on them."""
    rng = np.random.default_rng(0)
    plane = np.eye(FEATURES) if dimensions == FEATURES else rng.normal(size=(dimensions, FEATURES))
    X = rng.normal(size=(n + m, dimensions)) @ plane
    X += 0.05 * rng.normal(size=X.shape)
    score = X @ rng.normal(size=(FEATURES, LABELS)) + rng.normal(size=(n + m, LABELS))
    y = (score > np.quantile(score, 0.75, axis=0)).astype(int)
    return X[:n], y[:n], X[n:]


def beside_the_tree(dimensions, repeats, n=100_000, m=1_000):
    X, y, X_test = draw(n, m, dimensions)

    def searches():
        tree = cKDTree(X)
        tree.query(X, K)
        tree.query(X_test, K)

    seconds = fastest(
        repeats,
        process_time,
        searches=searches,
        mlknn=lambda: MLkNN(K, n_jobs=1).fit(X, y).predict(X_test),
    )
    return {
        "what": "MLkNN, fit and predict / the searches of cKDTree that it needs",
        **facts(n, m),
        "dimensions": dimensions,
        "ratio": round(seconds["mlknn"] / seconds["searches"], 3),
    }


def with_an_index(n=1_000_000, m=10_000):
    X, _, _ = draw(n, m)
    exact, index = (
        MLkNN(K, n_jobs=1, algorithm=each).knn_ for each in ("auto", FaissTransformer())
    )
    rows = np.random.default_rng(1).choice(n, 5_000, replace=False)
    exact_seconds, nearest = seconds_to_search(exact, X, n + m, rows[:1_000])
    index_seconds, found = seconds_to_search(index, X, n + m, rows)
    hits = found[:1_000, :, np.newaxis] == nearest[:, np.newaxis]
    return {
        "what": "searches of MLkNN, fit and predict: exact / by an index of faiss",
        **facts(n, m),
        "ratio": round(exact_seconds / index_seconds, 1),
        "recall": round(float(hits.any(axis=2).mean()), 4),
    }


def seconds_to_search(search, X, n, sample):
    """Return the time to build an index and search n rows, from that of a sample, and the found."""
    found = []
    building = fastest(1, process_time, build=lambda: search.fit(X))["build"]
    searching = fastest(
        1, process_time, search=lambda: found.append(search.kneighbors(X[sample], K)[1])
    )["search"]
    return building + searching * n / len(sample), found[0]


def facts(n, m):
    return {"rows": n, "rows_predicted": m, "features": FEATURES, "labels": LABELS, "k": K}


def main():
    import faiss

    faiss.omp_set_num_threads(1)
    measured = {
        "tree": lambda: beside_the_tree(dimensions=5, repeats=3),
        # The search is slow where features fill all dimensions: once is enough.
        "full": lambda: beside_the_tree(dimensions=FEATURES, repeats=1),
        "index": with_an_index,
    }
    with threadpool_limits(1):
        for name in sys.argv[1:] or measured:
            keep(f"speed-nearest-{name}", [measured[name]()], "faiss-cpu")


if __name__ == "__main__":
    main()
