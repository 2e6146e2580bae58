"""Inputs at the edge of what floats hold: a right answer, or an error that says what to do."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from skml_kalda import OCM, BinaryRelevanceKNN, MLkNN
from tests.classic import MLDA, MLSI
from tests.conftest import made
from tests.reducers.test_contracts import REDUCERS


@pytest.fixture(autouse=True)
def _no_bare_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize("form", ["fit", "partial_fit"])
@pytest.mark.parametrize(("factor", "what"), [(1e-160, "small"), (1e160, "large")])
@pytest.mark.parametrize("name", REDUCERS)
def test_values_that_cannot_be_squared_are_refused_by_column(name, factor, what, form):
    reducer = clone(REDUCERS[name])
    if not hasattr(reducer, form):
        pytest.skip("needs all rows at once")
    X, Y = made()
    X[:, 2] *= factor
    with pytest.raises(ValueError, match=f"Column 2 of X has values too {what} to be squared"):
        getattr(reducer, form)(X, Y).transform(X)


def test_the_error_names_the_column_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    X, Y = made(p=3)
    frame = pd.DataFrame(X * [1, 1e170, 1], columns=["length", "mass", "time"])
    with pytest.raises(ValueError, match=r"Column 1 of X \('mass'\)"):
        MLDA().fit(frame, Y)


@pytest.mark.parametrize("name", ["MLSI-direct", "MLSI-inverse"])
def test_labels_that_never_vary_are_refused(name):
    X, Y = made()
    with pytest.raises(ValueError, match="MLSI finds no direction in X: the variance of the lab"):
        clone(REDUCERS[name]).fit(X, np.ones_like(Y))


def test_latent_features_need_no_label_that_varies_if_asked_for_none():
    X, Y = made()
    found = MLSI(beta=0.0, scale=False, n_components=2).fit(X, np.ones_like(Y))
    assert np.all(np.isfinite(found.components_))


def test_a_class_that_loses_all_its_rows_to_others_keeps_its_centre():
    """Classes 0 and 2 have one row each, which is then their centre, and share class 1's rows."""
    X, _ = made(20, 4)
    Y = np.zeros((20, 4), dtype=int)
    Y[0, [0, 1]] = 1
    Y[1, [1, 2]] = 1
    Y[2:, 3] = 1
    mlda = MLDA(weights="fuzzy").fit(X, Y)
    assert np.all(np.isfinite(mlda.components_))


def test_duplicate_entries_mean_their_sum():
    X = sparse.csr_array(
        ([1.0, 1, 1, 2, 2, 3, 5], [0, 0, 1, 0, 0, 1, 1], [0, 2, 3, 6, 7]), shape=(4, 2)
    )
    y = [0, 0, 1, 1]
    found, expected = OCM().fit(X, y), OCM().fit(X.toarray(), y)
    np.testing.assert_allclose(found.components_, expected.components_)
    for classifier in (MLkNN(k=1), BinaryRelevanceKNN(k=1)):
        dense, doubled = (clone(classifier).fit(x, y).predict(x) for x in (X.toarray(), X))
        np.testing.assert_array_equal(doubled, dense)
    assert X.nnz == 7
