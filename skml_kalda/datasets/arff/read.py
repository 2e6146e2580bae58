"""Read ARFF files."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import vstack
from sklearn.utils import Bunch

from skml_kalda.datasets.arff.assemble import GrowingArray, as_target
from skml_kalda.datasets.arff.layout import Labels, Layout
from skml_kalda.datasets.arff.table import Table, check_options, open_arff


class Arff(NamedTuple):
    """The content of a file, before it is made into a Bunch."""

    data: Any
    labels: Any
    """Indicators, or the positions of the classes in a single column."""
    layout: Layout
    feature_names: list[str]


def load_arff(
    path: str | PathLike[str],
    *,
    labels: Labels = None,
    sparse_labels: bool = False,
    nominal: str = "onehot",
    ignore: Iterable[str] = (),
) -> Bunch:
    r"""Read an ARFF file, dense or sparse, plain or compressed (.gz, .bz2, .xz).

    Parameters
    ----------
    path : path-like
        The file.
    labels : path-like, list of str, int or None, default=None
        Which attributes are the labels: a Mulan XML file, their names, or their number (n for the
        first n, -n for the last n, as in MEKA). None means the XML file of the same name beside the
        file, else the ``-C`` of the relation, else the only nominal attribute as class (or the last
        attribute if it is nominal and called "class").
    sparse_labels : bool, default=False
        Whether to return the {0,1} labels as CSR instead of as an array.
    nominal : {"onehot", "error"}, default="onehot"
        What to do with nominal features other than {0,1}, which are always read as numbers:
        encode them as described in the notes, or raise an error.
    ignore : iterable of str, default=()
        Attributes to leave out. String and date attributes can only be left out.

    Returns
    -------
    Bunch
        ``data``, an array, or a CSR matrix for sparse ARFF; missing values are NaN.
        ``target``, an integer array of {0,1} labels, CSR if asked for, or a 1-D object array of
        class names. ``feature_names``, and ``target_names``: the labels in the order of the file
        (in the given order for a list of names), or the classes.

    Raises
    ------
    ArffError
        If the file cannot be read, with the file, the line and the reason.

    Warns
    -----
    UserWarning
        If a feature is left out because it identifies the rows.

    See Also
    --------
    iter_arff : Read a file that is too big for memory in batches.

    Notes
    -----
    A nominal feature with two categories becomes one column ``name=category`` that is 1 where the
    feature has this category. It is the affirmative one of {yes,no}, {y,n}, {true,false}, {t,f} and
    {1,-1}, in upper or lower case, else the second one declared. A feature with more categories
    becomes a column ``name=category`` for each of them; more than 1000 are an error.

    A nominal or string feature that has nearly as many different values as rows identifies the rows
    and does not describe them. It is left out with a warning. "Nearly" means 90 % of the rows in
    which the value is known, if there are at least 10 of these; in a long file the first 100,000
    rows decide.

    In sparse ARFF a nominal value that is left out is the first category, not zero.
    ``integer`` attributes are read as numbers, as Weka does: 1.5 stays 1.5.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skml_kalda.datasets import load_arff
    >>> text = "@relation 'toy: -C 2'\n@attribute cat {0,1}\n@attribute dog {0,1}\n"
    >>> text += "@attribute weight numeric\n@data\n1,0,4.2\n0,1,?\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.arff")
    ...     _ = path.write_text(text)
    ...     toy = load_arff(path)
    >>> toy.target_names
    ['cat', 'dog']
    >>> toy.target
    array([[1, 0],
           [0, 1]])
    >>> toy.data
    array([[4.2],
           [nan]])
    """
    return as_bunch(read_arff(path, labels, nominal, ignore), sparse_labels)


def read_arff(
    path: str | PathLike[str],
    labels: Labels = None,
    nominal: str = "onehot",
    ignore: Iterable[str] = (),
) -> Arff:
    """Read an ARFF file into arrays, with its layout. Warnings point at the caller's caller."""
    check_options(nominal, ignore)
    with open_arff(Path(path), labels, nominal, ignore) as table:
        for message in table.left_out:
            warnings.warn(message, stacklevel=3)
        data, target = _joined(table)
    return Arff(data, target, table.columns.layout, table.features.names)


def as_bunch(arff: Arff, sparse_labels: bool = False) -> Bunch:
    """Return a file in the form that users see."""
    layout = arff.layout
    names = [layout.attributes[i].name for i in layout.labels]
    if layout.single:
        names = list(layout.attributes[layout.labels[0]].categories)
    return Bunch(
        data=arff.data,
        target=as_target(arff.labels, layout, sparse_labels),
        feature_names=arff.feature_names,
        target_names=names,
    )


def _joined(table: Table) -> tuple[Any, ...]:
    if table.is_sparse:
        return tuple(map(vstack, zip(*table.parts(), strict=True)))
    data = GrowingArray(len(table.features.names), np.float64)
    labels = GrowingArray(len(table.columns.layout.labels), np.int64)
    for data_part, labels_part in table.parts():
        data.append(data_part)
        labels.append(labels_part)
    return data.finish(), labels.finish()
