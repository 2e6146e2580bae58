"""The errors of the data layer."""

from __future__ import annotations

from os import PathLike

__all__ = ["ArffError", "FetchError"]


class ArffError(ValueError):
    """A data file that cannot be read, with the file, the line and the reason.

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
    >>> from skml_kalda.datasets import ArffError
    >>> print(ArffError("3 values, 4 attributes", path="flags.arff", line=12))
    flags.arff, line 12: 3 values, 4 attributes
    """

    def __init__(
        self,
        reason: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def __str__(self) -> str:
        where = [] if self.path is None else [str(self.path)]
        where += [] if self.line is None else [f"line {self.line}"]
        return f"{', '.join(where)}: {self.reason}" if where else self.reason


class FetchError(OSError, ArffError):
    """A data set that could not be fetched: also an OSError, as from scikit-learn's fetchers."""

    __init__ = ArffError.__init__
    __str__ = ArffError.__str__
