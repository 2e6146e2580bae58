"""The command line: run, list, report, compare."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from joblib import cpu_count

from skml_kalda.bench import check_extra
from skml_kalda.bench.methods import method_names
from skml_kalda.bench.plan import LISTS, SINGLE, Plan, plan_names, read_plan
from skml_kalda.bench.running.data import describe_user_data, lines_about
from skml_kalda.bench.running.results import FILE_NAME, read_results
from skml_kalda.bench.running.runner import default_output, plan_on, run
from skml_kalda.datasets.tables import parse_labels

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str] | None = None, prog: str = "python -m skml_kalda.bench") -> int:
    """Run a command and return its exit status.

    0: success; 1: some cells failed; 2: wrong names or files, nothing was run; 130: Ctrl-C.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    # Options alone belong to run; a wrong command is an error of argparse.
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, "run")
    try:
        check_extra()
        arguments = _parser(prog).parse_args(words)
        with _plain_streams():
            return int(arguments.run(arguments))
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE


@contextmanager
def _plain_streams() -> Iterator[None]:
    """Print each warning once, as one line, and escape characters that a stream cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            print(f"warning: {message}", file=sys.stderr)
        shown.add(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _parser(prog: str) -> argparse.ArgumentParser:
    about = "Compare methods, on the paper's datasets or on your own data. Without a command: run."
    parser = argparse.ArgumentParser(prog, description=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="run a plan, or what is left of it"))
    command = commands.add_parser("list", help="list plans, methods and the runs in a folder")
    command.add_argument("folder", nargs="?", type=Path, default=Path("bench-results"))
    command.set_defaults(run=_list)
    command = commands.add_parser("report", help="write one report of several runs")
    command.add_argument("runs", metavar="DIR", nargs="*", type=Path, help="folders of runs")
    command.add_argument("--output", type=Path, metavar="DIR", help="folder of the report")
    command.set_defaults(run=_report)
    command = commands.add_parser("compare", help="show two runs side by side")
    command.add_argument("a", metavar="A", type=Path)
    command.add_argument("b", metavar="B", type=Path)
    command.add_argument("--score", default="accuracy", help="default: accuracy")
    command.set_defaults(run=_compare)
    return parser


def _add_run(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("plan", metavar="PLAN", nargs="?", help="a name from list, or a TOML file (default: quick)")
    own = command.add_argument_group("your own data").add_argument
    own("--data", nargs="+", metavar="FILE", help="ARFF, CSV, TSV, Parquet, NumPy or svmlight")
    own("--labels", metavar="SPEC", help="columns: 'a,b', 'label_*', n (first n) or -n (last n)")
    own("--ignore", nargs="+", default=[], metavar="NAME", help="columns to leave out")
    for name in ("datasets", "methods", "classifiers"):
        add(f"--{name}", nargs="+", metavar="NAME", help=f"{name} to use instead of the plan's")
    add("--dimensions", nargs="+", type=int, metavar="N", help="numbers of components")
    for name in ("folds", "repeats", "seed"):
        add(f"--{name}", type=int, metavar="N")
    for name in ("standardize", "stratified"):
        add(f"--{name}", action=argparse.BooleanOptionalAction)
    add("--thresholds", type=int, metavar="N", help="inner folds that tune F1 thresholds; 0: none")
    add("--jobs", type=int, default=cpu_count(), metavar="N", help="processes (default: all cores)")
    add("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler instead")
    add("--output", type=Path, metavar="DIR", help="default: bench-results/PLAN, or FILE")
    add("--data-home", metavar="DIR", help="folder of datasets (default: SKML_KALDA_DATA)")
    add("--fresh", action="store_true", help="delete the results in the output folder first")
    command.set_defaults(run=_run)


def _plan(arguments: argparse.Namespace) -> tuple[Plan, Path]:
    """Return the plan that the arguments name, and the folder of its results."""
    changes = {name: getattr(arguments, name) for name in (*LISTS, *SINGLE)}
    if not arguments.data:
        if arguments.labels or arguments.ignore:
            raise ValueError("--labels and --ignore are for a file: name it with --data FILE")
        plan = read_plan(arguments.plan or "quick").changed(**changes)
        return plan, arguments.output or default_output(plan)
    labels = parse_labels(arguments.labels)
    plan, folder = plan_on(arguments.plan, arguments.data, labels, arguments.ignore)
    changes["datasets"] = tuple(dict.fromkeys([*plan.data, *(arguments.datasets or ())]))
    return plan.changed(**changes), arguments.output or folder


def _run(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting import terminal
    from skml_kalda.bench.reporting.page import report

    plan, output = _plan(arguments)
    plan = plan.with_methods()
    where = f"on {arguments.dask}" if arguments.dask else f"{arguments.jobs} at a time"
    title = plan.title if plan.title.endswith("?") else f"{plan.title}:"
    n_cells = len(plan.cells())
    print(f"{title} {n_cells} cells, {where}")
    for line in lines_about(describe_user_data(plan)):
        print(line)
    try:
        results = run(
            plan,
            output,
            jobs=arguments.jobs,
            dask=arguments.dask,
            data_home=arguments.data_home,
            fresh=arguments.fresh,
            progress=terminal.show_progress,
        )
        terminal.print_scores(results)
        terminal.print_outcome(results)
        page = report(results)
    except (KeyboardInterrupt, ConnectionResetError) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        file = output / FILE_NAME
        done = len(read_results(output).ok) if file.exists() else 0
        print(
            f"{'interrupted' if interrupted else f'error: {error}'}: {done} of {n_cells} cells are "
            f"kept in {file}; the same command continues from there",
            file=sys.stderr,
        )
        return INTERRUPTED if interrupted else FAILED
    print(f"report: {page} (also report.md, scores.csv; results: {FILE_NAME})")
    return FAILED if results.failed else 0


def _list(arguments: argparse.Namespace) -> int:
    for name in plan_names():
        plan = read_plan(name)
        print(f"{name:<12} {plan.title}: {len(plan.cells())} cells")
    print(f"\nmethods: {', '.join(method_names())}")
    for folder in _runs_in(arguments.folder):
        try:
            results = read_results(folder)
        except ValueError as error:
            print(f"{folder}: {error}")
            continue
        left = results.missing + len(results.failed)
        print(f"{folder}: {len(results.ok)} cells of {results.plan.name}, {left} to run")
    return 0


def _runs_in(folder: Path) -> list[Path]:
    return [path.parent for path in sorted(folder.glob(f"*/{FILE_NAME}"))]


def _report(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting.page import report

    folders = arguments.runs or _runs_in(Path("bench-results"))
    if not folders:
        raise ValueError("there is no run in bench-results: name the folders of the runs")
    runs = [read_results(folder) for folder in folders]
    print(f"report: {report(runs, arguments.output or runs[0].folder.parent)}")
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting.terminal import print_comparison

    print_comparison(read_results(arguments.a), read_results(arguments.b), arguments.score)
    return 0
