"""Do the tests notice if the code is wrong? One small change at a time, and the tests of it.

    python -m benchmarks.mutation --mutants 320 --seed 0

Draws changes of operators, constants, conditions and calls from the code of `_core` and
`reducers`. For each it runs the tests that call the changed function, the quickest first, until
one fails. A change that no test notices is either equivalent, with a reason in `equivalent.json`,
or a hole in the tests.

Which test calls which function is found once, by running all of `TESTS`, and kept in `build/`.
"""

import argparse
import ast
import importlib.machinery
import json
import random
import resource
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.forked import forked
from benchmarks.mutants import enclosing, install, mutate, sites

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skml_kalda"
RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
CALLS = ROOT / "build" / "mutation-calls.json"
TESTS = (
    *("tests/core", "tests/reducers", "tests/model_selection", "tests/test_metrics.py"),
    *("skml_kalda/_core", "skml_kalda/reducers", "--ignore=tests/core/test_dask_cluster.py"),
)
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
SLOWER = 3.0
"""A test that takes more seconds is left out, as `mutation` runs each of them many times."""
MOST_PARAMETERS = 6
"""Of each test function."""
BUDGET = 30.0
"""Seconds of tests for a change that no test notices."""
CPU_SECONDS = 150
"""After these the change has made the code hang, which a user notices too."""


def key_of(row):
    """What identifies a change when lines move."""
    return row["file"], row["code"], row["change"]


# Changes that no test can notice, and why.
EQUIVALENT = {
    key_of(row): row["reason"]
    for row in json.loads(Path(__file__).with_name("equivalent.json").read_text())
}


def candidates():
    """List every (file, place) of the code that is tried."""
    files = [*(PACKAGE / "_core").rglob("*.py"), *(PACKAGE / "reducers").rglob("*.py")]
    return [(path, place) for path in sorted(files) for place in sites(ast.parse(path.read_text()))]


