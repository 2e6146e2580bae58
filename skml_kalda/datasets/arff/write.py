"""Write ARFF files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_array, check_consistent_length

from skml_kalda.datasets.arff.header import quote, shown
from skml_kalda.datasets.arff.layout import MEKA_OPTION
from skml_kalda.datasets.files import arff_stem, replacing

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def save_arff(
    path: str | PathLike[str],
    data: Any,
    target: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    relation: str | None = None,
    dialect: Literal["meka", "mulan"] = "meka",
    description: str = "",
) -> None:
    """Write an ARFF file, dense or sparse as the data are. `load_arff` returns the same arrays.

    The file is compressed if its name ends in .gz, .bz2 or .xz. It replaces an existing file in one
    step: if anything goes wrong, the existing file stays as it is.

    Parameters
    ----------
    path : path-like
        The file to write.
    data : array-like or sparse matrix of shape (n, p)
        The features; NaN is written as a missing value.
    target : array-like or sparse matrix of shape (n, K), or array-like of shape (n,)
        Labels in {0,1}, or the class of each row, which is written as text.
    feature_names, target_names : sequence of str, optional
        The names of the attributes. For a 1-D target `target_names` are the classes.
    relation : str, optional
        The name of the relation, by default the name of the file.
    dialect : {"meka", "mulan"}, default="meka"
        Where the labels are. "meka": first, with their number in the name of the relation.
        "mulan": last, with their names in an XML file of the same name.
    description : str, default=""
        A comment at the top of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skml_kalda.datasets import load_arff, save_arff
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "toy.arff.gz")
    ...     save_arff(path, [[0.1, 2], [3, 4]], [[1, 0], [1, 1]], target_names=["cat", "dog"])
    ...     toy = load_arff(path)
    >>> toy.data
    array([[0.1, 2. ],
           [3. , 4. ]])
    >>> toy.target
    array([[1, 0],
           [1, 1]])
    """
    if dialect not in {"meka", "mulan"}:
        raise ValueError(f'dialect must be "meka" or "mulan", not {dialect!r}')
    path = Path(path)
    data = check_array(
        data, accept_sparse="csr", dtype=float, ensure_all_finite=False,
        ensure_min_samples=0, ensure_min_features=0, input_name="data",
    )  # fmt: skip
    relation = arff_stem(path) if relation is None else relation
    if MEKA_OPTION.search(relation):
        reason = f"relation must not contain the option -C, which marks labels: {relation!r}"
        raise ValueError(reason)
    check_consistent_length(data, target)
    labels, declared = _labels(target, target_names)
    names = _names(feature_names, data.shape[1], "x", "feature_names")
    features = [(name, "numeric") for name in names]
    first = labels.ndim == 2 and dialect == "meka"
    attributes = declared + features if first else features + declared
    if len({name for name, _ in attributes}) < len(attributes):
        raise ValueError("feature_names and target_names must not share a name")
    head = [f"% {line}" for line in description.splitlines()]
    head += [f"@relation {quote(f'{relation}: -C {len(declared)}' if first else relation)}"]
    head += [f"@attribute {quote(name)} {kind}" for name, kind in attributes]
    to_rows = _sparse_rows if issparse(data) else _dense_rows
    rows = to_rows(data, labels.reshape(len(labels), -1), first)
    in_xml = labels.ndim == 2 and dialect == "mulan"
    _write(path, chain(head, ["@data"], rows), [name for name, _ in declared] if in_xml else [])


def _labels(target: Any, names: Sequence[str] | None) -> tuple[NDArray[Any], list[tuple[str, str]]]:
    """Return the labels as an array of text or {0,1}, and their declarations."""
    target = target.toarray() if issparse(target) else np.asarray(target)
    if target.ndim == 1:
        texts = np.array([str(name) for name in target.tolist()], object)
        classes = list(dict.fromkeys(sorted(texts) if names is None else names))
        if not set(texts) <= set(classes):
            raise ValueError("target_names must contain every class of target")
        return texts, [("class", f"{{{','.join(map(quote, classes))}}}")]
    if target.ndim != 2 or not np.isin(target, (0, 1)).all():
        raise ValueError("target must be one class per row, or labels in {0, 1} of two dimensions")
    labels = _names(names, target.shape[1], "y", "target_names")
    return target.astype(int), [(label, "{0,1}") for label in labels]


def _names(names: Sequence[str] | None, count: int, letter: str, argument: str) -> list[str]:
    names = [f"{letter}{i}" for i in range(count)] if names is None else list(names)
    if len(names) != count:
        raise ValueError(f"{argument} must contain {count} names, not {len(names)}")
    return names


def _dense_rows(data: NDArray[Any], labels: NDArray[Any], first: bool) -> Iterator[str]:
    for values, label in zip(data.tolist(), labels.tolist(), strict=True):
        yield ",".join(map(_text, [*label, *values] if first else [*values, *label]))


def _sparse_rows(data: csr_matrix, labels: NDArray[Any], first: bool) -> Iterator[str]:
    if not data.has_canonical_format:
        data = data.copy()
        data.sum_duplicates()
    first_feature, first_label = (labels.shape[1], 0) if first else (0, data.shape[1])
    for i, label in enumerate(labels.tolist()):
        row = slice(data.indptr[i], data.indptr[i + 1])
        columns = (data.indices[row] + first_feature).tolist()
        cells = [*zip(columns, data.data[row].tolist(), strict=True)]
        cells += ((first_label + j, value) for j, value in enumerate(label) if value)
        yield f"{{{','.join(f'{j} {_text(value)}' for j, value in sorted(cells))}}}"


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return quote(value)
    return "?" if value != value else repr(value).removesuffix(".0")


def _write(path: Path, lines: Iterable[str], labels: list[str]) -> None:
    xml = path.with_name(f"{arff_stem(path)}.xml")
    if not labels and xml.exists():
        reason = f"{xml.name} is next to {path.name} and would be read as its labels"
        raise ValueError(f'{reason}: remove it, or use dialect="mulan"')
    with ExitStack() as both:
        if labels:
            both.enter_context(replacing(xml)).write(_label_xml(labels))
        stream = both.enter_context(replacing(path))
        stream.writelines(f"{line}\n".encode() for line in lines)


def _label_xml(names: list[str]) -> bytes:
    """Return a Mulan XML file of the label names."""
    for name in filter(_NOT_IN_XML.search, names):
        reason = f"target_names: {shown(name)} has a character that XML cannot contain"
        raise ValueError(f'{reason}; rename the label, or use dialect="meka"')
    labels = "".join(f"<label name={quoteattr(name)}></label>\n" for name in names)
    namespace = "http://mulan.sourceforge.net/labels"
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{namespace}">\n'
    return f"{head}{labels}</labels>\n".encode()
