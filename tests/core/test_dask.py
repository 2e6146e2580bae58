"""Dask data give what the same rows give in memory."""

import pickle
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone

from skml_kalda import MDDM, KernelKaLDA, KernelKaLDACV, MultiLabelKaLDACV
from skml_kalda._core.dask import transforming
from skml_kalda._core.scatter import PrimalScatter
from tests.classic import LDA, MLDA, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.reducers.test_contracts import REDUCERS

KALDA = {
    "kaLDA": MultiLabelKaLDA(tol=1e-12),
    "kaLDA-none": MultiLabelKaLDA(constraint="none", shrinkage="auto"),
}
# Those that need all rows at once are refused, which is tested below.
MERGEABLE = {n: r for n, r in {**REDUCERS, **KALDA}.items() if hasattr(r, "partial_fit")}
NAMES = list("abcdefgh")
CLASSES = np.array(["dog", "cat", "emu", "ant"])


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def in_blocks(X, rows=17, columns=-1):
    return da.from_array(X, chunks=(rows, columns))


def in_partitions(X, n=4):
    frame = pd.DataFrame(X, columns=NAMES) if X.ndim == 2 else pd.Series(X)
    return dd.from_pandas(frame, npartitions=n)


def same(a, b, atol=1e-8):
    np.testing.assert_allclose(a.components_, b.components_, atol=atol, rtol=0)
    np.testing.assert_allclose(a.mean_, b.mean_, atol=atol, rtol=0)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    return True


def test_every_reducer_that_takes_batches_is_here():
    refused = {"MDDM-kernel", "MLDA-correlation", "MLDA-fuzzy", "MLDA-dependence"}
    assert set(REDUCERS) - set(MERGEABLE) == refused


@pytest.mark.parametrize("name", MERGEABLE)
def test_blocks_give_the_same_as_all_rows_in_memory(name):
    X, Y = made(unlabelled=0.1)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    weight[13:26] = 0  # one whole block of five
    expected = clone(MERGEABLE[name]).fit(X, Y, sample_weight=weight)
    found = clone(MERGEABLE[name]).fit(
        in_blocks(X, 13, 3), in_blocks(Y, 20, 2), sample_weight=da.from_array(weight, chunks=25)
    )
    assert same(found, expected)


@pytest.mark.parametrize("name", MERGEABLE)
def test_fewer_rows_than_features_give_the_same_in_blocks(name):
    X, Y = made(15, 30)
    expected = clone(MERGEABLE[name]).fit(X, Y)
    assert same(clone(MERGEABLE[name]).fit(in_blocks(X, 4), in_blocks(Y, 4)), expected, 1e-7)


@pytest.mark.parametrize(
    ("name", "store"),
    [*((name, sparse.csr_array) for name in MERGEABLE), ("kaLDA", sparse.csr_matrix)],
)
def test_sparse_blocks_stay_sparse_and_give_the_same(name, store, monkeypatch):
    X, Y = made()
    X *= np.random.default_rng(1).random(X.shape) < 0.5
    expected = clone(MERGEABLE[name]).fit(X, Y)
    thin = in_blocks(X, columns=3).map_blocks(store)
    monkeypatch.setattr(PrimalScatter, "_of_dense", _refused)
    found = clone(MERGEABLE[name]).fit(thin, in_blocks(Y).map_blocks(store))
    assert same(found, expected)
    np.testing.assert_allclose(found.transform(thin), expected.transform(X), atol=1e-7)


def _refused(*_):
    raise AssertionError("a sparse block was made dense")


@pytest.mark.parametrize("name", MERGEABLE)
def test_single_precision_comes_back_as_such(name):
    X, Y = made()
    X = X.astype(np.float32)
    found = clone(MERGEABLE[name]).fit(in_blocks(X), in_blocks(Y))
    expected = clone(MERGEABLE[name]).fit(X, Y)
    assert found.components_.dtype == found.mean_.dtype == np.float32
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-4, atol=1e-5)
    projected = found.transform(in_blocks(X))
    assert projected.dtype == projected.compute().dtype == np.float32


