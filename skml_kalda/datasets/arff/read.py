"""Read ARFF files: plain rows in bulk, others one by one, which also finds what is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from skml_kalda.datasets.arff.header import (
    LONGEST_LINE,
    PLAIN,
    Header,
    check_line,
    read_header,
    scan_entries,
    scan_values,
    shown,
)
from skml_kalda.datasets.arff.layout import Labels, Layout, check_features, find_layout, identifies
from skml_kalda.datasets.arff.tokens import number, tokenize
from skml_kalda.datasets.errors import ArffError
from skml_kalda.datasets.files import naming_damage, opener

_BLOCK = 2**16
"""About as many characters are read at a time."""

Cells = tuple[list[int], NDArray[np.int64], NDArray[np.float64]]
"""How many cells each sparse row lists, and the column and value of each cell."""


def load_arff(
    path: str | PathLike[str],
    *,
    labels: Labels = None,
    ignore: Iterable[str] = (),
) -> Bunch:
    r"""Read an ARFF file, dense or sparse, plain or compressed (.gz, .bz2, .xz).

    Parameters
    ----------
    path : path-like
        The file.
    labels : path-like, list of str, int or None, default=None
        Which attributes are the labels: a Mulan XML file, their names, or their number (n for the
        first n, -n for the last n, as in MEKA). None means the XML file of the same name, else
        the ``-C`` of the relation, else the only nominal attribute as class (or the last attribute
        if it is nominal and called "class").
    ignore : iterable of str, default=()
        Attributes to leave out. String and date attributes can only be left out.

    Returns
    -------
    Bunch
        ``data``, an array, or a CSR matrix for sparse ARFF; missing values are NaN.
        ``target``, an integer array of {0,1} labels, or a 1-D object array of class names.
        ``feature_names``, and ``target_names``: the labels in the order of the file (in the given
        order for a list of names), or the classes.

    Raises
    ------
    ArffError
        If the file cannot be read, with the file, the line and the reason.

    Warns
    -----
    UserWarning
        If a feature is left out because it identifies the samples.

    Notes
    -----
    A nominal feature with two categories becomes one column ``name=category`` that is 1 where the
    feature has this category. It is the affirmative one of {yes,no}, {y,n}, {true,false}, {t,f} and
    {1,-1}, in upper or lower case, else the second one declared. A feature with more categories
    becomes a column ``name=category`` for each of them; more than 1000 are an error.

    A nominal or string feature that has nearly as many different values as samples identifies the
    samples and does not describe them. It is left out with a warning. "Nearly" means 90 % of the
    samples in which the value is known, if there are at least 10 of these.

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
    return read_arff(path, labels, ignore)[0]


def read_arff(
    path: str | PathLike[str], labels: Labels = None, ignore: Iterable[str] = ()
) -> tuple[Bunch, Layout]:
    """Read an ARFF file, with its layout. Warnings point at the caller's caller."""
    if isinstance(ignore, str):
        raise TypeError("ignore must be a list of names, not one string")
    path = Path(path)
    with naming_damage(path, ArffError), _opened(path) as stream:
        header = read_header(stream, path)
        layout = find_layout(header, path, labels, ignore)
        table = _Reader(layout, path).table(stream, header.n_lines)
    layout, messages = _without_identifiers(layout, table)
    for message in messages:
        warnings.warn(f"{path}: {message}", stacklevel=3)
    check_features(layout, path)
    target = _encoded(table, layout.labels, layout).astype(np.int64)
    target = target.toarray() if sparse.issparse(target) else target
    if layout.single:
        target_names = list(layout.attributes[layout.labels[0]].categories)
        target = np.array(target_names, object)[target.ravel()]
    else:
        target_names = [layout.attributes[i].name for i in layout.labels]
    bunch = Bunch(
        data=_encoded(table, layout.features, layout),
        target=target,
        feature_names=[name for i in layout.features for name in layout.column_names(i)],
        target_names=target_names,
    )
    return bunch, layout


