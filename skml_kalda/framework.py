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

__all__ = ["mend_neighbor_classifiers", "providers", "transformers"]

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