@pytest.mark.parametrize(
    ("X_form", "y_form"),
    [
        (in_partitions, in_partitions),
        (in_partitions, np.asarray),  # the rows are counted first
        (in_partitions, lambda y: da.from_array(y, chunks=15)),
        (in_partitions, list),
        (lambda X: in_blocks(X, 15), in_partitions),
        (in_blocks, pd.Series),
        (lambda X: in_partitions(X).to_dask_array(), in_partitions),
        (lambda X: in_blocks(X.astype(object), 15), in_partitions),
    ],
)
def test_classes_are_found_over_all_blocks_whatever_their_form(X_form, y_form):
    X, Y = made(single=True)
    order = np.argsort(Y.argmax(axis=1), kind="stable")  # no block has all classes
    X, y = X[order], CLASSES[Y.argmax(axis=1)][order]
    found = MultiLabelKaLDA(tol=1e-12).fit(X_form(X), y_form(y))
    assert same(found, MultiLabelKaLDA(tol=1e-12).fit(X, y))
    assert found.classes_.tolist() == sorted(CLASSES)


@pytest.mark.parametrize(
    "form",
    [
        sparse.coo_array,
        sparse.csc_matrix,
        np.ndarray.tolist,
        pd.DataFrame,
        lambda Y: dd.from_pandas(pd.DataFrame(Y.astype(bool)), npartitions=4),
        lambda Y: in_blocks(Y, 7, 1).astype(np.float32),
    ],
)
def test_indicators_in_any_form(form):
    X, Y = made()
    assert same(LDA().fit(in_blocks(X, 15), form(Y)), LDA().fit(X, Y))


def test_blocks_without_rows_labels_or_weight_count_for_nothing():
    X, Y = made()
    rows = np.r_[:20, 45:60]
    X[rows, 0] += 100
    frame = in_partitions(np.column_stack([X[:, :4], Y]))
    some = frame[frame.a > 50]  # a partition loses all its rows, another ten
    X, Y = X[rows, :4], Y[rows]
    named = pd.DataFrame(Y, columns=NAMES[4:])
    assert same(RLDA().fit(some[NAMES[:4]], some[NAMES[4:]]), RLDA().fit(X, named))
    projected = RLDA().fit(X, Y).transform(some[NAMES[:4]].to_dask_array())
    np.testing.assert_allclose(projected.compute(), RLDA().fit(X, Y).transform(X))
    Y[:15] = 0
    assert same(RLDA().fit(in_blocks(X, 5), Y), RLDA().fit(X, Y))


def test_classes_without_rows_are_left_out():
    X, Y = made()
    Y[:, 2] = 0
    with pytest.warns(UserWarning, match=r"without rows, which are left out: \[2\]"):
        found = LDA().fit(in_blocks(X), in_blocks(Y))
    np.testing.assert_array_equal(found.classes_, [0, 1, 3])


def test_a_scalar_weight_is_that_of_every_row():
    X, Y = made()
    assert same(LDA().fit(in_blocks(X), Y, sample_weight=2.0), LDA().fit(X, Y))


def test_names_of_features_come_from_a_dataframe():
    X, Y = made()
    lda = LDA().fit(in_partitions(X), Y)
    assert lda.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        lda.transform(in_partitions(X).rename(columns={"a": "z"}))


def test_dask_and_memory_can_be_mixed_at_every_step():
    X, Y = made()
    lda = LDA().fit(X, Y)
    for each in (lda, pickle.loads(pickle.dumps(LDA().fit(in_blocks(X), Y)))):
        assert type(each.components_) is np.ndarray
        np.testing.assert_allclose(each.transform(X), lda.transform(X))
        np.testing.assert_allclose(each.transform(in_blocks(X)), lda.transform(X))
    assert same(LDA().fit(X, in_blocks(Y), sample_weight=da.ones(60)), lda)
    assert same(LDA().fit(X, in_blocks(Y).map_blocks(sparse.csr_array)), lda)
    assert same(clone(lda).fit(in_blocks(X), Y), lda)


