"""Predicted labels as data frames."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from skml_kalda._core.messages import required


def frame_library(y: Any) -> str:
    """Return the library for frames of labels: polars if `y` is a polars frame, else pandas."""
    return "polars" if type(y).__module__.partition(".")[0] == "polars" else "pandas"


def label_frame(labels: NDArray[Any], names: NDArray[Any], X: Any, library: str) -> Any:
    """Return labels, or their scores, as a data frame: columns by name, rows by the index of X.

    Parameters
    ----------
    labels : array of shape (n, K)
        A value for each row and label.
    names : array of shape (K,)
        The names of the labels.
    X : array-like of shape (n, p)
        The rows. A pandas data frame has an index, which pandas frames keep.
    library : {"pandas", "polars"}
        The library of the frame.
    """
    frames = required(library, by="as_frame=True", extra="inspection")
    if library == "polars":
        return frames.DataFrame(labels, schema=[str(name) for name in names])
    return frames.DataFrame(labels, columns=names, index=getattr(X, "index", None))
