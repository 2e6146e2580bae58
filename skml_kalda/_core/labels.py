"""Labels in any form, as one validated indicator matrix."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

Weights: TypeAlias = Literal["labels", "rows"]
"""What counts once: every label of a row, or every row."""

_ADVICE = (
    "Pass one class label per row as a 1-D y; turn lists of label names into an indicator "
    "matrix with sklearn.preprocessing.MultiLabelBinarizer."
)


class Indicator(NamedTuple):
    """A {0, 1} label matrix and the name of each of its columns."""

    matrix: sparse.csr_array
    """Y, of shape (n, K), float64, without stored zeros."""

    classes: NDArray[Any]
    """The K class labels; column indices if y was an indicator matrix."""

    is_matrix: bool
    """Whether y was an indicator matrix, and so has a fixed number of columns."""

    @property
    def columns(self) -> int | None:
        """Number of columns of the indicator matrix; None where y was one-dimensional."""
        return self.matrix.shape[1] if self.is_matrix else None


class Weighted(NamedTuple):
    """Label vectors and row weights for the scatter statistic."""

    labels: sparse.csr_array
    """b_i, shape (n, K)."""

    weight: NDArray[Any]
    """w_i, shape (n,)."""


def indicator(y: Any) -> Indicator:
    """Convert `y` to a validated indicator matrix.

    Parameters
    ----------
    y : array-like or sparse of shape (n,) or (n, K)
        Either one class label per row (1-D, any type that can be sorted) or a
        {0, 1} indicator matrix: a list, an array, a data frame, or a SciPy sparse
        matrix or array of any format. Rows and columns may be all zero.

    Returns
    -------
    Indicator
        The matrix and the class labels.

    Raises
    ------
    ValueError
        If `y` is neither of these.

    Examples
    --------
    >>> indicator(["sea", "sun", "sea"]).matrix.toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    >>> indicator([[1, 1], [0, 1]]).classes
    array([0, 1])
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: pass class "
            "labels of shape (n,) or an indicator matrix of shape (n, K)."
        )
    if sparse.issparse(y):
        matrix = sparse.csr_array(_two_dimensional(y), copy=True)
        matrix.sum_duplicates()
        return _named_by_number(_checked(matrix))
    array = _as_array(y)
    return _from_labels(array) if array.ndim == 1 else _from_matrix(_two_dimensional(array))


def multilabel_matrix(y: Any, name: str = "y", *, single_label: str) -> sparse.csr_array:
    """Return the indicator matrix of `y`; refuse one class per row, naming what is for those."""
    labels = indicator(y)
    if not labels.is_matrix:
        raise ValueError(
            f"{name} has one dimension: pass an indicator matrix of shape (n, K). For one class "
            f"per row see {single_label}."
        )
    return labels.matrix


def _as_array(y: Any) -> NDArray[Any]:
    try:
        return np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y has rows of different lengths. {_ADVICE}") from error


def _two_dimensional(y: Any) -> Any:
    if y.ndim != 2:
        raise ValueError(
            f"y has {y.ndim} dimensions; pass class labels of shape (n,) or an indicator "
            "matrix of shape (n, K)."
        )
    return y


def _from_labels(y: NDArray[Any]) -> Indicator:
    check_classification_targets(y)
    classes, codes = np.unique(column_or_1d(y), return_inverse=True)
    n = codes.shape[0]
    # Each row has one entry, so the CSR arrays are known without sorting.
    matrix = sparse.csr_array(
        (np.ones(n), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)),
        shape=(n, classes.shape[0]),
    )
    return Indicator(matrix, classes, is_matrix=False)


def _from_matrix(y: Any) -> Indicator:
    rows = max(2**20 // max(y.shape[1], 1), 1)
    # In parts, because dense y may be a memory map too large to convert to floats at once.
    parts = [y[i : i + rows] for i in range(0, y.shape[0], rows)] or [y]
    return _named_by_number(sparse.vstack([_checked(part) for part in parts], format="csr"))


def _named_by_number(matrix: sparse.csr_array) -> Indicator:
    return Indicator(matrix, np.arange(matrix.shape[1]), is_matrix=True)


def _checked(y: Any) -> sparse.csr_array:
    values = y.data if sparse.issparse(y) else y
    valid = np.isin(values, (0, 1))
    if not valid.all():
        raise ValueError(
            "y has two dimensions, so it must be an indicator matrix of 0 and 1 only, but it "
            f"contains {values[~valid].tolist()[0]!r}. {_ADVICE}"
        )
    matrix = sparse.csr_array(y.astype(np.float64))
    matrix.eliminate_zeros()
    return matrix


def occupied_columns(label_weight: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the columns of the classes with rows; raise if there are fewer than two."""
    occupied: NDArray[np.bool_] = label_weight > 0
    found = int(occupied.sum())
    if found == 0:
        raise ValueError(
            "y has no label in any row of positive weight: pass rows of at least two classes."
        )
    if found == 1:
        raise ValueError(
            f"y has one class only ({classes[occupied][0]!r}): pass rows of at least two classes."
        )
    if found < len(occupied):
        warnings.warn(
            f"y has {len(occupied) - found} class(es) without rows, which are left out: "
            f"{classes[~occupied].tolist()}.",
            UserWarning,
            stacklevel=3,
        )
    return np.flatnonzero(occupied)


def omega_weighted(Z: sparse.csr_array, sample_weight: NDArray[Any]) -> Weighted:
    """Return the weights of the paper: a row counts once for each of its labels (Ω = diag(ρ)).

    They are b_i = z_i / ρ_i and w_i = ρ_i = Σ_k z_ik, times the sample weights. Z is Y, or any
    other non-negative weights of row i in class k. Rows without a label have weight zero.
    """
    return Weighted(row_shares(Z), Z.sum(axis=1) * sample_weight)


def row_shares(Z: sparse.csr_array) -> sparse.csr_array:
    """Return diag(1/ρ) Z, each row divided by its sum; rows of zeros are unchanged."""
    rho = Z.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(rho > 0, rho, 1)) @ Z)


def row_weighted(Y: sparse.csr_array, sample_weight: NDArray[Any]) -> Weighted:
    """Return the weights of regression: every row counts once, labelled or not, and b_i = y_i."""
    return Weighted(Y, sample_weight)


def sparse_form(y: Any) -> type | None:
    """Return the CSR class for labels predicted from `y`, or None if `y` is dense."""
    if not sparse.issparse(y):
        return None
    return sparse.csr_array if isinstance(y, sparse.sparray) else sparse.csr_matrix


def weighted(Y: sparse.csr_array, sample_weight: NDArray[Any], weights: Weights) -> Weighted:
    """Let every label count, or every row."""
    return (row_weighted if weights == "rows" else omega_weighted)(Y, sample_weight)
