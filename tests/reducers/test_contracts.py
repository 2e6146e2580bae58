"""What every reducer keeps, whatever its method."""

import warnings
from importlib.metadata import entry_points

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel

import skml_kalda
from skml_kalda import MDDM, MLLS, MMC, OCM, MultiLabelKaLDACV, scatter_form
from tests.classic import CCA, LDA, MLDA, MLR, MLSI, OLDA, OPLS, RLDA, SDPLDA, ULDA, TraceRatio
from tests.conftest import made
from tests.reducers.oracles import centred

REDUCERS = {
    "CCA": CCA(),
    "LDA": LDA(),
    "MDDM-p": MDDM(),
    "MDDM-f": MDDM(projection="f"),
    "MDDM-kernel": MDDM(label_kernel=linear_kernel),
    "MLDA-binary": MLDA(),
    "MLDA-entropy": MLDA(weights="entropy"),
    "MLDA-correlation": MLDA(weights="correlation"),
    "MLDA-fuzzy": MLDA(weights="fuzzy"),
    "MLDA-dependence": MLDA(weights="dependence", random_state=0),
    "MLLS": MLLS(),
    "MLR": MLR(),
    "MLSI-direct": MLSI(),
    "MLSI-inverse": MLSI(form="inverse", ridge=0.1),
    "MMC": MMC(),
    "OCM": OCM(),
    "OLDA": OLDA(),
    "OPLS": OPLS(),
    "RLDA": RLDA(),
    "SDPLDA": SDPLDA(),
    "TraceRatio": TraceRatio(),
    "ULDA": ULDA(),
}
# These look for parameters too: what changes the folds or the votes may change the choice.
CHOOSING = {
    "kaLDA-CV": MultiLabelKaLDACV(n_neighbors=3, cv=2),
    "kaLDA-CV-orthonormal": MultiLabelKaLDACV(
        constraint="orthonormal", shrinkages=[0.1, 0.5], n_neighbors=3, cv=2
    ),
}
ALL = REDUCERS | CHOOSING
# Weighted by the number of labels: rows without one have weight zero.
BY_LABELS = [n for n in REDUCERS if n[:4] not in {"CCA", "MDDM", "MLLS", "MLR", "MLSI", "OPLS"}]
SCALE_FREE = ["LDA", "ULDA", "MLDA-binary", "MLDA-entropy", "MLDA-correlation"]
SHAPES = pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])


def every(names=tuple(ALL)):
    return pytest.mark.parametrize("name", list(names))


def fitted(name, X, Y, **params):
    return clone(ALL[name]).set_params(**params).fit(X, Y)


def assert_same(a, b, atol=1e-8):
    np.testing.assert_allclose(a.components_, b.components_, atol=atol)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(a.mean_, b.mean_, atol=1e-10)
    np.testing.assert_array_equal(a.classes_, b.classes_)


def thinned(X):
    return X * (np.random.default_rng(1).random(X.shape) < 0.5)


@every()
@SHAPES
def test_sparse_data_give_the_same_as_dense(name, shape):
    X, Y = made(*shape)
    X = thinned(X)
    X[:, 0] += 50  # a full column, far from zero
    dense = fitted(name, X, Y)
    for store in (sparse.csr_array, sparse.csc_matrix):
        thin = fitted(name, store(X), Y)
        assert_same(thin, dense)
        np.testing.assert_allclose(thin.transform(store(X)), dense.transform(X), atol=1e-6)


@every(REDUCERS)
def test_batches_give_the_same_as_all_at_once(name):
    X, Y = made(unlabelled=0.1)
    reducer = clone(REDUCERS[name])
    if not hasattr(reducer, "partial_fit"):
        assert name in {"MDDM-kernel", "MLDA-correlation", "MLDA-fuzzy", "MLDA-dependence"}
        return
    for rows in np.split(np.arange(60), [2, 30]):
        reducer.partial_fit(X[rows], Y[rows])
    assert_same(reducer, fitted(name, X, Y))


@pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
@pytest.mark.parametrize("name", [n for n in REDUCERS if n[:4] not in {"MLSI", "MMC"}])
def test_directions_of_rounding_are_refused(name, form):
    """Every class has the same rows. Their order leaves class means that are not quite equal."""
    rows, _ = made(unlabelled=0.1)
    order = np.random.default_rng(0).permutation(180)
    X, y = np.vstack([rows, rows, rows])[order], np.repeat([0, 1, 2], 60)[order]
    with scatter_form(form), pytest.raises(ValueError, match="finds no direction in X: the rank"):
        fitted(name, sparse.csr_array(X) if form == "implicit" else X, y)


@every(REDUCERS)
def test_every_form_of_labels_gives_the_same(name):
    X, Y = made(single=True)
    expected = fitted(name, X, Y)
    names = np.array(list("abcd"))[Y.argmax(axis=1)]
    for y in (sparse.csc_array(Y), pd.DataFrame(Y), Y.tolist(), Y.astype(bool)):
        assert_same(fitted(name, X, y), expected)
    for y in (names, list(names), pd.Series(names)):
        np.testing.assert_allclose(fitted(name, X, y).components_, expected.components_, atol=1e-10)


@every()
@SHAPES
def test_signs_order_and_shapes_are_settled(name, shape):
    X, Y = made(*shape)
    reducer = fitted(name, X, Y)
    G = reducer.components_
    assert G.shape == (len(G), shape[1])
    assert reducer.eigenvalues_.shape == (len(G),)
    assert (np.diff(reducer.eigenvalues_) <= 1e-12).all()
    assert (G[np.arange(len(G)), np.abs(G).argmax(axis=1)] > 0).all()
    np.testing.assert_array_equal(G, fitted(name, X, Y).components_)


