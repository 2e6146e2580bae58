"""The command line: ``python -m skml_kalda.datasets``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .arff import load_arff
from .fetch import fetch
from .home import find_file, get_data_home
from .manifest import manifest_names, read_manifest
from .msrc import build_msrc
from .write import save_arff

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m skml_kalda.datasets", description="Data sets.")
    parser.add_argument("--data-home", help="folder of data sets (default: SKML_KALDA_DATA)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("list", help="name the data sets and say where they are")
    command.set_defaults(run=_list)
    command = commands.add_parser("show", help="print what is known of a data set")
    command.add_argument("name", metavar="NAME")
    command.set_defaults(run=_show)
    command = commands.add_parser("fetch", help="download data sets into the data home")
    command.add_argument("names", metavar="NAME", nargs="+")
    command.add_argument("--force", action="store_true", help="even if the file is there")
    command.set_defaults(run=_fetch)
    _add_build(commands.add_parser("build", help="make a data set from its images"))
    _add_convert(commands.add_parser("convert", help="rewrite an ARFF file, also compressed"))
    return parser


def _add_build(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=["msrc"])
    command.add_argument("images", metavar="IMAGES_DIR", help="NAME.bmp and NAME_GT.bmp files")
    command.add_argument("--only", choices=["msrc-mom", "msrc-sift"], help="one of the two")
    command.set_defaults(run=_build)


def _add_convert(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="IN")
    command.add_argument("destination", metavar="OUT")
    command.add_argument("--labels", help="XML file, or n for the first and -n for the last n")
    command.add_argument("--dialect", choices=["meka", "mulan"], default="meka")
    command.set_defaults(run=_convert)


def _list(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    for name in manifest_names():
        manifest = read_manifest(name)
        path = find_file(manifest, home)
        away = "to fetch" if manifest.sources else "to build" if manifest.build else "absent"
        state = away if path is None else str(path)
        print(f"{name:<12} {manifest.n:>7} x {manifest.p:<5} K = {manifest.K:<4} {state}")


def _show(arguments: argparse.Namespace) -> None:
    print(read_manifest(arguments.name).describe())


def _fetch(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    manifests = [read_manifest(name) for name in arguments.names]
    for manifest in manifests:
        print(fetch(manifest, home, force=arguments.force))


def _build(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    home.mkdir(parents=True, exist_ok=True)
    names = [arguments.only] if arguments.only else ["msrc-mom", "msrc-sift"]
    for path in build_msrc(arguments.images, home, names):
        print(path)


def _convert(arguments: argparse.Namespace) -> None:
    labels = arguments.labels
    if labels is not None and labels.lstrip("-").isdecimal():
        labels = int(labels)
    bunch = load_arff(arguments.source, labels=labels)
    save_arff(
        Path(arguments.destination),
        bunch.data,
        bunch.target,
        feature_names=bunch.feature_names,
        target_names=bunch.target_names,
        dialect=arguments.dialect,
    )


if __name__ == "__main__":
    sys.exit(main())
