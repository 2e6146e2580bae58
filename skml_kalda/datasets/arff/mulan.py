"""Mulan's XML files of label names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from skml_kalda.datasets.arff.quoting import shown
from skml_kalda.datasets.errors import ArffError

_NAMESPACE = "http://mulan.sourceforge.net/labels"
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_label_names(path: Path) -> list[str]:
    """Return the label names of a Mulan XML file, nested ones too, with or without namespace."""
    reader = _LabelReader()
    try:
        with path.open("rb") as stream:
            reader.parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise ArffError(f"not well-formed XML ({error})", path=path, line=error.lineno) from None
    except ArffError as error:
        line = reader.parser.CurrentLineNumber
        raise ArffError(error.reason, path=path, line=line) from None
    except (LookupError, ValueError) as error:
        # Python's codec of the declared encoding fails, or is unknown to the XML parser.
        reason = f"cannot decode the XML ({error}); convert the file to UTF-8"
        raise ArffError(reason, path=path) from None
    if not reader.names:
        raise ArffError('no <label name="…"> in the XML', path=path)
    return list(reader.names)


def label_xml(names: list[str]) -> bytes:
    """Return a Mulan XML file of the label names."""
    for name in filter(_NOT_IN_XML.search, names):
        reason = f"target_names: {shown(name)} has a character that XML cannot contain"
        raise ValueError(f'{reason}; rename the label, or use dialect="meka"')
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
        # Entities need a document type declaration: without it no XML bomb is possible.
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
            raise ArffError(f"the label {shown(name)} is format_names twice")
        self.names[name] = None

    def _refuse(self, *declaration: Any) -> None:
        raise ArffError("a document type declaration is not accepted in a label file")
