"""Kill runs and workers at random moments: nothing is lost, doubled or changed.

    python -m benchmarks.kills [--runs 50] [--workers 20] [--seed 0]

A bench run of short cells is killed (SIGKILL) again and again, during its start or after a few
more cells, and each time the same command resumes it. In the end every cell must have been written
once, every line that was there before a kill must still be there, and all scores must be those of
a run that nobody killed.

Then processes of a Dask cluster are killed while reducers are fitted to blocks, and while a bench
run uses the cluster. The projections must be those of an undisturbed fit up to rounding, and the
scores those of the run that nobody killed.
"""

import argparse
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.common import environment, write
from skml_kalda import LDA, KernelKaLDA, MultiLabelKaLDA
from skml_kalda.bench import run
from skml_kalda.bench.plan import read_plan

PLAN = """
title = "Short cells"
datasets = ["emotions"]
methods = ["none", "MLDA"]
classifiers = ["1-NN", "MLkNN"]
folds = 2
repeats = {repeats}
"""
IDENTITY = ("dataset", "method", "classifier", "repeat", "fold")
PATIENCE = 300


def lines_of(folder):
    """The whole lines of a results file."""
    path = folder / "results.jsonl"
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def cells_of(folder):
    """The rows of cells in a results file; a damaged line is an error."""
    return [row for row in map(json.loads, lines_of(folder)) if row.get("fold") is not None]


def scores(rows):
    return {tuple(row[name] for name in IDENTITY): row["scores"] for row in rows}


def kill_once(plan, out, draw):
    """Start or resume a run and kill it; return the number of cells it added."""
    jobs = draw.choice(["1", "1", "1", "2"])
    command = [sys.executable, "-m", "skml_kalda.bench", "run", plan, "--output", out]
    before = lines_of(out)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, "--jobs", jobs], start_new_session=True, **silent)
    if draw.random() < 0.2:
        time.sleep(draw.uniform(0, 4))  # while it starts
    else:
        wanted, limit = len(before) + draw.randint(1, 12), time.monotonic() + PATIENCE
        while len(lines_of(out)) < wanted and process.poll() is None:
            if time.monotonic() > limit:
                raise TimeoutError(f"{out} has not grown to {wanted} lines")
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.1))
    if process.poll() is not None:
        raise RuntimeError(f"the run ended with {process.returncode}: pass more --repeats")
    if draw.random() < 0.5:
        process.kill()  # its workers see that it is gone
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    after = lines_of(out)
    if after[: len(before)] != before:
        raise AssertionError("a line from before has changed")
    return len(after) - len(before)


def killed_runs(kills, repeats, seed, folder):
    """Kill a run `kills` times; return what was found, and the scores of a whole run."""
    plan, draw = folder / "short.toml", random.Random(seed)
    plan.write_text(PLAN.format(repeats=repeats))
    out = folder / "killed"
    added = []
    for number in range(kills):
        added.append(kill_once(plan, out, draw))
        print(f"kill {number + 1} of a run: {added[-1]} lines more", flush=True)
    kept = len(cells_of(out))
    run(read_plan(plan), out)
    whole = scores(run(read_plan(plan), folder / "whole").ok)
    cells = cells_of(out)
    found = scores(cells)
    result = {
        "kills": kills,
        "kills before the first new line": sum(lines == 0 for lines in added),
        "cells": len(whole),
        "cells kept by killed runs": kept,
        "cells lost": len(whole.keys() - found.keys()),
        "cells doubled": len(cells) - len(found),
        "scores changed": sum(found.get(cell) != value for cell, value in whole.items()),
    }
    return result, whole


