"""Write ARFF files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_consistent_length

from ._layout import MEKA_OPTION
from ._mulan import label_xml
from ._quoting import quote
from ._source import OPENERS, arff_stem, replacing

__all__ = ["save_arff"]


def save_arff(
    path: str | PathLike[str],
    data: Any,
    target: Any,
    *,
    feature_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    relation: str | None = None,
    dialect: str = "meka",
    description: str = "",
) -> None:
    """Write an ARFF file, dense or sparse as the data; reading it back gives the same arrays.

    The file is compressed if its name ends in .gz, .bz2 or .xz. It takes its place in one step: if
    anything goes wrong, a file that was there before is kept.

    Parameters
    ----------
    path : path-like
        The file to write.
    data : array-like or sparse matrix of shape (n, p)
        The features; NaN is written as a missing value.
    target : array-like or sparse matrix of shape (n, K), or array-like of shape (n,)
        Labels in {0,1}, or the class of each row, written as text.
    feature_names, target_names : sequence of str, optional
        The names of the attributes; for a 1-D target `target_names` are the classes.
    relation : str, optional
        The name of the relation, by default that of the file.
    dialect : {"meka", "mulan"}, default="meka"
        Where the labels are: first, their number in the name of the relation, or last, their names
        in an XML file beside the file.
    description : str, default=""
        Comment at the top of the file.

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
    data = csr_matrix(data, dtype=float, copy=True) if issparse(data) else np.asarray(data, float)
    if data.ndim != 2:
        raise ValueError(f"data must have two dimensions, not {data.ndim}")
    check_consistent_length(data, target)
    labels, declared = _labels(target, target_names)
    names = _names(feature_names, data.shape[1], "x", "feature_names")
    features = [(name, "numeric") for name in names]
    first = labels.ndim == 2 and dialect == "meka"
    relation = arff_stem(path) if relation is None else relation
    if MEKA_OPTION.search(relation):
        raise ValueError(f"relation must not hold the option -C, which tells labels: {relation!r}")
    if first:
        relation = f"{relation}: -C {len(declared)}"
    attributes = declared + features if first else features + declared
    if len({name for name, _ in attributes}) < len(attributes):
        raise ValueError("feature_names and target_names must not share a name")
    lines = _lines(relation, attributes, _rows(data, labels, first), description)
    names = [name for name, _ in declared] if labels.ndim == 2 and dialect == "mulan" else []
    _write(path, lines, names)


def _labels(target: Any, names: Sequence[str] | None) -> tuple[NDArray[Any], list[tuple[str, str]]]:
    """Give the labels as an array of text or {0,1}, and their declarations."""
    target = target.toarray() if issparse(target) else np.asarray(target)
    if target.ndim == 1:
        texts = np.array([str(name) for name in target.tolist()], object)
        classes = list(dict.fromkeys(sorted(texts) if names is None else names))
        if not set(texts) <= set(classes):
            raise ValueError("target_names must hold every class of target")
        return texts, [("class", f"{{{','.join(map(quote, classes))}}}")]
    if target.ndim != 2 or not np.isin(target, (0, 1)).all():
        raise ValueError("target must be one class per row, or labels in {0, 1} of two dimensions")
    labels = _names(names, target.shape[1], "y", "target_names")
    return target.astype(int), [(label, "{0,1}") for label in labels]


def _names(names: Sequence[str] | None, count: int, letter: str, argument: str) -> list[str]:
    names = [f"{letter}{i}" for i in range(count)] if names is None else list(names)
    if len(names) != count:
        raise ValueError(f"{argument} must hold {count} names, not {len(names)}")
    return names


def _lines(
    relation: str, attributes: list[tuple[str, str]], rows: Iterable[str], description: str
) -> Iterator[str]:
    yield from (f"% {line}" for line in description.splitlines())
    yield f"@relation {quote(relation)}"
    yield from (f"@attribute {quote(name)} {declared}" for name, declared in attributes)
    yield "@data"
    yield from rows


def _rows(data: Any, labels: NDArray[Any], first: bool) -> Iterator[str]:
    texts = _sparse_rows if issparse(data) else _dense_rows
    return texts(data, labels.reshape(len(labels), -1), first)


def _dense_rows(data: NDArray[Any], labels: NDArray[Any], first: bool) -> Iterator[str]:
    for values, label in zip(data.tolist(), labels.tolist(), strict=True):
        texts, marks = map(_text, values), map(_text, label)
        yield ",".join([*marks, *texts] if first else [*texts, *marks])


def _sparse_rows(data: csr_matrix, labels: NDArray[Any], first: bool) -> Iterator[str]:
    data.sum_duplicates()
    shift, behind = (labels.shape[1], 0) if first else (0, data.shape[1])
    for i, label in enumerate(labels.tolist()):
        row = slice(data.indptr[i], data.indptr[i + 1])
        cells = zip((data.indices[row] + shift).tolist(), data.data[row].tolist(), strict=True)
        marks = ((behind + j, value) for j, value in enumerate(label) if value)
        entries = [f"{j} {_text(value)}" for j, value in sorted([*cells, *marks])]
        yield f"{{{','.join(entries)}}}"


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return quote(value)
    return "?" if value != value else repr(value).removesuffix(".0")


def _write(path: Path, lines: Iterable[str], labels: list[str]) -> None:
    xml = path.with_name(f"{arff_stem(path)}.xml")
    if labels:
        with replacing(xml) as stream, replacing(path) as part:
            stream.write(label_xml(labels))
            _compress(part, path, lines)
        return
    if xml.exists():
        reason = f"{xml.name} is beside {path.name} and would be read as its labels"
        raise ValueError(f'{reason}: remove it, or take dialect="mulan"')
    with replacing(path) as part:
        _compress(part, path, lines)


def _compress(part: IO[bytes], path: Path, lines: Iterable[str]) -> None:
    compress = OPENERS.get(path.suffix.lower())
    stream = part if compress is None else compress(part, "wb")
    for line in lines:
        stream.write(f"{line}\n".encode())
    if compress is not None:
        stream.close()