def test_dask_batches_continue_a_stream():
    X, Y = made()
    stream = LDA().partial_fit(X[:20], Y[:20]).partial_fit(in_blocks(X[20:]), in_blocks(Y[20:]))
    projected = stream.transform(in_blocks(X))
    assert same(stream, LDA().fit(X, Y))
    assert isinstance(transforming._bare(stream)._state, dict)  # p × p stays at home
    np.testing.assert_allclose(projected, LDA().fit(X, Y).transform(X))


def test_a_scheduler_knows_what_a_batch_weighs():
    batch = LDA()._batch(*made(60, 8, 4), None, reset=True)
    numbers = 8 * 8 + 8 * 4 + 4 * 4 + 8 + 4 + 2
    assert 8 * numbers <= sizeof(batch) <= 8 * numbers + 100


def test_the_order_in_which_blocks_are_done_changes_no_digit():
    X, Y = made(200, 8)

    def finished(waits):
        waiting = dict(zip(X[::40, 0], waits, strict=True))
        late = in_blocks(X, 40).map_blocks(
            lambda block: (time.sleep(waiting[block[0, 0]]), block)[1], meta=np.empty((0, 0))
        )
        with dask.config.set(scheduler="threads", num_workers=5):
            return LDA().fit(late, Y).components_

    there, back = finished(np.arange(5) / 20), finished(np.arange(5)[::-1] / 20)
    np.testing.assert_array_equal(there, back)


def test_every_row_is_read_once():
    X, Y = made()
    seen = []

    def read(block):
        seen.append(len(block))
        return block

    rows = in_blocks(X).map_blocks(read, meta=np.empty((0, 0)))
    seen.clear()
    LDA().fit(rows, in_blocks(Y))
    assert sorted(seen) == [9, 17, 17, 17]


def test_transform_is_lazy_with_the_chunks_and_type_of_its_rows():
    X, Y = made()
    lda = LDA().fit(X, Y)

    def explode(block):
        raise AssertionError("computed")

    rows = in_blocks(X, columns=3).map_blocks(explode, meta=np.empty((0, 0)), dtype=float)
    projected = lda.transform(rows)
    assert projected.chunks == ((17, 17, 17, 9), (3,))
    assert projected.dtype == np.float64
    assert isinstance(projected._meta, np.ndarray)
    unknown = lda.transform(in_partitions(X).to_dask_array())
    assert np.isnan(unknown.shape[0])
    assert unknown.compute().shape == (60, 3)
    assert isinstance(LDA().fit_transform(in_blocks(X), in_blocks(Y)), da.Array)


@pytest.mark.parametrize("form", [in_partitions, in_blocks])
def test_set_output_gives_dask_dataframes(form):
    X, Y = made()
    lda = LDA().fit(form(X), Y)
    rows = pd.DataFrame(X, columns=NAMES) if form is in_partitions else X
    expected = clone(lda).set_output(transform="pandas").fit(rows, Y).transform(rows)
    with config_context(transform_output="pandas"):
        found = [lda.transform(form(X)), clone(lda).fit_transform(form(X), Y)]
    assert isinstance(lda.transform(form(X)), da.Array)
    found.append(lda.set_output(transform="pandas").transform(form(X)))
    for each in found:
        assert isinstance(each, dd.DataFrame)
        pd.testing.assert_frame_equal(each.compute(), expected)
    assert isinstance(lda.transform(rows), pd.DataFrame)
    with pytest.raises(ValueError, match="has no counterpart for dask data"):
        lda.set_output(transform="polars").transform(form(X))