class Killer(threading.Thread):
    """Kills a process of a cluster after a random pause, again and again until stopped."""

    def __init__(self, cluster, kills, pauses, draw):
        super().__init__(daemon=True)
        self.killed, self._cluster, self._draw = 0, cluster, draw
        self._kills, self._pauses, self._over = kills, pauses, threading.Event()

    def run(self):  # noqa: D102
        while self.killed < self._kills and not self._over.wait(self._draw.uniform(*self._pauses)):
            if len(self._cluster.scheduler.workers) == 2:  # none is on its way back
                nannies = list(self._cluster.workers.values())
                os.kill(self._draw.choice(nannies).pid, signal.SIGKILL)
                self.killed += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self.join()


def slowly(block):
    time.sleep(0.05)
    return block


def killed_fits(cluster, client, kills, draw):
    """Fit reducers to blocks while workers are killed; return what was found."""
    import dask
    import dask.array as da

    rng = np.random.default_rng(0)
    Y = (rng.random((1200, 4)) < 0.4).astype(float)
    X = Y @ rng.normal(size=(4, 12)) + rng.normal(size=(1200, 12))
    rows, labels = (da.from_array(each, chunks=(30, -1)) for each in (X, Y))
    reducers = [LDA(), MultiLabelKaLDA(), KernelKaLDA(n_landmarks=20, random_state=0)]
    with dask.config.set(scheduler="synchronous"):
        expected = [reducer.fit(rows, labels).transform(X) for reducer in reducers]
    sizes = [np.abs(each).max() for each in expected]
    killed = fits = 0
    changes = []
    while killed < kills:
        which = fits % len(reducers)
        whole(cluster, client)
        with Killer(cluster, 1, (0.1, 1.0), draw) as killer:
            found = reducers[which].fit(rows.map_blocks(slowly), labels).transform(X)
        killed, fits = killed + killer.killed, fits + 1
        changes.append(float(np.abs(found - expected[which]).max() / sizes[which]))
        print(f"{killed} kills in {fits} fits, changed by at most {max(changes):.1e}", flush=True)
    return {"kills": killed, "fits": fits, "largest relative change": max(changes)}


def whole(cluster, client):
    """Wait until the cluster has both of its workers again."""
    cluster.scale(2)
    client.wait_for_workers(2)


def killed_cluster_run(cluster, client, kills, draw, folder, expected):
    """Run the bench on a cluster whose workers are killed; return what was found."""
    out = folder / "cluster"
    whole(cluster, client)
    with Killer(cluster, kills, (0.5, 3.0), draw) as killer:
        results = run(read_plan(folder / "short.toml"), out, dask=cluster.scheduler_address)
    found = scores(results.ok)
    return {
        "kills": killer.killed,
        "cells": len(expected),
        "cells failed": len(results.failed),
        "cells lost": len(expected.keys() - found.keys()),
        "cells doubled": len(cells_of(out)) - len(found),
        "scores changed": sum(found.get(cell) != value for cell, value in expected.items()),
    }


def killed_workers(kills, seed, folder, expected):
    """Kill workers of a cluster, some during a bench run and the others during fits."""
    from distributed import Client, LocalCluster

    draw = random.Random(seed)
    options = {"n_workers": 2, "threads_per_worker": 1, "silence_logs": logging.CRITICAL}
    with LocalCluster(**options, dashboard_address=":0") as cluster, Client(cluster) as client:
        cells = killed_cluster_run(cluster, client, kills // 2, draw, folder, expected)
        fits = killed_fits(cluster, client, kills - cells["kills"], draw)
    return {"during fits": fits, "during a bench run": cells}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50, help="kills of a bench run")
    parser.add_argument("--workers", type=int, default=20, help="kills of Dask workers")
    parser.add_argument("--repeats", type=int, default=120, help="length of the bench run")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs, whole = killed_runs(arguments.runs, arguments.repeats, arguments.seed, Path(folder))
        workers = killed_workers(arguments.workers, arguments.seed, Path(folder), whole)
    result = {"killed runs": runs, "killed workers": workers}
    write("kills", {"environment": environment("dask", "distributed"), **result})
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
