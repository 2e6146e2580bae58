"""Fuzz every reader: a damaged file ends in a documented error, or is read as sound data.

    python -m benchmarks.fuzz_files [--inputs 200000] [--seed 0] [--resume]

The readers are those of ARFF files, Mulan's label XML, CSV, Parquet, NumPy archives, svmlight
files, TOML plans and manifests, and `results.jsonl`. Each input is a sound file after random edits,
made before or after compression. Some files hold pickled objects, or name a module to import.

An input fails if reading it ends in an error that is not documented, or whose message does not
name the file; in a warning from NumPy or Python; in data that contradict themselves; with a pickled
object loaded, or a module imported, because the file says so; or if it takes more than `SLOW`
seconds or `MOST_MEGABYTES`. ARFF files are read in bulk, and row by row with the bulk path turned
off: both must return the same.

Failures are kept with the number of the input: input K of seed S is always the same, and
`--seed S --show K` prints it. The result is written after every round, so that a run can be
continued with `--resume`. The exit status is 1 if there are failures.
"""

import argparse
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import re
import resource
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch
from zipfile import ZipFile, ZipInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from benchmarks.common import RESULTS, environment, write
from benchmarks.fuzz_seeds import ARFF, CSV, FRAGMENTS, MULAN, PLANS, SVMLIGHT, XML
from skml_kalda.bench import read_results
from skml_kalda.bench.plan import Plan, read_plan
from skml_kalda.bench.running.data import Source
from skml_kalda.bench.running.results import ok_row, skip_row
from skml_kalda.datasets import ArffError, TableError, load_arff, load_table, manifest
from skml_kalda.datasets.arff import read

PACKERS = {
    "": bytes,
    ".gz": partial(gzip.compress, mtime=0),
    ".bz2": bz2.compress,
    ".xz": partial(lzma.compress, preset=0),
}
SUFFIXES = ["", "", "", "", *PACKERS]
BLOCKS = [16, read._BLOCK]
LABELS = [*[None] * 20, 1, 2, -1, -2, 6, ["y"], ["z 1", "y"], ["a"]]
IGNORE = {"string and date": ["c", "a"], "MEKA, labels last": ["c"], "CR LF, sparse": ["c"]}
ROUND, SLOW, MOST_MEGABYTES, MOST_FAILURES = 1_000, 20.0, 400, 20
# On a disk, opening files takes most of the time.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
EVIL = "fuzz_evil"
EXECUTED = []


def execute():
    """Note that a pickled object was loaded."""
    EXECUTED.append("a pickled object")


class Pickled:
    """An object whose loading is noted."""

    def __reduce__(self):
        return execute, ()


class Input(NamedTuple):
    """One damaged input."""

    reader: str
    suffix: str
    content: bytes
    options: dict
    xml: bytes | None = None
    block: int = read._BLOCK


# Sound files ---------------------------------------------------------------------------------


