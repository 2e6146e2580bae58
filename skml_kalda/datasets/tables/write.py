"""CSV files."""

from __future__ import annotations

import csv
from codecs import getwriter
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scipy.sparse import issparse
from sklearn.utils import gen_batches

from skml_kalda.datasets.files import replacing_compressed

_CELLS = 2**20


def save_csv(
    path: Path, data: Any, target: Any, feature_names: Sequence[str], target_names: Sequence[str]
) -> None:
    """Write a CSV file with a header: the features first, then the labels or the class.

    A missing value is an empty field. The file is compressed if its name ends in .gz, .bz2 or .xz.
    """
    header = [*feature_names, *(["class"] if target.ndim == 1 else target_names)]
    if len(set(header)) < len(header):
        repeated = Counter(header).most_common(1)[0][0]
        raise ValueError(f"the CSV file would have two columns named {repeated!r}")
    with replacing_compressed(path) as stream:
        writer = csv.writer(getwriter("utf-8")(stream), lineterminator="\n")
        writer.writerow(header)
        writer.writerows(_rows(data, target))


def _rows(data: Any, target: Any) -> Iterator[list[Any]]:
    """Yield the rows one by one; only a few are made dense at a time."""
    n_rows, n_features = data.shape
    for some in gen_batches(n_rows, max(1, _CELLS // max(1, n_features))):
        part = data[some].toarray() if issparse(data) else data[some]
        labels = target[some].reshape(len(part), -1)
        for values, label in zip(part.tolist(), labels.tolist(), strict=True):
            yield [*map(_field, values), *label]


def _field(value: float) -> str:
    return "" if value != value else repr(value).removesuffix(".0")
