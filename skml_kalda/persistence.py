"""Saving fitted estimators without pickle."""

from importlib import import_module
from pkgutil import walk_packages

_PARTS = ("_core", "classifiers", "model_selection", "reducers")
# What estimators of this package hold, and skops does not know.
_OTHERS = ("numpy.dtype", "scipy.sparse._csr.csr_array")


def trusted_types() -> list[str]:
    """Return the types that ``skops.io.load`` has to trust to load estimators of this package.

    They are the classes of this package, and two of numpy and SciPy. Nothing in a file that holds
    only these runs code of the file.

    Returns
    -------
    list of str
        Full names of classes, to pass as `trusted`, with those of other libraries if there are any.

    Examples
    --------
    >>> import skops.io
    >>> from skml_kalda import MultiLabelKaLDA, trusted_types
    >>> X, y = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [[0, 1], [1, 1], [1, 0]]
    >>> saved = skops.io.dumps(MultiLabelKaLDA().fit(X, y))
    >>> skops.io.loads(saved, trusted=trusted_types()).transform(X).shape
    (3, 1)
    """
    found = set(_OTHERS)
    for part in _PARTS:
        package = import_module(f"skml_kalda.{part}")
        for each in walk_packages(package.__path__, f"{package.__name__}."):
            members = vars(import_module(each.name)).values()
            own = (it for it in members if getattr(it, "__module__", None) == each.name)
            found.update(f"{each.name}.{it.__name__}" for it in own if isinstance(it, type))
    return sorted(found)