def zipped(members):
    """Return an archive of these members, without the time of day."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(f"{name}.npy"), content)
    return stream.getvalue()


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def archives():
    X, Y = np.arange(12.0).reshape(4, 3), np.eye(4, 2, dtype=int)
    S = sparse.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
    arrays = [{"X": X, "Y": Y}, {"data": X.astype("f4"), "target": np.array(["a", "b", "a", "c"])}]
    arrays += [{**parts, "format": b"csr", "y": Y}, {"X": np.array([[Pickled()] * 3] * 4), "Y": Y}]
    arrays += [{"X": X.T.copy().T, "Y": Y > 0}, {"X": X.astype(">i2"), "labels": Y[:, :1]}]
    found = [{name: npy(each) for name, each in one.items()} for one in arrays]
    return [*found, {"X": pickle.dumps(Pickled()), "Y": npy(Y)}]


def parquets():
    frame = pd.DataFrame({"x": [0.5, None, 2, 4], "w": ["a", "b", None, "a"], "n": [3, 1, 4, 1]})
    frame = frame.assign(when=pd.Timestamp("2026-01-01"), l=[1, 0, 1, 0], m=[True, False] * 2)
    extension = {"ARROW:extension:name": "arrow.py_extension_type"}
    extension["ARROW:extension:metadata"] = pickle.dumps(Pickled())
    schema = [pa.field("x", pa.float64(), metadata=extension), pa.field("l", pa.int64())]
    schema = pa.schema([*schema, pa.field("m", pa.list_(pa.int8()))])
    odd = pa.table([[0.5, 1], [1, 0], [[1], [0]]], schema)
    dictionary = pa.table({"x": pa.array(["u", "v"]).dictionary_encode(), "l": [1, 0], "m": [0, 1]})
    contents = []
    for table in (pa.Table.from_pandas(frame), odd, dictionary):
        for compression in ("none", "snappy"):
            stream = io.BytesIO()
            pq.write_table(table, stream, compression=compression)
            contents.append(stream.getvalue())
    return contents


def results():
    plan = Plan("tiny", "Tiny", datasets=("emotions", "barcelona"), methods=("MLDA", f"{EVIL}:A"))
    head = {"plan": asdict(plan), "environment": {"python": "3.11"}, "data": {}}
    source = Source("emotions", Path("here"), "0" * 64)
    measured = {"scores": {"accuracy": 0.5, "macro_f1": 0.25}, "fit_seconds": 0.1, "warnings": []}
    rows = [ok_row(cell, source, measured) for cell in plan.cells()[:3]]
    return "".join(json.dumps(row) + "\n" for row in (head, *rows, skip_row("barcelona"))).encode()


MANIFESTS = [path.read_bytes() for path in sorted(manifest._folder().glob("*.toml"))]
ARCHIVES, PARQUETS, ROWS = archives(), parquets(), results()


def make(seed, number):
    """Return input `number` of a seed."""
    draw = random.Random(f"{seed}-{number}")
    reader = draw.choice(list(READERS))
    damage_packed, suffix = draw.random() < 0.25, draw.choice(SUFFIXES)

    def packed(content):
        if damage_packed:
            return damage(PACKERS[suffix](content), draw)
        return PACKERS[suffix](damage(content, draw))

    match reader:
        case "ARFF" | "XML":
            dialect = MULAN if reader == "XML" else draw.choice(list(ARFF))
            xml = draw.choice(XML) if dialect == MULAN else None
            options = {"labels": draw.choice(LABELS), "ignore": IGNORE.get(dialect, [])}
            block = draw.choice(BLOCKS)
            if reader == "ARFF":
                return Input(reader, f".arff{suffix}", packed(ARFF[dialect]), options, xml, block)
            sound = PACKERS[suffix](ARFF[dialect])
            return Input(reader, f".arff{suffix}", sound, options, damage(xml, draw), block)
        case "CSV":
            kind = draw.choice([".csv", ".csv", ".tsv"])
            options = {"labels": draw.choice(["l,m", "l*,m", -2, "m", 2]), "ignore": []}
            return Input(reader, f"{kind}{suffix}", packed(draw.choice(CSV)), options)
        case "Parquet":
            content = damage(draw.choice(PARQUETS), draw)
            return Input(reader, ".parquet", content, {"labels": draw.choice(["l,m", "m", "l"])})
        case "NumPy":
            members = dict(draw.choice(ARCHIVES))
            if not damage_packed:
                name = draw.choice(list(members))
                members[name] = damage(members[name], draw)
            content = zipped(members)
            return Input(reader, ".npz", damage(content, draw) if damage_packed else content, {})
        case "svmlight":
            kind = draw.choice([".svm", ".svmlight", ".txt"])
            return Input(reader, f"{kind}{suffix}", packed(draw.choice(SVMLIGHT)), {})
        case "plan" | "manifest":
            content = draw.choice(PLANS if reader == "plan" else MANIFESTS)
            return Input(reader, ".toml", damage(content, draw), {})
    return Input(reader, ".jsonl", damage(ROWS, draw), {})


# Damage --------------------------------------------------------------------------------------


def damage(text, draw):
    """Return a text after one to three random edits, half of the time to the rows only."""
    start = text.find(b"@data") + 1 if draw.random() < 0.5 else 0
    head, text = text[:start], text[start:]
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        edit = draw.choice([replace, replace, replace, replace, swap, repeat, cut, flip, move_line])
        text = edit(text, draw)
    return head + text


def replace(text, draw):
    place = draw.randrange(len(text) + 1)
    random_bytes = bytes(draw.randrange(256) for _ in range(draw.randint(0, 3)))
    fragment = draw.choice([*FRAGMENTS, random_bytes])
    return text[:place] + fragment + text[place + draw.choice([0, 0, 0, 1, 1, 2, 5, 9]) :]


def swap(text, draw):
    """Put something else in the place of a number, a quoted word, or four bytes."""
    words = list(re.finditer(rb"-?[0-9.]+|\"[^\"\n]*\"", text))
    number = struct.pack("<i", draw.choice([-1, 0, 1, 255, 2**31 - 1, -(2**31)]))
    place = draw.randrange(len(text) + 1)
    start, end = draw.choice(words).span() if words else (place, place + 4)
    return text[:start] + draw.choice([*FRAGMENTS, number, number]) + text[end:]


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


# Readers -------------------------------------------------------------------------------------


def read_arff(path, options):
    """Read an ARFF file in both ways, which must agree."""
    found = attempt(load_arff, path, options)
    with patch.object(read, "_plain", refuse):
        again = attempt(load_arff, path, options)
    assert type(found) is type(again), f"{found!r} and {again!r}"
    if isinstance(found, ArffError):
        assert str(found) == str(again), f"{found!r} and {again!r}"
        raise found
    check(found, finite=False)
    for one, other in zip(found.values(), again.values(), strict=True):
        dense = (each.toarray() if sparse.issparse(each) else each for each in (one, other))
        np.testing.assert_array_equal(*dense, strict=True)


def refuse(block):
    raise ValueError("not in bulk")


def attempt(reader, path, options):
    try:
        return reader(path, **options)
    except ArffError as error:
        return error


def read_table(path, options):
    check(load_table(path, **options))


def check(bunch, finite=True):
    """Raise an AssertionError unless the parts of a table fit together."""
    X, y, names = bunch.data, bunch.target, bunch.target_names
    if sparse.issparse(X):
        X.check_format(full_check=True)
    assert X.dtype == np.float64
    assert X.shape == (len(y), len(bunch.feature_names))
    assert not (finite and np.isinf(X.data if sparse.issparse(X) else X).any())
    if y.ndim == 1:
        assert set(y) <= set(names)
    else:
        assert y.shape[1] == len(names)
        assert np.isin(y, (0, 1)).all()


def read_toml(path, options):
    read_plan(path).cells()


def read_manifest(path, options):
    with patch.object(manifest, "_folder", lambda: path.parent):
        found = manifest.read_manifest(path.stem)
    found.describe(), found.how_to_get(), manifest.find_file(found, path.parent)


def read_rows(path, options):
    found = read_results(path)
    assert found.missing >= 0
    found.frame()


# The errors that each reader documents.
READERS = {
    "ARFF": (read_arff, ArffError),
    "XML": (read_arff, ArffError),
    "CSV": (read_table, TableError),
    "Parquet": (read_table, TableError),
    "NumPy": (read_table, TableError),
    "svmlight": (read_table, TableError),
    "plan": (read_toml, ValueError),
    "manifest": (read_manifest, ValueError),
    "results": (read_rows, ValueError),
}


def outcome(given, folder):
    """Read an input and return what came of it, in a few words."""
    path, xml = folder / f"damaged{given.suffix}", folder / "damaged.xml"
    path.write_bytes(given.content)
    xml.unlink(missing_ok=True)
    if given.xml is not None:
        xml.write_bytes(given.xml)
    reader, documented = READERS[given.reader]
    try:
        with patch.object(read, "_BLOCK", given.block):
            reader(path, given.options)
        return "read"
    except documented as error:
        if "damaged" not in str(error):
            raise AssertionError("the message does not name the file") from error
        reason = str(error).replace(str(folder), "")
        return re.sub(r"(['\"]).*\1|[0-9.]+", "…", reason)[:70]
    finally:
        path.unlink()


def megabytes():
    """Return the most memory that this process has used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def fuzz(seed, numbers):
    """Return how often each outcome came up, and the failures."""
    counts, failures = Counter(), []
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        Path(folder, f"{EVIL}.py").write_text("class A: ...\n", "utf-8")
        sys.path.insert(0, folder)
        for number in numbers:
            given, why = make(seed, number), None
            EXECUTED.clear()
            start, before = time.process_time(), megabytes()
            try:
                counts[given.reader, outcome(given, Path(folder))] += 1
            except Exception:
                why = traceback.format_exc()
            seconds, memory = time.process_time() - start, megabytes() - before
            if EXECUTED or sys.modules.pop(EVIL, None):
                why = f"executed: {EXECUTED or EVIL}"
            if seconds > SLOW or memory > MOST_MEGABYTES:
                why = f"{seconds:.0f} s, {memory:.0f} MB"
            failures += [{"input": number, "reader": given.reader, "why": why}] if why else []
        sys.path.remove(folder)
    return counts, failures


