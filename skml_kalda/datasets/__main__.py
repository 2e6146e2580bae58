"""The command line: ``python -m skml_kalda.datasets``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from skml_kalda.datasets.arff.read import load_arff
from skml_kalda.datasets.arff.write import save_arff
from skml_kalda.datasets.fetch import fetch
from skml_kalda.datasets.files import uncompressed_name
from skml_kalda.datasets.home import find_file, get_data_home
from skml_kalda.datasets.manifest import Manifest, manifest_names, read_manifest
from skml_kalda.datasets.msrc import build_msrc
from skml_kalda.datasets.msrc_archive import build_from_archive
from skml_kalda.datasets.tables.write import save_csv


def main(argv: Sequence[str] | None = None, prog: str = "python -m skml_kalda.datasets") -> int:
    """Run a command and return its exit status."""
    arguments = _parser(prog).parse_args(argv)
    try:
        arguments.run(arguments)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog, description="Data sets.")
    _add_home(parser, None)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("list", help="list the data sets and where they are")
    command.set_defaults(run=_list)
    command = commands.add_parser("show", help="print what is known about a data set")
    command.add_argument("name", metavar="NAME")
    command.set_defaults(run=_show)
    command = commands.add_parser("fetch", help="download data sets into the data home")
    command.add_argument("names", metavar="NAME", nargs="+")
    command.add_argument(
        "--force", action="store_true", help="download again even if the file is there"
    )
    command.set_defaults(run=_fetch)
    _add_build(commands.add_parser("build", help="build a data set from its images"))
    _add_convert(commands.add_parser("convert", help="rewrite an ARFF file as ARFF or CSV"))
    for command in commands.choices.values():
        # The option may stand before or after the command. SUPPRESS keeps a missing one after it
        # from overwriting one before it.
        _add_home(command, argparse.SUPPRESS)
    return parser


def _add_home(parser: argparse.ArgumentParser, default: str | None) -> None:
    text = "folder of data sets (default: $SKML_KALDA_DATA)"
    parser.add_argument("--data-home", metavar="DIR", default=default, help=text)


def _add_build(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", choices=["msrc"])
    command.add_argument(
        "images",
        metavar="IMAGES_DIR",
        nargs="?",
        help="NAME.bmp and NAME_GT.bmp files (default: the published archive, downloaded)",
    )
    command.add_argument(
        "--accept-licence",
        "--accept-license",
        action="store_true",
        help="accept the licence of the images, which the command shows without this option",
    )
    command.add_argument("--only", choices=["msrc-mom", "msrc-sift"], help="build only this one")
    command.set_defaults(run=_build)


def _add_convert(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="IN", help="ARFF file, plain or .gz, .bz2, .xz")
    command.add_argument(
        "destination", metavar="OUT", help="ARFF or CSV file, plain or .gz, .bz2, .xz"
    )
    command.add_argument("--labels", help="XML file, or n for the first and -n for the last n")
    command.add_argument(
        "--dialect",
        choices=["meka", "mulan"],
        default="meka",
        help="where an ARFF file has its labels",
    )
    command.set_defaults(run=_convert)


def _list(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    for name in manifest_names():
        manifest = read_manifest(name)
        path = find_file(manifest, home)
        state = _how_to_get(manifest) if path is None else str(path)
        print(f"{name:<12} {manifest.n:>7} x {manifest.p:<5} K = {manifest.K:<4} {state}")


def _how_to_get(manifest: Manifest) -> str:
    if manifest.sources:
        return f"to fetch: fetch {manifest.name}"
    if manifest.build:
        return f"to build: {manifest.build}"
    return f"absent: put {manifest.file}.arff into the data home (origin: {manifest.origin})"


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
    if arguments.images:
        paths = build_msrc(arguments.images, home, names)
    else:
        paths = build_from_archive(home, names, accept_licence=arguments.accept_licence)
    print(*paths, sep="\n")


def _convert(arguments: argparse.Namespace) -> None:
    out = Path(arguments.destination)
    suffix = Path(uncompressed_name(out)).suffix.lower()
    if suffix not in {".arff", ".csv"}:
        expected = ".arff or .csv, with .gz, .bz2 or .xz after it to compress"
        raise ValueError(f"OUT must end in {expected}, not {out.name!r}")
    bunch = load_arff(arguments.source, labels=_label_option(arguments.labels))
    names = {"feature_names": bunch.feature_names, "target_names": bunch.target_names}
    if suffix == ".csv":
        save_csv(out, bunch.data, bunch.target, **names)
    else:
        save_arff(out, bunch.data, bunch.target, **names, dialect=arguments.dialect)


def _label_option(text: str | None) -> str | int | None:
    return int(text) if text is not None and re.fullmatch("-?[0-9]+", text) else text


if __name__ == "__main__":
    sys.exit(main())
