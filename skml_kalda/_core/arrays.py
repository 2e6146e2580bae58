"""Arrays in blocks of rows, so that memory is bounded and data are never copied as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.utils import assert_all_finite, gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight

Array: TypeAlias = NDArray[np.floating[Any]]

# Numbers in a block: 16 MB as doubles, so that it stays in the cache while it is used.
BLOCK = 2**21
# Sums of weights beyond this, or below its inverse, leave no room for weighted squares.
_HEAVIEST = 1e250


def row_blocks(X: Array, at_least: int = 1) -> Iterator[tuple[slice, Array]]:
    """Yield dense X block by block; each row is read once and checked to be finite.

    A block holds `BLOCK` numbers, or `at_least` rows if that is more.
    """
    n, p = X.shape
    rows = max(BLOCK // p, at_least)
    for start in range(0, n, rows):
        block = np.asarray(X[start : start + rows])
        assert_all_finite(block, input_name="X")
        yield slice(start, start + rows), block


def canonical(X: Any) -> Any:
    """Return sparse X with duplicate entries summed, as a copy; anything else as it is."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def stacked(parts: Sequence[Any]) -> Any:
    """Return the rows of all parts in one array, or in one CSR if some are sparse."""
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
            "unit, for example with a StandardScaler in front."
        )


def checked_weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """Return the weights of the rows of X; raise if squares of their sum are far from floats."""
    with np.errstate(over="ignore"):
        weight: NDArray[np.float64] = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        total = float(weight.sum())
    if total and not 1 / _HEAVIEST < total < _HEAVIEST:
        raise ValueError(f"sample_weight adds up to {total:.3g}: divide it by its mean.")
    return weight


def batches(n: int, numbers_per_row: int, at_most: float = np.inf) -> Iterator[slice]:
    """Yield slices of n rows whose numbers fit into scikit-learn's working memory.

    A slice has `at_most` numbers, or one row.
    """
    numbers = min(get_config()["working_memory"] * 2**17, at_most)
    slices: Iterator[slice] = gen_batches(n, max(1, int(numbers // numbers_per_row)))
    return slices


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
