"""Arrays of samples: blocks, weights, projections, what fits into memory."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_consistent_length, gen_batches
from sklearn.utils._missing import is_pandas_na, is_scalar_nan
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, validate_data
from threadpoolctl import ThreadpoolController

Array: TypeAlias = NDArray[np.floating[Any]]

# Numbers in a block: 16 MB as doubles, so that it stays in the cache while it is used.
BLOCK = 2**21
# Products of arrays of fewer numbers are not worth several threads: 32 MB as doubles.
_FEW = 2**22
# Sums of weights beyond this, or below its inverse, leave no room for weighted squares.
_HEAVIEST = 1e250
# Weights that are counts, with a few fractions among them, have a larger mean.
_LEAST_WEIGHT = 0.5
# Its square, and four times that, are floats.
_LARGEST = np.sqrt(np.finfo(np.float64).max) / 4
# Below this, squares lose digits.
_SMALLEST = np.sqrt(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


def is_dask(data: Any) -> bool:
    """Whether `data` is a dask collection, decided without importing dask."""
    return any(cls.__module__.partition(".")[0] == "dask" for cls in type(data).__mro__)


def gathered(data: Any) -> Any:
    """Load a dask collection into memory; return anything else unchanged."""
    return data.compute() if is_dask(data) else data


def row_blocks(X: Array, at_least: int = 1) -> Iterator[tuple[slice, Array]]:
    """Yield dense X block by block; each sample is read once and checked to be finite.

    A block holds `BLOCK` numbers, or `at_least` samples if that is more.
    """
    n, p = X.shape
    rows = max(BLOCK // p, at_least)
    for start in range(0, n, rows):
        block = np.asarray(X[start : start + rows])
        check_finite(block)
        yield slice(start, start + rows), block


def checked_samples(estimator: Any, X: Any, **options: Any) -> Any:
    """Return X as scikit-learn's `validate_data` does; errors say which columns to prepare, how."""
    check_array_like("X", X)
    with _advising(X, getattr(estimator, "feature_names_in_", None)):
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            checked = validate_data(estimator, X, **options)
        # scikit-learn leaves polars frames with words as they are.
        return checked.astype(np.float64) if checked.dtype == object else checked


def check_array_like(name: str, data: Any) -> None:
    """Raise a TypeError for what NumPy would take for a single object: generators, dicts, None."""
    advice = "an array, a list, a data frame or a sparse matrix"
    if isinstance(data, Iterator):
        advice = f"all samples at once, for example {name} = list({name})"
    elif sparse.issparse(data) or not (data is None or isinstance(data, Mapping | Set | str)):
        return
    raise TypeError(f"{name} is of type {type(data).__name__}: pass {advice}.")


def check_finite(X: Any) -> None:
    """Raise if X has NaN or infinite values, and name the columns with NaN."""
    with _advising(X):
        assert_all_finite(X, input_name="X")