def report(arguments, counts, failures, seconds):
    """Return the result of the rounds so far."""
    rows = []
    for reader in READERS:
        own = Counter({words: n for (name, words), n in counts.items() if name == reader})
        row = {"reader": reader, "inputs": own.total(), "read": own["read"]}
        row["documented errors"] = own.total() - own["read"]
        rows.append(row | {"most common": dict(own.most_common(12))})
    return {
        "environment": environment("pandas", "pyarrow"),
        "finished": counts.total() + len(failures) >= arguments.inputs,
        "inputs": counts.total() + len(failures),
        "seed": arguments.seed,
        "failures": failures[:MOST_FAILURES],
        "seconds": round(seconds),
        "megabytes": round(megabytes()),
        "rows": rows,
    }


def earlier(seed):
    """Return what the kept run found: outcomes, failures and seconds."""
    kept = json.loads((RESULTS / "fuzz-files.json").read_text("utf-8"))
    if kept["seed"] != seed or kept["environment"] != environment("pandas", "pyarrow"):
        raise SystemExit("the kept run has another seed or environment: run without --resume")
    counts = Counter()
    for row in kept["rows"]:
        common = Counter(row["most common"])
        common["rarer"] += row["inputs"] - common.total()
        counts.update({(row["reader"], words): n for words, n in common.items()})
    return counts, kept["failures"], kept["seconds"]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="continue the kept run")
    parser.add_argument("--show", type=int, metavar="K", help="print input K and stop")
    arguments = parser.parse_args(argv)
    if arguments.show is not None:
        print(make(arguments.seed, arguments.show))
        return 0
    counts, failures, before = earlier(arguments.seed) if arguments.resume else (Counter(), [], 0)
    start = time.perf_counter() - before
    for first in range(counts.total() + len(failures), arguments.inputs, ROUND):
        done = fuzz(arguments.seed, range(first, min(first + ROUND, arguments.inputs)))
        counts += done[0]
        failures += done[1]
        result = report(arguments, counts, failures, time.perf_counter() - start)
        write("fuzz-files", result)
        print(f"{result['inputs']} inputs, {len(failures)} failures", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
