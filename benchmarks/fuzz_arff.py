"""Fuzz load_arff: a damaged file ends in an ArffError, and both ways of reading agree.

    python -m benchmarks.fuzz_arff [--inputs 500000] [--seed 0] [--jobs 1] [--out FILE] [--resume]

Each input is a sound ARFF file of some dialect, with label XML beside it if the dialect has one.
Random edits damage the ARFF file or the XML, before or after compression. The input is then read
in bulk, and row by row with the bulk path turned off, in blocks of a few bytes or of the usual
size. Either both ways end in the same ArffError, or both return the same arrays. Anything else is
a failure, and so is a warning from NumPy or Python. Failures are kept in the result with the number
of the input: input K of seed S is always the same, and
`python -m benchmarks.fuzz_arff --seed S --show K` prints it.

The result is written after every round, so that a long run can be watched, and continued with
`--resume` after an interruption. The exit status is 1 if there are failures.
"""

import argparse
import bz2
import gzip
import json
import lzma
import os
import platform
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from benchmarks.fuzz_seeds import ARFF, FRAGMENTS, MULAN, XML
from skml_kalda.datasets import ArffError, load_arff
from skml_kalda.datasets.arff import read

PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": partial(lzma.compress, preset=0),
}
SUFFIXES = ["", "", "", "", *PACKERS]
BLOCKS = [16, read._BLOCK]
LABELS = [*[None] * 20, 1, 2, -1, -2, 6, ["y"], ["z 1", "y"], ["a"]]
OPTIONS = [*[{}] * 6, {"sparse_labels": True}]
IGNORE = {"string and date": ["c", "a"], "MEKA, labels last": ["c"], "CR LF, sparse": ["c"]}
ROUND = 1_000
SLOW = 20.0
MOST_FAILURES = 20
# On a disk, opening files takes most of the time.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Input(NamedTuple):
    """One damaged input."""

    arff: bytes
    suffix: str
    xml: bytes | None
    options: dict
    block: int


def make(seed, number):
    """Return input `number` of a seed."""
    draw = random.Random(f"{seed}-{number}")
    damage_xml, damage_packed = draw.random() < 0.25, draw.random() < 0.25
    dialect, suffix = MULAN if damage_xml else draw.choice(list(ARFF)), draw.choice(SUFFIXES)
    arff, xml = ARFF[dialect], draw.choice(XML) if dialect == MULAN else None
    if damage_xml:
        xml, arff = damage(xml, draw), PACKERS[suffix](arff)
    elif damage_packed:
        arff = damage(PACKERS[suffix](arff), draw)
    else:
        arff = PACKERS[suffix](damage(arff, draw))
    options = draw.choice(OPTIONS) | {
        "labels": draw.choice(LABELS),
        "ignore": IGNORE.get(dialect, []),
    }
    return Input(arff, suffix, xml, options, draw.choice(BLOCKS))


def damage(text, draw):
    """Return a text after one to three random edits, half of the time to the rows only."""
    start = text.find(b"@data") + 1 if draw.random() < 0.5 else 0
    head, text = text[:start], text[start:]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        edit = draw.choice([replace, replace, replace, replace, repeat, cut, flip, move_line])
        text = edit(text, draw)
    return head + text


def replace(text, draw):
    place = draw.randrange(len(text) + 1)
    random_bytes = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
    fragment = draw.choice([*FRAGMENTS, random_bytes])
    return text[:place] + fragment + text[place + draw.choice([0, 0, 0, 1, 1, 2, 5, 9]) :]


def repeat(text, draw):
    first, last = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    return text[:last] + text[first:last] * draw.choice([1, 2, 40]) + text[last:]


def cut(text, draw):
    return text[: draw.randrange(len(text) + 1)]


def flip(text, draw):
    place, bit = draw.randrange(len(text) + 1), 1 << draw.randrange(8)
    return text[:place] + bytes(byte ^ bit for byte in text[place : place + 1]) + text[place + 1 :]


def move_line(text, draw):
    lines = text.splitlines(keepends=True) or [b""]
    lines.insert(draw.randrange(len(lines)), lines.pop(draw.randrange(len(lines))))
    return b"".join(lines)


def outcome(reader, path, options):
    """Return the arrays, or the ArffError; any other exception passes through."""
    try:
        return [m.toarray() if issparse(m) else m for m in reader(path, **options)]
    except ArffError as error:
        return error


