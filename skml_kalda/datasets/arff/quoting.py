"""Read and write the quoted and plain words of ARFF."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skml_kalda.datasets.errors import ArffError

_QUOTED = r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)\""""
_PLAIN = r"""[^,\s"'{}]+"""
_VALUE = rf"""[ \t]*(?:{_QUOTED}|({_PLAIN}))[ \t]*"""
_VALUES = re.compile(_VALUE, re.DOTALL)
_ENTRIES = re.compile(rf"[ \t]*([0-9]{{1,9}})[ \t]+{_VALUE}", re.DOTALL)
_WORD = re.compile(rf"""\s*(?:{_QUOTED}|([^\s"',{{}}%][^\s,{{}}]*))(?=\s|\{{|$)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_NEEDS_QUOTES = re.compile(r"""[\s,{}%"'\\\x00-\x1f]|^[@?]|^$""")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_UNESCAPED |= {char: char for char in "'\"\\%"}
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def scan_values(text: str) -> Iterator[str | None]:
    """Yield the values of a comma-separated list, None for an unquoted ``?``."""
    for match in _scan(_VALUES, text):
        yield _value(match.group(1), match.group(2), match.group(3))


def scan_entries(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the ``index value`` entries of a sparse row."""
    for match in _scan(_ENTRIES, text):
        yield int(match.group(1)), _value(match.group(2), match.group(3), match.group(4))


def scan_word(text: str) -> tuple[str, str]:
    """Split a text into its first word, quoted or not, and the rest."""
    match = _WORD.match(text)
    if match is None:
        raise ArffError(f"cannot read a name from {shown(text)}")
    single, double, plain = match.groups()
    word = plain if plain is not None else _unescape(double if single is None else single)
    return word, text[match.end() :].strip()


def quote(word: str) -> str:
    r"""Return a word as ARFF writes it, in quotes if it needs them.

    >>> print(quote("plain"), quote("it's 5 %"))
    plain 'it\'s 5 %'
    """
    if not _NEEDS_QUOTES.search(word):
        return word
    return "'" + "".join(_ESCAPED.get(char, char) for char in word) + "'"


def is_plain(word: str) -> bool:
    """Whether a value is read as it stands, without quotes."""
    return re.fullmatch(_PLAIN, word) is not None


def shown(text: str) -> str:
    """Return the beginning of a text, quoted for a message."""
    return repr(text[:40]) + ("…" if len(text) > 40 else "")


def _scan(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    place = 0
    while True:
        match = pattern.match(text, place)
        if match is None:
            raise ArffError(_unreadable(text[place:]))
        yield match
        place = match.end()
        if place == len(text):
            return
        if text[place] != ",":
            raise ArffError(f"expected a comma before {shown(text[place:])}")
        place += 1


def _unreadable(rest: str) -> str:
    if not rest.strip() or rest.lstrip().startswith(","):
        return "an empty value (a missing one is written ?)"
    return f"cannot read {shown(rest)}"


def _value(single: str | None, double: str | None, plain: str | None) -> str | None:
    if plain is not None:
        return None if plain == "?" else plain
    return _unescape(double if single is None else single)


def _unescape(text: str | None) -> str:
    if text is None or "\\" not in text:
        return text or ""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "01234567":
        return chr(int(code, 8))
    if len(code) == 5:
        return chr(int(code[1:], 16))
    if code not in _UNESCAPED:
        raise ArffError(f"unknown escape {match.group()!r}")
    return _UNESCAPED[code]
