"""Speed and memory of load_arff beside liac-arff, both to the same arrays, in one run.

    python -m benchmarks.speed.arff [--data FOLDER] [--repeats 7]

Always measures the three bundled sets; with a folder also every ARFF file below it. Files are
unpacked first, so that the measurement compares the readers and not the decompression. Times are
processor times, the smallest of several repeats, the readers taking turns.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import lzma
import shutil
import tempfile
import time
from pathlib import Path

import arff as liac
import numpy as np
from scipy.sparse import csr_matrix, issparse

from benchmarks.common import (
    RESULTS,
    fastest,
    keep,
    markdown_table,
    memory_added,
    one_line,
    stored,
)
from skml_kalda.datasets import load_arff
from skml_kalda.datasets.manifest import BUNDLED

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
LABELS = {"emotions": -6, "yeast": -14, "scene": -6, "imdb": 28, "bibtex": -159}
LABELS |= {"tmc2007-500": -22, "msrc-mom": -23, "msrc-sift": -23}


def unpack(path, folder):
    plain = Path(
        folder, path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
    )
    with OPENERS.get(path.suffix, open)(path, "rb") as source, plain.open("wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def parse_with_liac(path, sparse):
    """Parse only, in the form that liac-arff parses fastest."""
    with path.open(encoding="utf-8") as stream:
        kind = liac.LOD if sparse else liac.DENSE
        return liac.load(stream, encode_nominal=True, return_type=kind)["data"]


def arrays_with_liac(path, sparse):
    """Parse and put all cells into one array, as a user has to."""
    rows = parse_with_liac(path, sparse)
    if not sparse:
        return np.array(rows)
    column = np.fromiter((j for row in rows for j in row), np.int64)
    value = np.fromiter((v for row in rows for v in row.values()), float)
    return csr_matrix((value, column, np.cumsum([0, *map(len, rows)])))


def peak_memory(path, labels):
    """Return the peak memory of reading a file over the memory of its arrays."""
    found = []
    peak = memory_added(lambda: found.append(load_arff(path, labels=labels)))
    return peak / (stored(found[0].data) + stored(found[0].target))


def measure(path, folder, repeats):
    plain = unpack(path, folder)
    name = plain.stem
    labels = LABELS.get(name)
    sparse = issparse(load_arff(plain, labels=labels).data)
    times = fastest(
        repeats,
        time.process_time,
        load_arff=lambda: load_arff(plain, labels=labels),
        liac_parse=lambda: parse_with_liac(plain, sparse),
        liac_arrays=lambda: arrays_with_liac(plain, sparse),
        load_arff_packed=lambda: load_arff(path, labels=labels),
    )
    return {
        "file": name,
        "kind": "sparse" if sparse else "dense",
        "megabytes": plain.stat().st_size / 1e6,
        **{f"{key}_ms": 1e3 * value for key, value in times.items()},
        "times_liac_parse": times["liac_parse"] / times["load_arff"],
        "times_liac_arrays": times["liac_arrays"] / times["load_arff"],
        "peak_over_result": peak_memory(plain, labels),
    }


def table(rows):
    head = ["file", "kind", "MB", "load_arff ms", "liac ms", "× liac", "liac + arrays ms"]
    head += ["× liac + arrays", "from .xz ms", "peak / result"]
    return markdown_table(head, list(map(cells, rows)))


def cells(row):
    name, kind, size, ours, parse, arrays, packed, ratio, ratio_arrays, peak = row.values()
    texts = [f"{size:.1f}", f"{ours:.1f}", f"{parse:.0f}", f"**{ratio:.1f}**", f"{arrays:.0f}"]
    return [name, kind, *texts, f"{ratio_arrays:.1f}", f"{packed:.0f}", f"{peak:.2f}"]


def page(result):
    facts = {name: value for name, value in result["environment"].items() if name != "repeats"}
    times = f"processor time, smallest of {result['environment']['repeats']} repeats"
    note = (
        "liac: parse only, to Python lists (dense) or dicts (sparse); liac + arrays: also to NumPy."
    )
    head = f"# load_arff beside liac-arff\n\n{one_line(facts)}; {times}.\n{note}"
    return f"{head}\n\n{table(result['rows'])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of more ARFF files")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    paths = sorted(BUNDLED.glob("*.arff.xz"))
    for path in sorted(arguments.data.rglob("*.arff*")) if arguments.data else []:
        paths += [path] if path.name not in {known.name for known in paths} else []
    with tempfile.TemporaryDirectory() as folder:
        rows = (measure(path, folder, arguments.repeats) for path in paths)
        result = keep("speed-arff", rows, "liac-arff", repeats=arguments.repeats)
    (RESULTS / "speed-arff.md").write_text(page(result), "utf-8")


if __name__ == "__main__":
    main()
