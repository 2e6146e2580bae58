"""Mulan's XML files of label names."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from ._errors import ArffError

__all__ = ["label_xml", "read_label_names"]

_NAMESPACE = "http://mulan.sourceforge.net/labels"


def read_label_names(path: Path) -> list[str]:
    """Read the label names of a Mulan XML file, nested ones too, with or without namespace."""
    reader = _LabelReader()
    try:
        with path.open("rb") as stream:
            reader.parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise ArffError(f"not well-formed XML ({error})", path=path, line=error.lineno) from None
    except ArffError as error:
        line = reader.parser.CurrentLineNumber
        raise ArffError(error.reason, path=path, line=line) from None
    if not reader.names:
        raise ArffError('no <label name="…"> in the XML', path=path)
    return list(reader.names)


def label_xml(names: list[str]) -> bytes:
    """Write label names as a Mulan XML file."""
    labels = "".join(f"<label name={quoteattr(name)}></label>\n" for name in names)
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n'
    return f"{head}{labels}</labels>\n".encode()


class _LabelReader:
    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self._depth = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        # Entities are declared in a document type: without one there is no XML bomb.
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if local != ("label" if self._depth else "labels"):
            raise ArffError(f"<{tag[:40]}> is out of place: expected <labels> of <label name=…>")
        if self._depth:
            self._add(attributes.get("name"))
        self._depth += 1

    def _end(self, tag: str) -> None:
        self._depth -= 1

    def _add(self, name: str | None) -> None:
        if name is None:
            raise ArffError("a <label> without a name")
        if name in self.names:
            raise ArffError(f"the label {name[:40]!r} is listed twice")
        self.names[name] = None

    def _refuse(self, *declaration: Any) -> None:
        raise ArffError("a document type declaration is not accepted in a label file")