def header_of(path: Path) -> Header:
    """Read the header of a file only."""
    with naming_damage(path, ArffError), _opened(path) as stream:
        return read_header(stream, path)


def _opened(path: Path) -> IO[str]:
    # Bytes that are not UTF-8 become surrogates: allowed in comments, an error elsewhere.
    stream: IO[str] = opener(path)(path, "rt", encoding="utf-8-sig", errors="surrogateescape")
    return stream


class _Numbering(dict[str, float]):
    """Texts and their numbers: each new text gets the next one, from 1."""

    def __missing__(self, text: str) -> float:
        self[text] = number = len(self) + 1.0
        return number


class _Reader:
    """Turns rows into numbers: of the value, of the category, or of a text."""

    def __init__(self, layout: Layout, path: Path) -> None:
        self.layout, self.path = layout, path
        self.n_attributes = len(layout.attributes)
        self.codes: dict[int, dict[str, float]] = {}
        """The number of each text, for attributes whose cells are not numbers."""
        used = {*layout.features, *layout.labels}
        for i, attribute in enumerate(layout.attributes):
            values = layout.values(i)
            if i not in used or attribute.kind in {"string", "date"}:
                self.codes[i] = _Numbering()
            elif values is not None:
                self.codes[i] = dict(zip(attribute.categories, values, strict=True))
        self.is_label = np.isin(np.arange(self.n_attributes), layout.labels)
        self.is_coded = np.isin(np.arange(self.n_attributes), list(self.codes))
        is_numeric = np.array([attribute.kind == "numeric" for attribute in layout.attributes])
        self.is_checked = self.is_label | ~(is_numeric | self.is_coded)
        """Whether only declared numbers are allowed, or missing ones are not."""
        declared = [attribute.categories or ("0", "1") for attribute in layout.attributes]
        self.allows = np.array([[digit in each for each in declared] for digit in "01"])
        """Whether 0 and 1 are declared."""
        firsts = [attribute.categories[:1] for attribute in layout.attributes]
        omitted = [self._cell(i, *first) if first else 0.0 for i, first in enumerate(firsts)]
        self.omitted = np.array(omitted)
        """What a cell left out of a sparse row stands for: zero, or the first category."""

    def table(self, stream: IO[str], line: int) -> Any:
        """Read the rows that follow a line: an array of cells, or `_SparseTable`."""
        blocks: list[Any] = []
        is_sparse = None
        while lines := stream.readlines(_BLOCK):
            rows = [row for each in lines if (row := each.strip()) and row[0] != "%"]
            if rows:
                is_sparse = rows[0].startswith("{") if is_sparse is None else is_sparse
                blocks.append(self._block(rows, lines, line, is_sparse))
            line += len(lines)
        if is_sparse:
            n_cells, column, value = map(np.concatenate, zip(*blocks, strict=True))
            parts = value, column, np.concatenate([[0], np.cumsum(n_cells)])
            shape = (n_cells.size, self.n_attributes)
            return _SparseTable(sparse.csr_matrix(parts, shape=shape).tocsc(), self.omitted)
        return np.concatenate([np.empty((0, self.n_attributes)), *blocks])

    def _block(self, rows: list[str], lines: list[str], line: int, is_sparse: bool) -> Any:
        try:
            return self._sparse_bulk(rows) if is_sparse else self._dense_bulk(rows)
        except (ValueError, KeyError):
            pass
        read = self._sparse_row if is_sparse else self._dense_row
        cells: list[Any] = []
        for place, text in enumerate(map(str.strip, lines), line + 1):
            if text and text[0] != "%":
                try:
                    check_line(text)
                    cells.append(read(text))
                except ArffError as error:
                    raise ArffError(error.reason, path=self.path, line=place) from None
        if not is_sparse:
            return np.array(cells)
        listed = [cell for row in cells for cell in sorted(row.items())]
        column, value = np.array(listed, float).reshape(-1, 2).T
        return list(map(len, cells)), column.astype(np.int64), value

    def _dense_bulk(self, rows: list[str]) -> NDArray[np.float64]:
        """Read rows at once; ValueError or KeyError if one needs a closer look."""
        block = _plain("\n".join(rows))
        tokens = tokenize(block + b"\n", b"\n,")
        if tokens.delimiters() != (b"," * (self.n_attributes - 1) + b"\n") * len(rows):
            raise ValueError("rows of different lengths")
        columns = np.tile(np.arange(self.n_attributes), len(rows))
        return self._values(tokens, np.arange(columns.size), columns).reshape(len(rows), -1)

    def _sparse_bulk(self, rows: list[str]) -> Cells:
        """Read sparse rows at once; ValueError or KeyError if one needs a closer look."""
        if not all(row[0] == "{" and row[-1] == "}" for row in rows):
            raise ValueError("a row without braces")
        n_cells = [0 if row == "{}" else row.count(",") + 1 for row in rows]
        block = _plain(",".join([row[1:-1] for row in rows if row != "{}"]))
        tokens = tokenize(block + b"," if block else b"", b", ")
        if tokens.delimiters() != b" ," * sum(n_cells):
            raise ValueError("a cell that is not an index and a value")
        index, value = np.arange(2 * sum(n_cells)).reshape(-1, 2).T
        column = tokens.numbers(index)
        are_digits = tokens.delimiter[index + 1] - tokens.delimiter[index] == 1
        place = np.repeat(np.arange(len(rows)), n_cells) * self.n_attributes + column
        if not (are_digits & (column < self.n_attributes)).all() or (np.diff(place) <= 0).any():
            raise ValueError("indices out of range or order")
        columns = column.astype(np.int64)
        return n_cells, columns, self._values(tokens, value, columns)

    def _values(self, tokens: Any, token: Any, column: Any) -> NDArray[np.float64]:
        """Return the tokens as numbers, each in the way of its column."""
        if not self.codes:
            value = tokens.numbers(token)
        else:
            coded = self.is_coded[column]
            value = np.empty(token.size)
            value[~coded] = tokens.numbers(token[~coded])
            here = np.flatnonzero(coded)
            words = [word.decode().strip() for word in tokens.words(token[here])]
            if not all(map(PLAIN.fullmatch, set(words))):
                raise ValueError("a word that needs quotes")
            value[here] = [
                np.nan if word == "?" else self.codes[i][word]
                for i, word in zip(column[here].tolist(), words, strict=True)
            ]
        checked = np.flatnonzero(self.is_checked[column])
        column, cell = column[checked], value[checked]
        zero, one = self.allows[:, column]
        allowed = self.is_coded[column] | (cell == 0) & zero | (cell == 1) & one
        if not np.where(np.isnan(cell), ~self.is_label[column], allowed).all():
            raise ValueError("a value that is not declared")
        unknown = tokens.words(token[checked[np.isnan(cell)]])
        if any(word.strip() != b"?" for word in unknown):
            raise ValueError("a NaN that is not declared")
        return value

    def _dense_row(self, text: str) -> list[float]:
        if text.startswith("{"):
            raise ArffError("a sparse row among dense ones")
        values = list(scan_values(text))
        if len(values) != self.n_attributes:
            raise ArffError(f"{len(values)} values for {self.n_attributes} attributes")
        return [self._cell(i, value) for i, value in enumerate(values)]

    def _sparse_row(self, text: str) -> dict[int, float]:
        if not (text.startswith("{") and text.endswith("}")):
            raise ArffError(f"expected a sparse row in braces, found {shown(text)}")
        row: dict[int, float] = {}
        body = text[1:-1].strip()
        for i, value in scan_entries(body) if body else ():
            if i >= self.n_attributes:
                raise ArffError(f"index {i} is out of range: {self.n_attributes} attributes")
            if i in row:
                raise ArffError(f"index {i} comes twice")
            row[i] = self._cell(i, value)
        return row

    def _cell(self, i: int, text: str | None) -> float:
        """Read one cell; raise an ArffError with the reason if that is not possible."""
        attribute = self.layout.attributes[i]
        name = shown(attribute.name)
        if text is None:
            if self.is_label[i]:
                raise ArffError(f"the label {name} is missing")
            return np.nan
        try:
            value = self.codes[i][text] if i in self.codes else number(text.encode())
        except (KeyError, ValueError):
            value = None
        wrong = "a declared category of" if attribute.categories else "a number, for"
        is_free = not self.is_checked[i] or self.is_coded[i]
        if value is not None and (is_free or (value in (0, 1) and self.allows[int(value), i])):
            return value
        if value is None or attribute.categories:
            raise ArffError(f"{shown(text)} is not {wrong} {name}")
        raise ArffError(f"the label {name} is {value:g}, neither 0 nor 1")


