"""The command line: ``python -m skml_kalda.datasets``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from skml_kalda.datasets.arff.read import load_arff
from skml_kalda.datasets.arff.write import save_arff
from skml_kalda.datasets.files import replacing, uncompressed_name
from skml_kalda.datasets.load import fetch, to_frame
from skml_kalda.datasets.manifest import find_file, get_data_home, manifest_names, read_manifest
from skml_kalda.datasets.msrc import build_from_archive, build_msrc
from skml_kalda.datasets.tables import parse_labels


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
    parser = argparse.ArgumentParser(prog, description="Datasets.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="list the datasets and where they are")
    command.set_defaults(run=_list)

    command = commands.add_parser("show", help="print what is known about a dataset")
    command.add_argument("name", metavar="NAME")
    command.set_defaults(run=_show)

    command = commands.add_parser("fetch", help="download datasets into the data home")
    command.add_argument("names", metavar="NAME", nargs="+")
    command.add_argument("--force", action="store_true", help="replace a file that has changed")
    command.set_defaults(run=_fetch)

    command = commands.add_parser("build", help="build datasets from images, which takes minutes")
    command.add_argument("what", choices=["msrc"])
    text = "NAME.bmp and NAME_GT.bmp files (default: the published archive, downloaded)"
    command.add_argument("images", metavar="IMAGES_DIR", nargs="?", help=text)
    text = "accept the licence of the images, which the command shows without this option"
    command.add_argument("--accept-licence", "--accept-license", action="store_true", help=text)
    command.add_argument("--only", choices=["msrc-mom", "msrc-sift"], help="build only this one")
    command.set_defaults(run=_build)

    command = commands.add_parser("convert", help="rewrite an ARFF file as ARFF or CSV")
    command.add_argument("source", metavar="IN", help="ARFF file, plain or .gz, .bz2, .xz")
    text = "ARFF or CSV file, plain or .gz, .bz2, .xz"
    command.add_argument("destination", metavar="OUT", help=text)
    command.add_argument("--labels", help="XML file, or n for the first and -n for the last n")
    text = "where an ARFF file has its labels"
    command.add_argument("--dialect", choices=["meka", "mulan"], default="meka", help=text)
    command.set_defaults(run=_convert)

    text = "folder of datasets (default: $SKML_KALDA_DATA)"
    for name in ("list", "fetch", "build"):
        commands.choices[name].add_argument("--data-home", metavar="DIR", help=text)
    return parser


def _list(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    for name in manifest_names():
        manifest = read_manifest(name)
        state = find_file(manifest, home) or f"absent: {manifest.how_to_get()}"
        print(f"{name:<12} {manifest.n:>7} x {manifest.p:<5} K = {manifest.K:<4} {state}")


def _show(arguments: argparse.Namespace) -> None:
    print(read_manifest(arguments.name).describe())


def _fetch(arguments: argparse.Namespace) -> None:
    home = get_data_home(arguments.data_home)
    for manifest in [read_manifest(name) for name in arguments.names]:
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
    bunch = load_arff(arguments.source, labels=parse_labels(arguments.labels))
    if suffix == ".csv":
        to_frame(bunch, "writing CSV")
        with replacing(out) as stream:
            bunch.frame.to_csv(stream, index=False)
    else:
        names = {"feature_names": bunch.feature_names, "target_names": bunch.target_names}
        save_arff(out, bunch.data, bunch.target, **names, dialect=arguments.dialect)


if __name__ == "__main__":
    sys.exit(main())
