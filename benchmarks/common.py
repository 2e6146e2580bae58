"""What the measurements share: timing in turns, peak memory, kept results, Markdown tables."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import tracemalloc
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).parent / "results"


def labelled_batch(seed, n, p, n_labels):
    """Make n float32 samples of p features around the centres of their labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.2).astype(np.int8)
    X = rng.standard_normal((n, p), dtype=np.float32)
    X += Y @ np.random.default_rng(0).normal(size=(n_labels, p)).astype(np.float32)
    return X, Y


def fastest(repeats=5, clock=time.perf_counter, **tasks):
    """Return the seconds of the fastest of several runs of each task, the tasks taking turns."""
    seconds = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            begin = clock()
            task()
            seconds[name] = min(seconds[name], clock() - begin)
    return seconds


def memory_added(task):
    """Return the peak memory of a task beyond what was in use before it, in bytes."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    task()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def stored(X):
    """Return the bytes of a matrix, dense or CSR."""
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(part.nbytes for part in parts)


def exponent(sizes, values):
    """Return the slope of log(value) against log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def ratio(numerator, denominator):
    """Return the quotient, or None where one of the two could not run."""
    return None if numerator is None or denominator is None else numerator / denominator


def environment(*packages):
    """Return what a reader needs to judge a ratio."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        **{package: version(package) for package in ("numpy", "scipy", "scikit-learn", *packages)},
    }


def keep(name, rows, *packages, **facts):
    """Print each row, then write all of them with their environment to results/NAME.json."""
    kept = []
    for row in rows:
        print(json.dumps(row, indent=1), flush=True)
        kept.append(row)
    result = {"environment": environment(*packages) | facts, "rows": kept}
    write(name, result)
    return result


def write(name, result):
    """Write a result to results/NAME.json."""
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"kept in {path.relative_to(RESULTS.parents[1])}")


def keep_or_try(name, measurements, *packages):
    """Keep a measurement on one thread; with ``--small`` only print a quick one."""
    with threadpool_limits(1):
        if sys.argv[1:] == ["--small"]:
            for row in measurements(small=True):
                print(json.dumps(row, indent=1), flush=True)
        else:
            keep(name, measurements(small=False), *packages)


def keep_parts(name, parts, *packages):
    """Keep a measurement in parts, on one thread: those named on the command line, or all.

    `parts` maps names to functions that yield rows. Each row says its part. Rows of other parts
    stay, if they were measured in the same environment.
    """
    path, facts = RESULTS / f"{name}.json", environment(*packages)
    with threadpool_limits(1):
        for part in sys.argv[1:] or parts:
            kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
            kept = kept.get("rows", []) if kept.get("environment") == facts else []
            rows = [{"part": part, **row} for row in parts[part]()]
            print(json.dumps(rows, indent=1))
            rows += [row for row in kept if row["part"] != part]
            rows.sort(key=lambda row: list(parts).index(row["part"]))
            write(name, {"environment": facts, "rows": rows})


def markdown_table(header, rows):
    """Return a table in Markdown; `rows` are sequences of texts."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def one_line(facts):
    """Write an environment as one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())
