"""bibtex, tmc2007-500 and imdb, from the reducer to the predictions, beside other reductions.

Run from the root of the project with the sets in ``SKML_KALDA_DATA``:
``python -m benchmarks.scale.sets``. Reducers are fitted on four fifths of the rows; MLkNN is
fitted on at most 10,000 of them and predicts at most 2,000 of the rest, because its own cost
grows with the square of the rows.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from benchmarks.common import fastest, keep_or_try, memory_added, stored
from skml_kalda import MLkNN, MultiLabelKaLDA
from skml_kalda.datasets import load_dataset

REDUCERS = {
    "kaLDA, free": lambda k: MultiLabelKaLDA(constraint="none", shrinkage=0.5),
    "kaLDA, orthonormal": lambda k: MultiLabelKaLDA(shrinkage=0.5),
    "TruncatedSVD": lambda k: TruncatedSVD(k, random_state=0),
    "no reduction": lambda k: None,
}


class Split:
    """One split of a set, the same for all methods."""

    def __init__(self, name, rows=None):
        X, Y = load_dataset(name, return_X_y=True)
        X, Y = sparse.csr_array(X, dtype=np.float64)[:rows], np.asarray(Y)[:rows]
        Y = Y[:, Y.any(axis=0)]
        self.X, self.X_test, self.Y, self.Y_test = train_test_split(
            X, Y, test_size=0.2, random_state=0
        )
        self.data = f"{name}, {X.shape[0]} x {X.shape[1]} sparse, K = {Y.shape[1]}"

    def predicted(self, reducer):
        """Return the labels that MLkNN predicts for the test rows."""
        near, far = self.X[:10_000], self.X_test[:2_000]
        if reducer is not None:
            near, far = reducer.transform(near), reducer.transform(far)
        return MLkNN(k=10).fit(near, self.Y[:10_000]).predict(far)


def end_to_end(split, name):
    make = REDUCERS[name]
    k = split.Y.shape[1] - 1
    reducer, task = make(k), {}
    if reducer is not None:
        task["fit"] = lambda: reducer.fit(split.X, split.Y)
    seconds = fastest(repeats=1, **task, neighbours=lambda: split.predicted(reducer))
    predicted, truth = split.predicted(reducer), split.Y_test[:2_000]
    return {
        "fit": seconds.get("fit", 0.0),
        "neighbours": seconds["neighbours"],
        "micro": f1_score(truth, predicted, average="micro"),
        "macro": f1_score(truth, predicted, average="macro", zero_division=0),
        "peak": memory_added(task["fit"]) if task else 0,
    }


def measurements(*, small):
    """Yield the rows of the kept result."""
    for name in ("bibtex", "tmc2007-500", "imdb"):
        split = Split(name, rows=1_000 if small else None)
        found = {method: end_to_end(split, method) for method in REDUCERS}
        base = found["no reduction"]["neighbours"]
        svd = found["TruncatedSVD"]
        for method, each in found.items():
            yield {
                "method": f"{method} + MLkNN",
                "data": split.data,
                "micro F1": each["micro"],
                "macro F1": each["macro"],
                "fit / fit of TruncatedSVD": each["fit"] / svd["fit"],
                "fit and neighbours / no reduction": (each["fit"] + each["neighbours"]) / base,
                "peak added by fit / CSR matrix": each["peak"] / stored(split.X),
            }


if __name__ == "__main__":
    keep_or_try("scale-sets", measurements, "threadpoolctl")