@every()
def test_none_means_the_dimensions_of_the_labels(name):
    """K, or K − 1 if the labels of every row have one sum, as the paper's weights make them."""
    X, Y = made(K=5)
    reducer = fitted(name, X, Y)
    assert len(reducer.components_) == (4 if name in (*BY_LABELS, *CHOOSING) else 5)
    one_class = np.eye(5, dtype=int)[np.arange(len(X)) % 5]
    # MLR keeps a direction for every class, MDDM one for every dimension of its kernel.
    if name not in ("MLR", "MDDM-kernel"):
        assert len(fitted(name, X, one_class).components_) == 4
    assert fitted(name, X, Y, n_components=2).transform(X).shape == (60, 2)


@every()
@SHAPES
def test_more_components_than_the_method_has_are_refused(name, shape):
    X, Y = made(*shape)
    with pytest.raises(ValueError, match=r"n_components=50 is more than .* can give .* at most"):
        fitted(name, X, Y, n_components=50)


@every()
@pytest.mark.parametrize("value", [0.0, 0.1, 1e5 / 3])  # the mean of tenths is not a tenth
def test_data_without_variance_are_refused(name, value):
    _, Y = made()
    with pytest.raises(ValueError, match="finds no direction"):
        fitted(name, np.full((60, 3), value), Y)


@every()
def test_directions_are_within_the_range_of_the_data(name):
    X, Y = made(15, 30)
    basis = linalg.orth(centred(X).T, rcond=1e-9)
    G = fitted(name, X, Y).components_.T
    np.testing.assert_allclose(basis @ (basis.T @ G), G, atol=1e-7)


@every(n for n in REDUCERS if n != "MLDA-dependence")  # visits rows in random order
def test_the_order_of_rows_does_not_matter(name):
    X, Y = made()
    order = np.random.default_rng(0).permutation(60)
    assert_same(fitted(name, X[order], Y[order]), fitted(name, X, Y))


@every()
def test_the_order_of_labels_does_not_matter(name):
    X, Y = made()
    a, b = fitted(name, X, Y), fitted(name, X, Y[:, [2, 0, 3, 1]])
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)


@every(n for n in REDUCERS if n not in {"MDDM-f", "MLDA-dependence"})  # f: XᵀX is a sum
def test_repeating_all_rows_changes_nothing(name):
    X, Y = made()
    once, twice = fitted(name, X, Y), fitted(name, np.vstack([X, X]), np.vstack([Y, Y]))
    assert_same(twice, once)


@every()
def test_turned_data_give_turned_directions(name):
    X, Y = made()
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    a, b = fitted(name, X, Y).transform(X), fitted(name, X @ turn, Y).transform(X @ turn)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-7)


@every(SCALE_FREE)
def test_the_scale_of_features_does_not_matter_to_lda(name):
    X, Y = made()
    scale = 10.0 ** np.arange(-2, 2).repeat(2)
    a, b = fitted(name, X, Y).transform(X), fitted(name, X * scale, Y).transform(X * scale)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-7)


@every(REDUCERS)
def test_weights_are_repetitions(name):
    X, Y = made(single=name == "MLDA-dependence")
    times = np.random.default_rng(0).integers(0, 4, 60)
    weighted = clone(REDUCERS[name]).fit(X, Y, sample_weight=times)
    repeated = fitted(name, X.repeat(times, axis=0), Y.repeat(times, axis=0))
    assert_same(weighted, repeated)


@every(BY_LABELS)
def test_rows_without_labels_count_for_nothing(name):
    X, Y = made(single=name == "MLDA-dependence")
    more = np.vstack([X, 10 + X[:7]]), np.vstack([Y, np.zeros((7, 4), dtype=int)])
    assert_same(fitted(name, *more), fitted(name, X, Y))


@every(n for n in REDUCERS if n not in BY_LABELS)
def test_regressions_count_rows_without_labels(name):
    X, Y = made()
    more = np.vstack([X, 10 + X[:7]]), np.vstack([Y, np.zeros((7, 4), dtype=int)])
    assert np.abs(fitted(name, *more).mean_ - X.mean(axis=0)).max() > 0.1


@every()
def test_classes_without_rows_are_left_out(name):
    X, Y = made()
    wide = np.insert(Y, 2, 0, axis=1)
    with pytest.warns(UserWarning, match=r"without rows, which are left out: \[2\]"):
        reducer = fitted(name, X, wide)
    np.testing.assert_array_equal(reducer.classes_, [0, 1, 3, 4])
    np.testing.assert_allclose(reducer.components_, fitted(name, X, Y).components_, atol=1e-10)


@every()
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_single_precision_comes_back_as_such(name, store):
    X, Y = made()
    reducer = fitted(name, store(X.astype(np.float32)), Y)
    assert reducer.transform(store(X.astype(np.float32))).dtype == np.float32
    exact = fitted(name, X.astype(np.float32).astype(np.float64), Y)
    np.testing.assert_allclose(reducer.components_, exact.components_, rtol=1e-4, atol=1e-5)


@every()
def test_one_class_only_is_refused(name):
    X, _ = made()
    with pytest.raises(ValueError, match="at least two classes"):
        fitted(name, X, np.ones((60, 1)))


@every()
def test_no_warning_on_ordinary_data(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, Y = made()
        fitted(name, X, Y).transform(X)


def test_every_reducer_is_public_and_registered():
    registered = {e.name: e for e in entry_points(group="skmultilearn.transformers")}
    for reducer in REDUCERS.values():
        name = type(reducer).__name__
        assert name in skml_kalda.__all__
        assert registered[name].load() is type(reducer)
