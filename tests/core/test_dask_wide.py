"""Wide sparse blocks are fitted by products on the workers, as the same rows in memory are."""

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone

from skml_kalda import RLDA, MultiLabelKaLDA, scatter_form
from skml_kalda._core.dask.kept import KeptBlocks
from skml_kalda._core.scatter import PrimalScatter, choice, implicit
from tests.classic import LDA, MLSI, OPLS
from tests.conftest import made
from tests.reducers import test_forms
from tests.reducers.test_contracts import thinned
from tests.reducers.test_forms import NEVER_IMPLICIT, REDUCERS, assert_same, short_and_wide

ALL_ROWS = {"MDDM-kernel", "MLDA-correlation", "MLDA-fuzzy", "MLDA-dependence"}
EVERY = pytest.mark.parametrize("name", [n for n in REDUCERS if n not in NEVER_IMPLICIT | ALL_ROWS])
SOME = pytest.mark.parametrize("name", ["kaLDA", "kaLDA-free-shrunk", "RLDA", "CCA", "MLSI-labels"])


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def in_blocks(X, rows=17):
    return da.from_array(np.asarray(X), chunks=(rows, -1))


def sparse_blocks(X, rows=17):
    return in_blocks(X.toarray() if sparse.issparse(X) else X, rows).map_blocks(sparse.csr_array)


@EVERY
def test_every_reducer_of_implicit_products_gives_the_same_on_blocks(name):
    X, Y = made(60, 8)
    X = thinned(X)
    expected = test_forms.implicit(name, sparse.csr_array(X), Y)
    assert_same(test_forms.implicit(name, sparse_blocks(X), in_blocks(Y)), expected)


@SOME
def test_fewer_rows_than_features_give_the_same_on_blocks(name):
    X, Y = made(15, 30)
    X = thinned(X)
    found = test_forms.implicit(name, sparse_blocks(X, 4), Y)
    assert_same(found, test_forms.fitted(name, X, Y, "rows"))


@pytest.mark.parametrize(
    ("name", "reason"),
    [("MLSI-inverse", "needs the whole spectrum of S_t"), ("MLDA-fuzzy", "need all rows at once")],
)
def test_a_method_that_products_cannot_serve_is_refused_with_the_reason(name, reason):
    X, Y = made(60, 8)
    with scatter_form("implicit"), pytest.raises(ValueError, match=reason):
        clone(REDUCERS[name]).fit(sparse_blocks(thinned(X)), Y)


@pytest.mark.parametrize("reducer", [RLDA(ridge=0.1, tol=1e-12), OPLS(tol=1e-12)], ids=str)
def test_weights_unknown_labels_and_empty_blocks(reducer):
    X, Y = made(60, 8, unlabelled=0.1)
    X = sparse.csr_array(thinned(X))
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    weight[17:34] = 0  # a whole block
    Y = Y.astype(float)
    Y[np.random.default_rng(1).random(Y.shape) < 0.1] = np.nan
    blocks = da.concatenate([sparse_blocks(X), sparse_blocks(X[:0].toarray())])
    with scatter_form("implicit"):
        found = clone(reducer).fit(blocks, in_blocks(Y, 20), da.from_array(weight, chunks=25))
    assert_same(found, clone(reducer).fit(X, Y, weight))


def test_classes_are_found_over_all_blocks():
    X, Y = made(60, 8, single=True)
    order = np.argsort(Y.argmax(axis=1), kind="stable")
    X, y = thinned(X)[order], np.array(list("wxyz"))[Y.argmax(axis=1)][order]
    with scatter_form("implicit"):
        found = RLDA(ridge=0.1, tol=1e-12).fit(sparse_blocks(X), da.from_array(y, chunks=20))
    assert_same(found, RLDA(ridge=0.1).fit(X, y))
    assert found.classes_.tolist() == list("wxyz")


def test_a_large_offset_of_a_full_column_costs_no_digits():
    X, Y = made(60, 8)
    X = thinned(X)
    X[:, 2] = 1e8 + np.arange(60) % 7
    with scatter_form("implicit"):
        found = RLDA(ridge=0.1, tol=1e-12).fit(sparse_blocks(X), Y)
    expected = RLDA(ridge=0.1).fit(X - np.where(np.arange(8) == 2, 1e8, 0), Y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-8)
    assert found.mean_[2] == pytest.approx(1e8 + 2.9, abs=0.1)


