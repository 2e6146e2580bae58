"""The columns of a data frame y are the names of its labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from skml_kalda import (
    LDA,
    OPLS,
    AlignmentScaler,
    KernelKaLDA,
    KernelKaLDACV,
    MultiLabelKaLDA,
    MultiLabelKaLDACV,
)
from skml_kalda.datasets import load_dataset

REDUCERS = [
    AlignmentScaler(),
    KernelKaLDA(random_state=0),
    KernelKaLDACV(n_neighbors=3, cv=2, random_state=0),
    LDA(),
    MultiLabelKaLDA(),
    MultiLabelKaLDACV(n_neighbors=3, cv=2),
    OPLS(),
]
NAMES = ["sun", "sea", "sky"]  # not in alphabetical order


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(40, 3)) > 0).astype(int)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("reducer", REDUCERS, ids=repr)
def test_classes_have_the_names_of_columns(reducer, frame, data):
    X, Y = data
    expected = reducer.fit(X, Y).transform(X)
    y = frame(dict(zip(NAMES, Y.T, strict=True)))
    assert_array_equal(reducer.fit(X, y).transform(X), expected)
    assert reducer.classes_.tolist() == NAMES


def test_a_warning_names_empty_labels(data):
    X, Y = data
    y = pd.DataFrame(Y, columns=NAMES).assign(snow=0)
    with pytest.warns(UserWarning, match=r"1 class.* without rows, .* \['snow'\]"):
        reducer = LDA().fit(X, y)
    assert reducer.classes_.tolist() == NAMES


def test_an_error_names_the_only_label(data):
    X, Y = data
    with pytest.raises(ValueError, match=r"one class only, \['sea'\]"):
        LDA().fit(X, pd.DataFrame({"sea": Y[:, 0]}))


@pytest.mark.parametrize("reducer", [LDA(), KernelKaLDA(random_state=0), AlignmentScaler()])
def test_batches_keep_the_order_of_columns(reducer, data):
    X, Y = data
    y = pd.DataFrame(Y, columns=NAMES)
    expected = reducer.fit(X, y).transform(X)
    reducer.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_array_equal(reducer.classes_, NAMES)
    np.testing.assert_allclose(reducer.transform(X), expected, atol=1e-10)
    reducer.partial_fit(X[:20], Y[:20])  # numbers stand for the same columns
    with pytest.raises(ValueError, match=r"\['sea', 'sun', 'sky'\].*differ from column 0 on"):
        reducer.partial_fit(X[20:], y[20:][["sea", "sun", "sky"]])


def test_the_names_of_a_data_set_live_on():
    X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    assert MultiLabelKaLDA().fit(X, y).classes_.tolist() == y.columns.tolist()
