"""Inputs at the edge of what floats hold: a right answer, or an error that says what to do."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from skml_kalda import (
    OCM,
    AlignmentScaler,
    BinaryRelevanceKNN,
    KaLDAClassifier,
    KernelKaLDA,
    KernelKaLDACV,
    LandmarkFeatures,
    MLkNN,
    MultiLabelKaLDACV,
)
from tests.classic import MLDA, MLSI, MultiLabelKaLDA
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


OTHERS = {
    "AlignmentScaler": AlignmentScaler(),
    "KaLDAClassifier": KaLDAClassifier(),
    "KernelKaLDA": KernelKaLDA(),
    "KernelKaLDA-cosine": KernelKaLDA(kernel="cosine"),
    "KernelKaLDA-laplacian": KernelKaLDA(kernel="laplacian"),
    "LandmarkFeatures": LandmarkFeatures(n_landmarks=5, random_state=0),
    "KernelKaLDACV": KernelKaLDACV(n_neighbors=3, cv=2),
    "MultiLabelKaLDACV": MultiLabelKaLDACV(n_neighbors=3, cv=2),
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", OTHERS)
def test_values_too_large_for_distances_are_refused_by_column(name, form):
    X, Y = made(40, 6)
    X[:, 2] *= 1e200
    with pytest.raises(ValueError, match="Column 2 of X has values too large to be squared"):
        clone(OTHERS[name]).fit(form(X), Y)


@pytest.mark.parametrize("name", sorted(OTHERS.keys() - {"AlignmentScaler"}))
def test_values_too_small_for_distances_are_refused_by_column(name):
    X, Y = made(40, 6)
    with pytest.raises(ValueError, match="Column 0 of X has values too small to be squared"):
        clone(OTHERS[name]).fit(X * 1e-160, Y)


def test_the_error_of_a_search_names_its_class():
    X, Y = made(40, 6)
    with pytest.raises(ValueError, match=r"^MultiLabelKaLDACV finds no direction in X"):
        clone(OTHERS["MultiLabelKaLDACV"]).fit(X * 1e-200, Y)


@pytest.mark.parametrize("name", OTHERS | REDUCERS)
def test_rows_that_add_up_to_no_float_are_refused_without_a_warning(name):
    X, Y = made(40, 6)
    signs = np.where(np.arange(240).reshape(40, 6) < 120, 1, -1)  # infinity minus infinity
    with pytest.raises(ValueError, match="Column 0 of X has values too large to be squared"):
        clone((OTHERS | REDUCERS)[name]).fit(signs * 1e307 * (1 + X**2 / 1e3), Y)


@pytest.mark.parametrize(("weight", "factor"), [(1e-300, 1), (1e300, 1e15)])
@pytest.mark.parametrize("name", REDUCERS)
def test_weights_are_blamed_for_squares_that_are_no_floats(name, weight, factor):
    X, Y = made(40, 6)
    with pytest.raises(ValueError, match=r"sample_weight adds up to .*e.*: divide it by its mean"):
        clone(REDUCERS[name]).fit(X * factor, Y, sample_weight=np.full(40, weight))


WEIGHTED = (
    REDUCERS
    | {name: OTHERS[name] for name in OTHERS if name[-2:] != "CV" and name[:8] != "Landmark"}
    | {"MLkNN": MLkNN(k=3), "BinaryRelevanceKNN": BinaryRelevanceKNN(k=3)}
)


@pytest.mark.parametrize("form", ["fit", "partial_fit"])
@pytest.mark.parametrize("weight", [5e-324, 1e-320, 1e-310, 1e-300, 1e300, 1e307, 1.7e308])
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_far_from_ordinary_are_refused_without_a_warning(name, weight, form):
    X, Y = made(40, 6)
    estimator = clone(WEIGHTED[name])
    if not hasattr(estimator, form):
        pytest.skip("needs all rows at once")
    with pytest.raises(ValueError, match=r"sample_weight adds up to .*: divide it by its mean"):
        getattr(estimator, form)(X, Y, sample_weight=np.full(40, weight))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "cosine"])
@pytest.mark.parametrize("classifier", [MLkNN, BinaryRelevanceKNN])
def test_rows_too_far_apart_for_neighbours_are_refused(classifier, metric, form):
    X, Y = made(40, 6)
    signs = np.where(np.arange(240).reshape(40, 6) % 7 < 3, 1, -1)
    wide = form(signs * 1e307 * (9 + np.tanh(X)))
    with pytest.raises(ValueError, match="Column 0 of X has values too large to be sq"):
        classifier(k=3, metric=metric).fit(wide, Y)
    with pytest.raises(ValueError, match="Column 0 of X has values too large to be squared"):
        classifier(k=3, metric=metric).fit(form(X), Y).predict(wide)


def test_sums_of_distances_that_are_no_floats_are_refused():
    _, Y = made(40, 6)
    wide = np.outer(np.where(np.arange(40) % 2, 1, -1), np.full(6, 1e308))
    with pytest.raises(ValueError, match="too far apart for distances in floats"):
        MLkNN(k=30, metric="manhattan").fit(wide, Y)


def test_a_classifier_with_heavy_weights_is_that_of_many_rows():
    X, Y = made(40, 6)
    found, near = (
        KaLDAClassifier().fit(X, Y, sample_weight=np.full(40, weight)).predict_proba(X)
        for weight in (1e200, 1e100)
    )
    np.testing.assert_allclose(found, near, atol=1e-6)


def test_kernel_values_that_cannot_be_squared_are_refused():
    X, Y = made(40, 6)
    with pytest.raises(ValueError, match="The kernel of X has values that are not finite, or too"):
        KernelKaLDA(kernel="poly").fit(X * 1e30, Y)


@pytest.mark.parametrize("factor", [2.0**60, 2.0**100])
def test_landmarks_of_large_single_precision_are_those_of_small(factor):
    X = made(40, 6)[0].astype(np.float32)
    features = LandmarkFeatures(n_landmarks=5, random_state=0)
    small = clone(features).fit(X).landmarks_
    large = clone(features).fit(X * np.float32(factor)).landmarks_
    assert large.dtype == np.float32
    np.testing.assert_allclose(large / np.float32(factor), small, rtol=1e-6)


@pytest.mark.parametrize("power", [-200, 200])
@pytest.mark.parametrize(
    "reducer",
    [
        AlignmentScaler(),
        KernelKaLDA(shrinkage=0.2),
        MLSI(),
        MultiLabelKaLDA(shrinkage="auto"),
    ],
    ids=lambda reducer: type(reducer).__name__,
)
def test_weights_whose_squares_are_no_floats(reducer, power):
    X, Y = made(40, 6)
    weight = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    found = clone(reducer).fit(X, Y, sample_weight=weight * 10.0**power).transform(X)
    # Weights count rows, so what is chosen by their number has its limit at many or at none.
    near = clone(reducer).fit(X, Y, sample_weight=weight * 10.0 ** (power / 4)).transform(X)
    np.testing.assert_allclose(found, near, rtol=1e-6, atol=1e-6 * np.abs(near).max())


@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_a_kernel_refuses_labels_that_never_vary(constraint):
    X, Y = made(40, 6)
    with pytest.raises(ValueError, match="KernelKaLDA finds no direction in X: the rank of the co"):
        KernelKaLDA(constraint=constraint).fit(X, np.ones_like(Y))


def test_the_error_names_the_column_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    X, Y = made(p=3)
    frame = pd.DataFrame(X * [1, 1e170, 1], columns=["length", "mass", "time"])
    for reducer in (MLDA(), KernelKaLDA(), KernelKaLDACV(cv=2), LandmarkFeatures()):
        with pytest.raises(ValueError, match=r"Column 1 of X \('mass'\)"):
            reducer.fit(frame, Y)


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
