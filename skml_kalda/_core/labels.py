"""Labels in any form, as one validated indicator matrix."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from skml_kalda._core.arrays import check_array_like, missing_values
from skml_kalda._core.messages import format_names

# What counts once: every label of a sample, or every sample.
Weights: TypeAlias = Literal["labels", "rows"]

_BINARIZE = (
    "Turn lists of label names into an indicator matrix with "
    "sklearn.preprocessing.MultiLabelBinarizer: binarizer = MultiLabelBinarizer(); "
    "y = pd.DataFrame(binarizer.fit_transform(y), columns=binarizer.classes_)"
)
_ADVICE = f"Pass one class label per sample as a 1-D y. {_BINARIZE}"


class Indicator(NamedTuple):
    """A {0, 1} label matrix and the name of each of its columns."""

    # Y, of shape (n, K), float64, without stored zeros; zero where a label is unknown.
    matrix: sparse.csr_array

    # The K class labels, the columns of a data frame, or the numbers of the columns.
    classes: NDArray[Any]

    # Whether y was an indicator matrix, and so has a fixed number of columns.
    is_matrix: bool

    # One for every (sample, label) pair that is unknown, shape (n, K); None if there is none.
    unknown: sparse.csr_array | None = None

    @property
    def columns(self) -> int | None:
        """Number of columns of the indicator matrix; None where y was one-dimensional."""
        return len(self.classes) if self.is_matrix else None

    def filled(self, sample_weight: NDArray[Any]) -> Indicator:
        """Put the mean over the samples where a label is known in place of each unknown entry.

        About that mean the entry is zero, so it adds nothing to any sum of centred labels: not
        to Σ w_i (x_i − m)(y_ik − ȳ_k), and not to the scatter of the labels. S_t is that of all
        samples. This is how an unknown label counts for nothing where every sample counts once.
        """
        if self.unknown is None:
            return self
        known = sample_weight.sum() - self.unknown.T @ sample_weight
        mean = self.matrix.T @ sample_weight / np.where(known > 0, known, 1)
        filled = sparse.csr_array(self.matrix + self.unknown @ sparse.diags_array(mean))
        return self._replace(matrix=filled)

    def with_unknown(self) -> sparse.csr_array:
        """Return [Y, U], the columns of `unknown` after the labels; Y if all are known.

        `filled` needs the means over all samples. Statistics of these columns can be added up
        before the means are known: see `MomentScatter.filled`.
        """
        if self.unknown is None:
            return self.matrix
        return sparse.csr_array(sparse.hstack([self.matrix, self.unknown]))


class Weighted(NamedTuple):
    """Label vectors and sample weights for the scatter statistic."""

    # b_i, shape (n, K).
    labels: sparse.csr_array

    # w_i, shape (n,).
    weight: NDArray[Any]


class LabelledSamples(NamedTuple):
    """Validated samples."""

    X: Any
    # Their labels, an `Indicator`; None if there are none.
    Y: Any
    weight: NDArray[Any]


def indicator(y: Any, *, allow_unknown: bool = False) -> Indicator:
    """Convert `y` to a validated indicator matrix.

    Parameters
    ----------
    y : array-like or sparse of shape (n,) or (n, K)
        Either one class label per sample (1-D, any type that can be sorted) or a
        {0, 1} indicator matrix: a list, an array, a data frame, or a SciPy sparse
        matrix or array of any format. Samples and columns may be all zero.
    allow_unknown : bool, default=False
        Whether the matrix may have missing values (NaN, None, pandas.NA): unknown labels.

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
        _check_real(y)
        matrix = sparse.csr_array(_two_dimensional(y), copy=True)
        matrix.sum_duplicates()
        found = _of_parts([matrix], np.arange(matrix.shape[1]))
    else:
        check_array_like("y", y)
        array = _as_array(y)
        _check_real(array)
        if array.ndim == 1:
            return _from_labels(array)
        found = _from_matrix(_two_dimensional(array), _column_names(y, array))
    if not allow_unknown:
        check_known(found, "here every label must be known")
    return found