@contextmanager
def _advising(X: Any, names: NDArray[Any] | None = None) -> Iterator[None]:
    """Add to errors about X which columns have words or gaps, or are out of order; what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if columns := list(islice(_columns_to_prepare(X), 3)):
            raise type(error)(f"X has {', '.join(columns)}. {error}") from error
        if names is not None and set(names) == set(getattr(X, "columns", ())):
            advice = "select them as fitted: X = X[estimator.feature_names_in_]."
            raise ValueError(f"X has its columns in another order: {advice} {error}") from error
        raise


def _columns_to_prepare(X: Any) -> Iterator[str]:
    """Say which columns have words or gaps, and what to do about them."""
    columns: Iterable[tuple[Any, NDArray[Any]]]
    if sparse.issparse(X):
        X = X.tocsc()
        gaps = np.unique(np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))[np.isnan(X.data)])
        columns = ((name, np.array([np.nan])) for name in gaps.tolist())
    elif hasattr(X, "columns") and not is_dask(X):
        columns = ((name, np.asarray(X[name])) for name in X.columns)
    elif np.ndim(X) == 2 and not is_dask(X):
        columns = enumerate(np.asarray(X).T)
    else:
        return
    for name, column in columns:
        missing = missing_values(column)
        try:
            column[~missing].astype(np.float64)
        except (TypeError, ValueError):
            yield f"words in the column {name!r} (encode it, for example with a OneHotEncoder)"
        if missing.any():
            yield f"NaN in the column {name!r} (fill it, for example with a SimpleImputer)"


def sum_duplicates(X: Any) -> Any:
    """Return sparse X with duplicate entries summed, as a copy; anything else as it is."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def stacked(parts: Sequence[Any]) -> Any:
    """Return the samples of all parts in one array, or in one CSR if some are sparse."""
    if any(map(sparse.issparse, parts)):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def check_columns(bad: NDArray[np.bool_], size: str, names: Any = None) -> None:
    """Raise if some column of X is too "large" or too "small" to be squared."""
    if bad.any():
        column = int(np.argmax(bad))
        name = "" if names is None else f" ({names[column]!r})"
        raise ValueError(
            f"Column {column} of X{name} has values too {size} to be squared: use another "
            "unit, for example with a StandardScaler before this estimator."
        )


def check_distances(X: Any, names: Any = None, *, query: bool = False) -> None:
    """Raise if squared distances of samples may be too large for floats, or are too small.

    Samples of a query may be as small as they like, because the others are not.
    """
    if X.shape[0] == 0:
        return
    size = np.maximum(_dense(X.max(axis=0)), -_dense(X.min(axis=0)))
    # Two samples are at most 2 max|x_j| apart in feature j, and there are p features.
    check_columns(size > _LARGEST / np.sqrt(X.shape[1]), "large", names)
    if size.max() < _SMALLEST and not query:
        check_columns(size > 0, "small", names)


def _dense(row: Any) -> Array:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def checked_weights(sample_weight: Any, X: Any, *, batch: bool = False) -> NDArray[np.float64]:
    """Return the weights of the samples; raise if squares of their sum are far from floats.

    In a batch all weights may be zero: the next one may have samples that count.
    """
    if batch and np.ndim(sample_weight) == 1 and not np.any(sample_weight):
        check_consistent_length(X, sample_weight)
        return np.zeros(X.shape[0])
    with np.errstate(over="ignore"):
        weight: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        total = float(weight.sum())
    if len(weight) and not 1 / _HEAVIEST < total < _HEAVIEST:
        raise ValueError(
            f"sample_weight adds up to {total:.3g}: pass weights with a mean of about 1."
        )
    return weight


def warn_on_weights(name: str, weight: NDArray[Any]) -> None:
    """Warn if weights look like shares, where `name`, the class in use, takes them as counts."""
    mean = weight[weight > 0].mean() if weight.any() else 1.0
    if mean < _LEAST_WEIGHT:
        warnings.warn(
            f"{name} takes a sample of weight 2 as two samples, and the mean of the positive "
            f"values of sample_weight is {mean:.2g}: so few samples are regularised strongly. "
            "Unless that is what you want, divide sample_weight by this mean.",
            UserWarning,
            stacklevel=4,
        )


def weighted_mean(X: Any, weight: Array) -> Array:
    """Return m = Σ w_i x_i / Σ w_i; zero if no sample has weight."""
    total = weight.sum()
    return np.asarray(X.T @ (weight / total) if total else np.zeros(X.shape[1]), dtype=np.float64)


