"""Fuzz load_arff: damaged files give an ArffError, and both ways of reading agree.

    python benchmarks/fuzz_arff.py [--inputs 120000] [--seed 0] [--jobs 2] [--out FOLDER]

Hypothesis takes a sound file (dense, sparse, quoted, nominal), damages it with edits, compresses it
now and then, and has it read twice: in bulk, and row by row with the bulk path turned off. Either
both ways fail with an ArffError, or both give the same arrays. Half of the files are read in blocks
of a few bytes. A part of the inputs damages the Mulan XML file instead. Anything else ends the run
with a traceback and the input.
"""

import argparse
import gzip
import json
import lzma
import os
import platform
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scipy.sparse import issparse

from skml_kalda.datasets import ArffError, _source, arff, load_arff

HEAD = (
    "@relation 'r: -C {}'\n@attribute y {{0,1}}\n@attribute 'z 1' {{1,0}}\n@attribute a numeric\n"
)
HEAD += "@attribute b {{0,1}}\n@attribute c {{u,v,'w x'}}\n@attribute d real\n@data\n"
DENSE = (
    HEAD.format(2) + "1,0,2.5,1,u,-3\n0,1,?,0,v,1e-3\n% comment\n\n1,1,12345678901234567,?,?,.5\n"
)
SPARSE = HEAD.format(2) + "{0 1,2 2.5,4 v}\n{}\n{1 0, 3 ?,5 -7}\n{ 2 1e300 , 4 'w x' }\n"
QUOTED = HEAD.format(-1).replace("real", "{0,1}") + "1,0,2,0,'w x',1\n0,1,3,1,\"u\",0\n"
CLASS = "@relation r\n@attribute a integer\n@attribute k {red,green}\n@data\n1,red\n2,green\n"
WILD = "\ufeff@RELATION r\r\n@ATTRIBUTE é {漢,b}\r\n@ATTRIBUTE f REAL\r\n@DATA\r\n漢,1\r\nb , 2\r\n"
SOUND = [text.encode() for text in (DENSE, SPARSE, QUOTED, CLASS, WILD)]
XML = b'<?xml version="1.0"?>\n<labels xmlns="urn:x"><label name="y"><label name="z 1"/></label>'
XML += b"</labels>"
PLAIN = (
    ", { } ' \" % ? @ \\ | 0 1 - . + e E 1e 1e999 nan inf -inf 0x1 1_0 {} {0 {0} ?, ,, '' \"\" \\q"
)
PLAIN += " \\777 \\u12 \\n \\' @data @attribute @relation numeric string date {a,b} {a,a} -1 28"
PLAIN += " 99999999999 <labels> & &a; <label/>"
FRAGMENTS = [word.encode() for word in PLAIN.split()]
FRAGMENTS += [
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xc2\xa0",
]
FRAGMENTS += [b"\x1c", b"-C ", b"% ", b"<!DOCTYPE x>"]
EDITS = st.lists(
    st.tuples(
        st.integers(-60, -1) | st.integers(0, 400),
        st.integers(0, 9),
        st.sampled_from(FRAGMENTS) | st.binary(max_size=3),
    ),
    min_size=1,
    max_size=3,
)
LABELS = st.sampled_from([*[None] * 9, 1, 2, -1, -2, 6, ["y"], ["z 1", "y"], ["a"]])
ROUND = 5_000
PACKERS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
PACKED = st.sampled_from(["", "", "", "", ".gz", ".xz"])


def damage(text, edits):
    for place, length, fragment in edits:
        place %= len(text) + 1
        text = text[:place] + fragment + text[place + length :]
    return text


def outcome(path, labels):
    """Give the arrays, or the ArffError; any other exception goes through."""
    try:
        bunch = load_arff(path, labels=labels)
    except ArffError as error:
        return error
    return [m.toarray() if issparse(m) else m for m in (bunch.data, bunch.target)]


def read_both_ways(path, labels):
    bulk = outcome(path, labels)
    original, arff._in_bulk = arff._in_bulk, lambda read, block, columns: None
    try:
        by_row = outcome(path, labels)
    finally:
        arff._in_bulk = original
    if isinstance(bulk, ArffError) or isinstance(by_row, ArffError):
        assert str(bulk) == str(by_row), (bulk, by_row)
        return re.sub(r"'.*'|\".*\"|\d+", "…", bulk.reason)[:60]
    for one, other in zip(bulk, by_row, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return "loaded"


def fuzz(number):
    counts = Counter()

    @seed(number)
    @settings(
        max_examples=ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(SOUND), EDITS, LABELS, PACKED, st.booleans(), st.integers(0, 9))
    def run(sound, edits, labels, suffix, pack_first, of_ten):
        _source._SMALLEST_BLOCK = 16 if of_ten % 2 else 2**14
        path, xml = folder / f"f.arff{suffix}", folder / "f.xml"
        xml.unlink(missing_ok=True)
        pack = PACKERS[suffix]
        if of_ten == 0:
            xml.write_bytes(damage(XML, edits))
            path.write_bytes(pack(SOUND[0]))
        else:
            path.write_bytes(
                damage(pack(sound), edits) if pack_first else pack(damage(sound, edits))
            )
        counts[read_both_ways(path, None if of_ten == 0 else labels)] += 1

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=120_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    start, counts = time.perf_counter(), Counter()
    seeds = range(arguments.seed, arguments.seed + -(-arguments.inputs // ROUND))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for some in pool.map(fuzz, seeds):
            counts += some
            print(f"{counts.total()} inputs, {counts['loaded']} loaded", flush=True)
    result = {
        "inputs": counts.total(),
        "loaded": counts["loaded"],
        "ArffError": counts.total() - counts["loaded"],
        "first seed": arguments.seed,
        "seconds": round(time.perf_counter() - start),
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "numpy": np.__version__,
        "hypothesis": version("hypothesis"),
        "reasons": dict(counts.most_common()),
    }
    arguments.out.mkdir(exist_ok=True)
    (arguments.out / "fuzz_arff.json").write_text(
        json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    main()
