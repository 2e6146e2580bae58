"""scikit-multilearn as it is installed: who provides it, what it lacks, what is registered.

Two distributions provide the package ``skmultilearn``, scikit-multilearn-ng and
scikit-multilearn. Nothing in scikit-multilearn is changed by importing this module; what helps
its own classifiers is in functions to be called where it is wanted.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module, metadata
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array, indexable

from skml_kalda._labels import indicator

__all__ = [
    "as_features",
    "as_labels",
    "iterative_train_test_split",
    "mend_neighbor_classifiers",
    "providers",
    "transformers",
]

_DISTRIBUTIONS = ("scikit-multilearn-ng", "scikit-multilearn")
_GROUP = "skmultilearn.transformers"


def providers() -> dict[str, str]:
    """Tell which installed distributions provide ``skmultilearn``.

    Returns
    -------
    dict
        Version by name of the distribution. A sound environment has one.

    Warns
    -----
    UserWarning
        If there are two.
    """
    found = {}
    for name in _DISTRIBUTIONS:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    if len(found) > 1:
        warnings.warn(
            "scikit-multilearn and scikit-multilearn-ng are both installed. They write the same "
            "files, so skmultilearn is now a mixture of the two. Remove both, then install one: "
            "pip uninstall scikit-multilearn scikit-multilearn-ng && "
            "pip install scikit-multilearn-ng",
            stacklevel=2,
        )
    return found


def transformers() -> dict[str, type]:
    """Load the transformers registered for scikit-multilearn pipelines.

    Any distribution may register some, as this one does, under the entry-point group
    ``skmultilearn.transformers``. They are imported by this call, not before.

    Returns
    -------
    dict
        Class by name, in the order of the names.

    Warns
    -----
    UserWarning
        For each entry that cannot be imported or bears a name already taken; it is left out.

    Examples
    --------
    >>> from skml_kalda.framework import transformers
    >>> transformers()["MultiLabelKaLDA"]
    <class 'skml_kalda.reducers.kalda.MultiLabelKaLDA'>
    """
    found: dict[str, type] = {}
    for entry in sorted(metadata.entry_points(group=_GROUP), key=lambda entry: entry.name):
        try:
            if entry.name in found:
                raise ImportError(f"the name is taken by {found[entry.name]}")
            found[entry.name] = entry.load()
        except (ImportError, AttributeError, SyntaxError) as error:
            warnings.warn(
                f"The transformer {entry.name} ({entry.value}) is left out: {error}", stacklevel=2
            )
    return found


def as_features(X: Any) -> Any:
    """Bring `X` into a form that scikit-multilearn's own classifiers take.

    They fail on sparse arrays and lists.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n, p)
        Features in any form.

    Returns
    -------
    ndarray or csr_matrix of shape (n, p)
        The same features.
    """
    return sparse.csr_matrix(X) if sparse.issparse(X) else check_array(X)


def as_labels(y: Any) -> sparse.csr_matrix:
    """Bring `y` into a form that scikit-multilearn's own classifiers take.

    They fail on sparse arrays and lists, some of them on data frames and floats.

    Parameters
    ----------
    y : {array-like, sparse} of shape (n, K) or (n,)
        Labels in any form that this package takes.

    Returns
    -------
    csr_matrix of shape (n, K)
        The indicator matrix, of integers.
    """
    return sparse.csr_matrix(indicator(y).matrix.astype(np.int64))


def iterative_train_test_split(X: Any, y: Any, test_size: float) -> tuple[Any, Any, Any, Any]:
    """Split with scikit-multilearn's iterative stratification, in scikit-learn's order.

    The function of the same name in :mod:`skmultilearn.model_selection` returns its parts in
    one order in scikit-multilearn and in another in scikit-multilearn-ng.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n, p)
        Features.
    y : {array-like, sparse} of shape (n, K)
        Indicator matrix.
    test_size : float
        Fraction of the rows to put in the test part.

    Returns
    -------
    X_train, X_test, y_train, y_test
        Parts in the form of `X` and `y`.
    """
    stratification = import_module("skmultilearn.model_selection").IterativeStratification(
        n_splits=2, order=2, sample_distribution_per_fold=[test_size, 1 - test_size]
    )
    X, y = indexable(X, y)
    train, test = next(stratification.split(X, as_labels(y)))
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    return X_train, X_test, _safe_indexing(y, train), _safe_indexing(y, test)


def mend_neighbor_classifiers() -> bool:
    """Make scikit-multilearn 0.2.0's own neighbour classifiers run with today's scikit-learn.

    Its ``MLkNN``, ``BRkNNaClassifier`` and ``BRkNNbClassifier`` pass the number of neighbours
    to scikit-learn by position, which is an error since scikit-learn 1.0. This replaces the
    name that their two modules call; it lasts until the process ends.

    Returns
    -------
    bool
        True if they are 0.2.0's and are mended, False if there was nothing to mend.
    """
    modules = [import_module(f"skmultilearn.adapt.{name}") for name in ("mlknn", "brknn")]
    if "n_jobs" in inspect.signature(modules[0].MLkNN).parameters:
        return False
    for module in modules:
        module.NearestNeighbors = _by_position(module.NearestNeighbors)  # type: ignore[attr-defined]
    return True


def _by_position(search: Callable[..., Any]) -> Callable[[int], Any]:
    return lambda n_neighbors: search(n_neighbors=n_neighbors)


providers()  # Said once, on import: a mixture of the two fails in ways that do not name it.
