"""The cost of a block, the traffic between machines, and a projection to a billion rows.

Run from the root of the project: ``python -m benchmarks.scale.dask_blocks``. The numbers go to
``results/scale-dask.json``, and from there into ``docs/dask.md``, between its two marks. Smaller
``--sizes`` make a quick trial; ``--page`` only writes the page again.
"""

from __future__ import annotations

import argparse
import json
import logging
import pickle
from pathlib import Path

import dask.array as da
import numpy as np
from dask import delayed, persist
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from benchmarks.common import RESULTS, exponent, fastest, keep
from skml_kalda import LDA

PAGE = Path(__file__).parents[2] / "docs" / "dask.md"
MARKS = "<!-- measured -->\n", "<!-- end of measured -->"
NAME, N_LABELS, BLOCK_ROWS = "scale-dask", 20, 10_000
# The size of the projection.
ROWS, FEATURES = 10**9, 10**4


def block(n_features, seed=0):
    """Make rows whose means depend on their labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((BLOCK_ROWS, N_LABELS)) < 0.1).astype(np.int8)
    means = np.random.default_rng(0).normal(size=(N_LABELS, n_features))
    X = rng.normal(size=(BLOCK_ROWS, n_features))
    X += Y @ means
    return X, Y


def of_blocks(sizes):
    """Time the statistic of a block, and the sum of two of them, on one core."""
    for n_features in sizes:
        X, Y = block(n_features)
        batch = LDA()._batch(X, Y, None, reset=True)
        with threadpool_limits(1):
            seconds = fastest(
                2,
                block=lambda X=X, Y=Y: LDA()._batch(X, Y, None, reset=True),
                merge=lambda batch=batch: batch + batch,
            )
        yield {
            "what": "block",
            "rows": BLOCK_ROWS,
            "features": n_features,
            "labels": N_LABELS,
            "block_seconds": round(seconds["block"], 6),
            "merge_seconds": round(seconds["merge"], 6),
            "merge_over_block": round(seconds["merge"] / seconds["block"], 4),
            "bytes_sent": len(pickle.dumps(batch, protocol=5)),
        }


def growth(blocks):
    """Return the growth exponents in the number of features."""
    sizes = [row["features"] for row in blocks]
    names = {"block": "block_seconds", "merge": "merge_seconds", "sent": "bytes_sent"}
    exponents = {
        name: round(exponent(sizes, [row[key] for row in blocks]), 2) for name, key in names.items()
    }
    return {"what": "growth in features", **exponents}


def on_clusters(n_blocks, n_features):
    """Fit LDA on the same rows in memory, and on clusters of one and of two processes."""
    parts = [block(n_features, seed) for seed in range(n_blocks)]
    X, Y = (np.concatenate(each) for each in zip(*parts, strict=True))
    quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": ":0"}
    for processes in (1, 2):
        cluster = LocalCluster(n_workers=processes, threads_per_worker=1, **quiet)
        with cluster, Client(cluster) as client:
            client.run(block, 1)  # Every worker imports its modules before the clock starts.
            row = _on_cluster(client, X, Y, n_blocks)
        yield {"what": "cluster", "processes": processes, "blocks": n_blocks, **row}


def _on_cluster(client, X, Y, n_blocks):
    rows, labels = _on_workers(n_blocks, X.shape[1])
    before, repeats = _received(client), 3
    with threadpool_limits(1):
        in_memory, on_cluster = (lambda: LDA().fit(X, Y)), (lambda: LDA().fit(rows, labels))
        seconds = fastest(repeats, memory=in_memory, cluster=on_cluster)
    batch = LDA()._batch(X[:BLOCK_ROWS], Y[:BLOCK_ROWS], None, reset=True)
    moved = (_received(client) - before) / len(pickle.dumps(batch, protocol=5)) / repeats
    difference = np.abs(on_cluster().components_ - in_memory().components_).max()
    return {
        "features": X.shape[1],
        "cluster_over_memory": round(seconds["cluster"] / seconds["memory"], 3),
        "batches_moved_per_merge": round(moved / (n_blocks - 1), 3),
        "largest_difference": float(difference),
    }


def _on_workers(n_blocks, n_features):
    """Make the same blocks on the workers, where they stay."""
    made = [delayed(block, nout=2)(n_features, seed) for seed in range(n_blocks)]
    forms = [(n_features, np.float64), (N_LABELS, np.int8)]
    arrays = persist(
        *(
            da.concatenate([da.from_delayed(each[i], (BLOCK_ROWS, d), dtype) for each in made])
            for i, (d, dtype) in enumerate(forms)
        )
    )
    wait(arrays)
    return arrays


def _received(client):
    """Return the bytes that workers received from one another."""
    logs = client.run(
        lambda dask_worker: sum(each["total"] for each in dask_worker.transfer_incoming_log)
    )
    return sum(logs.values())


def projection(blocks):
    """Project the largest measured block to a billion rows of ten thousand features."""
    largest = blocks[-1]
    scale = (FEATURES / largest["features"]) ** 2
    n_blocks = ROWS // largest["rows"]
    seconds = n_blocks * scale * (largest["block_seconds"] + largest["merge_seconds"])
    sent = largest["bytes_sent"] * scale
    return {
        "what": "projection",
        "rows": ROWS,
        "features": FEATURES,
        "measured_features": largest["features"],
        "blocks": n_blocks,
        "core_hours": round(seconds / 3600),
        "gigabytes_sent_per_merge": round(sent / 1e9, 2),
        "terabytes_of_data": round(8 * ROWS * FEATURES / 1e12),
        "terabytes_sent_at_most": round(n_blocks * sent / 1e12),
    }


def measured(sizes, n_blocks, n_features):
    """Yield all rows, in the order of the page."""
    blocks = []
    for row in of_blocks(sizes):
        blocks.append(row)
        yield row
    yield growth(blocks)
    yield from on_clusters(n_blocks, n_features)
    yield projection(blocks)


def page_part(kept):
    """Write the part of the page that holds the kept numbers."""
    of = {what: [r for r in kept["rows"] if r["what"] == what] for what in _WHAT}
    (growth,), (future,) = of["growth in features"], of["projection"]
    first = of["block"][0]
    lines = [
        "| features | cost of a block | merge / block | what is sent |",
        "| ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['features']:,} | × {row['block_seconds'] / first['block_seconds']:.1f} "
        f"| {row['merge_over_block']:.3f} | {row['bytes_sent'] / 1e6:,.1f} MB |"
        for row in of["block"]
    ]
    lines += [
        "",
        f"Growth exponents in the number of features: block {growth['block']:.2f}, merge "
        f"{growth['merge']:.2f}, bytes sent {growth['sent']:.2f}.",
        "",
        "| processes | time on the cluster / in memory | batches moved per merge |",
        "| ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row['processes']} | {row['cluster_over_memory']:.2f} "
        f"| {row['batches_moved_per_merge']:.2f} |"
        for row in of["cluster"]
    ]
    where = kept["environment"]
    lines += [
        "",
        f"**Projection** to {ROWS:,} rows of {FEATURES:,} features "
        f"({future['terabytes_of_data']} TB), from the block of {future['measured_features']:,} "
        f"features: {future['blocks']:,} blocks, {future['core_hours']:,} core-hours for blocks "
        f"and merges together (cores as in the kept run: {where['processor']}, "
        f"numpy {where['numpy']}). A merge moves at most one batch, "
        f"{future['gigabytes_sent_per_merge']} GB: {future['terabytes_sent_at_most']} TB in all if "
        "no two neighbours are on one machine.",
    ]
    return "\n".join(lines) + "\n"


_WHAT = ("block", "growth in features", "cluster", "projection")


def write_page():
    """Put the kept numbers into the page."""
    kept = json.loads((RESULTS / f"{NAME}.json").read_text())
    before, rest = PAGE.read_text("utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    PAGE.write_text(f"{before}{MARKS[0]}{page_part(kept)}{MARKS[1]}{after}", "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[500, 1000, 2000, 4000, 10_000])
    parser.add_argument("--blocks", type=int, default=20, help="blocks of the fits on clusters")
    parser.add_argument("--features", type=int, default=400, help="features of these fits")
    parser.add_argument("--page", action="store_true", help="write the page only")
    options = parser.parse_args()
    if not options.page:
        rows = measured(options.sizes, options.blocks, options.features)
        keep(NAME, rows, "dask", "distributed")
    write_page()


if __name__ == "__main__":
    main()