def multilabel_matrix(
    y: Any, name: str = "y", *, single_label: str, allow_unknown: bool = False
) -> Indicator:
    """Return the indicator of `y`; raise if it has one class per sample.

    The error advises `single_label` instead.
    """
    labels = indicator(y, allow_unknown=allow_unknown)
    if not labels.is_matrix:
        raise ValueError(
            f"{name} has one dimension: pass an indicator matrix of shape (n, K). For one class "
            f"per sample see {single_label}."
        )
    if labels.unknown is not None and labels.unknown.nnz == np.prod(labels.matrix.shape):
        raise ValueError(f"{name} is unknown (NaN) everywhere: pass samples with known labels.")
    return labels


def check_known(Y: Indicator, reason: str) -> None:
    """Raise if labels are unknown, with the reason why they must be known."""
    if Y.unknown is None:
        return
    columns = Y.classes[Y.unknown.sum(axis=0) > 0]
    raise ValueError(
        f"y has unknown labels (NaN) in the columns {format_names(columns)}: {reason}. Keep the "
        "samples in which all are known: known = ~pd.isna(y).any(axis=1); X, y = X[known], y[known]"
    )


def _as_array(y: Any) -> NDArray[Any]:
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y has rows of different lengths. {_ADVICE}") from error
    if array.dtype != object:
        return array
    if array.ndim == 1 and any(isinstance(each, set | frozenset | list | tuple) for each in array):
        raise ValueError(f"y has a list or set of labels in each sample. {_BINARIZE}")
    return array if array.ndim == 1 else _numbers(y, array)