def calls():
    """Run all tests and return, as JSON, their seconds and the functions they call."""
    import pytest

    class Recorder:
        def __init__(self):
            self.called, self.tests, self.failed = set(), {}, set()

        def profile(self, frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
                self.called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

        def pytest_collection_modifyitems(self, items):
            groups = defaultdict(list)
            for item in items:
                groups[item.nodeid.partition("[")[0]].append(item)
            # Of many parameters some, evenly spread: all of them would take too long.
            items[:] = [
                group[k * len(group) // MOST_PARAMETERS]
                for group in groups.values()
                for k in range(MOST_PARAMETERS)
                if len(group) > MOST_PARAMETERS
            ] + [
                item for group in groups.values() if len(group) <= MOST_PARAMETERS for item in group
            ]

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
    pytest.main([*OPTIONS, *TESTS], plugins=[recorder])
    kept = {test: each for test, each in recorder.tests.items() if test not in recorder.failed}
    return json.dumps(kept)


def tests_by_function():
    """Return {file:line of a function, or file: [(seconds, test)]}, from the kept run of all."""
    if not CALLS.exists():
        CALLS.parent.mkdir(exist_ok=True)
        CALLS.write_text(forked(calls, 3600) or "{}")
    found = defaultdict(set)
    for test, (seconds, functions) in json.loads(CALLS.read_text()).items():
        for function in functions if seconds < SLOWER else ():
            found[function].add((seconds, test))
            found[function.partition(":")[0]].add((seconds, test))
    return found


def in_order(tests):
    """Return tests within the budget, the quickest first, parameters of one function apart."""
    by_function = defaultdict(list)
    for seconds, test in sorted(tests):
        by_function[test.partition("[")[0]].append((seconds, test))
    ranked = sorted(
        ((1 + k) * seconds, seconds, test)
        for group in by_function.values()
        for k, (seconds, test) in enumerate(group)
    )
    chosen, total = [], 0.0
    for _, seconds, test in ranked:
        total += seconds
        if total > BUDGET:
            break
        chosen.append(test)
    return chosen


class Mutant:
    """One change, and the tests of the function that it is in."""

    def __init__(self, path, place, found):
        self.path, self.place = path, place
        source = path.read_text()
        self.tree, line, code, change = mutate(source, place)
        file = str(path.relative_to(PACKAGE))
        self.functions = enclosing(ast.parse(source), line)
        names = [f"{file}:{start}" for start in reversed(self.functions)] or [file]
        self.tests = in_order(next((found[name] for name in names if name in found), ()))
        self.row = {"file": file, "line": line, "code": code, "change": change}

    @property
    def key(self):
        """What identifies it when lines move."""
        return key_of(self.row)

    def outcome(self, items):
        """Run the tests on the changed code, in a process of its own, until one fails."""
        if not self.tests:
            return {**self.row, "tests": 0, "outcome": "survived", "by": ""}
        failed = forked(lambda: self._first_failure(items))
        failed = "hangs or dies" if failed is None else failed
        outcome = "killed" if failed else "survived"
        return {**self.row, "tests": len(self.tests), "outcome": outcome, "by": failed}

    def _first_failure(self, items):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        if not self.functions or not install(self.tree, self.path, self.functions[0]):
            return self._with_imports_anew()
        reports = Reports()
        chosen = [items[test] for test in self.tests if test in items]
        chosen[0].config.pluginmanager.register(reports)
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if reports.failed:
                break
        return reports.failed

    def _with_imports_anew(self):
        """Run the tests where the package is not imported yet, and its code can be replaced."""
        script = f"from benchmarks.mutation import run_fresh; run_fresh({self.place})"
        given = {"path": str(self.path), "place": self.place, "tests": self.tests}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
        return done.stdout.rpartition("FIRST FAILURE: ")[2].strip()


def run_fresh(place):
    """Change the code that is imported, run the tests named in stdin, print the first failure."""
    import pytest

    given = json.loads(sys.stdin.read())
    path, order = Path(given["path"]), {test: k for k, test in enumerate(given["tests"])}
    tree = mutate(path.read_text(), place)[0]
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader, name):
        return compile(tree, str(path), "exec") if name == module else original(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code

    class Chosen(Reports):
        def pytest_collection_modifyitems(self, items):
            chosen = (item for item in items if item.nodeid in order)
            items[:] = sorted(chosen, key=lambda item: order[item.nodeid])

    reports = Chosen()
    files = dict.fromkeys(test.partition("::")[0] for test in order)
    code = pytest.main([*OPTIONS, "-x", *files], plugins=[reports])
    print("FIRST FAILURE:", reports.failed or ("pytest failed" if code else ""))


class Reports:
    """A plugin of pytest: the first test that fails."""

    failed = ""

    def pytest_runtest_logreport(self, report):  # noqa: D102
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report):  # noqa: D102
        if report.failed:
            self.failed = self.failed or f"{report.nodeid} does not import"


class Session:
    """A plugin of pytest: all tests are collected once, and run for one change after another."""

    def __init__(self, arguments):
        everything, found = candidates(), tests_by_function()
        chosen = random.Random(arguments.seed).sample(everything, arguments.mutants)
        self._rows, self._total = [], len(everything)
        if arguments.again:
            kept = json.loads(RESULTS.read_text())["mutants"]
            open_ones = {key_of(row) for row in kept if row["outcome"] == "survived"}
            self._rows = [row for row in kept if key_of(row) not in open_ones - EQUIVALENT.keys()]
            files = {file for file, _, _ in open_ones - EQUIVALENT.keys()}
            chosen = [each for each in everything if str(each[0].relative_to(PACKAGE)) in files]
        self._mutants = [Mutant(path, place, found) for path, place in chosen]
        if arguments.again:
            again = {each.key: each for each in self._mutants if each.key in open_ones}
            self._mutants = [each for key, each in again.items() if key not in EQUIVALENT]

    def pytest_runtestloop(self, session):
        """Try every change and keep what came of it."""
        items = {item.nodeid: item for item in session.items}
        _keep(self._rows, self._total)
        for number, mutant in enumerate(self._mutants, 1):
            row = mutant.outcome(items)
            self._rows.append(row)
            shown = f"{row['outcome']}: {row['file']}:{row['line']} {row['change']}"
            print(f"{number}/{len(self._mutants)} {shown}", file=sys.stderr, flush=True)
            _keep(self._rows, self._total)
        return True


def main():
    """Try a sample of all changes."""
    import pytest

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--again",
        action="store_true",
        help="try what survived the kept run on the code and tests of now",
    )
    plugins = [Session(parser.parse_args())]
    pytest.main([*OPTIONS, "--capture=no", *TESTS], plugins=plugins)


def _keep(rows, total):
    rows = sorted(rows, key=lambda row: (row["file"], row["line"], row["change"]))
    for row in rows:
        if row["outcome"] == "survived" and key_of(row) in EQUIVALENT:
            row["equivalent"] = EQUIVALENT[key_of(row)]
    killed = sum(row["outcome"] == "killed" for row in rows)
    named = sum("equivalent" in row for row in rows)
    head = {"mutants_of": total, "tried": len(rows), "killed": killed, "equivalent": named}
    text = json.dumps({**head, "mutants": rows}, indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
