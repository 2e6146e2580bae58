"""Broken and hostile files end in one ArffError with the file, the line and the reason."""

import pickle
import re

import pytest

from skml_kalda.datasets import ArffError, load_arff

HEADER = "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a real\n@attribute c {u,v}\n@data\n"
NUMERIC = "@relation 'r: -C 1'\n@attribute y real\n@attribute a numeric\n@data\n"
TWICE = "@relation r\n@attribute 'a b' real\n@attribute \"a b\" real\n@data\n"

BROKEN = {
    "too few values": (HEADER + "1,2,u\n0,1\n", 7, "2 values for 3 attributes"),
    "too many values": (HEADER + "1,2,u\n0,1,u,4\n", 7, "4 values for 3 attributes"),
    "cut off in a row": (HEADER + "1,2,u\n0,1,", 7, "an empty value"),
    "no number": (HEADER + "1,2,u\n0,x1,u\n", 7, "'x1' is not a number, for 'a'"),
    "undeclared category": (HEADER + "% c\n\n1,2,w\n", 8, "'w' is not a declared category of 'c'"),
    "undeclared label": (HEADER + "2,2,u\n", 6, "'2' is not a declared category of 'y'"),
    "numeric label": (NUMERIC + "1,2\n0.5,2\n", 6, "the label 'y' is 0.5, neither 0 nor 1"),
    "not UTF-8": (HEADER + "1,2,u\n\udcff\n", 7, "not UTF-8 text"),
    "missing label": (HEADER + "?,2,u\n", 6, "the label 'y' is missing"),
    "empty value": (HEADER + "1,,u\n", 6, "an empty value"),
    "open quote": (HEADER + "1,2,'u\n", 6, 'cannot read "\'u"'),
    "words without comma": (HEADER + "1,2 3,u\n", 6, "expected a comma before '3,u'"),
    "unknown escape": (HEADER + "1,2,'\\q'\n", 6, "unknown escape"),
    "index out of range": (HEADER + "{0 1}\n{3 1}\n", 7, "index 3 is out of range: 3 attributes"),
    "huge index": (HEADER + "{99999999999999999999 1}\n", 6, "cannot read"),
    "index twice": (HEADER + "{1 1,1 2}\n", 6, "index 1 comes twice"),
    "negative index": (HEADER + "{-1 1}\n", 6, "cannot read '-1 1'"),
    "sparse row cut off": (HEADER + "{0 1}\n{0 1,1", 7, "expected a sparse row in braces"),
    "sparse without value": (HEADER + "{0 1}\n{0}\n", 7, "cannot read '0'"),
    "dense row among sparse": (HEADER + "{0 1}\n1,2,u\n", 7, "expected a sparse row in braces"),
    "sparse row among dense": (HEADER + "1,2,u\n{0 1}\n", 7, "a sparse row among dense ones"),
    "declared twice": (TWICE, 3, "the attribute 'a b' is declared twice"),
    "unknown type": ("@relation r\n@attribute a complex\n", 2, "has the unknown type 'complex'"),
    "no type": ("@relation r\n@attribute a\n", 2, "has the unknown type ''"),
    "no name": ("@relation r\n@attribute\n", 2, "cannot read a name"),
    "category twice": ("@relation r\n@attribute a {x,x}\n", 2, "the same category twice"),
    "no category": ("@relation r\n@attribute a {}\n", 2, "an empty value"),
    "no closing brace": ("@relation r\n@attribute a {x,y\n", 2, "no closing brace"),
    "no relation": ("@attribute a real\n", 1, "@attribute is out of place"),
    "two relations": ("@relation a\n@relation b\n", 2, "@relation is out of place"),
    "no attribute": ("@relation a\n@data\n", 2, "@data is out of place"),
    "no data": ("@relation a\n@attribute a real\n", 2, "the file ends before @data"),
    "empty file": ("", 1, "the file is empty"),
    "something else": ("a,b\n1,2\n", 1, "expected @relation, @attribute or @data, found 'a,b'"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_broken_text(tmp_path, case, line_end):
    text, line, reason = BROKEN[case]
    path = tmp_path / "broken.arff"
    path.write_bytes(text.replace("\n", line_end).encode(errors="surrogateescape"))
    with pytest.raises(ArffError, match=re.escape(reason)) as caught:
        load_arff(path)
    assert caught.value.line == line
    assert str(pickle.loads(pickle.dumps(caught.value))).startswith(f"{path}, line {line}: ")


def test_the_line_is_right_far_down_a_large_file(tmp_path):
    path = tmp_path / "long.arff"
    path.write_text(HEADER + "1,2.5,u\n" * 60_000 + "% comment\n\n1,2.5,w\n" + "1,2.5,u\n" * 9)
    with pytest.raises(ArffError) as caught:
        load_arff(path)
    assert caught.value.line == 5 + 60_000 + 2 + 1


@pytest.mark.parametrize("value", ["1", "'1'"])
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,2,u v\n", "expected a comma before 'v'"),
        ("1,2,u\tv\n", "expected a comma before 'v'"),
        ("1,2,u\x1cv\n", "expected a comma before"),
        ("1,2,u\u2003v\n", "expected a comma before"),
        ("1,2,{u}\n", "cannot read '{u}'"),
        ("1,2,\n", "an empty value"),
        ("{2 u\x1cv}\n", "expected a comma before"),
        ("{2 u\u2003v}\n", "expected a comma before"),
        ("{2 u v}\n", "expected a comma before"),
    ],
)
def test_attributes_that_are_left_out_are_checked_too(tmp_path, row, reason, value):
    path = tmp_path / "r.arff"
    good = f"{{0 {value}}}\n" if row.startswith("{") else f"{value},2,u\n"
    path.write_text(HEADER.replace("{u,v}", "string") + good + row, "utf-8")
    with pytest.raises(ArffError, match=re.escape(f"line 7: {reason}")):
        load_arff(path, ignore=["c"])


