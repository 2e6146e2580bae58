import numpy as np
import pandas as pd
import pytest
from scipy import sparse

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
