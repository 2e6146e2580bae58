"""Do the tests notice if the code is wrong? One small change by mutmut at a time, and the tests.

    python -m benchmarks.mutation [--mutants 200] [--seed 0] [--minutes 90] [--again]

Draws changes of the functions of `CODE`, except of texts. Each is made in a copy of the project,
where the tests run until one fails: first those named like the module, then the others.
``--again`` tries the survivors of the kept run on the tests of now. If no test can notice a
survivor, write the reason as its ``"equivalent"`` into the results by hand.
"""

import argparse
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from libcst import FunctionDef, MetadataWrapper, parse_module
from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators, operator_string
from mutmut.mutation.pragma_handling import IgnoredCode

from benchmarks.common import RESULTS, environment, write

ROOT = Path(__file__).parents[1]
CODE = ("_core", "reducers", "classifiers")
FILES = sorted(file for each in CODE for file in (ROOT / "skml_kalda" / each).rglob("*.py"))
TESTS = sorted(
    file
    for each in CODE
    for file in (ROOT / "tests" / each.strip("_")).rglob("test_*.py")
    if file.stem != "test_dask_cluster"  # starts processes
)
SECONDS = 600
"""If the tests take longer, the mutant has timed out."""
OPERATORS = [pair for pair in mutation_operators if pair[1] is not operator_string]


def mutants():
    """Yield (file, code, the change) of all mutants."""
    for file in FILES:
        lines = enumerate(file.read_text().splitlines(), 1)
        texts = {n for n, line in lines if line.strip().startswith(("raise ", "warnings.warn("))}
        visitor = MutationVisitor(OPERATORS, IgnoredCode(set(), texts, set()))
        module = MetadataWrapper(parse_module(file.read_text())).visit(visitor)
        for change in visitor.mutations:
            if isinstance(change.contained_by_top_level_function, FunctionDef):
                yield file.relative_to(ROOT), module, change


def outcome(file, code):
    """Run the tests in a copy of the project in which a file has this code."""
    named = [test for test in TESTS if file.stem.strip("_").rstrip("s") in test.stem]
    folder = file.parent.name.strip("_")
    others = sorted({*TESTS, *FILES} - {*named}, key=lambda each: each.stat().st_size)
    others.sort(key=lambda each: folder not in each.parts)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as copy:
        for part in ("skml_kalda", "data_manifests", "tests", "benchmarks"):
            ignored = shutil.ignore_patterns("results")
            shutil.copytree(ROOT / part, Path(copy, part), ignore=ignored)
        shutil.copy2(ROOT / "pyproject.toml", copy)
        Path(copy, file).write_text(code)
        settings = os.environ | {"PYTHONPATH": copy, "OMP_NUM_THREADS": "1"}
        for tests in ([ROOT / file, *named], others):
            names = [str(test.relative_to(ROOT)) for test in tests]
            command = [sys.executable, "-m", "pytest", "-xqq", "-pno:cacheprovider", *names]
            left = SECONDS - (time.monotonic() - begin)
            try:
                subprocess.run(
                    command, cwd=copy, env=settings, capture_output=True, check=True, timeout=left
                )
            except subprocess.CalledProcessError:
                return "killed"
            except subprocess.TimeoutExpired:
                return "timed out"
    return "survived"


def main():
    """Try a random sample of all mutants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    kept = json.loads((RESULTS / "mutation.json").read_text())["mutants"] if given.again else []
    again = {
        row["diff"] for row in kept if row["outcome"] == "survived" and "equivalent" not in row
    }

    def attempt(mutant):
        file, module, change = mutant
        code = deep_replace(module, change.original_node, change.mutated_node).code
        lines = difflib.unified_diff(module.code.split("\n"), code.split("\n"), n=1, lineterm="")
        diff = "\n".join(list(lines)[2:])
        if time.monotonic() > until or (given.again and diff not in again):
            return None
        row = {"file": str(file), "outcome": outcome(file, code), "diff": diff}
        print(row["outcome"], file, diff if row["outcome"] == "survived" else "", flush=True)
        return row

    drawn = random.Random(given.seed).sample(list(mutants()), given.mutants)
    with ThreadPoolExecutor(2) as pool:
        unchanged = pool.submit(outcome, FILES[0].relative_to(ROOT), FILES[0].read_text())
        rows = [row for row in pool.map(attempt, drawn) if row]
    if unchanged.result() != "survived":
        raise SystemExit("the tests fail without any change")
    tried = {row["diff"] for row in rows}
    rows += [row for row in kept if row.get("diff") not in tried]
    for row in rows:
        if row["outcome"] != "survived":
            row.pop("diff", None)
    counts = Counter(row["outcome"] for row in rows)
    write("mutation", {"environment": environment("mutmut"), **counts, "mutants": rows})


if __name__ == "__main__":
    main()