@pytest.mark.parametrize("value", ["1", "'1'"])
@pytest.mark.parametrize("category", ["%x", "a b", "a{b}", "a\u2003b"])
def test_a_category_that_needs_quotes_is_read_in_quotes_only(tmp_path, category, value):
    path = tmp_path / "r.arff"
    header = f"@relation r\n@attribute c {{'{category}',u,v}}\n@attribute y {{0,1}}\n@data\n"
    path.write_text(f"{header}'{category}',1\nu,0\n", "utf-8")
    assert load_arff(path, labels=["y"]).data.tolist() == [[1, 0, 0], [0, 1, 0]]
    path.write_text(f"{header}{category},{value}\nu,0\n", "utf-8")
    if category == "%x":
        assert load_arff(path, labels=["y"]).data.tolist() == [[0, 1, 0]]
    else:
        with pytest.raises(ArffError, match="line 5: "):
            load_arff(path, labels=["y"])


def test_latin_1_is_accepted_in_comments(tmp_path):
    path = tmp_path / "latin.arff"
    path.write_bytes(b"% \xe9\n" + HEADER.encode() + b"1,2,u\n% \xe9\n0,1,v\n")
    assert load_arff(path).data.shape == (2, 2)


@pytest.mark.parametrize("start", ["", "@relation r\n@attribute a {", HEADER, HEADER + "1,2,'"])
def test_a_very_long_line_is_refused(tmp_path, start):
    path = tmp_path / "line.arff"
    path.write_text(start + "1," * 10_000_000)
    with pytest.raises(ArffError, match="a line longer than 16777216 characters"):
        load_arff(path)


LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
BOMB = f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]><labels>&a9;</labels>'


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (BOMB, "not well-formed XML (limit on input amplification factor"),
        ("<labels><label name='y'></labels>", "line 1: not well-formed XML"),
        ("<labels>\n<label/></labels>", "not <labels> of <label name"),
        ("<labels></labels>", "not <labels> of <label name"),
        ("<html><label name='y'/></html>", "not <labels> of <label name"),
        ("<labels><label name='y'/><label name='y'/></labels>", "a label is listed twice"),
        ("<labels><label name='z'/></labels>", "names 'z', and the file has no such attribute"),
        ("<?xml version='1.0' encoding='nonsense'?><labels/>", "cannot decode the XML"),
        ("<?xml version='1.0' encoding='idna'?><labels/>", "cannot decode the XML"),
    ],
)
def test_wrong_xml(tmp_path, xml, reason):
    path = tmp_path / "r.arff"
    path.write_text(HEADER + "1,2,u\n")
    path.with_suffix(".xml").write_text(xml)
    with pytest.raises(ArffError, match=re.escape(reason)):
        load_arff(path)
