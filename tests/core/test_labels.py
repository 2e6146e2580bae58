import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from skml_kalda._core.labels import indicator, omega_weighted, row_weighted

Y = np.array([[1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0]])

MATRIX_FORMS = {
    "int": Y,
    "float32": Y.astype(np.float32),
    "bool": Y.astype(bool),
    "object": Y.astype(object),
    "list": Y.tolist(),
    "DataFrame": pd.DataFrame(Y, columns=list("abc")),
    "sparse DataFrame": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y)),
    **{
        kind.__name__: kind(Y)
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for kind in (getattr(sparse, f"{form}_array"), getattr(sparse, f"{form}_matrix"))
    },
}


@pytest.mark.parametrize("form", MATRIX_FORMS)
def test_every_form_of_indicator_matrix_is_the_same(form):
    matrix, classes, is_matrix, unknown = indicator(MATRIX_FORMS[form])
    np.testing.assert_array_equal(matrix.toarray(), Y)
    names = list("abc") if form == "DataFrame" else [0, 1, 2]
    np.testing.assert_array_equal(classes, names)
    assert unknown is None
    assert matrix.nnz == Y.sum()
    assert is_matrix


@pytest.mark.parametrize(
    "y",
    [["b", "a", "b"], [7, -1, 7], (True, False, True), pd.Series(["y", "x", "y"])],
    ids=["str", "int", "bool", "Series"],
)
def test_class_labels_become_one_column_each(y):
    matrix, classes, is_matrix, _ = indicator(y)
    np.testing.assert_array_equal(matrix.toarray(), [[0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(classes, np.unique(y))
    assert not is_matrix


UNKNOWN = np.where([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0]], np.nan, Y)
UNKNOWN_FORMS = {
    "float": UNKNOWN,
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
    found = indicator(y, allow_unknown=True)
    np.testing.assert_array_equal(found.matrix.toarray(), np.nan_to_num(UNKNOWN))
    np.testing.assert_array_equal(found.unknown.toarray(), np.isnan(UNKNOWN))
    assert found.matrix.nnz == np.nansum(UNKNOWN)
    with pytest.raises(ValueError, match=r"unknown labels \(NaN\) in the columns"):
        indicator(y)


def test_filled_labels_are_the_known_mean():
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    filled = indicator(UNKNOWN, allow_unknown=True).filled(weight).matrix.toarray()
    frame = np.ma.masked_invalid(UNKNOWN)
    expected = np.where(np.isnan(UNKNOWN), np.ma.average(frame, axis=0, weights=weight), UNKNOWN)
    np.testing.assert_allclose(filled, expected)


@pytest.mark.parametrize(
    "names",
    [["sea", "sun", "sky"], [10, 20, 30], ["sea", 2, "sky"], [("a", 1), ("a", 2), ("b", 1)]],
    ids=["str", "int", "both", "compound"],
)
def test_columns_of_a_data_frame_are_the_names_of_labels(names):
    assert indicator(pd.DataFrame(Y, columns=names)).classes.tolist() == names


def test_columns_of_a_polars_frame_are_the_names_of_labels():
    assert indicator(pl.DataFrame(Y, schema=["a", "b", "c"])).classes.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "y",
    [
        [["sea", "sun"], ["sea"], []],
        [["sea", "sun"], ["sky", "sea"]],
        [{"sea", "sun"}, {"sea"}],
        pd.Series([["sea"], ["sun", "sea"]]),
        np.array([frozenset(["sea"]), frozenset()], dtype=object),
    ],
    ids=["ragged", "of one length", "sets", "Series", "array"],
)
def test_lists_of_names_show_the_line_to_write(y):
    with pytest.raises(ValueError, match="MultiLabelBinarizer: ") as error:
        indicator(y)
    scope = {"MultiLabelBinarizer": MultiLabelBinarizer, "pd": pd, "y": y}
    exec(str(error.value).rpartition("MultiLabelBinarizer: ")[2], scope)
    found = indicator(scope["y"])
    named = [set(found.classes[row.indices]) for row in found.matrix]
    assert named == [set(each) for each in y]


@pytest.mark.parametrize(
    "y",
    [
        np.array([1.0, np.nan, 2.0]),
        pd.Series(["sea", None, "sun"]),
        pd.Series([1, None, 2], dtype="Int64"),
    ],
    ids=["float", "str", "Int64"],
)
def test_rows_without_a_class_show_the_line_to_write(y):
    with pytest.raises(ValueError, match=r"no class \(NaN\) in 1 row") as error:
        indicator(y)
    scope = {"pd": pd, "X": np.zeros((3, 1)), "y": y}
    exec(str(error.value).rpartition("rows: ")[2], scope)
    assert indicator(scope["y"]).matrix.shape == (2, 2)


def test_errors_name_the_column():
    with pytest.raises(ValueError, match="contains 2 in the column 'sun'"):
        indicator(pd.DataFrame({"sea": [0, 1], "sun": [1, 2]}))
    with pytest.raises(ValueError, match="contains 'yes' in the column 'sun'"):
        indicator(pd.DataFrame({"sea": [0, 1], "sun": ["yes", None]}))
    many = pd.DataFrame(np.full((2, 12), np.nan), columns=[f"l{i}" for i in range(12)])
    with pytest.raises(ValueError, match="'l9', and 2 more"):
        indicator(many)


def test_stored_zeros_are_no_labels():
    y = sparse.csr_array((np.array([1, 0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert indicator(y).matrix.nnz == 1


def test_the_caller_keeps_its_matrix():
    # Unsorted and with a stored zero, as a careless conversion would tidy up in place.
    y = sparse.csr_array((np.array([1, 0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    indicator(y)
    np.testing.assert_array_equal(y.indices, [1, 0])
    np.testing.assert_array_equal(y.data, [1, 0])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (2 * Y, "contains 2"),
        (Y - 1, "contains -1"),
        (sparse.csr_array(2 * Y), "contains 2"),
        (sparse.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(2, 2)), "contains 2"),
        (np.where(Y, np.nan, 0), "unknown labels .NaN. in the columns .0, 2."),
        (Y.astype(str), "contains '"),
        ([["a", "b"], ["c"]], "different lengths.*MultiLabelBinarizer"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        ([0.1, 0.7, 0.2], "continuous"),
        ([1.0, np.nan, 2.0], "NaN"),
    ],
    ids=str,
)
def test_anything_else_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        indicator(y)


def test_omega_counts_a_row_once_for_each_label():
    labels, weight = omega_weighted(indicator(Y).matrix, np.array([1.0, 1.0, 3.0, 1.0]))
    np.testing.assert_array_equal(weight, [2, 0, 3, 1])
    np.testing.assert_array_equal(
        labels.toarray(), [[0.5, 0, 0.5], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    )
    np.testing.assert_array_equal(labels.T @ weight, [2, 0, 4])  # n_k


def test_regression_counts_every_row_once():
    matrix = indicator(Y).matrix
    labels, weight = row_weighted(matrix, np.ones(4))
    np.testing.assert_array_equal(labels.toarray(), Y)
    np.testing.assert_array_equal(weight, 1)