@pytest.fixture(scope="module")
def wide():
    return short_and_wide(120, 3_000, 150, 4)


@pytest.mark.parametrize("name", ["RLDA", "kaLDA-free", "MDDM-p"])
def test_wide_sparse_blocks_need_no_array_of_the_side_of_the_features(name, wide, monkeypatch):
    X, Y, columns = wide
    monkeypatch.setattr(PrimalScatter, "of", None)
    rows = da.from_array(np.arange(120), chunks=30)
    blocks = rows.map_blocks(lambda i: X[i], chunks=(rows.chunks[0], (3_000,)), new_axis=1)
    reducer = test_forms.fitted(name, blocks, Y)
    test_forms.assert_restricted(reducer, name, X, Y, columns)


def test_at_the_default_tolerance_the_angle_to_the_exact_subspace_is_below_it():
    X, Y = made(200, 40, 6)
    X = thinned(X)
    with scatter_form("implicit"):
        found = RLDA(ridge=0.1).fit(sparse_blocks(X, 50), Y)
    exact = RLDA(ridge=0.1).fit(X, Y)
    assert linalg.subspace_angles(found.components_.T, exact.components_.T).max() < 1e-4


@pytest.mark.parametrize("store", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
def test_moments_are_taken_where_they_are_cheaper(store, monkeypatch):
    X, Y = made(60, 8)
    X = thinned(X)
    monkeypatch.setattr(choice, "FEW", 5)
    monkeypatch.setattr(implicit.ImplicitScatter, "ridge_solve", None)
    found = LDA().fit(in_blocks(X).map_blocks(store), in_blocks(Y))
    assert_same(found, LDA().fit(X, Y))


def test_only_arrays_of_the_side_of_the_features_travel(monkeypatch):
    X, Y = made(600, 8)
    sent, fetched = [], []
    gather, total = KeptBlocks.gather, KeptBlocks.total

    def noted_total(self, function, *shared, each=None):
        found = total(self, function, *shared, each=each)
        sent.extend(map(np.size, (*shared, found)))
        return found

    def noted_gather(self, function, *shared, each=None):
        fetched.append(function.__name__)
        return gather(self, function, *shared, each=each)

    monkeypatch.setattr(KeptBlocks, "total", noted_total)
    monkeypatch.setattr(KeptBlocks, "gather", noted_gather)
    with scatter_form("implicit"):
        RLDA().fit(sparse_blocks(thinned(X), 100), Y)
    assert fetched == ["_size"]
    assert len(sent) > 50  # all products
    assert max(sent) < 600


def test_many_labels_are_sketched_on_blocks_too(monkeypatch):
    X, Y = made(80, 12, 30)
    X = sparse.csr_array(thinned(X))
    monkeypatch.setattr(implicit, "MANY_LABELS", 20)
    with scatter_form("implicit"):
        found = RLDA(n_components=3, ridge=0.5, tol=1e-10).fit(sparse_blocks(X, 20), Y)
        expected = RLDA(n_components=3, ridge=0.5, tol=1e-10).fit(X, Y)
    assert_same(found, expected, atol=1e-7)


def test_default_kalda_is_fitted_on_wide_blocks(wide):
    X, Y, _ = wide
    kalda = MultiLabelKaLDA(n_components=2).fit(sparse_blocks(X, 40), Y)
    with scatter_form("implicit"):
        expected = MultiLabelKaLDA(n_components=2).fit(X, Y)
    assert kalda.shrinkage_ == pytest.approx(expected.shrinkage_, rel=1e-6)
    angles = linalg.subspace_angles(kalda.components_.T, expected.components_.T)
    assert angles.max() < 1e-3
    assert kalda.transform(X).shape == (120, 2)


def test_an_error_of_a_block_reaches_the_user():
    X, Y = made(60, 8)
    X = thinned(X)
    X[40, 3] = np.inf
    with scatter_form("implicit"), pytest.raises(ValueError, match="Input X contains infinity"):
        MLSI().fit(sparse_blocks(X), Y)
    with scatter_form("implicit"), pytest.raises(ValueError, match="inconsistent numbers"):
        MLSI().fit(sparse_blocks(thinned(made(60, 8)[0])), Y[:50])
