"""What a direction means, against formulas written out with numpy and pandas."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import MLkNN, MultiLabelKaLDA
from skml_kalda.inspection import label_imbalance, label_profile, loadings
from tests.conftest import made
from tests.inspection.conftest import FEATURES, LABELS


def correlations(X, Z):
    """One entry at a time, by numpy."""
    return [[np.corrcoef(x, z)[0, 1] for z in np.asarray(Z).T] for x in np.asarray(X).T]


def test_loadings_are_the_coefficients_and_with_rows_correlations(fitted, frames):
    X, _ = frames
    tables = {"rows": loadings(fitted, X)}
    assert_allclose(tables["rows"], correlations(X, fitted.transform(X)), atol=1e-12)
    if isinstance(fitted, MultiLabelKaLDA):
        tables["none"] = loadings(fitted)
        assert_array_equal(tables["none"], fitted.components_.T)
    for table in tables.values():
        assert list(table.index) == FEATURES
        assert list(table.columns) == list(fitted.get_feature_names_out())


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_correlations_of_sparse_rows_are_those_of_dense_ones(form, frames, monkeypatch):
    X, Y = (np.array(frame) for frame in frames)
    X[np.abs(X) < 1] = 0
    kalda = MultiLabelKaLDA().fit(X, Y)
    expected, rows = correlations(X, kalda.transform(X)), form(X)

    def refuse(self, *args, **kwargs):
        raise AssertionError("X was made dense")

    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix):
        monkeypatch.setattr(kind, "toarray", refuse)
    assert_allclose(loadings(kalda, rows), expected, atol=1e-12)


def test_label_profile_is_the_standardised_mean_of_the_rows_of_each_label(fitted, frames):
    X, Y = frames
    Z = pd.DataFrame(fitted.transform(X))
    expected = [(Z[Y[name] == 1].mean() - Z.mean()) / Z.std(ddof=0) for name in LABELS]
    table = label_profile(fitted, X, Y)
    assert_allclose(table, expected, atol=1e-12)
    assert list(table.index) == LABELS
    assert list(table.columns) == list(fitted.get_feature_names_out())
    for form in (np.asarray, sparse.csr_array, sparse.coo_matrix, np.ndarray.tolist):
        given = form(Y.to_numpy())
        assert label_profile(fitted, X, given, label_names=LABELS).equals(table)
        assert list(label_profile(fitted, X, given).index) == ["0", "1", "2", "3"]


def test_what_is_not_fitted_or_cannot_transform_is_refused(frames):
    X, Y = frames
    with pytest.raises(ValueError, match=r"MultiLabelKaLDA has no coefficients.*not fitted"):
        loadings(MultiLabelKaLDA())
    with pytest.raises(NotFittedError, match="MultiLabelKaLDA"):
        loadings(MultiLabelKaLDA(), X)
    classifier = MLkNN(k=3).fit(X, Y)
    with pytest.raises(ValueError, match=r"reducer=MLkNN\(k=3\) has no transform.*fitted reducer"):
        label_profile(classifier, X, Y)
    with pytest.raises(ValueError, match=r"no transform.*pipeline\[:-1\]"):
        loadings(make_pipeline(MultiLabelKaLDA(), classifier).fit(X, Y), X)


def test_unknown_labels_are_no_part_of_a_profile():
    X, Y = made()
    y = pd.DataFrame(Y, columns=list("abcd")).astype("boolean")
    y.iloc[::5, 1] = pd.NA
    kalda = MultiLabelKaLDA().fit(X, y)
    Z = StandardScaler().fit_transform(kalda.transform(X))
    expected = [Z[(y[name] == True).fillna(False)].mean(axis=0) for name in y]  # noqa: E712
    assert_allclose(label_profile(kalda, X, y), expected)


def test_imbalance_is_the_ratio_to_the_most_frequent_label():
    y = pd.DataFrame({"sea": [1, 1, 1, 0], "sky": [1, np.nan, 0, 0], "cat": [0, 0, 0, 0]})
    table = label_imbalance(y)
    assert_array_equal(table["samples"], [3, 1, 0])
    assert_allclose(table["share"], [3 / 4, 1 / 3, 0])
    assert_allclose(table["IRLbl"], [1, 3, np.inf])
    assert list(label_imbalance(list("aab")).index) == ["a", "b"]