def missing_values(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of an array are NaN, None or pandas.NA."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype == object:
        return np.frompyfunc(_is_missing, 1, 1)(array).astype(bool)
    return np.zeros(array.shape, dtype=bool)


def _is_missing(value: Any) -> bool:
    return value is None or bool(is_pandas_na(value)) or bool(is_scalar_nan(value))


def batches(n: int, numbers_per_row: int, at_most: float = np.inf) -> Iterator[slice]:
    """Yield slices of n samples whose numbers fit into scikit-learn's working memory.

    A slice has `at_most` numbers, or one sample.
    """
    numbers = min(get_config()["working_memory"] * 2**17, at_most)
    slices: Iterator[slice] = gen_batches(n, max(1, int(numbers // numbers_per_row)))
    return slices


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread(numbers: float = 0) -> AbstractContextManager[Any]:
    """Let BLAS work in one thread, unless arrays have many numbers.

    Threads save nothing on small arrays, and cost many times as much beside other processes.
    """
    if numbers > _FEW:
        return nullcontext()
    return _thread_pools().limit(limits=1, user_api="blas")


def projected(X: Any, components: Array, offset: Array) -> Array:
    """Return X componentsᵀ − offset, shape (n, k), in the type of the components.

    X is neither copied nor made dense. Far from the origin, the products cancel against the
    offset: if they are in single precision, they are computed again in double precision.
    """
    product = _products(X, components)
    product -= offset
    if product.dtype == np.float32 and _cancel(product, offset):
        product[:] = _products(X, components.astype(np.float64)) - offset
    return product


def _cancel(product: Array, offset: Array) -> bool:
    """Whether more than eight of the digits of single precision, in bits, may be lost."""
    return bool(np.any(np.abs(offset) > 2**8 * np.abs(product).max(axis=0, initial=0)))


def _products(X: Any, components: Array) -> Array:
    if sparse.issparse(X):
        found: Array = safe_sparse_dot(X, components.T, dense_output=True)
        return found
    product = np.empty((X.shape[0], len(components)), dtype=components.dtype)
    for rows, block in row_blocks(X):
        np.matmul(block.astype(components.dtype, copy=False), components.T, out=product[rows])
    return product


def in_blocks(X: Any) -> bool:
    """Whether X can be read, checked and converted to floats block by block."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.dtype.itemsize <= 8


def whole_checks(in_blocks: bool) -> dict[str, Any]:
    """Return arguments of `validate_data` that leave X alone if it is read in blocks later."""
    if in_blocks:
        return {"dtype": None, "ensure_all_finite": False}
    return {"dtype": [np.float64, np.float32]}


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the floating type of results for data of type `dtype`."""
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)


def dots(U: Array, V: Array) -> Array:
    """Return the inner products of corresponding columns of U and V."""
    return np.einsum("ij,ij->j", U, V)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Return the quotient, or zero where the denominator is not positive."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def check_memory(side: int) -> None:
    """Raise MemoryError if square arrays with this side do not fit into memory."""
    # Two of them, and their sum.
    _check(
        24 * side**2,
        f"{side} × {side} arrays",
        "Reduce the number of features first, for example by feature selection or hashing, or "
        "call fit on sparse X with a method that needs no such array: OCM, or with a ridge RLDA, "
        "MLDA or OPLS, or with shrinkage MultiLabelKaLDA.",
    )


def check_labels(n_features: int, n_labels: int) -> None:
    """Raise MemoryError if arrays with one column per label do not fit into memory."""
    # The Gram matrix of the labels with its eigenvectors, and the directions with their solver.
    _check(
        32 * n_labels**2 + 24 * n_features * n_labels,
        f"arrays with one column for each of {n_labels} labels",
        'Pass n_components: with a ridge and sparse X, MultiLabelKaLDA(constraint="none"), RLDA, '
        "MLDA, MLSI and OPLS then need no such array. Other methods need fewer labels: drop rare "
        "ones.",
    )


def _check(needed: float, what: str, advice: str) -> None:
    usable = min(_physical_memory(), _process_limit(), _container_limit())
    if needed > usable:
        raise MemoryError(
            f"{needed / 1e9:.0f} GB are needed for {what}, and this process may use "
            f"{usable / 1e9:.0f} GB. {advice}"
        )


def _physical_memory() -> float:
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():  # unknown on Windows
        return np.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _process_limit() -> float:
    if sys.platform == "win32":
        return np.inf
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return np.inf if limit == resource.RLIM_INFINITY else float(limit)


def _container_limit() -> float:
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text()
    except OSError:
        return np.inf
    return float(limit) if limit.strip().isdigit() else np.inf
