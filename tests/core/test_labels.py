"""Labels in every form mean the same, keep their names, and are refused with the line to write."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from skml_kalda import LDA, MDDM, OPLS, AlignmentScaler, KernelKaLDA, MultiLabelKaLDA
from tests.conftest import made

X, Y = made(30, 6, 3, unlabelled=0.2)
EXPECTED = OPLS(ridge=0.1).fit(X, Y)


def assert_labels(y, classes=(0, 1, 2), X=X, expected=EXPECTED):
    found = OPLS(ridge=0.1).fit(X, y)
    assert_array_equal(found.components_, expected.components_)
    assert found.classes_.tolist() == list(classes)


MATRIX_FORMS = {
    "float32": Y.astype(np.float32),
    "bool": Y.astype(bool),
    "object": Y.astype(object),
    "list": Y.tolist(),
    "sparse DataFrame": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y)),
    # Unsorted columns and zeros, as a careless conversion would tidy up in place.
    "stored zeros": sparse.csr_array(
        (Y[:, ::-1].ravel(), np.tile([2, 1, 0], 30), 3 * np.arange(31)), shape=(30, 3)
    ),
    **{
        kind.__name__: kind(Y)
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for kind in (getattr(sparse, f"{form}_array"), getattr(sparse, f"{form}_matrix"))
    },
}


@pytest.mark.parametrize("form", MATRIX_FORMS)
def test_every_form_of_indicator_matrix_is_the_same(form):
    y = MATRIX_FORMS[form]
    before = (y.indices.copy(), y.data.copy()) if form == "stored zeros" else ()
    assert_labels(y)
    for old, new in zip(before, (y.indices, y.data) if before else (), strict=True):
        assert_array_equal(new, old)


@pytest.mark.parametrize("form", [list, tuple, np.asarray, pd.Series, pd.Categorical])
@pytest.mark.parametrize("names", [["b", "a", "c"], [7, -1, 3], [True, False, True]], ids=str)
def test_class_labels_become_one_column_each_in_their_order(form, names):
    codes = np.arange(30) % 3
    y = [names[code] for code in codes]
    classes = sorted(set(names))
    one_hot = np.array([[label == each for each in classes] for label in y]).astype(int)
    expected = LDA(ridge=0.1).fit(X, one_hot)
    found = LDA(ridge=0.1).fit(X, form(y))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-12)
    assert found.classes_.tolist() == classes


UNKNOWN = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
UNKNOWN_FORMS = {
    "float32": UNKNOWN.astype(np.float32),
    "list": UNKNOWN.tolist(),
    "None": np.where(np.isnan(UNKNOWN), None, UNKNOWN.astype(object)),
    "DataFrame": pd.DataFrame(UNKNOWN),
    "Int64": pd.DataFrame(UNKNOWN).astype("Int64"),
    "boolean": pd.DataFrame(UNKNOWN).astype("boolean"),
    "some nullable": pd.DataFrame(UNKNOWN).astype({0: "boolean", 2: "Float64"}),
    "polars": pl.DataFrame(UNKNOWN, nan_to_null=True),
    "polars bool": pl.DataFrame(UNKNOWN, nan_to_null=True).cast(pl.Boolean),
    "csr": sparse.csr_array(UNKNOWN),
    "coo": sparse.coo_matrix(UNKNOWN),
}


@pytest.mark.parametrize("form", UNKNOWN_FORMS)
def test_missing_values_are_unknown_labels(form):
    y = UNKNOWN_FORMS[form]
    names = [f"column_{i}" for i in range(3)] if "polars" in form else range(3)
    assert_labels(y, names, expected=OPLS(ridge=0.1).fit(X, UNKNOWN))
    with pytest.raises(ValueError, match=r"unknown labels .NaN."):
        MDDM(label_kernel=np.eye(30)).fit(X, y)


@pytest.mark.parametrize(
    "names",
    [["sun", "sea", "sky"], [20, 10, 30], ["sun", 2, "sky"], [("a", 1), ("a", 2), ("b", 1)]],
    ids=["str", "int", "both", "compound"],
)
def test_columns_of_a_data_frame_are_the_names_of_labels(names):
    assert_labels(pd.DataFrame(Y, columns=names), names)
    if all(isinstance(name, str) for name in names):
        assert_labels(pl.DataFrame(Y, schema=names), names)


NAMES = ["sun", "sea", "sky"]


@pytest.mark.parametrize(
    "reducer",
    [AlignmentScaler(), KernelKaLDA(random_state=0), MultiLabelKaLDA(), LDA()],
    ids=lambda each: type(each).__name__,
)
def test_batches_keep_the_names_and_order_of_columns(reducer):
    y = pd.DataFrame(Y, columns=NAMES)
    expected = reducer.fit(X, y).transform(X)
    reducer.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_array_equal(reducer.classes_, NAMES)
    np.testing.assert_allclose(reducer.transform(X), expected, atol=1e-3)
    reducer.partial_fit(X[:20], Y[:20])  # numbers stand for the same columns
    with pytest.raises(ValueError, match=r"\['sea', 'sun', 'sky'\]"):
        reducer.partial_fit(X[20:], y[20:][["sea", "sun", "sky"]])


def test_messages_name_labels():
    y = pd.DataFrame(Y, columns=NAMES)
    with pytest.warns(UserWarning, match=r"\['snow'\]"):
        assert LDA().fit(X, y.assign(snow=0)).classes_.tolist() == NAMES
    with pytest.raises(ValueError, match=r"\['sea'\]"):
        LDA().fit(X, y[["sea"]])
    with pytest.raises(ValueError, match=r"2.*'sun'"):
        LDA().fit(X, y * [2, 1, 1])
    with pytest.raises(ValueError, match=r"'yes'.*'sun'"):
        LDA().fit(X[:2], pd.DataFrame({"sea": [0, 1], "sun": ["yes", None]}))
    many = pd.DataFrame(np.full((2, 12), np.nan), columns=[f"l{i}" for i in range(12)])
    with pytest.raises(ValueError, match="'l9', and 2 more"):
        MDDM(label_kernel=np.eye(2)).fit(X[:2], many)


@pytest.mark.parametrize(
    "y",
    [
        [["sea", "sun"], ["sea"], []],
        [["sea", "sun"], ["sky", "sea"]],
        [{"sea", "sun"}, {"sea"}],
        pd.Series([["sea"], ["sun", "sea"]]),
        np.array([frozenset(["sea"]), frozenset(["sun"])], dtype=object),
    ],
    ids=["ragged", "of one length", "sets", "Series", "array"],
)
def test_lists_of_names_show_the_line_to_write(y):
    with pytest.raises(ValueError, match="MultiLabelBinarizer: ") as error:
        LDA().fit(X[: len(y)], y)
    scope = {"MultiLabelBinarizer": MultiLabelBinarizer, "pd": pd, "y": y}
    exec(str(error.value).rpartition("MultiLabelBinarizer: ")[2], scope)
    named = pd.DataFrame(scope["y"])
    assert [set(named.columns[row == 1]) for row in named.to_numpy()] == [set(each) for each in y]


@pytest.mark.parametrize(
    "y",
    [[1.0, np.nan, 2.0, 1.0], ["sea", None, "sun", "sea"], pd.array([1, None, 2, 1], "Int64")],
    ids=["float", "str", "Int64"],
)
def test_samples_without_a_class_show_the_line_to_write(y):
    y = pd.Series(y)
    with pytest.raises(ValueError, match=r"NaN") as error:
        LDA().fit(X[:4], y)
    scope = {"pd": pd, "X": X[:4], "y": y}
    exec(str(error.value).rpartition(": ")[2], scope)
    assert LDA().fit(scope["X"], scope["y"]).classes_.tolist() == sorted(y.dropna().unique())


def test_a_label_other_than_0_and_1_is_found_in_any_block():
    y = np.zeros((2**19 + 60, 2), dtype=np.int8)
    y[-1, 1] = 2
    with pytest.raises(ValueError, match="contains 2"):
        LDA().fit(np.zeros((len(y), 1)), y)
