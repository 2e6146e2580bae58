"""Bad calls, each refused with one error that names the argument and its value."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from skml_kalda import (
    LDA,
    MLSI,
    MMC,
    AlignmentScaler,
    KaLDAClassifier,
    KernelKaLDA,
    LandmarkFeatures,
    MLkNN,
    MultiLabelKaLDA,
)
from skml_kalda.model_selection import TunedThresholdsCV
from tests.conftest import made
from tests.reducers.cases import REDUCERS

X, Y = made()
OTHERS = {
    "AlignmentScaler": AlignmentScaler(),
    "KernelKaLDA": KernelKaLDA(),
    "KernelKaLDA-laplacian": KernelKaLDA(kernel="laplacian"),
    "LandmarkFeatures": LandmarkFeatures(n_landmarks=5, random_state=0),
    "kaLDA": MultiLabelKaLDA(),
}
EVERY = REDUCERS | OTHERS
STORES = pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])


@pytest.fixture(autouse=True)
def _no_bare_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def with_value(value):
    bad = X.copy()
    bad[53, 2] = value
    return bad


@pytest.mark.parametrize("estimator", [LDA(), MLkNN(), KaLDAClassifier()], ids=repr)
@pytest.mark.parametrize("frames", [pd, pl])
def test_columns_with_words_and_gaps_are_named(estimator, frames):
    table = frames.DataFrame({"age": X[:, 0], "site": list("abc") * 20})
    with pytest.raises(ValueError, match=r"^X has words in the column 'site' \(encode it"):
        estimator.fit(table, Y)
    age = [None, *X[1:, 0]]
    with pytest.raises(ValueError, match=r"^X has NaN in the column 'age' \(fill"):
        estimator.fit(frames.DataFrame({"age": age, "b": X[:, 1]}), Y)


FRAME = pd.DataFrame(X, columns=list("abcdefgh"))
WORDS = X.astype(object)
WORDS[5, 2] = "red"
CALLS = {  # what is passed, and what the error says: the argument, and what to do
    "generator X": (lambda: iter(X), Y, r"X is .*X = list\(X\)"),
    "no X": (None, Y, "X is of type NoneType: pass an array"),
    "dict X": ({"a": 1}, Y, "X is of type dict: pass an array"),
    "words in an array": (WORDS, Y, "X has words in the column 2 .encode"),
    "NaN in an array": (with_value(np.nan), Y, "X has NaN in the column 2 .*Imputer"),
    "NaN in a CSR": (sparse.csr_array(with_value(np.nan)), Y, "X has NaN in the column 2"),
    "generator y": (X, lambda: iter(Y), r"y is .*y = list\(y\)"),
    "no y": (X, None, "requires y to be passed"),
    "words 0 and 1": (X, Y.astype(str), r"y = y.astype\(int\)"),
    "objects 0 and 1": (X, pd.DataFrame(Y).astype(str), r"y = y.astype\(int\)"),
    "signs": (X, 2 * Y - 1, r"y = \(y > 0\)"),
    "counts": (X, sparse.csr_array(3 * Y), r"y = \(y > 0\)"),
    "scores": (X, Y / 3, "not features or scores"),
    "column of classes": (X, Y.argmax(axis=1)[:, None], r"y = np.ravel\(y\)"),
    "no label": (X, 0 * Y, "y has no label in any sample"),
    "three dimensions": (X, np.zeros((60, 2, 2)), "3 dimensions"),
    "a target of regression": (X, np.linspace(0, 1, 60), "continuous"),
    "no sample": (X, Y[:-1], "inconsistent|60.*59|59.*60"),
    "no column": (X, Y[:, :0], "y has no label in any sample"),
    "complex matrix": (X, Y * (1 + 0j), "Complex data not supported in y: pass"),
    "complex CSR": (X, sparse.csr_array(Y * (1 + 0j)), "Complex data not supported in y: pass"),
    "complex classes": (X, Y.argmax(axis=1) * (1 + 0j), "Complex data not supported in y: pass"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "estimator", [LDA(), KernelKaLDA(), MLkNN(), KaLDAClassifier(), TunedThresholdsCV(MLkNN())]
)
def test_wrong_input_is_refused_with_what_to_do(estimator, call):
    given_X, given_y, message = CALLS[call]
    for method in ("fit", "partial_fit"):
        # Some batches may be without labels.
        if hasattr(estimator, method) and (method, call[:2]) != ("partial_fit", "no"):
            args = [each() if callable(each) else each for each in (given_X, given_y)]
            args = args[:1] if call == "no y" else args
            with pytest.raises((TypeError, ValueError), match=message):
                getattr(clone(estimator), method)(*args)


@pytest.mark.parametrize("estimator", [LDA(), KernelKaLDA(), MLkNN(), KaLDAClassifier()])
def test_columns_in_another_order_are_refused_with_the_line_to_write(estimator):
    estimator.fit(FRAME, Y)
    call = estimator.transform if hasattr(estimator, "transform") else estimator.predict
    with pytest.raises(ValueError, match=r"another order: .*X = X") as error:
        call(FRAME[list("hgfedcba")])
    scope = {"X": FRAME[list("hgfedcba")], "estimator": estimator}
    exec(re.search(r"X = X\[.*?\]", str(error.value))[0], scope)
    np.testing.assert_array_equal(call(scope["X"]), call(FRAME))


def test_a_column_of_one_label_is_told_from_two_classes():
    with pytest.raises(ValueError, match=r"one class only.*y = np.ravel\(y\)"):
        LDA().fit(X, Y[:, :1])


def test_classes_with_commas_get_a_hint():
    with pytest.warns(UserWarning, match=r"'a,b'.*split\(','\).*MultiLabelBinarizer"):
        LDA().fit(X, ["a,b", "c", "b"] * 20)


PARAMETERS = {
    MultiLabelKaLDA: [{"n_components": 9}, {"shrinkage": 2}],
    KernelKaLDA: [{"n_landmarks": 61}, {"kernel": "magic"}, {"n_components": 1000}],
    LandmarkFeatures: [{"n_landmarks": 61}],
    MLSI: [{"form": "inverse", "beta": 1.0}],
    MMC: [{"n_components": 9}],
}


@pytest.mark.parametrize(
    ("kind", "params"),
    [(kind, params) for kind, all_params in PARAMETERS.items() for params in all_params],
)
def test_a_bad_parameter_is_named_with_its_value(kind, params):
    name, value = list(params.items())[-1]
    shown = "<" if params == {"form": "inverse", "beta": 1.0} else str(value)
    with pytest.raises(ValueError, match=name) as error:
        kind(**params).fit(X, Y)
    assert shown in str(error.value)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e5 / 3])  # the mean of tenths is not a tenth
def test_data_without_variance_are_refused(name, value):
    if name == "AlignmentScaler":  # nothing varies, and nothing is scaled
        np.testing.assert_array_equal(EVERY[name].fit(np.full((60, 3), value), Y).scale_, 1)
        return
    linear = {"kernel": "linear"} if name == "LandmarkFeatures" else {}  # else all ones
    with pytest.raises(ValueError, match=r"direction|feature"):
        clone(EVERY[name]).set_params(**linear).fit(np.full((60, 3), value), Y)


BAD_WEIGHTS = {
    "negative": -np.ones(60),
    "zero": np.zeros(60),
    "few": np.ones(6),
    "NaN": np.full(60, np.nan),
    "tiny": np.full(60, 1e-300),
    "huge": np.full(60, 1e300),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS)
@pytest.mark.parametrize("name", ["LDA", "OPLS", "AlignmentScaler", "KernelKaLDA", "kaLDA"])
def test_bad_weights_are_refused(name, kind):
    with pytest.raises(ValueError, match=r"sample_weight|weights"):
        clone(EVERY[name]).fit(X, Y, sample_weight=BAD_WEIGHTS[kind])


@STORES
@pytest.mark.parametrize(("factor", "what"), [(1e-160, "small"), (1e160, "large")])
@pytest.mark.parametrize("name", REDUCERS)
def test_values_that_cannot_be_squared_are_refused_by_column(name, factor, what, store):
    bad = X.copy()
    bad[:, 2] *= factor
    for method in ("fit", "partial_fit"):
        if hasattr(REDUCERS[name], method):
            with pytest.raises(ValueError, match=f"olumn 2 .*too {what}.* to be squared"):
                getattr(clone(REDUCERS[name]), method)(store(bad), Y).transform(bad)


@STORES
@pytest.mark.parametrize("name", OTHERS)
def test_values_too_large_for_distances_are_refused_by_column(name, store):
    bad = X.copy()
    bad[:, 2] *= 1e200
    with pytest.raises(ValueError, match=r"olumn 2 .*too large.* to be squared"):
        clone(OTHERS[name]).fit(store(bad), Y)


@pytest.mark.parametrize("name", EVERY)
def test_samples_that_add_up_to_no_float_are_refused_without_a_warning(name):
    signs = np.where(np.arange(480).reshape(60, 8) < 240, 1, -1)  # infinity minus infinity
    with pytest.raises(ValueError, match=r"olumn 0 .*too large.* to be squared"):
        clone(EVERY[name]).fit(signs * 1e307 * (1 + X**2 / 1e4), Y)


def test_the_error_names_the_column_of_a_data_frame():
    frame = pd.DataFrame(X[:, :3] * [1, 1e170, 1], columns=["length", "mass", "time"])
    for reducer in (LDA(), KernelKaLDA(), LandmarkFeatures()):
        with pytest.raises(ValueError, match=r"olumn 1 .*'mass'"):
            reducer.fit(frame, Y)


@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_a_kernel_refuses_labels_that_never_vary_and_values_beyond_floats(constraint):
    with pytest.raises(ValueError, match="direction"):
        KernelKaLDA(constraint=constraint).fit(X, np.ones_like(Y))
    with pytest.raises(ValueError, match="kernel"):
        KernelKaLDA(kernel="poly", constraint=constraint).fit(X * 1e60, Y)


def test_other_calls_are_refused_with_the_number_found():
    for message, call in {
        "minimum of 2": lambda: KaLDAClassifier().partial_fit(X[:1], Y[:1]),
        r"\b3\b.*\b8\b": lambda: AlignmentScaler().fit(X, Y).inverse_transform(X[:, :3]),
        r"\(60, 8\).*square": lambda: KernelKaLDA(kernel="precomputed").fit(X, Y),
        r"X.*\(60, 8\).*square": lambda: LandmarkFeatures(kernel="precomputed").fit(X),
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()


def test_equal_class_means_leave_nothing_to_align_at_any_size():
    for unit in (1e-50, 1.0, 1e50):
        for offset in (0.0, 1 / 3, 1e4):
            rows = (np.vstack([X, X[::-1]]) + offset) * unit
            with pytest.raises(ValueError, match="direction"):
                MultiLabelKaLDA(constraint="none").fit(rows, np.repeat([0, 1], 60))
    small = MultiLabelKaLDA(constraint="none", shrinkage=0.1)
    small.fit(np.vstack([X, X + 1e-8]), np.repeat([0, 1], 60))  # a small correlation is one
    assert 0 < small.eigenvalues_[0] < 1e-14
