"""The words and the header of an ARFF file.

Not read with liac-arff, because files of Mulan and MEKA are beyond it: it refuses a tab after
``@attribute``, a comment after a type, dates, and unquoted names of relations with spaces. It
keeps the backslashes of names, reads a row that is cut off as missing values, and a brace that is
not closed can keep it busy for hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from skml_kalda.datasets.errors import ArffError

_QUOTED = r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)\""""
PLAIN = re.compile(r"""[^,\s"'{}]+""")
"""A value that is read as it stands, without quotes."""
_VALUE = rf"""\s*(?:{_QUOTED}|({PLAIN.pattern}))\s*"""
_VALUES = re.compile(_VALUE, re.DOTALL)
_ENTRIES = re.compile(rf"\s*0*([0-9]{{1,9}})\s+{_VALUE}", re.DOTALL)
_WORD = re.compile(rf"""\s*(?:{_QUOTED}|([^\s"',{{}}%][^\s,{{}}]*))(?=\s|\{{|$)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NEEDS_QUOTES = re.compile(r"""[\s,{}%"'\\\x00-\x1f]|^[@?]|^$""")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_UNESCAPED |= {char: char for char in "'\"\\%"}
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LONGEST_LINE = 2**24


@dataclass(frozen=True)
class Attribute:
    """A declared attribute: numeric, nominal, string or date. Only a nominal one has categories."""

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """The name of the relation, its attributes, and how many lines declare them."""

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int


def read_header(stream: IO[str], path: Path) -> Header:
    """Read up to and including the ``@data`` line."""
    relation: str | None = None
    attributes: dict[str, Attribute] = {}
    number = 0
    for number, line in enumerate(iter(lambda: stream.readline(2 * LONGEST_LINE), ""), 1):
        words = line.split(maxsplit=1)
        if not words or words[0].startswith("%"):
            continue
        keyword, rest = words[0].lower(), words[-1].strip() if len(words) > 1 else ""
        try:
            check_line(line)
            if keyword == "@relation" and relation is None:
                relation = _relation(rest)
            elif keyword == "@attribute" and relation is not None:
                new = _attribute(rest)
                if new.name in attributes:
                    raise ArffError(f"the attribute {shown(new.name)} is declared twice")
                attributes[new.name] = new
            elif keyword == "@data" and attributes:
                return Header(relation or "", tuple(attributes.values()), number)
            else:
                raise ArffError(_out_of_place(keyword))
        except ArffError as error:
            raise ArffError(error.reason, path=path, line=number) from None
    reason = "the file ends before @data" if number else "the file is empty"
    raise ArffError(reason, path=path, line=max(number, 1))


def check_line(line: str) -> None:
    """Raise an error if the line is too long, or was not UTF-8: such bytes became surrogates."""
    if len(line) > LONGEST_LINE:
        raise ArffError(f"a line longer than {LONGEST_LINE} characters")
    try:
        line.encode()
    except UnicodeEncodeError:
        raise ArffError("not UTF-8 text; convert the file to UTF-8") from None


def _out_of_place(keyword: str) -> str:
    if keyword not in {"@relation", "@attribute", "@data"}:
        return f"expected @relation, @attribute or @data, found {shown(keyword)}"
    return f"{keyword} is out of place: one @relation, then the @attribute lines, then @data"


def _relation(text: str) -> str:
    # Weka requires quotes around a name with spaces, but many files have none.
    return _scan_word(text)[0] if text.startswith(("'", '"')) else text


def _attribute(text: str) -> Attribute:
    name, declared = _scan_word(text)
    if declared.startswith("{"):
        return Attribute(name, "nominal", _categories(name, declared))
    words = declared.split("%")[0].lower().split(maxsplit=1)
    if len(words) == 1 and words[0] in {"numeric", "real", "integer"}:
        return Attribute(name, "numeric")
    if words and (words[0] == "date" or words == ["string"]):
        return Attribute(name, words[0])
    raise ArffError(f"the attribute {shown(name)} has the unknown type {shown(declared)}")


def _categories(name: str, declared: str) -> tuple[str, ...]:
    if not declared.endswith("}"):
        raise ArffError(f"the categories of {shown(name)} have no closing brace")
    categories = tuple("?" if v is None else v for v in scan_values(declared[1:-1]))
    if len(set(categories)) < len(categories):
        raise ArffError(f"the attribute {shown(name)} has the same category twice")
    return categories


def _scan_word(text: str) -> tuple[str, str]:
    """Split a text into its first word, quoted or not, and the rest."""
    match = _WORD.match(text)
    if match is None:
        raise ArffError(f"cannot read a name from {shown(text)}")
    *quoted, plain = match.groups()
    return plain or _unescape(quoted[0] or quoted[1] or ""), text[match.end() :].strip()


def scan_values(text: str) -> Iterator[str | None]:
    """Yield the values of a comma-separated list, None for an unquoted ``?``."""
    return (_value(*match.groups()) for match in _scan(_VALUES, text))


def scan_entries(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the ``index value`` entries of a sparse row."""
    for match in _scan(_ENTRIES, text):
        index, *value = match.groups()
        yield int(index), _value(*value)


def _scan(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    place = 0
    while match := pattern.match(text, place):
        yield match
        place = match.end()
        if place == len(text):
            return
        if text[place] != ",":
            raise ArffError(f"expected a comma before {shown(text[place:])}")
        place += 1
    rest = text[place:].lstrip()
    empty = not rest or rest.startswith(",")
    raise ArffError(
        "an empty value (a missing one is written ?)" if empty else f"cannot read {shown(rest)}"
    )


def _value(single: str | None, double: str | None, plain: str | None) -> str | None:
    if plain is not None:
        return None if plain == "?" else plain
    return _unescape(single or double or "")


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] not in _UNESCAPED:
        raise ArffError(f"unknown escape {match[0]!r}")
    return _UNESCAPED[match[1]]


def quote(word: str) -> str:
    r"""Return a word as ARFF writes it, in quotes if it needs them.

    >>> print(quote("plain"), quote("it's 5 %"))
    plain 'it\'s 5 %'
    """
    if not _NEEDS_QUOTES.search(word):
        return word
    return "'" + "".join(_ESCAPED.get(char, char) for char in word) + "'"


def shown(text: str) -> str:
    """Return the beginning of a text, quoted for a message."""
    return repr(text[:40]) + ("…" if len(text) > 40 else "")