def _plain(block: str) -> bytes:
    if "'" in block or '"' in block or len(block) > LONGEST_LINE:
        raise ValueError("quotes, or a very long row")
    return block.replace(", ", ",").encode()


class _SparseTable(NamedTuple):
    """The cells that sparse rows list, and what the cells they leave out stand for."""

    cells: sparse.csc_matrix
    omitted: NDArray[np.float64]
    """Zero, or the number of the first category."""


def _column(table: Any, i: int) -> NDArray[np.float64]:
    """Return the cells of one attribute."""
    if not isinstance(table, _SparseTable):
        return np.asarray(table[:, i])
    here = slice(*table.cells.indptr[i : i + 2])
    column = np.full(table.cells.shape[0], table.omitted[i])
    column[table.cells.indices[here]] = table.cells.data[here]
    return column


def _without_identifiers(layout: Layout, table: Any) -> tuple[Layout, list[str]]:
    """Leave out the features that identify the samples, with a message for each of them."""
    kept, messages = [], []
    for i in layout.features:
        attribute = layout.attributes[i]
        name, n_values, n_known = attribute.name, 0, 0
        if attribute.kind == "string" or len(attribute.categories) > 2:
            known = (column := _column(table, i))[~np.isnan(column)]
            n_values, n_known = np.unique(known).size, known.size
        if identifies(n_values, n_known):
            messages.append(
                f"the feature {name!r} is left out because it identifies the samples: it has "
                f"{n_values} different values in {n_known} samples. "
                f"Pass ignore=[{name!r}] to silence this warning."
            )
        else:
            kept.append(i)
    return replace(layout, features=tuple(kept)), messages


def _encoded(table: Any, attributes: Sequence[int], layout: Layout) -> Any:
    """Return the columns of these attributes: of numbers, or one for each category."""
    is_sparse = isinstance(table, _SparseTable)
    plain, others, place, other_places = [], [], [], []
    for rank, i in enumerate(attributes):
        if layout.one_hot(i):
            column = _column(table, i)[:, np.newaxis]
            hot = (column == np.arange(len(layout.attributes[i].categories))).astype(float)
            others.append(np.where(np.isnan(column), np.nan, hot))
        elif is_sparse and table.omitted[i]:
            others.append(_column(table, i)[:, np.newaxis])
        else:
            plain.append(i)
            place.append(rank)
            continue
        other_places += [rank] * others[-1].shape[1]
    cells = (table.cells if is_sparse else table)[:, plain]
    if others:
        join = sparse.hstack if is_sparse else np.hstack
        blocks = [sparse.csc_matrix(each) for each in others] if is_sparse else others
        cells = join([cells, *blocks])[:, np.argsort(place + other_places, kind="stable")]
    if not is_sparse:
        return np.ascontiguousarray(cells)
    cells = cells.tocsr()
    cells.eliminate_zeros()
    cells.sort_indices()
    return cells
