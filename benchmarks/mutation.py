"""Do the tests notice if the code is wrong? One small change at a time, and the tests of it.

    python -m benchmarks.mutation --mutants 320 --seed 0

Draws changes of operators, constants, conditions and calls from the code of `_core` and
`reducers`. For each it runs the tests that call the changed function, the quickest first, until
one fails. A change that no test notices is either equivalent, with a reason in `EQUIVALENT`, or a
hole in the tests.

Which test calls which function is found once, by running all of `TESTS`, and kept in `build/`.
"""

import argparse
import ast
import contextlib
import importlib
import importlib.machinery
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.mutants import enclosing, mutate, sites

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skml_kalda"
RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
CALLS = ROOT / "build" / "mutation-calls.json"
TESTS = (
    *("tests/core", "tests/reducers", "tests/model_selection", "tests/classifiers"),
    *("tests/test_metrics.py", "skml_kalda/_core", "skml_kalda/reducers"),
)
SLOWER = 3.0
"""A test that takes more seconds is left out, as `mutation` runs each of them many times."""
BUDGET = 40.0
"""Seconds of tests for a change that no test notices."""
CPU_SECONDS, WALL_SECONDS = 150, 400
"""After these the change has made the code hang, which a user notices too."""

# Changes that cannot be noticed: by file and change, why.
EQUIVALENT: dict[str, str] = {}


def candidates():
    """List every (file, place) of the code that is tried."""
    files = [*(PACKAGE / "_core").rglob("*.py"), *(PACKAGE / "reducers").rglob("*.py")]
    return [(path, place) for path in sorted(files) for place in sites(ast.parse(path.read_text()))]


def forked(work):
    """Return what `work` writes in a process of its own, and whether it came to an end."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setpgid(0, 0)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        with os.fdopen(write, "w") as stream:
            stream.write(work())
        os._exit(0)
    os.close(write)
    timer = threading.Timer(WALL_SECONDS * (1 + 9 * (work is calls)), _kill, [child])
    timer.start()
    with os.fdopen(read) as stream:
        text = stream.read()
    timer.cancel()
    _kill(child)  # and what it has started
    _, status = os.waitpid(child, 0)
    return text, os.waitstatus_to_exitcode(status) == 0


def _kill(group):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def calls():
    """Run all tests and return, as JSON, their seconds and the functions they call."""
    import pytest

    class Recorder:
        def __init__(self):
            self.called, self.tests, self.failed = set(), {}, set()

        def profile(self, frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
                self.called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item):
            self.called, started = set(), time.process_time()
            threading.setprofile(self.profile)
            sys.setprofile(self.profile)
            yield
            sys.setprofile(None)
            threading.setprofile(None)
            self.tests[item.nodeid] = (
                time.process_time() - started,
                sorted(f"{Path(file).relative_to(PACKAGE)}:{line}" for file, line in self.called),
            )

        def pytest_runtest_logreport(self, report):
            if report.failed or report.skipped:
                self.failed.add(report.nodeid)

    recorder = Recorder()
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *TESTS], plugins=[recorder])
    kept = {test: each for test, each in recorder.tests.items() if test not in recorder.failed}
    return json.dumps(kept)


def tests_by_function():
    """Return {file:line of a function, or file: [(seconds, test)]}, from the kept run of all."""
    if not CALLS.exists():
        CALLS.parent.mkdir(exist_ok=True)
        CALLS.write_text(forked(calls)[0])
    found = defaultdict(set)
    for test, (seconds, functions) in json.loads(CALLS.read_text()).items():
        for function in functions if seconds < SLOWER else ():
            found[function].add((seconds, test))
            found[function.partition(":")[0]].add((seconds, test))
    return found


def in_order(tests):
    """Return tests within the budget: one of each function first, the quickest first."""
    by_function = defaultdict(list)
    for seconds, test in sorted(tests):
        by_function[test.partition("[")[0]].append((seconds, test))
    ranked = sorted((k, *each) for group in by_function.values() for k, each in enumerate(group))
    chosen, total = [], 0.0
    for _, seconds, test in ranked:
        total += seconds
        if total > BUDGET:
            break
        chosen.append(test)
    return chosen


def run(path, place, found):
    """Change the code there and run its tests in a process of its own; return what came of it."""
    tree, number, line, change = mutate(path.read_text(), place)
    file = str(path.relative_to(PACKAGE))
    start = enclosing(ast.parse(path.read_text()), number)
    tests = in_order(found.get(f"{file}:{start}" if start else file, ()))
    row = {"file": file, "line": number, "code": line, "change": change, "tests": len(tests)}
    if not tests:
        return {**row, "outcome": "survived", "by": ""}
    failed, ended = forked(lambda: _first_failure(path, tree, tests))
    failed = failed if ended else failed or "hangs"
    return {**row, "outcome": "killed" if failed else "survived", "by": failed}


def _first_failure(path, tree, tests):
    """Run tests on the changed code and return the first that fails."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader, name):
        return compile(tree, str(path), "exec") if name == module else original(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code
    import pytest

    class FirstFailure:
        name = ""

        def pytest_collection_modifyitems(self, items):
            order = {test: k for k, test in enumerate(tests)}
            items[:] = sorted(
                (item for item in items if item.nodeid in order), key=lambda i: order[i.nodeid]
            )

        def pytest_runtest_logreport(self, report):
            if report.failed and not self.name:
                self.name = report.nodeid

        def pytest_collectreport(self, report):
            if report.failed and not self.name:
                self.name = f"{report.nodeid} does not import"

    first = FirstFailure()
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    code = pytest.main(["-xq", "-p", "no:cacheprovider", "-p", "no:xdist", *files], plugins=[first])
    return first.name or ("pytest failed" if code else "")


def main():
    """Try a sample of all changes and keep what came of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="only what survived the kept run")
    arguments = parser.parse_args()
    for module in ("hypothesis", "sklearn.pipeline", "scipy.sparse.linalg", "pytest", "pandas"):
        importlib.import_module(module)  # once, not in every process
    everything, found = candidates(), tests_by_function()
    chosen = random.Random(arguments.seed).sample(everything, arguments.mutants)
    kept = json.loads(RESULTS.read_text())["mutants"] if arguments.again else []
    done = {(row["file"], row["code"], row["change"]): row for row in kept}
    rows = []
    random.Random(arguments.seed).shuffle(chosen)
    for number, (path, place) in enumerate(chosen, 1):
        _, line, code, change = mutate(path.read_text(), place)
        before = done.get((str(path.relative_to(PACKAGE)), code, change))
        row = before if before and before["outcome"] == "killed" else run(path, place, found)
        reason = EQUIVALENT.get(f"{row['file']}: {row['change']}")
        rows.append({**row, "equivalent": reason} if reason else row)
        print(f"{number}/{len(chosen)} {row['outcome']}: {row['file']}:{line} {change}", flush=True)
        _keep(rows, len(everything))


def _keep(rows, total):
    rows = sorted(rows, key=lambda row: (row["file"], row["line"], row["change"]))
    killed = sum(row["outcome"] == "killed" for row in rows)
    named = sum("equivalent" in row and row["outcome"] == "survived" for row in rows)
    head = {"mutants_of": total, "tried": len(rows), "killed": killed, "equivalent": named}
    text = json.dumps({**head, "mutants": rows}, indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
