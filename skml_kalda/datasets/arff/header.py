"""The header of an ARFF file."""

from __future__ import annotations

from dataclasses import dataclass

from skml_kalda.datasets.arff.quoting import scan_values, scan_word, shown
from skml_kalda.datasets.arff.source import Source
from skml_kalda.datasets.errors import ArffError

_NUMERIC = frozenset({"numeric", "real", "integer"})


@dataclass(frozen=True)
class Attribute:
    """A declared attribute; only a nominal one has categories."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """The name of the relation, and its attributes."""

    relation: str
    attributes: tuple[Attribute, ...]


def read_header(source: Source) -> Header:
    """Read up to and including the ``@data`` line."""
    relation: str | None = None
    attributes: dict[str, Attribute] = {}
    while True:
        keyword, rest = _declaration(source)
        try:
            if keyword == "@relation" and relation is None:
                relation = _relation(rest)
            elif keyword == "@attribute" and relation is not None:
                _add(attributes, _attribute(rest))
            elif keyword == "@data" and attributes:
                return Header(relation or "", tuple(attributes.values()))
            else:
                raise ArffError(_out_of_place(keyword))
        except ArffError as error:
            raise source.error(error.reason) from None


def _declaration(source: Source) -> tuple[str, str]:
    """Return the next line that is neither empty nor a comment, as keyword and rest."""
    while (line := source.readline()) is not None:
        if line.lstrip().startswith(b"%"):
            continue
        try:
            text = line.decode("utf-8-sig" if source.line == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            raise source.error("not UTF-8 text; convert the file to UTF-8") from None
        if text:
            words = text.split(maxsplit=1)
            return words[0].lower(), words[1] if len(words) > 1 else ""
    if not source.line:
        raise source.error("the file is empty", 1)
    raise source.error("the file ends before @data")


def _out_of_place(keyword: str) -> str:
    if keyword not in {"@relation", "@attribute", "@data"}:
        return f"expected @relation, @attribute or @data, found {shown(keyword)}"
    return f"{keyword} is out of place: one @relation, then the @attribute lines, then @data"


def _relation(text: str) -> str:
    # Weka requires quotes around a name with spaces, but many files have none.
    return scan_word(text)[0] if text.startswith(("'", '"')) else text


def _add(attributes: dict[str, Attribute], new: Attribute) -> None:
    if new.name in attributes:
        raise ArffError(f"the attribute {shown(new.name)} is declared twice")
    attributes[new.name] = new


def _attribute(text: str) -> Attribute:
    name, declared = scan_word(text)
    if declared.startswith("{"):
        return Attribute(name, "nominal", _categories(name, declared))
    words = declared.split("%")[0].split(maxsplit=1)
    kind = words[0].lower() if words else ""
    if kind in _NUMERIC and len(words) == 1:
        return Attribute(name, "numeric")
    if kind == "date" or (kind == "string" and len(words) == 1):
        return Attribute(name, kind)
    raise ArffError(f"the attribute {shown(name)} has the unknown type {shown(declared)}")


def _categories(name: str, declared: str) -> tuple[str, ...]:
    if not declared.endswith("}"):
        raise ArffError(f"the categories of {shown(name)} have no closing brace")
    values = tuple(scan_values(declared[1:-1].strip()))
    categories = tuple("?" if value is None else value for value in values)
    if len(set(categories)) < len(categories):
        raise ArffError(f"the attribute {shown(name)} has the same category twice")
    return categories