@pytest.mark.parametrize(
    "reducer",
    [
        KernelKaLDA(),
        KernelKaLDACV(n_neighbors=3, cv=2),
        MultiLabelKaLDACV(n_neighbors=3, cv=2),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_draws_rows_draws_all_of_few(reducer):
    X, Y = made()
    reducer.fit(X, Y)
    lazy = reducer.transform(in_blocks(X))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy, reducer.transform(X), atol=1e-10)
    blocks = clone(reducer).fit(in_blocks(X), in_blocks(Y))
    np.testing.assert_allclose(blocks.transform(X), reducer.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    "reducer",
    [
        MLDA(weights="correlation"),
        MDDM(label_kernel=lambda Y: Y @ Y.T),
        KernelKaLDACV(kernels="precomputed"),
    ],
)
def test_what_needs_all_rows_at_once_is_refused(reducer):
    X, Y = made()
    with pytest.raises(ValueError, match=r"cannot add up the blocks of a dask X: .* at once\."):
        reducer.fit(in_blocks(X), Y)


NAN = made()[0]
NAN[50, 2] = np.nan
WRONG = {
    "NaN": (lambda X, Y: (in_blocks(NAN), in_blocks(Y)), "Input X contains NaN"),
    "no indicator": (lambda X, Y: (in_blocks(X), in_blocks(Y * 2)), "y has two dim.* 0 and 1 only"),
    "regression": (lambda X, Y: (in_blocks(X), da.from_array(X[:, 0], chunks=17)), "Unknown label"),
    "no y": (lambda X, Y: (in_blocks(X), None), "requires y to be passed"),
    "ragged y": (lambda X, Y: (in_blocks(X), [[0], [0, 1]]), "y has rows of different lengths"),
    "short y": (lambda X, Y: (in_blocks(X), Y[:50]), "y has 50 rows, but X has 60"),
    "short dask y": (lambda X, Y: (in_blocks(X), in_blocks(Y[:51])), "y has 51 rows, but X has 60"),
    "other partitions": (
        lambda X, Y: (in_partitions(X), in_partitions(Y[:, 0], 3)),
        "y has 3 blocks and X has 4, some of unknown length",
    ),
    "other chunks": (
        lambda X, Y: (in_partitions(X), da.from_array(Y, chunks=((14, 16, 15, 15), 4))),
        "y has 1[46] rows in a block in which X has 15",
    ),
    "weights": (lambda X, Y: (in_blocks(X), Y, -np.ones(60)), "sample_weight"),
    "no weights": (lambda X, Y: (in_blocks(X), Y, np.zeros(60)), "row of positive weight"),
    "few weights": (lambda X, Y: (in_blocks(X), Y, np.ones(6)), "sample_weight has 6 rows, but X"),
    "one class": (lambda X, Y: (in_blocks(X), np.ones(60)), "y has one class only"),
    "no rows": (lambda X, Y: (in_blocks(X)[:0], in_blocks(Y)[:0]), "X has 0 samples"),
    "series": (lambda X, Y: (in_partitions(X).a, Y), "X is a dask Series: pass a dask array"),
    "bag": (lambda X, Y: (db.from_sequence(X.tolist()), Y), "X is a dask Bag"),
    "one dimension": (lambda X, Y: (da.ones(60), Y), "X is a dask Array"),
    "equal rows": (lambda X, Y: (da.ones((60, 3), chunks=17), Y), "finds no direction"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_a_value_error_that_names_the_argument(name):
    data, reason = WRONG[name]
    with pytest.raises(ValueError, match=reason):
        LDA().fit(*data(*made()))


def test_other_features_than_those_of_the_fit_are_refused():
    X, Y = made()
    lda = LDA().fit(X, Y)
    with pytest.raises(ValueError, match="X has 5 features, but LDA is expecting 8"):
        lda.transform(in_blocks(X[:, :5]))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        lda.transform(in_blocks(NAN)).compute()


def test_dask_is_imported_only_when_it_is_given():
    code = """
import sys
from sklearn.datasets import load_iris
from skml_kalda import LDA
LDA().fit_transform(*load_iris(return_X_y=True))
sys.exit("dask" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