def whole(path, **options):
    bunch = load_arff(path, **options)
    return bunch.data, bunch.target


def row_by_row(path, **options):
    def refuse(block):
        raise ValueError("not in bulk")

    original, read._plain = read._plain, refuse
    try:
        return whole(path, **options)
    finally:
        read._plain = original


def check(given, folder):
    """Read an input in both ways and return what came of it, in a few words."""
    path, xml = folder / f"f.arff{given.suffix}", folder / "f.xml"
    path.write_bytes(given.arff)
    xml.unlink(missing_ok=True)
    if given.xml is not None:
        xml.write_bytes(given.xml)
    read._BLOCK = given.block
    expected = outcome(whole, path, given.options)
    compare(expected, outcome(row_by_row, path, given.options))
    loaded = not isinstance(expected, ArffError)
    words = "loaded" if loaded else re.sub(r"(['\"]).*\1|[0-9.]+", "…", expected.reason)[:60]
    return words if given.xml is None else f"XML: {words}"


def compare(expected, found):
    if isinstance(expected, ArffError) or isinstance(found, ArffError):
        assert str(expected) == str(found), f"{expected!r} and {found!r}"
        return
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def fuzz(seed, numbers):
    """Return how often each outcome came up, the failures, and the seconds of the slowest input."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UserWarning)
    counts, failures, slowest = Counter(), [], 0.0
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for number in numbers:
            start = time.process_time()
            try:
                counts[check(make(seed, number), Path(folder))] += 1
            except Exception:
                failures.append({"input": number, "traceback": traceback.format_exc()})
            seconds = time.process_time() - start
            if seconds > SLOW:
                failures.append({"input": number, "seconds": seconds})
            slowest = max(slowest, seconds)
    return counts, failures, slowest


def report(arguments, counts, failures, slowest, seconds):
    """Return the result of the rounds so far."""
    loaded = counts["loaded"] + counts["XML: loaded"]
    done = counts.total() + len(failures)
    return {
        "finished": done >= arguments.inputs,
        "inputs": done,
        "with label XML": sum(n for outcome, n in counts.items() if outcome.startswith("XML: ")),
        "loaded": loaded,
        "ArffError": counts.total() - loaded,
        "failures": failures[:MOST_FAILURES],
        "seed": arguments.seed,
        "seconds": round(seconds),
        "seconds of the slowest input": round(slowest, 2),
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "numpy": np.__version__,
        "outcomes": common(counts),
    }


def common(counts):
    """Return the most common outcomes and, in two sums, the others."""
    listed = Counter(dict(counts.most_common(60)))
    for words, n in (counts - listed).items():
        listed["XML: rarer" if words.startswith("XML: ") else "rarer"] += n
    return dict(listed)


def earlier(arguments):
    """Return outcomes, failures, slowest input and seconds of the run to continue, if any."""
    if not arguments.resume:
        return Counter(), [], 0.0, 0.0
    kept = json.loads(arguments.out.read_text("utf-8"))
    if kept["seed"] != arguments.seed or len(kept["failures"]) == MOST_FAILURES:
        raise SystemExit("the kept run has another seed, or too many failures to continue")
    counts = Counter(kept["outcomes"])
    return counts, kept["failures"], kept["seconds of the slowest input"], kept["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="continue the run kept in --out")
    parser.add_argument("--show", type=int, metavar="K", help="print input K and stop")
    results = Path(__file__).parent / "results"
    parser.add_argument("--out", type=Path, default=results / "fuzz-arff.json")
    arguments = parser.parse_args()
    if arguments.show is not None:
        print(make(arguments.seed, arguments.show))
        return 0
    counts, failures, slowest, before = earlier(arguments)
    start = time.perf_counter() - before
    rounds = [
        range(first, min(first + ROUND, arguments.inputs))
        for first in range(counts.total() + len(failures), arguments.inputs, ROUND)
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for done in pool.map(partial(fuzz, arguments.seed), rounds):
            counts += done[0]
            failures += done[1]
            slowest = max(slowest, done[2])
            result = report(arguments, counts, failures, slowest, time.perf_counter() - start)
            arguments.out.write_text(
                json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8"
            )
            print(f"{result['inputs']} inputs, {len(failures)} failures", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
