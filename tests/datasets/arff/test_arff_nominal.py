"""Nominal features: two categories make one column, many an error, identifiers are left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from skml_kalda.datasets import ArffError, load_arff

NAN = np.nan


def write(path, declared, cells, sparse=False, label="1"):
    """Write a feature `f` before a numeric one that counts the rows and a {0,1} label."""
    header = f"@relation r\n@attribute f {declared}\n@attribute a real\n@attribute y {{0,1}}\n"
    row = "{{0 {},1 {},2 {}}}\n" if sparse else "{},{},{}\n"
    rows = (row.format(cell, i, label) for i, cell in enumerate(cells, 1))
    path.write_text(f"{header}@data\n{''.join(rows)}")
    return path


def loaded(path, **options):
    found = load_arff(path, labels=-1, **options)
    return found.feature_names, found.data.toarray() if issparse(found.data) else found.data


# Rows with quotes are read one by one, others in bulk.
both_ways = pytest.mark.parametrize("label", ["1", "'1'"])


@both_ways
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("declared", "ones", "zero"),
    [
        ("{YES,NO}", ["YES"], "NO"),
        ("{no,yes}", ["yes"], "no"),
        ("{True,False}", ["True"], "False"),
        ("{FALSE,TRUE}", ["TRUE"], "FALSE"),
        ("{y,n}", ["y"], "n"),
        ("{T,F}", ["T"], "F"),
        ("{1,-1}", ["1"], "-1"),
        ("{male,female}", ["female"], "male"),
        ("{2,1}", ["1"], "2"),
        ("{yes,maybe}", ["maybe"], "yes"),
        ("{0,1}", ["1"], "0"),
        ("{1,0}", ["1"], "0"),
        ("{u}", ["u"], "?"),
        ("{u,v,w}", ["u", "v", "w"], "?"),
    ],
)
def test_two_categories_are_one_column_and_others_have_one_each(
    tmp_path, declared, ones, zero, sparse, label
):
    names, data = loaded(write(tmp_path / "r.arff", declared, [*ones, zero, "?"], sparse, label))
    plain = set(declared) == set("{0,1}")
    assert names == ["f" if plain else f"f={one}" for one in ones] + ["a"]
    last = [NAN if zero == "?" else 0] * len(ones)
    assert_array_equal(data[:, :-1], [*np.eye(len(ones)), last, [NAN] * len(ones)])


IDENTIFIERS = {
    "every row": [f"id{i}" for i in range(30)],
    "nine of ten rows": [f"id{i % 27}" for i in range(30)],
    "known rows": [f"id{i}" for i in range(15)] + ["?"] * 15,
    "quoted": [f"'id {i}'" for i in range(30)],
    "long": [f"{i}" * 80 for i in range(10, 40)],
    "not ASCII": [f"é{i}" for i in range(30)],
}


def declaration(kind, cells):
    categories = ",".join(cell for cell in dict.fromkeys(cells) if cell != "?")
    return kind if kind == "string" else f"{{{categories}}}"


@both_ways
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["string", "nominal"])
@pytest.mark.parametrize("case", IDENTIFIERS)
def test_an_identifier_is_left_out_with_a_warning(tmp_path, case, kind, sparse, label):
    cells = IDENTIFIERS[case]
    path = write(tmp_path / "r.arff", declaration(kind, cells), cells, sparse, label)
    known = [cell for cell in cells if cell != "?"]
    counts = f"{len(set(known))} different values in {len(known)} samples"
    with pytest.warns(UserWarning, match=rf"r\.arff: the feature 'f' is left out .* {counts}") as w:
        (names, data), ignored = loaded(path), loaded(path, ignore=["f"])
    assert names == ignored[0] == ["a"]
    assert [each.filename for each in w] == [__file__]  # none for what is to be ignored
    assert_array_equal(data.ravel(), np.arange(1, 31))


DESCRIPTIONS = {
    "few rows": [f"v{i}" for i in range(9)],
    "eight of ten rows": [f"v{i % 24}" for i in range(30)],
    "repeated later": [f"v{i}" for i in range(20)] * 40,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_a_feature_that_repeats_its_values_is_encoded(tmp_path, case, sparse):
    cells = DESCRIPTIONS[case]
    path = write(tmp_path / "r.arff", declaration("nominal", cells), cells, sparse)
    names, data = loaded(path)
    categories = list(dict.fromkeys(cells))
    assert names == [*(f"f={category}" for category in categories), "a"]
    expected = [[cell == category for category in categories] for cell in cells]
    assert_array_equal(data[:, :-1], expected)


def test_too_many_categories_are_refused(tmp_path):
    path = write(tmp_path / "r.arff", f"{{{','.join(map(str, range(20_000)))}}}", ["7"] * 100)
    reason = "'f' has 20000 categories, and at most 1000 are one-hot encoded: .*ignore"
    with pytest.raises(ArffError, match=reason):
        loaded(path)
    assert loaded(path, ignore=["f"])[1].shape == (100, 1)


@both_ways
@pytest.mark.parametrize("sparse", [False, True])
def test_nan_is_no_category(tmp_path, sparse, label):
    path = write(tmp_path / "r.arff", "{0,1}", ["1", "nan"], sparse, label)
    with pytest.raises(ArffError, match="'nan' is not a declared category of 'f'"):
        loaded(path)


@both_ways
def test_indices_may_have_leading_zeros(tmp_path, label):
    path = tmp_path / "r.arff"
    row = f"{{{'0' * 40} 1, 01 2.5, 002 {label}}}"
    write(path, "{0,1}", ["1"]).write_text(path.read_text().replace("1,1,1", row))
    assert_array_equal(loaded(path)[1], [[1, 2.5]])
