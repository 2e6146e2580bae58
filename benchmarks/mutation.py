"""Do the tests notice if the code is wrong? One small change at a time, and the tests of it.

    python -m benchmarks.mutation --mutants 320 --seed 0

Draws changes of operators, constants, conditions and calls from the code of `_core` and
`reducers`, runs the tests that belong to the changed file, and keeps which of them failed. A
change that no test notices is either equivalent, with a reason in `EQUIVALENT`, or a hole.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skml_kalda"
RESULTS = ROOT / "benchmarks" / "results" / "mutation.json"
TIMEOUT = 240

# Tests by the start of the path of the file they belong to; the first that fits counts.
TESTS = {
    "_core/arrays": ["core/test_arrays", "reducers/test_contracts", "reducers/test_extremes"],
    "_core/labels": ["core/test_labels", "reducers/test_contracts", "reducers/test_mlda"],
    "_core/scatter": [
        *("core/test_scatter", "core/test_eigenproblem", "reducers/test_units"),
        *("reducers/test_forms", "core/test_shrinkage", "reducers/test_extremes"),
        *("reducers/test_contracts", "reducers/kalda/test_subspaces"),
    ],
    "_core/shrinkage": ["core/test_shrinkage"],
    "_core/kernels": ["core/test_kernels", "reducers/kalda/test_kernel"],
    "_core/landmarks": ["core/test_kernels", "reducers/kalda/test_kernel"],
    "_core/eigenproblem": ["core/test_eigenproblem", "reducers/test_discriminants"],
    "_core/symmetric": ["core/test_eigenproblem", "core/test_scatter", "reducers/test_mlsi"],
    "_core/conjugate": [
        *("core/test_eigenproblem", "reducers/kalda/test_subspaces", "reducers/test_forms"),
    ],
    "_core/orthonormal": ["reducers/kalda/test_alignment", "reducers/test_contracts"],
    "_core/streams": ["core/test_arrays", "reducers/test_contracts", "reducers/test_threads"],
    "_core/neighbors": ["core/test_neighbors", "reducers/kalda/test_search"],
    "_core/dask": ["core/test_dask"],
    "reducers/kalda/search": ["reducers/kalda/test_search"],
    "reducers/kalda/subspaces": ["reducers/kalda/test_subspaces", "reducers/test_forms"],
    "reducers/kalda": [
        *("reducers/kalda/test_alignment", "reducers/kalda/test_newton"),
        *("reducers/kalda/test_linear", "reducers/kalda/test_kernel"),
        *("core/test_shrinkage", "reducers/kalda/test_theorems"),
        *("reducers/kalda/test_subspaces", "reducers/test_units"),
    ],
    "reducers": [
        *("reducers/test_contracts", "reducers/test_discriminants", "reducers/test_regressions"),
        *("reducers/test_mlda", "reducers/test_mlsi", "reducers/test_scatter_differences"),
        *("reducers/test_forms", "reducers/test_extremes", "reducers/test_units"),
    ],
}
# Changes that cannot be noticed: by file and line of code, why.
EQUIVALENT: dict[str, str] = {}

_SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_CALLS = {"min": "max", "max": "min", "maximum": "minimum", "any": "all", "all": "any"}


def sites(tree):
    """Yield the nodes that can be changed, by their place in a walk."""
    skipped = {id(part) for node in ast.walk(tree) for part in _untested(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped and list(changes(copy.deepcopy(node))):
            yield number


def _untested(node):
    """Yield what is no behaviour: annotations, docstrings, type aliases, error texts."""
    parts = []
    if isinstance(node, ast.FunctionDef):
        parts = [node.returns, *(a.annotation for a in node.args.args + node.args.kwonlyargs)]
    elif isinstance(node, ast.AnnAssign):
        parts = [node.annotation]
        if "Constraints" in ast.unparse(node.target) or "TypeAlias" in ast.unparse(node.annotation):
            parts.append(node.value)
        if ast.unparse(node.target) == "_parameter_constraints":
            parts.append(node.value)
    elif isinstance(node, ast.Raise):
        parts = [node.exc]
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        parts = node.body
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def changes(node):
    """Yield (what, node) for every change of one node, made in place of a copy."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        node.ops[0] = _SWAPS[type(node.ops[0])]()
        yield node
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _SWAPS:
        node.op = _SWAPS[type(node.op)]()
        yield node
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
        yield node
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(_other_number(node.value))
    elif isinstance(node, ast.Call) and _called(node) in _CALLS:
        other = _CALLS[_called(node)]
        if isinstance(node.func, ast.Name):
            node.func.id = other
        else:
            node.func.attr = other
        yield node


