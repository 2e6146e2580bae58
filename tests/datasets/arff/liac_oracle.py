"""What a file holds according to liac-arff, cell by cell. Shares no code with the package."""

import bz2
import gzip
import io
import lzma

import arff as liac
import numpy as np

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read(path):
    """Return liac-arff's attributes, and its rows as lists."""
    with OPENERS.get(path.suffix, open)(path, "rb") as stream:
        parsed = liac.load(io.TextIOWrapper(stream, encoding="utf-8"))
    return parsed["attributes"], parsed["data"]


def expected(attributes, rows, labels):
    """Split liac-arff's rows into data and {0,1} labels, the plain way."""
    features = [i for i in range(len(attributes)) if i not in labels]
    data = [[v for i in features for v in _cells(attributes[i][1], row[i])] for row in rows]
    target = [[int(row[i]) for i in labels] for row in rows]
    width = sum(len(_cells(attributes[i][1], None)) for i in features)
    return (
        np.array(data, float).reshape(len(rows), width),
        np.array(target, int).reshape(len(rows), len(labels)),
    )


def _cells(kind, value):
    """Return the numbers that one value stands for."""
    if isinstance(kind, str) or set(kind) <= {"0", "1"}:
        return [np.nan if value is None else float(value)]
    return [np.nan if value is None else float(value == category) for category in columns(kind)]


def columns(kind):
    """Return the categories that have a column: all, or of two the affirmative or second one."""
    if len(kind) != 2:
        return list(kind)
    return ["1"] if sorted(kind) == ["-1", "1"] else [kind[1]]
