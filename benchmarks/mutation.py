"""Do the tests notice if the code is wrong? One small change by mutmut at a time, and the tests.

    python -m benchmarks.mutation [--mutants 200] [--again]

Draws changes of the functions in `CODE`, but not of texts. Each is made in a copy of the project,
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
TESTED = (*CODE, "model_selection")
TESTS = [file for each in TESTED for file in (ROOT / "tests" / each.strip("_")).rglob("test_*.py")]
TESTS.remove(ROOT / "tests/core/test_dask_cluster.py")  # starts processes
OPERATORS = [pair for pair in mutation_operators if pair[1] is not operator_string]
SECONDS = 600
"""If the tests take longer, the mutant has timed out."""


def mutants():
    """Yield (file, code, the change) of all mutants."""
    for file in FILES:
        lines = enumerate(file.read_text().splitlines(), 1)
        texts = {n for n, line in lines if line.strip().startswith(("raise ", "warnings.warn("))}
        visitor = MutationVisitor(OPERATORS, IgnoredCode(set(), texts, set()))
        module = MetadataWrapper(parse_module(file.read_text())).visit(visitor)
        for change in visitor.mutations:
            if isinstance(change.contained_by_top_level_function, FunctionDef):
                yield file, module, change


def outcome(file, code):
    """Run the tests in a copy of the project in which a file has this code."""

    def rank(test):
        named = test == file or file.stem.strip("_").rstrip("s") in test.stem
        return not named, file.parent.name.strip("_") not in test.parts, test.stat().st_size

    names = [str(test.relative_to(ROOT)) for test in sorted([*TESTS, *FILES], key=rank)]
    command = [sys.executable, "-m", "pytest", "-xqq", "-pno:cacheprovider", *names]
    with tempfile.TemporaryDirectory() as copy:
        for part in ("skml_kalda", "data_manifests", "tests", "benchmarks"):
            shutil.copytree(ROOT / part, f"{copy}/{part}", ignore=lambda *_: {"results"})
        shutil.copy2(ROOT / "pyproject.toml", copy)
        Path(copy, file.relative_to(ROOT)).write_text(code)
        settings = os.environ | {"PYTHONPATH": copy, "OMP_NUM_THREADS": "1"}
        options = {"cwd": copy, "env": settings, "capture_output": True, "timeout": SECONDS}
        try:
            return "killed" if subprocess.run(command, **options).returncode else "survived"
        except subprocess.TimeoutExpired:
            return "timed out"


def main():
    """Try a random sample of all mutants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    kept = json.loads((RESULTS / "mutation.json").read_text())["mutants"] if given.again else []
    again = [row["diff"] for row in kept if "diff" in row and "equivalent" not in row]

    def attempt(mutant):
        file, module, change = mutant
        code = deep_replace(module, change.original_node, change.mutated_node).code
        lines = difflib.unified_diff(module.code.split("\n"), code.split("\n"), n=1, lineterm="")
        diff = "\n".join([*lines][3:])  # without line numbers, which other changes move
        if given.again and diff not in again:
            return None
        row = {"file": str(file.relative_to(ROOT)), "outcome": outcome(file, code), "diff": diff}
        print(*row.values(), sep="\n", flush=True)
        return row

    if outcome(FILES[0], FILES[0].read_text()) != "survived":
        raise SystemExit("the tests fail without any change")
    drawn = list(mutants())
    if given.again:
        files = {row["file"] for row in kept if "diff" in row}
        drawn = [each for each in drawn if str(each[0].relative_to(ROOT)) in files]
    else:
        drawn = random.Random(0).sample(drawn, given.mutants)
    with ThreadPoolExecutor(2) as pool:
        rows = [row for row in pool.map(attempt, drawn) if row]
    tried = [row["diff"] for row in rows]
    rows += [row for row in kept if row.get("diff") not in tried]
    for row in rows:
        if row["outcome"] != "survived":
            row.pop("diff", None)
    facts = {"environment": environment("mutmut"), **Counter(row["outcome"] for row in rows)}
    write("mutation", {**facts, "mutants": rows})


if __name__ == "__main__":
    main()
