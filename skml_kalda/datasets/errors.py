"""The errors of the data layer."""

from __future__ import annotations

from os import PathLike


class DatasetError(Exception):
    """Base of `ArffError`, `TableError` and `FetchError`: states the file, line and reason.

    Parameters
    ----------
    reason : str
        What is wrong, and where it helps, what to do.
    path : path-like, optional
        The file.
    line : int, optional
        The line, counted from 1.

    Examples
    --------
    >>> from skml_kalda.datasets import ArffError, DatasetError, FetchError
    >>> issubclass(ArffError, DatasetError) and issubclass(FetchError, DatasetError)
    True
    """

    def __init__(
        self, reason: str, *, path: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def __str__(self) -> str:
        where = [] if self.path is None else [str(self.path)]
        where += [] if self.line is None else [f"line {self.line}"]
        return f"{', '.join(where)}: {self.reason}" if where else self.reason


class ArffError(DatasetError, ValueError):
    """A data file cannot be read. See `DatasetError` for the parameters.

    Examples
    --------
    >>> from skml_kalda.datasets import ArffError
    >>> print(ArffError("3 values, 4 attributes", path="flags.arff", line=12))
    flags.arff, line 12: 3 values, 4 attributes
    """


class TableError(DatasetError, ValueError):
    """A table cannot be read. See `DatasetError` for the parameters.

    Examples
    --------
    >>> from skml_kalda.datasets import TableError
    >>> print(TableError("column 'x': 'abc' is not a number", path="mine.csv", line=7))
    mine.csv, line 7: column 'x': 'abc' is not a number
    """


class FetchError(DatasetError, OSError):
    """A dataset is not here and could not be downloaded. See `DatasetError` for the parameters.

    Examples
    --------
    >>> from skml_kalda.datasets import FetchError
    >>> print(FetchError("no connection", path="bibtex.arff"))
    bibtex.arff: no connection
    """
