"""Which attributes are labels, and what their values are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import ArffError, load_arff

HEADER = """@relation toy
@attribute a numeric
@attribute 'tag one' {0,1}
@attribute b numeric
@attribute tag2 {1,0}
@data
"""
ROWS = "1,1,2,0\n3,0,4,1\n5,1,6,1\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.arff"
    path.write_text(HEADER + ROWS)
    return path


XML = '<?xml version="1.0" encoding="utf-8"?>\n'
NESTED = '<labels><label name="tag2"><label name="tag one"/></label></labels>'
SPACED = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'.format(
    '<label name="tag2"></label><label name="tag one"></label>'
)
PREFIXED = '<m:labels xmlns:m="urn:m"><m:label name="tag2"/><m:label name="tag one"/></m:labels>'


@pytest.mark.parametrize("body", [NESTED, SPACED, PREFIXED])
def test_xml_labels_are_in_the_order_of_the_file_and_a_list_in_its_own(toy, tmp_path, body):
    (tmp_path / "other.xml").write_text(XML + body)
    found = load_arff(toy, labels=tmp_path / "other.xml")
    assert found.target_names == ["tag one", "tag2"]
    assert found.feature_names == ["a", "b"]
    assert_array_equal(found.target, [[1, 0], [0, 1], [1, 1]])
    assert_array_equal(found.data, [[1, 2], [3, 4], [5, 6]])
    found = load_arff(toy, labels=["tag2", "tag one"])
    assert_array_equal(found.target, [[0, 1], [1, 0], [1, 1]])


def test_the_xml_beside_the_file_goes_before_the_option_of_the_relation(toy):
    toy.write_text(toy.read_text().replace("toy", "'toy: -C -1'", 1))
    assert load_arff(toy).target_names == ["tag2"]
    toy.with_suffix(".xml").write_text('<labels><label name="tag one"/></labels>')
    assert load_arff(toy).target_names == ["tag one"]


@pytest.mark.parametrize(
    ("option", "names"), [("-C 1", ["y1"]), ("-C -1", ["y3"]), ("-C 2 -S 9", ["y1", "y2"])]
)
def test_meka_option_counts_from_the_front_or_from_the_back(tmp_path, option, names):
    path = tmp_path / "meka.arff"
    lines = "".join(f"@attribute y{i} {{0,1}}\n" for i in (1, 2, 3))
    path.write_text(f"@relation 'meka: {option}'\n{lines}@data\n1,0,1\n")
    assert load_arff(path).target_names == names


def test_a_last_attribute_called_class_is_the_class(tmp_path):
    path = tmp_path / "class.arff"
    path.write_text("@relation r\n@attribute f {a,b,c}\n@attribute Class {x,y}\n@data\nb,y\na,x\n")
    found = load_arff(path)
    assert found.target.tolist() == ["y", "x"]
    assert found.feature_names == ["f=a", "f=b", "f=c"]
    assert_array_equal(found.data, [[0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(("declared", "cells"), [("{FALSE,TRUE}", "TRUE,FALSE"), ("real", "1,0")])
def test_truth_values_and_numbers_are_labels_too(tmp_path, declared, cells):
    path = tmp_path / "openml.arff"
    lines = f"@relation r\n@attribute y1 {declared}\n@attribute y2 {declared}\n@attribute a real\n"
    path.write_text(f"{lines}@data\n{cells},7\n")
    assert_array_equal(load_arff(path, labels=2).target, [[1, 0]])


def test_sparse_cells_left_out_are_the_first_category(tmp_path):
    path = tmp_path / "sparse.arff"
    path.write_text(
        "@relation 'r: -C 2'\n@attribute y {0,1}\n@attribute z {1,0}\n@attribute a real\n"
        "@attribute b {1,0}\n@attribute c {u,v,w}\n@data\n{}\n{0 1,1 0,2 5,3 0,4 v}\n{4 ?}\n"
    )
    found = load_arff(path)
    assert_array_equal(found.target, [[0, 1], [1, 0], [0, 1]])
    rows = [[0, 1, 1, 0, 0], [5, 0, 0, 1, 0], [0, 1, *[np.nan] * 3]]
    assert_array_equal(found.data.toarray(), rows)
    assert found.feature_names == ["a", "b", "c=u", "c=v", "c=w"]


def test_strings_and_dates_can_be_left_out(tmp_path):
    path = tmp_path / "string.arff"
    path.write_text(
        "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute id string\n"
        "@attribute day date 'yyyy-MM-dd'\n@attribute a numeric % with a comment\n"
        "@data\n1,'x, y',\"2001-01-01\",2\n0,plain,?,3\n"
    )
    with pytest.raises(ArffError, match="'id' is a string: leave it out"):
        load_arff(path)
    assert_array_equal(load_arff(path, ignore=["id", "day"]).data, [[2], [3]])


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (["nowhere"], "labels names 'nowhere', and the file has no such attribute"),
        (["tag2", "tag2"], "labels names an attribute twice"),
        (0, "0 labels asked for, 4 attributes declared"),
        (-9, "-9 labels asked for"),
        (-2, "no label|not declared|neither 0 nor 1"),
        (None, "which of 2 nominal attributes are the labels"),
    ],
)
def test_wrong_labels_end_in_one_arff_error(toy, labels, reason):
    with pytest.raises(ArffError, match=reason) as caught:
        load_arff(toy, labels=labels)
    assert caught.value.path == toy
    with pytest.raises(TypeError, match="ignore must be a list"):
        load_arff(toy, ignore="a")
