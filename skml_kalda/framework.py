"""Working with scikit-multilearn: its distributions, its classifiers, and registered transformers.

Two distributions provide the package ``skmultilearn``, scikit-multilearn-ng and
scikit-multilearn. Importing this module changes nothing in scikit-multilearn; the functions that
help its classifiers have to be called.
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
from sklearn.utils import _safe_indexing, check_array, check_random_state, indexable

from skml_kalda._core.labels import indicator
from skml_kalda._core.stratification import stratified_split

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
    """Return the installed distributions that provide ``skmultilearn``.

    Returns
    -------
    dict
        The version of each distribution, by name. A healthy environment has exactly one.

    Warns
    -----
    UserWarning
        If both are installed.

    Examples
    --------
    >>> from skml_kalda.framework import providers
    >>> len(providers())
    1
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

    Any distribution may register transformers under the entry-point group
    ``skmultilearn.transformers``, as this one does. They are imported by this call.

    Returns
    -------
    dict
        The classes by name, sorted by name.

    Warns
    -----
    UserWarning
        For each entry that is left out because its import fails or its name is already taken.

    Examples
    --------
    >>> from skml_kalda.framework import transformers
    >>> transformers()["MultiLabelKaLDA"]
    <class 'skml_kalda.reducers.kalda.linear.MultiLabelKaLDA'>
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
    """Convert `X` to a form that scikit-multilearn's own classifiers accept.

    They fail on sparse arrays and lists.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n, p)
        Features in any form.

    Returns
    -------
    ndarray or csr_matrix of shape (n, p)
        The same features.

    Examples
    --------
    >>> from skml_kalda.framework import as_features
    >>> as_features([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    return sparse.csr_matrix(X) if sparse.issparse(X) else check_array(X)


def as_labels(y: Any) -> sparse.csr_matrix:
    """Convert `y` to a form that scikit-multilearn's own classifiers accept.

    They fail on sparse arrays and lists, some of them on data frames and floats.

    Parameters
    ----------
    y : {array-like, sparse} of shape (n, K) or (n,)
        Labels in any form that this package accepts.

    Returns
    -------
    csr_matrix of shape (n, K)
        The indicator matrix, of integers.

    Examples
    --------
    >>> from skml_kalda.framework import as_labels
    >>> as_labels([[1, 0], [1, 1]]).toarray()
    array([[1, 0],
           [1, 1]])
    """
    return sparse.csr_matrix(indicator(y).matrix.astype(np.int64))


def iterative_train_test_split(
    X: Any, y: Any, test_size: float, random_state: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Split by iterative stratification, in scikit-learn's order.

    Use this instead of the function of the same name in :mod:`skmultilearn.model_selection`. That
    one returns its parts in a different order in scikit-multilearn and in scikit-multilearn-ng,
    and the latter does not stratify if it is given a `random_state`.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n, p)
        Features.
    y : {array-like, sparse} of shape (n, K)
        Indicator matrix.
    test_size : float or int
        Share or number of the rows to put in the test part.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same split at every call.

    Returns
    -------
    X_train, X_test, y_train, y_test
        Parts in the form of `X` and `y`.

    See Also
    --------
    skml_kalda.model_selection.multilabel_train_test_split : The same for any number of arrays.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda.framework import iterative_train_test_split
    >>> X, y = make_multilabel_classification(n_samples=100, random_state=0)
    >>> X_train, X_test, y_train, y_test = iterative_train_test_split(X, y, 0.25, random_state=0)
    >>> X_train.shape, y_test.shape
    ((75, 20), (25, 5))
    """
    # Slow to import, so not with the package.
    from sklearn.model_selection._split import _validate_shuffle_split

    X, y = indexable(X, y)
    Y = indicator(y, allow_unknown=True).matrix
    n_train, n_test = _validate_shuffle_split(Y.shape[0], test_size, None)
    train, test = stratified_split(Y, n_train, n_test, check_random_state(random_state))
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    return X_train, X_test, _safe_indexing(y, train), _safe_indexing(y, test)


def mend_neighbor_classifiers() -> bool:
    """Make scikit-multilearn 0.2.0's own neighbour classifiers run with today's scikit-learn.

    Its ``MLkNN``, ``BRkNNaClassifier`` and ``BRkNNbClassifier`` pass the number of neighbours
    to scikit-learn by position, which is an error since scikit-learn 1.0. This replaces the
    search that their two modules call, until the process ends.

    Returns
    -------
    bool
        Whether there was anything to repair: True for 0.2.0, False for scikit-multilearn-ng.

    Examples
    --------
    >>> from skml_kalda.framework import mend_neighbor_classifiers, providers
    >>> mend_neighbor_classifiers() == ("scikit-multilearn" in providers())
    True
    """
    modules = [import_module(f"skmultilearn.adapt.{name}") for name in ("mlknn", "brknn")]
    if "n_jobs" in inspect.signature(modules[0].MLkNN).parameters:
        return False
    for module in modules:
        module.NearestNeighbors = _by_position(module.NearestNeighbors)  # type: ignore[attr-defined]
    return True


def _by_position(search: Callable[..., Any]) -> Callable[[int], Any]:
    return lambda n_neighbors: search(n_neighbors=n_neighbors)


providers()  # Warn on import: a mixture of the two fails with errors that do not mention the cause.
