"""Tables of the user: what is read, what is left out and told, and where a wrong file is wrong."""

import bz2
import gzip
import lzma
import zipfile
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from skml_kalda.datasets import ArffError, TableError, load_table, save_arff
from tests.conftest import made

LABELS = ["label_a", "label_b", "label_c"]


def frame(n=12):
    rng = np.random.default_rng(0)
    Y = (rng.random((n, 3)) < 0.5).astype(int)
    Y[:3] = np.eye(3)
    X = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["x", "y"])
    return pd.concat([X, pd.DataFrame(Y, columns=LABELS)], axis=1)


WRITE = {
    "mine.csv": lambda f, path: f.to_csv(path, index=False),
    "semicolons.csv": lambda f, path: f.to_csv(path, index=False, sep=";"),
    "bom.csv": lambda f, path: f.to_csv(path, index=False, encoding="utf-8-sig"),
    "mine.tsv": lambda f, path: f.to_csv(path, index=False, sep="\t"),
    "mine.csv.gz": lambda f, path: f.to_csv(path, index=False),
    "mine.parquet": lambda f, path: f.to_parquet(path),
    "mine.arff": lambda f, path: save_arff(
        path, f.iloc[:, :2].to_numpy(), f[LABELS].to_numpy(),
        feature_names=["x", "y"], target_names=LABELS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("labels", ["label_*", LABELS, "label_a,label_b, label_c"])
def test_every_kind_of_file_gives_the_same_data(name, labels, tmp_path):
    WRITE[name](frame(), tmp_path / name)
    table = load_table(tmp_path / name, labels=labels)
    assert np.allclose(table.data, frame()[["x", "y"]])
    assert (table.target == frame()[LABELS].to_numpy()).all()
    assert table.feature_names == ["x", "y"]
    assert table.target_names == LABELS
    assert table.notes == []


def test_words_are_encoded_and_what_describes_no_row_is_left_out(tmp_path):
    whole = frame().assign(
        color=["red", "green", "blue", None] * 3,
        big=["yes", "no"] * 6,
        name=[f"row {i}" for i in range(12)],
        number=range(100, 112),
        empty=None,
        when=pd.date_range("2024-01-01", periods=12),
    )
    whole.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="left out") as caught:
        table = load_table(tmp_path / "t.parquet", labels="label_*")
    assert table.feature_names == ["x", "y", "color=blue", "color=green", "color=red", "big=yes"]
    assert table.data[0, 2:].tolist() == [0, 0, 1, 1]
    assert np.isnan(table.data[3, 2:5]).all()
    reasons = {
        "name": "it identifies the samples: it has 12 different values in 12 samples",
        "number": "it numbers the samples",
        "empty": "it has no values",
        "when": "it holds dates or times",
    }
    told = [f"column {name!r} is left out because {why}" for name, why in reasons.items()]
    assert set(told) < set(table.notes)
    assert "column 'color' holds words: one-hot encoded in 3 columns" in table.notes
    assert "9 of 72 values are missing" in table.notes
    assert len(caught) == 4
    ignored = load_table(tmp_path / "t.parquet", labels="label_*", ignore=list(reasons))
    assert ignored.feature_names == table.feature_names


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y", "%m/%d/%y"])
def test_dates_in_a_text_file_are_left_out(form, tmp_path):
    days = pd.date_range("2024-01-01", periods=4).strftime(form)
    frame().assign(when=[*days, None] * 2 + [*days[:2]]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(UserWarning, match="'when' is left out because it holds dates or times"):
        assert load_table(tmp_path / "t.csv", labels="label_*").feature_names == ["x", "y"]


def test_one_label_column_is_a_class(tmp_path):
    classes = np.array(["cat", "dog", "cow"] * 4)
    whole = frame().assign(kind=classes, code=[-3.0, 1e300, 2.5] * 4)
    whole.to_csv(tmp_path / "t.csv", index=False)
    table = load_table(tmp_path / "t.csv", labels="kind")
    assert (table.target == classes).all()
    assert table.target_names == ["cat", "cow", "dog"]
    assert load_table(tmp_path / "t.csv", labels="code").target_names == ["-3", "1e+300", "2.5"]


@pytest.mark.parametrize("value", [("True", "False"), ("yes", "no"), ("1.0", "0.0"), ("1", "0")])
def test_labels_may_be_words_for_one_and_zero(value, tmp_path):
    words = frame()
    words[LABELS] = np.where(words[LABELS] > 0, *value)
    words.to_csv(tmp_path / "t.csv", index=False)
    assert (load_table(tmp_path / "t.csv", labels=-3).target == frame()[LABELS].to_numpy()).all()


WRONG = {
    "x,x,l,m\n1,2,0,1\n": "line 1: 2 columns are called 'x'",
    "1,2,0,1\n3,4,1,0\n": "line 1: the first line should name the columns, but it has numbers",
    "": "line 1: the first line is empty",
    "\nx,l,m\n": "line 1: the first line is empty, but it should name the columns",
    "x,l,m\n": "the table has no rows",
    "x,l,m\n1,0,1\n2,0\n": "line 3: 2 fields, but the header has 3",
    "x,l,m\n1,0,1,7\n2,0,1,7\n": "line 2: 4 fields, but the header has 3",
    "x,l,m\n1,0,1\n2,0,1,7\n": "line 3: 4 fields, but the header has 3",
    "x,l,m\n1,0,1\n\n2,0,3\n": "line 4: label 'm': '3' is neither 0 nor 1",
    "x,l,m\n1,0,1\n2,,1\n": "line 3: label 'l' has no value",
    "x,l,m\n1,0,1\n2,1,1\nabc,0,1\n": "line 4: column 'x': 'abc' is not a number",
    "x,l,m\n1,0,1\ninf,0,1\n": "line 3: column 'x': inf is not finite",
    'x,n,l,m\n1,"a\nb",0,1\n2,c,0,2\n': "line 4: label 'm': '2' is neither 0 nor 1",
    'x,n,l,m\n1,a,0,1\n\n2,"b,0,1\n3,c,1,0\n': 'line 4: a quotation mark (") is not closed',
    "l,m\n1,0\n": "every column is a label: no feature is left",
    "x,l1,m\n1,0,1\n": "no column is called 'l' (in labels); did you mean 'l1'? (columns: x,",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_one_error_with_its_line_or_column(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(TableError) as caught:
        load_table(path, labels="l,m")
    assert str(caught.value).startswith(str(path))
    assert WRONG[text] in str(caught.value)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("kind", ["csv", "svm", "arff"])
def test_a_damaged_compressed_file_is_one_error(kind, suffix, tmp_path):
    text = b"x,l,m\n" + np.random.default_rng(0).bytes(9000).hex().encode()
    whole = {"gz": gzip, "bz2": bz2, "xz": lzma}[suffix].compress(text)
    path = tmp_path / f"t.{kind}.{suffix}"
    for content in (whole[: len(whole) // 2], b"x,l,m\n1,0,1\n"):
        path.write_bytes(content)
        with pytest.raises((TableError, ArffError)) as caught:
            load_table(path, labels=None if kind == "svm" else -2)
        assert str(caught.value).startswith(str(path))


def test_values_that_are_not_finite_and_missing_ones_are_told_for_every_kind_of_file(tmp_path):
    X, Y = made(20, 5, 3)
    X[4, 2] = np.nan
    np.savez(tmp_path / "t.npz", X=X, Y=Y)
    assert load_table(tmp_path / "t.npz").notes == ["1 of 100 values are missing"]
    X[7, 3] = -np.inf
    np.savez(tmp_path / "t.npz", X=X, Y=Y)
    rows = [" ".join(f"{j}:{value}" for j, value in enumerate(row, start=1)) for row in X]
    (tmp_path / "t.svm").write_text("\n".join(f"0,1 {row}" for row in rows))
    for name in ("t.npz", "t.svm"):
        message = rf"{name}: feature 3 of row 7 is -inf, not finite \(both count from 0\)"
        with pytest.raises(TableError, match=message):
            load_table(tmp_path / name)


@pytest.mark.parametrize("labels", [None, 0, 9, ""])
def test_labels_must_be_named(labels, tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match=r"which columns are labels|the table has 5 columns"):
        load_table(tmp_path / "t.csv", labels=labels)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_encoding_of_a_text_file_is_found(encoding, end, tmp_path):
    names = frame().rename(columns={"x": "größe"}).assign(city=["São", "Rome", "Köln"] * 4)
    names.to_csv(tmp_path / "t.csv", index=False, encoding=encoding, lineterminator=end)
    guessed = encoding in ("cp1252", "latin-1")
    with pytest.warns(UserWarning, match="not UTF-8") if guessed else nullcontext():
        table = load_table(tmp_path / "t.csv", labels="label_*")
    assert table.feature_names == ["größe", "y", "city=Köln", "city=Rome", "city=São"]
    told = "not UTF-8: read as Windows-1252; if names look wrong, save the file as UTF-8"
    assert (told in table.notes) == guessed


@pytest.mark.filterwarnings("ignore:.*(decimal commas|thousands) in")
@pytest.mark.parametrize(
    ("separator", "words", "numbers"),
    [
        (";", ["3,5", "-0,25", "7", "1e-3"], [3.5, -0.25, 7, 0.001]),
        (";", ["1.234,5", "-12", ",5", "1.000"], [1234.5, -12, 0.5, 1000]),
        (";", ["1,234", "5,678", "0,1", "2"], [1.234, 5.678, 0.1, 2]),
        (",", ["1,234", "5,678.5", "100", "2"], [1234, 5678.5, 100, 2]),
        (",", ["1,5", "5,678", "0,1", "2"], [1.5, 5.678, 0.1, 2]),
        ("\t", ["1,234.5", "5,678,000", "0.5", "2"], [1234.5, 5678000, 0.5, 2]),
    ],
)
def test_decimal_commas_and_groups_of_thousands(separator, words, numbers, tmp_path):
    whole = frame().assign(z=[*words, None] * 2 + words[:2], label_a=["1,0", "0,0"] * 6)
    whole.to_csv(tmp_path / "t.csv", index=False, sep=separator)
    table = load_table(tmp_path / "t.csv", labels="label_*")
    assert table.feature_names == ["x", "y", "z"]
    expected = [*numbers, np.nan] * 2 + numbers[:2]
    assert np.array_equal(table.data[:, 2], expected, equal_nan=True)
    assert table.target[:, 0].tolist() == [1, 0] * 6
    assert any("'z'" in note for note in table.notes)


@pytest.mark.parametrize("words", [["1,2,3", "2"], ["3,5", "3.5"], ["a,5", "2,5"]])
def test_words_that_are_not_all_numbers_stay_words(words, tmp_path):
    frame().assign(z=words * 6).to_csv(tmp_path / "t.csv", index=False, sep=";")
    with pytest.raises(TableError, match="is not a number") if words[1] != "2,5" else nullcontext():
        table = load_table(tmp_path / "t.csv", labels="label_*")
        assert table.feature_names == ["x", "y", "z=a,5"]


def test_an_arff_file_tells_what_was_encoded_and_is_missing(tmp_path):
    header = "@relation 'r: -C 2'\n@attribute l {0,1}\n@attribute m {0,1}\n"
    header += "@attribute x numeric\n@attribute 'my color' {red,green,'dark blue'}\n@data\n"
    (tmp_path / "t.arff").write_text(header + "0,1,2.5,red\n1,0,?,'dark blue'\n")
    told = ["column 'my color' holds words: one-hot encoded in 3 columns"]
    assert load_table(tmp_path / "t.arff").notes == [*told, "1 of 8 values are missing"]


def test_svmlight_files_are_those_of_scikit_learn(tmp_path):
    X, Y = made(20, 5, 3)
    Y[4] = 0
    dump_svmlight_file(X, sparse.csr_matrix(Y), str(tmp_path / "t.svm"), multilabel=True)
    table = load_table(tmp_path / "t.svm")
    assert np.allclose(table.data.toarray(), X)
    assert (table.target == Y).all()
    assert table.target_names == ["0", "1", "2"]


def test_svmlight_classes_and_labels_stay_as_they_stand_in_the_file(tmp_path):
    path = tmp_path / "t.svm"
    big = ["1000000", "1000001", "1000002", "12345678901234567890", "12345678901234567891", "-1"]
    path.write_text("".join(f"{name} 1:0.5 # 3:7\n\n" for name in [*big, "1.50"]))
    table = load_table(path)
    assert table.target.tolist() == [*big, "1.50"]
    assert table.target_names == ["-1", "1.50", *big[:5]]
    path.write_text("1000000,1000001 1:1\n 1:2\n1000001 2:1\n")
    table = load_table(path)
    assert table.target_names == ["1000000", "1000001"]
    assert table.target.tolist() == [[1, 1], [0, 0], [0, 1]]


def test_files_of_the_extreme_classification_repository(tmp_path):
    text = b"3 6 4\n0,3 0:1.5 5:2\n 1:0.25\n2 4:1e-3\n"
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(text))
    table = load_table(tmp_path / "t.txt.gz")
    expected = np.zeros((3, 6))
    expected[[0, 0, 1, 2], [0, 5, 1, 4]] = [1.5, 2, 0.25, 1e-3]
    assert np.allclose(table.data.toarray(), expected)
    assert table.target.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"3 6 4\n0 0:1\n1 1:1\n", "the first line says 3 rows, and 2 follow"),
        (b"2 6 4\n0 0:1\n7 1:1\n", "label 7 is not one of the 4"),
        (b"2 6 4\n0 0:1\n1 1:one\n", "line 3: not a row of labels and feature:value pairs: '1 1:"),
        (b"1,2 1:1\nx 1:1\n", "line 2: not a row of labels"),
        (b"2 3 4\n 0:1\n 1:1\n", "no row has a label"),
        (b"1 2147483647:1\n", "2147483647 features in a file of 15 bytes: is one of its numbers"),
        (b"1 2147483647 4\n3 0:1\n", "2147483647 features in a file of 21 bytes"),
        (b"1 2 2147483647\n3 0:1\n", "2147483647 labels in a file of 21 bytes"),
        (b"1 " + b"1:111 " * 90 + b"x\n", "line 1: not a row of labels"),
    ],
)
def test_a_wrong_svmlight_file_is_named_by_its_line(text, message, tmp_path):
    (tmp_path / "t.svm").write_bytes(text)
    with pytest.raises(TableError) as caught:
        load_table(tmp_path / "t.svm")
    assert message in str(caught.value)


def test_columns_of_lists_are_no_features_and_no_classes(tmp_path):
    frame(4).assign(tags=[["a"], ["b"], ["a", "b"], []]).to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="column 'tags' is left out because it holds lists"):
        assert load_table(tmp_path / "t.parquet", labels=LABELS).feature_names == ["x", "y"]
    with pytest.raises(TableError, match="column 'tags' holds lists: make each label a column"):
        load_table(tmp_path / "t.parquet", labels="tags")


@pytest.mark.parametrize(
    "change", [(b"(20, 5)", b"(20, 5,"), (b"|S1", b"|O8"), (b"b\0\0\0", b"b\0\0\xff")]
)
def test_a_damaged_archive_is_one_error_and_loads_no_object(change, tmp_path):
    path = tmp_path / "t.npz"
    names = np.array(["a", "b"] * 10)
    np.savez(path, X=np.ones((20, 5)), Y=names, Z=names.astype("S"))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content.replace(*change))
    with pytest.raises(TableError, match="this is not an archive of plain arrays"):
        load_table(path)


def test_numpy_archives(tmp_path):
    X, Y = made(20, 5, 3)
    np.savez(tmp_path / "t.npz", X=X, Y=Y)
    table = load_table(tmp_path / "t.npz")
    assert np.allclose(table.data, X)
    assert (table.target == Y).all()
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X))
    with pytest.raises(TableError, match="no array of labels"):
        load_table(tmp_path / "s.npz")
    for arrays, message in [
        ({"features": X, "other": Y}, "no array of labels: one of Y, y, target, labels"),
        ({"X": X, "Y": Y[:5]}, r"shape \(20, 5\), and the labels \(5, 3\)"),
        ({"X": X, "Y": Y * 2}, "is 2, neither 0 nor 1"),
    ]:
        np.savez(tmp_path / "t.npz", **arrays)
        with pytest.raises(TableError, match=message):
            load_table(tmp_path / "t.npz")
