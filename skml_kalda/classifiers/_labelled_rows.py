"""The labelled rows that a classifier is fitted on, with one label column for each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import Indicator, occupied_columns
from skml_kalda._core.relevance import FeatureMoments


class Rows(NamedTuple):
    """Labelled rows."""

    X: Any
    """Array or CSR of shape (n, p)."""
    Y: sparse.csr_array
    """Labels 0 and 1, shape (n, K)."""
    weight: Array
    """Shape (n,), positive."""
    unknown: sparse.csr_array | None = None
    """One where a label is unknown, shape (n, K); None if all are known."""

    @property
    def labels(self) -> sparse.csr_array:
        """Y, and the columns of `unknown` behind it if there are any."""
        return self.Y if self.unknown is None else sparse.hstack([self.Y, self.unknown], "csr")

    def moments(self) -> FeatureMoments:
        """Return the moments of the features with `labels`."""
        return FeatureMoments.of(self.X, self.labels, self.weight)

    def at(self, rows: Any) -> Rows:
        """Return some of the rows."""
        unknown = None if self.unknown is None else self.unknown[rows]
        return Rows(self.X[rows], self.Y[rows], self.weight[rows], unknown)

    def drawn(self, n: int, rng: np.random.RandomState) -> Rows:
        """Return n of the rows at random, or all if there are no more."""
        total = len(self.weight)
        return self if total <= n else self.at(np.sort(rng.choice(total, n, replace=False)))

    def columns(self) -> tuple[Any, ...]:
        """Return the fields as arrays and CSR, one row each, for a `RandomSample`."""
        unknown = sparse.csr_array(self.Y.shape) if self.unknown is None else self.unknown
        return self.X, self.Y, self.weight, unknown

    @classmethod
    def of_columns(cls, X: Any, Y: Any, weight: Array, unknown: Any) -> Rows:
        """Return the rows with these `columns`."""
        return cls(X, Y, weight, unknown if unknown.nnz else None)


def classes_of(Y: Indicator, weight: Array, classes: Any) -> NDArray[Any]:
    """Return the classes of a 1-D y, or the columns of an indicator matrix."""
    if Y.is_matrix:
        return Y.classes
    if classes is not None:
        return np.unique(classes)
    return Y.classes[occupied_columns(Y.matrix.T @ weight, Y.classes)]


def in_columns(Y: Any, found: NDArray[Any], classes: NDArray[Any]) -> sparse.csr_array:
    """Return class labels, one in each row, with a column for each of `classes`."""
    strange = np.setdiff1d(found[Y.indices], classes)
    if len(strange):
        raise ValueError(
            f"y has new classes: {strange.tolist()}. Pass all classes as the argument classes in "
            "the first call of partial_fit."
        )
    columns = np.searchsorted(classes, found)[Y.indices]
    return sparse.csr_array((Y.data, columns, Y.indptr), shape=(Y.shape[0], len(classes)))
