"""Speed and memory of load_arff beside liac-arff, both to the same arrays, in one run.

    python benchmarks/speed/arff.py [--data FOLDER] [--out benchmarks/results]

Always measures the three bundled sets; with a folder also every ARFF file below it. Files are
unpacked first, so that the readers are compared and not the decompression. Times are of the
processor, the smallest of several repeats, the readers taking turns.
"""

import argparse
import bz2
import gzip
import importlib
import json
import lzma
import os
import platform
import shutil
import sys
import tempfile
import time
import tracemalloc
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy
import sklearn
from scipy.sparse import csr_matrix, issparse

from skml_kalda.datasets import load_arff
from skml_kalda.datasets.home import BUNDLED

# This file has the name of liac-arff's module and its folder comes first on the path.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).parent]
liac = importlib.import_module("arff")

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
    """Parse only, in the form that liac-arff is fastest in."""
    with path.open(encoding="utf-8") as stream:
        kind = liac.LOD if sparse else liac.DENSE
        return liac.load(stream, encode_nominal=True, return_type=kind)["data"]


def arrays_with_liac(path, sparse):
    """Parse and make one array of all cells, as a user has to."""
    rows = parse_with_liac(path, sparse)
    if not sparse:
        return np.array(rows)
    column = np.fromiter((j for row in rows for j in row), np.int64)
    value = np.fromiter((v for row in rows for v in row.values()), float)
    return csr_matrix((value, column, np.cumsum([0, *map(len, rows)])))


def smallest_times(tasks, repeats):
    times = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            times[name] = min(times[name], time.process_time() - start)
    return times


def n_bytes(matrix):
    parts = (matrix.data, matrix.indices, matrix.indptr) if issparse(matrix) else (matrix,)
    return sum(part.nbytes for part in parts)


def peak_memory(path, labels):
    tracemalloc.start()
    bunch = load_arff(path, labels=labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / (n_bytes(bunch.data) + n_bytes(bunch.target))


def measure(path, folder, repeats):
    plain = unpack(path, folder)
    name = plain.stem
    labels = LABELS.get(name)
    sparse = issparse(load_arff(plain, labels=labels).data)
    times = smallest_times(
        {
            "load_arff": lambda: load_arff(plain, labels=labels),
            "liac parse": lambda: parse_with_liac(plain, sparse),
            "liac arrays": lambda: arrays_with_liac(plain, sparse),
            "load_arff packed": lambda: load_arff(path, labels=labels),
        },
        repeats,
    )
    return {
        "file": name,
        "kind": "sparse" if sparse else "dense",
        "megabytes": plain.stat().st_size / 1e6,
        **{f"{key.replace(' ', '_')}_ms": 1e3 * value for key, value in times.items()},
        "times_liac_parse": times["liac parse"] / times["load_arff"],
        "times_liac_arrays": times["liac arrays"] / times["load_arff"],
        "peak_over_result": peak_memory(plain, labels),
    }


def environment():
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "liac-arff": version("liac-arff"),
    }


def table(rows):
    head = ["file", "kind", "MB", "load_arff ms", "liac ms", "× liac", "liac + arrays ms"]
    head += ["× liac + arrays", "from .xz ms", "peak / result"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        kind, *numbers = list(row.values())[1:]
        size, ours, parse, arrays, packed, ratio, ratio_arrays, peak = numbers
        cells = [f"{size:.1f}", f"{ours:.1f}", f"{parse:.0f}", f"**{ratio:.1f}**", f"{arrays:.0f}"]
        cells += [f"{ratio_arrays:.1f}", f"{packed:.0f}", f"{peak:.2f}"]
        lines.append([row["file"], kind, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    paths = sorted(BUNDLED.glob("*.arff.xz"))
    for path in sorted(arguments.data.rglob("*.arff*")) if arguments.data else []:
        paths += [path] if path.name not in {known.name for known in paths} else []
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(path, folder, arguments.repeats) for path in paths]
    result = {"environment": environment(), "repeats": arguments.repeats, "rows": rows}
    arguments.out.mkdir(exist_ok=True)
    (arguments.out / "speed_arff.json").write_text(json.dumps(result, indent=2) + "\n")
    facts = ", ".join(f"{key} {value}" for key, value in environment().items())
    note = (
        "liac: parse only, to Python lists (dense) or dicts (sparse); liac + arrays: and to NumPy."
    )
    times = f"processor time, smallest of {arguments.repeats} repeats"
    text = f"# load_arff beside liac-arff\n\n{facts}; {times}.\n{note}"
    (arguments.out / "speed_arff.md").write_text(f"{text}\n\n{table(rows)}\n")
    print(table(rows))


if __name__ == "__main__":
    main()
