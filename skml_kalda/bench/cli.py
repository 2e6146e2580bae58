"""The command line: run, list, report, compare."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skml_kalda.bench.extra import check_extra
from skml_kalda.bench.methods import method_names
from skml_kalda.bench.own_data import describe_files, own_plan
from skml_kalda.bench.plan import LISTS, SINGLE, Plan, plan_names, read_plan
from skml_kalda.bench.running.environment import n_cores
from skml_kalda.bench.running.own_cards import describe_data
from skml_kalda.bench.running.results import FILE_NAME, Results, read_results
from skml_kalda.bench.running.runner import default_output, run
from skml_kalda.datasets.tables import parse_labels

_DEFAULT = "quick"
_COMMANDS = ("run", "list", "report", "compare")
# The word after one of these options is its value, not a command.
_WITH_ONE_VALUE = (
    "--k", "--folds", "--repeats", "--seed", "--thresholds", "--timeout", "--jobs", "--dask",
    "--output", "--data-home", "--labels", "--score",
)  # fmt: skip
FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str] | None = None, prog: str = "python -m skml_kalda.bench") -> int:
    """Run a command and return its exit status.

    0: success; 1: some cells failed; 2: wrong names or files, nothing was run; 130: Ctrl-C.
    """
    arguments = _parser(prog).parse_args(_with_command(sys.argv[1:] if argv is None else argv))
    try:
        check_extra()
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


def _with_command(argv: Sequence[str]) -> list[str]:
    """Put the command first, with the words that follow it; without any it is run."""
    if argv and argv[0] in ("-h", "--help"):
        return list(argv)
    for place, word in enumerate(argv):
        if word in _COMMANDS and (place == 0 or argv[place - 1] not in _WITH_ONE_VALUE):
            rest = argv[place + 1 :]
            n_words = next((i for i, each in enumerate(rest) if each.startswith("-")), len(rest))
            return [word, *rest[:n_words], *argv[:place], *rest[n_words:]]
    # A wrong command is an error of argparse; options alone belong to run.
    return list(argv) if argv and not argv[0].startswith("-") else ["run", *argv]


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog,
        description="Compare methods, on the paper's data sets or on your own data. Without a "
        "command: run.",
    )
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
    own = command.add_argument_group("your own data")
    own.add_argument(
        "--data", nargs="+", metavar="FILE", help="ARFF, CSV, TSV, Parquet, NumPy or svmlight files"
    )
    own.add_argument(
        "--labels", metavar="SPEC", help="columns: 'a,b', 'label_*', n (first n) or -n (last n)"
    )
    own.add_argument("--ignore", nargs="+", default=[], metavar="NAME", help="columns to leave out")
    for name in ("datasets", "methods", "classifiers"):
        add(f"--{name}", nargs="+", metavar="NAME", help=f"{name} to use instead of the plan's")
    add("--k", type=int, help="number of neighbours of all classifiers")
    add("--dimensions", nargs="+", type=int, metavar="N", help="numbers of components")
    for name in ("folds", "repeats", "seed"):
        add(f"--{name}", type=int, metavar="N")
    add("--standardize", action=argparse.BooleanOptionalAction, help="features to unit variance")
    add("--stratified", action=argparse.BooleanOptionalAction, help="folds stratified by labels")
    add("--thresholds", type=int, metavar="N", help="inner folds that tune F1 thresholds; 0: none")
    add("--timeout", type=float, metavar="SECONDS", help="a cell that takes longer fails")
    add("--jobs", type=int, default=n_cores(), metavar="N", help="processes (default: all cores)")
    add("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler instead")
    add("--output", type=Path, metavar="DIR", help="default: bench-results/PLAN, or FILE")
    add("--data-home", metavar="DIR", help="folder of data sets (default: SKML_KALDA_DATA)")
    add("--fresh", action="store_true", help="delete the results in the output folder first")
    command.set_defaults(run=_run)


def _plan(arguments: argparse.Namespace) -> Plan:
    changes = {name: getattr(arguments, name) for name in (*LISTS, *SINGLE)}
    if not arguments.data:
        if arguments.labels or arguments.ignore:
            raise ValueError("--labels and --ignore are for a file: name it with --data FILE")
        return read_plan(arguments.plan or _DEFAULT).changed(k=arguments.k, **changes)
    data = describe_files(arguments.data, parse_labels(arguments.labels), arguments.ignore)
    changes["datasets"] = tuple(dict.fromkeys([*data, *(arguments.datasets or ())]))
    if arguments.plan is None:
        return own_plan(data).changed(k=arguments.k, **changes)
    return read_plan(arguments.plan).changed(k=arguments.k, data=data, **changes)


def _output(arguments: argparse.Namespace, plan: Plan) -> Path:
    folder = default_output(plan)
    if arguments.plan is None or not arguments.data:
        return folder
    # A plan on a file must not mix with the same plan on other data.
    return folder.with_name(f"{folder.name}-{own_plan(plan.data).slug}")


def _run(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting.terminal import make_console
    from skml_kalda.bench.running.progress import make_progress

    plan, console = _plan(arguments), make_console()
    output = arguments.output or _output(arguments, plan)
    where = f"on {arguments.dask}" if arguments.dask else f"{arguments.jobs} at a time"
    title = plan.title if plan.title.endswith("?") else f"{plan.title}:"
    console.print(f"{title} {len(plan.cells())} cells, {where}")
    for line in describe_data(plan):
        console.print(line, soft_wrap=True)
    try:
        results = run(
            plan,
            output,
            jobs=arguments.jobs,
            dask=arguments.dask,
            data_home=arguments.data_home,
            fresh=arguments.fresh,
            progress=lambda cells: make_progress(cells, console),
        )
        return _finish(results)
    except KeyboardInterrupt:
        print(f"interrupted: {_kept(output, plan)}", file=sys.stderr)
        return INTERRUPTED
    except (ChildProcessError, ConnectionResetError) as error:
        print(f"error: {error}: {_kept(output, plan)}", file=sys.stderr)
        return FAILED


def _kept(output: Path, plan: Plan) -> str:
    done = len(read_results(output).ok) if (output / FILE_NAME).exists() else 0
    kept = f"{done} of {len(plan.cells())} cells are kept in {output / FILE_NAME}"
    return f"{kept}; the same command continues from there"


def _finish(results: Results) -> int:
    from skml_kalda.bench.reporting.files import report
    from skml_kalda.bench.reporting.terminal import make_console, print_outcome, print_scores

    console = make_console()
    print_scores(console, results)
    print_outcome(console, results)
    page = report(results)
    console.print(
        f"report: {page} (also report.md, scores.csv; results: {FILE_NAME})", soft_wrap=True
    )
    return FAILED if results.failed else 0


def _list(arguments: argparse.Namespace) -> int:
    for name in plan_names():
        plan = read_plan(name)
        print(f"{name:<12} {plan.title}: {len(plan.cells())} cells")
    print(f"\nmethods: {', '.join(method_names())}")
    for path in sorted(arguments.folder.glob(f"*/{FILE_NAME}")):
        print(f"{path.parent}: {_state(path)}")
    return 0


def _state(path: Path) -> str:
    try:
        results = read_results(path)
    except ValueError as error:
        return str(error)
    left = results.missing + len(results.failed)
    return f"{len(results.ok)} cells of {results.plan.name}, {left} to run"


def _report(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting.files import report

    folders = arguments.runs or [
        p.parent for p in sorted(Path("bench-results").glob(f"*/{FILE_NAME}"))
    ]
    if not folders:
        raise ValueError("there is no run in bench-results: name the folders of the runs")
    runs = [read_results(folder) for folder in folders]
    print(f"report: {report(runs, arguments.output or runs[0].folder.parent)}")
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from skml_kalda.bench.reporting.terminal import make_console, print_comparison

    runs = read_results(arguments.a), read_results(arguments.b)
    print_comparison(make_console(), *runs, arguments.score)
    return 0