def _numbers(table: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Return the floats of a table that NumPy reads as objects, NaN where missing.

    If the table has anything but numbers, `array` is returned unchanged.
    """
    if any(isinstance(each, str) for each in array.flat):  # "1" is no number
        return array
    try:  # pandas, whose nullable columns are objects otherwise
        return np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    except (AttributeError, TypeError, ValueError):
        pass
    try:
        return np.where(missing_values(array), np.nan, array).astype(np.float64)
    except (TypeError, ValueError):
        return array


def _column_names(y: Any, array: NDArray[Any]) -> NDArray[Any]:
    """Return the columns of a data frame, or numbers."""
    names = getattr(y, "columns", None)
    if names is None:
        return np.arange(array.shape[1])
    if all(isinstance(name, int | np.integer) for name in names):
        return np.asarray(names)
    # Filled as a list of objects, because NumPy would split names that are tuples into columns.
    objects = np.empty(array.shape[1], dtype=object)
    objects[:] = list(names)
    return objects


def _two_dimensional(y: Any) -> Any:
    if y.ndim != 2:
        raise ValueError(
            f"y has {y.ndim} dimensions; pass class labels of shape (n,) or an indicator "
            "matrix of shape (n, K)."
        )
    return y


def _check_real(y: Any) -> None:
    if y.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported in y: pass classes, or 0 and 1, as real numbers."
        )


def _from_labels(y: NDArray[Any]) -> Indicator:
    if unknown := np.count_nonzero(missing_values(y)):
        raise ValueError(
            f"y has no class (NaN) in {unknown} row(s), and only an indicator matrix may have "
            "unknown labels. Keep the other samples: known = ~pd.isna(y); X, y = X[known], y[known]"
        )
    check_classification_targets(y)
    classes, codes = np.unique(column_or_1d(y), return_inverse=True)
    if commas := [each for each in classes.tolist() if isinstance(each, str) and "," in each]:
        warnings.warn(
            f"y has one class per sample, and {len(commas)} of them have commas in their names, "
            f"such as {commas[0]!r}. If the parts are labels, split them: "
            f"y = [each.split(',') for each in y]. {_BINARIZE}",
            UserWarning,
            stacklevel=4,
        )
    n = codes.shape[0]
    # Each sample has one entry, so the CSR arrays are known without sorting.
    matrix = sparse.csr_array(
        (np.ones(n), codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)),
        shape=(n, classes.shape[0]),
    )
    return Indicator(matrix, classes, is_matrix=False)


def _from_matrix(y: Any, names: NDArray[Any]) -> Indicator:
    rows = max(2**20 // max(y.shape[1], 1), 1)
    # In parts, because dense y may be a memory map too large to convert to floats at once.
    return _of_parts([y[i : i + rows] for i in range(0, y.shape[0], rows)] or [y], names)


def _of_parts(parts: list[Any], names: NDArray[Any]) -> Indicator:
    known, unknown = zip(*(_checked(part, names) for part in parts), strict=True)
    missing = sparse.vstack(unknown, format="csr")
    matrix = sparse.vstack(known, format="csr")
    return Indicator(matrix, names, is_matrix=True, unknown=missing if missing.nnz else None)


def _checked(y: Any, names: NDArray[Any]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the labels that are known to be there, and those that are unknown."""
    is_sparse = sparse.issparse(y)
    values = y.data if is_sparse else y
    missing = missing_values(values)
    valid = np.isin(values, (0, 1)) | missing
    if not valid.all():
        columns = names[y.indices[~valid] if is_sparse else np.nonzero(~valid)[1]]
        raise ValueError(
            "y has two dimensions, so it must be an indicator matrix of 0 and 1 only, but it "
            f"contains {values[~valid].tolist()[0]!r} in the column {columns.tolist()[0]!r}. "
            f"{_how_to_convert(values[~missing], y.shape[1])}"
        )
    if not missing.any():
        return _stored(y, values), sparse.csr_array(y.shape)
    return _stored(y, np.where(missing, 0, values)), _stored(y, missing)


def _how_to_convert(values: NDArray[Any], n_columns: int) -> str:
    """Return the line that makes an indicator matrix of a table with these values."""
    if n_columns == 1:
        return "If y is one column of classes, pass y = np.ravel(y)."
    if np.isin(values.astype(str), ("0", "1")).all():
        return "Turn words into numbers: y = y.astype(int)."
    if values.dtype.kind not in "biuf":
        return _ADVICE
    if (values == np.round(values)).all():
        return "If positive numbers say that a sample has a label: y = (y > 0).astype(int)."
    return "Pass labels here, not features or scores."


def _stored(y: Any, values: NDArray[Any]) -> sparse.csr_array:
    """Return values, in the places of sparse or dense y, without stored zeros."""
    values = values.astype(np.float64)
    stored = (values, y.indices, y.indptr) if sparse.issparse(y) else values
    matrix = sparse.csr_array(stored, shape=y.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix


def occupied_columns(label_weight: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the columns of the classes that have samples; raise if there are fewer than two."""
    occupied: NDArray[np.bool_] = label_weight > 0
    found = int(occupied.sum())
    if found == 0:
        raise ValueError(
            "y has no label in any sample of positive weight: pass samples of at least two classes."
        )
    if found == 1:
        raise ValueError(
            f"y has one class only, {format_names(classes[occupied])}: pass samples of at least "
            "two classes. If y is one column of classes, pass y = np.ravel(y)."
        )
    if found < len(occupied):
        warnings.warn(
            f"y has {len(occupied) - found} class(es) without samples, which are left out: "
            f"{format_names(classes[~occupied])}.",
            UserWarning,
            stacklevel=3,
        )
    return np.flatnonzero(occupied)


def omega_weighted(Z: sparse.csr_array, sample_weight: NDArray[Any]) -> Weighted:
    """Return the weights of the paper: a sample counts once for each of its labels (Ω = diag(ρ)).

    They are b_i = z_i / ρ_i and w_i = ρ_i = Σ_k z_ik, times the sample weights. Z is Y, or any
    other non-negative weights of sample i in class k. Samples without a label have weight zero.

    An unknown label is a zero of Y here, because a zero adds nothing: every sum of the scatter,
    Σ w_i x_i = Σ_ik y_ik x_i and so on, runs over the pairs (i, k) with y_ik = 1, and ρ_i and
    n_k count such pairs. A known zero and an unknown label are both left out of them.
    """
    return Weighted(row_shares(Z), Z.sum(axis=1) * sample_weight)


def row_shares(Z: sparse.csr_array) -> sparse.csr_array:
    """Return diag(1/ρ) Z, each row divided by its sum; rows of zeros are unchanged."""
    rho = Z.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(rho > 0, rho, 1)) @ Z)


def sparse_form(y: Any) -> type | None:
    """Return the CSR class for labels predicted from `y`, or None if `y` is dense."""
    if not sparse.issparse(y):
        return None
    return sparse.csr_array if isinstance(y, sparse.sparray) else sparse.csr_matrix