def _called(node):
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def _other_number(value):
    # A tolerance that is a little off is no defect; one that is far off is.
    return value * 1e4 if isinstance(value, float) and 0 < value < 1e-2 else value + 1


class _At(ast.NodeTransformer):
    """Replaces the node at one place of a walk."""

    def __init__(self, node):
        self._node = node

    def visit(self, node):
        if node is self._node:
            (changed,) = changes(copy.deepcopy(node))
            return ast.copy_location(changed, node)
        return self.generic_visit(node)


def mutate(source, number):
    """Return the changed tree, the line, and the code before and after."""
    tree = ast.parse(source)
    node = next(each for place, each in enumerate(ast.walk(tree)) if place == number)
    before = ast.unparse(node)
    (after,) = changes(copy.deepcopy(node))
    line = source.splitlines()[node.lineno - 1].strip()
    tree = ast.fix_missing_locations(_At(node).visit(tree))
    return tree, node.lineno, line, f"{before}  ->  {ast.unparse(after)}"


def candidates():
    """List every (file, place) of the code that is tried."""
    files = [*(PACKAGE / "_core").rglob("*.py"), *(PACKAGE / "reducers").rglob("*.py")]
    return [(path, place) for path in sorted(files) for place in sites(ast.parse(path.read_text()))]


def tests_of(path):
    """Return the test files of a source file."""
    name = str(path.relative_to(PACKAGE))
    stems = next(tests for start, tests in TESTS.items() if name.startswith(start))
    return [f"tests/{stem}.py" for stem in stems]


def run(path, place):
    """Fork, change the code there, and run its tests; return what came of it."""
    tree, number, line, change = mutate(path.read_text(), place)
    file = str(path.relative_to(PACKAGE))
    row = {"file": file, "line": number, "code": line, "change": change}
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _test(path, tree, write)
    os.close(write)
    started = time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() - started > TIMEOUT:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {**row, "outcome": "killed", "by": "time-out"}
        time.sleep(0.05)
    with os.fdopen(read) as stream:
        failed = stream.read()
    return {**row, "outcome": "killed" if failed else "survived", "by": failed}


def _test(path, tree, write):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader, name):
        return compile(tree, str(path), "exec") if name == module else original(loader, name)

    importlib.machinery.SourceFileLoader.get_code = get_code
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    import pytest

    class FirstFailure:
        name = ""

        def pytest_runtest_logreport(self, report):
            if report.failed and not self.name:
                self.name = report.nodeid

        def pytest_collectreport(self, report):
            if report.failed and not self.name:
                self.name = f"{report.nodeid} does not import"

    first = FirstFailure()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    code = pytest.main([*options, *tests_of(path)], plugins=[first])
    os.write(write, (first.name or ("pytest failed" if code else "")).encode())
    os._exit(0)


def main():
    """Try a sample of all changes and keep what came of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=320)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="only what survived the kept run")
    arguments = parser.parse_args()
    import hypothesis  # noqa: F401

    everything = candidates()
    chosen = random.Random(arguments.seed).sample(everything, arguments.mutants)
    kept = json.loads(RESULTS.read_text())["mutants"] if arguments.again else []
    done = {(row["file"], row["line"], row["change"]): row for row in kept}
    rows = []
    for number, (path, place) in enumerate(sorted(chosen), 1):
        _, line, _, change = mutate(path.read_text(), place)
        before = done.get((str(path.relative_to(PACKAGE)), line, change))
        row = before if before and before["outcome"] == "killed" else run(path, place)
        reason = EQUIVALENT.get(f"{row['file']}: {row['change']}")
        rows.append({**row, "equivalent": reason} if reason else row)
        print(f"{number}/{len(chosen)} {row['outcome']}: {row['file']}:{row['line']} {change}")
        _keep(rows, len(everything))
    return 0


def _keep(rows, total):
    killed = sum(row["outcome"] == "killed" for row in rows)
    named = sum("equivalent" in row and row["outcome"] == "survived" for row in rows)
    head = {"mutants_of": total, "tried": len(rows), "killed": killed, "equivalent": named}
    text = json.dumps({**head, "mutants": rows}, indent=1, ensure_ascii=False)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
