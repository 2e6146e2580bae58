"""Read ARFF files in batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack
from sklearn.utils import check_scalar

from skml_kalda.datasets.arff.assemble import as_target
from skml_kalda.datasets.arff.layout import Labels
from skml_kalda.datasets.arff.table import check_options, open_arff


def iter_arff(
    path: str | PathLike[str],
    *,
    batch_size: int = 10_000,
    labels: Labels = None,
    sparse_labels: bool = False,
    nominal: str = "onehot",
    ignore: Iterable[str] = (),
) -> Iterator[tuple[Any, Any]]:
    r"""Read an ARFF file in batches of rows, for `partial_fit` on a file too big for memory.

    Parameters
    ----------
    path : path-like
        The file, dense or sparse, plain or compressed (.gz, .bz2, .xz).
    batch_size : int, default=10000
        Number of rows of each batch; the last one may have fewer. Only one batch is in memory.
        A reducer needs about :math:`p^2` operations for each batch besides those for its rows, so
        choose more rows than the file has features.
    labels : path-like, list of str, int or None, default=None
        Which attributes are the labels. See `load_arff`.
    sparse_labels : bool, default=False
        Whether to return the {0,1} labels as CSR instead of as an array.
    nominal : {"onehot", "error"}, default="onehot"
        What to do with nominal features. See `load_arff`.
    ignore : iterable of str, default=()
        Attributes to leave out.

    Yields
    ------
    X : array, or CSR matrix for sparse ARFF, of shape (batch_size, n_features)
        The rows as `load_arff` reads them; missing values are NaN.
    y : array or CSR matrix of shape (batch_size, n_labels), or array of shape (batch_size,)
        Their {0,1} labels, or the names of their classes.

    Raises
    ------
    ArffError
        If the file cannot be read, with the file, the line and the reason. The batches before
        that line have been yielded by then.

    Warns
    -----
    UserWarning
        If a feature is left out because it identifies the rows. See `load_arff`.

    See Also
    --------
    load_arff : Read a whole file, with the names of its features and labels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skml_kalda import LDA
    >>> from skml_kalda.datasets import iter_arff, load_dataset, save_arff
    >>> X, y = load_dataset("emotions", return_X_y=True)
    >>> lda = LDA()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "large.arff.xz")
    ...     save_arff(path, X, y)
    ...     for X_batch, y_batch in iter_arff(path, batch_size=200):
    ...         lda = lda.partial_fit(X_batch, y_batch)
    >>> lda.transform(X).shape
    (593, 5)
    """
    check_options(nominal, ignore)
    check_scalar(batch_size, "batch_size", Integral, min_val=1)
    return _batches(Path(path), batch_size, labels, sparse_labels, nominal, tuple(ignore))


def _batches(
    path: Path,
    batch_size: int,
    labels: Labels,
    sparse_labels: bool,
    nominal: str,
    ignore: Iterable[str],
) -> Iterator[tuple[Any, Any]]:
    with open_arff(path, labels, nominal, ignore) as table:
        for message in table.left_out:
            warnings.warn(message, stacklevel=2)
        join = vstack if table.is_sparse else np.concatenate
        for batch in _grouped(table.parts(), batch_size):
            data, target = (join(parts) for parts in zip(*batch, strict=True))
            yield data, as_target(target, table.columns.layout, sparse_labels)


def _grouped(parts: Iterable[tuple[Any, Any]], size: int) -> Iterator[list[tuple[Any, Any]]]:
    """Regroup the parts so that each group has `size` rows."""
    group: list[tuple[Any, Any]] = []
    missing = size
    for data, labels in parts:
        start, rows = 0, data.shape[0]
        while rows - start >= missing:
            cut = slice(start, start + missing)
            yield [*group, (data[cut], labels[cut])]
            start, group, missing = start + missing, [], size
        if start < rows:
            group.append((data[start:], labels[start:]))
            missing -= rows - start
    if group:
        yield group
