"""Interleaved timing of peers, peak memory, and the environment of a run."""

from __future__ import annotations

import json
import os
import platform
import time
import tracemalloc
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"


def fastest(repeats=5, **tasks):
    """Seconds of the fastest of several runs of each task, the tasks taking turns."""
    seconds = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            begin = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - begin)
    return {name: min(runs) for name, runs in seconds.items()}


def memory_added(task):
    """Largest memory that a task holds beyond what was held before it, in bytes."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    task()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def environment(*packages):
    """What a reader needs to judge a ratio."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        **{package: version(package) for package in ("numpy", "scipy", "scikit-learn", *packages)},
    }


def keep(name, rows, *packages):
    """Print the rows as they come and write them with their environment to results/."""
    kept = []
    for row in rows:
        print(json.dumps(row, indent=1), flush=True)
        kept.append(row)
    path = RESULTS / f"{name}.json"
    text = json.dumps({"environment": environment(*packages), "rows": kept}, indent=1)
    path.write_text(text + "\n")
    print(f"kept in {path.relative_to(RESULTS.parents[1])}")
