"""Dask data give what the same samples give in memory."""

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
from scipy import linalg, sparse
from sklearn import config_context
from sklearn.base import clone

from skml_kalda import MDDM, KernelKaLDA
from tests.classic import LDA, MLDA, MLSI, OPLS, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import fitted
from tests.reducers.cases import ALL_AT_ONCE, KALDA, REDUCERS, assert_same, short_and_wide, thinned

MERGEABLE = {n: r for n, r in (REDUCERS | KALDA).items() if n not in ALL_AT_ONCE}
NAMES = list("abcdefgh")
CLASSES = np.array(["dog", "cat", "emu", "ant"])


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def in_blocks(X, rows=17, columns=-1):
    return da.from_array(X, chunks=(rows, columns))


def sparse_blocks(X, rows=17, store=sparse.csr_array):
    dense = X.toarray() if sparse.issparse(X) else X
    return in_blocks(dense, rows).map_blocks(store)


def in_partitions(X, n=4):
    frame = pd.DataFrame(X, columns=NAMES[: X.shape[1]]) if X.ndim == 2 else pd.Series(X)
    return dd.from_pandas(frame, npartitions=n)


@pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", MERGEABLE)
def test_blocks_give_the_same_as_all_samples_in_memory(name, shape):
    X, Y = made(*shape, unlabelled=0.1)
    n = len(X)
    weight = np.random.default_rng(0).uniform(0.5, 2, n)
    weight[n // 5 : 2 * n // 5] = 0  # one whole block of five
    expected = clone(MERGEABLE[name]).fit(X, Y, sample_weight=weight)
    found = clone(MERGEABLE[name]).fit(
        in_blocks(X, n // 5, 3), in_blocks(Y, n // 3, 2), sample_weight=da.from_array(weight, 25)
    )
    assert_same(found, expected, atol=1e-7)
    single = clone(MERGEABLE[name]).fit(in_blocks(X.astype(np.float32)), Y)
    projected = single.transform(in_blocks(X.astype(np.float32)))
    assert single.components_.dtype == projected.dtype == projected.compute().dtype == np.float32


@pytest.mark.parametrize("reducer", [RLDA(ridge=0.1, tol=1e-12), OPLS(tol=1e-12)], ids=str)
def test_products_with_weights_unknown_labels_and_empty_blocks(reducer):
    X, Y = made(60, 8, unlabelled=0.1)
    X = thinned(X)
    X[:, 2] = 1e6 + np.arange(60) % 7  # far off, without zeros
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    weight[17:34] = 0  # a whole block
    Y = np.where(np.random.default_rng(1).random(Y.shape) < 0.1, np.nan, Y)
    blocks = da.concatenate([sparse_blocks(X), sparse_blocks(X[:0])])
    given = da.from_array(weight, chunks=25)
    found = fitted(reducer, blocks, in_blocks(Y, 20), "operator", sample_weight=given)
    assert_same(found, clone(reducer).fit(X, Y, sample_weight=weight), atol=1e-7)


@pytest.mark.parametrize(
    "reducer",
    [RLDA(ridge=0.1), MLSI(2, ridge=0.1), MultiLabelKaLDA(2, shrinkage=0.3, tol=1e-4)],
    ids=str,
)
def test_wide_sparse_blocks_need_no_array_of_the_side_of_the_features(reducer):
    X, Y, _ = short_and_wide(120, 3_000, 150, 4)
    rows = da.from_array(np.arange(120), chunks=60)
    blocks = rows.map_blocks(lambda i: X[i], chunks=(rows.chunks[0], (3_000,)), new_axis=1)
    found, exact = clone(reducer).fit(blocks, Y), clone(reducer).fit(X, Y)
    angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
    assert angles.max() < 1e-3
    assert found.transform(X).shape == (120, len(found.components_))


@pytest.mark.parametrize(
    ("X_form", "y_form"),
    [
        (in_partitions, in_partitions),
        (in_partitions, np.asarray),  # the samples are counted first
        (in_partitions, lambda y: da.from_array(y, chunks=15)),
        (lambda X: in_blocks(X, 15), in_partitions),
        (in_blocks, pd.Series),
        (lambda X: in_partitions(X).to_dask_array(), in_partitions),
        (lambda X: in_blocks(X.astype(object), 15), list),
    ],
)
def test_classes_are_found_over_all_blocks_whatever_their_form(X_form, y_form):
    X, Y = made(single=True)
    order = np.argsort(Y.argmax(axis=1), kind="stable")  # no block has all classes
    X, y = X[order], CLASSES[Y.argmax(axis=1)][order]
    found = MultiLabelKaLDA(tol=1e-12).fit(X_form(X), y_form(y))
    assert_same(found, MultiLabelKaLDA(tol=1e-12).fit(X, y))
    assert found.classes_.tolist() == sorted(CLASSES)


def test_partitions_that_lost_all_their_samples_count_for_nothing():
    X, Y = made()
    rows = np.r_[:20, 45:60]
    X[rows, 0] += 100
    frame = dd.from_pandas(
        pd.DataFrame(np.column_stack([X[:, :4], Y]), columns=NAMES), npartitions=4
    )
    some = frame[frame.a > 50]  # a partition loses all its samples, another ten
    named = pd.DataFrame(Y[rows], columns=NAMES[4:])
    found = RLDA().fit(some[NAMES[:4]], some[NAMES[4:]])
    assert_same(found, RLDA().fit(X[rows, :4], named))
    projected = found.transform(some[NAMES[:4]].to_dask_array())
    np.testing.assert_allclose(projected.compute(), found.transform(X[rows, :4]))


def test_dask_and_memory_can_be_mixed_at_every_step():
    X, Y = made()
    lda = LDA().fit(X, Y)
    for each in (lda, pickle.loads(pickle.dumps(LDA().fit(in_blocks(X), Y)))):
        assert type(each.components_) is np.ndarray
        np.testing.assert_allclose(each.transform(X), lda.transform(X))
        np.testing.assert_allclose(each.transform(in_blocks(X)), lda.transform(X))
    assert_same(LDA().fit(X, in_blocks(Y), sample_weight=da.ones(60)), lda)
    assert_same(LDA().fit(in_blocks(X), Y, sample_weight=2.0), lda)
    assert_same(LDA().fit(X, in_blocks(Y).map_blocks(sparse.csr_array)), lda)
    stream = LDA().partial_fit(X[:20], Y[:20]).partial_fit(in_blocks(X[20:]), in_blocks(Y[20:]))
    assert_same(stream, lda)
    kernel = KernelKaLDA().fit(in_blocks(X), in_blocks(Y))
    np.testing.assert_allclose(kernel.transform(X), KernelKaLDA().fit_transform(X, Y), atol=1e-8)


def test_the_order_in_which_blocks_are_done_changes_no_digit():
    X, Y = made(200, 8)

    def finished(waits):
        waiting = dict(zip(X[::40, 0], waits, strict=True))
        late = in_blocks(X, 40).map_blocks(
            lambda block: (time.sleep(waiting[block[0, 0]]), block)[1], meta=np.empty((0, 0))
        )
        with dask.config.set(scheduler="threads", num_workers=5):
            return LDA().fit(late, Y).components_

    there, back = finished(np.arange(5) / 40), finished(np.arange(5)[::-1] / 40)
    np.testing.assert_array_equal(there, back)


def test_every_sample_is_read_once_and_transform_is_lazy():
    X, Y = made()
    seen = []
    rows = in_blocks(X).map_blocks(
        lambda block: (seen.append(len(block)), block)[1], meta=np.empty((0, 0)), dtype=float
    )
    seen.clear()
    lda = LDA().fit(rows, in_blocks(Y))
    assert sorted(seen) == [9, 17, 17, 17]
    projected = lda.transform(rows)
    assert len(seen) == 4
    assert projected.chunks == ((17, 17, 17, 9), (3,))
    assert projected.dtype == np.float64
    assert isinstance(projected._meta, np.ndarray)
    unknown = lda.transform(in_blocks(X)[da.from_array(np.ones(60, dtype=bool), chunks=17)])
    assert np.isnan(unknown.shape[0])
    assert unknown.compute().shape == (60, 3)
    assert isinstance(LDA().fit_transform(in_blocks(X), in_blocks(Y)), da.Array)


@pytest.mark.parametrize("form", [in_partitions, in_blocks])
def test_set_output_gives_dask_dataframes_with_names(form):
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
    with pytest.raises(ValueError, match=r"polars|dask"):
        lda.set_output(transform="polars").transform(form(X))
    if form is in_partitions:
        assert lda.feature_names_in_.tolist() == NAMES
        with pytest.raises(ValueError, match="feature names should match"):
            lda.transform(in_partitions(X).rename(columns={"a": "z"}))


NAN = made()[0]
NAN[50, 2] = np.nan
X0, Y0 = made()
WRONG = {
    "NaN": ((in_blocks(NAN), in_blocks(Y0)), "Input X contains NaN"),
    "short y": ((in_blocks(X0), Y0[:50]), r"50.*60|60.*50"),
    "short dask y": ((in_blocks(X0), in_blocks(Y0[:51])), r"51.*60|60.*51"),
    "other partitions": ((in_partitions(X0), in_partitions(Y0[:, 0], 3)), r"y .*X"),
    "other chunks": (
        (in_partitions(X0), da.from_array(Y0, chunks=((14, 16, 15, 15), 4))),
        r"y .*X",
    ),
    "negative weights": ((in_blocks(X0), Y0, -np.ones(60)), "sample_weight"),
    "no weights": ((in_blocks(X0), Y0, np.zeros(60)), "weight"),
    "few weights": ((in_blocks(X0), Y0, np.ones(6)), "sample_weight"),
    "one class": ((in_blocks(X0), np.ones(60)), "one class"),
    "nothing": ((in_blocks(X0)[:0], in_blocks(Y0)[:0]), "0 sample"),
    "series": ((in_partitions(X0).a, Y0), "dask Series"),
    "bag": ((db.from_sequence(X0.tolist()), Y0), "dask Bag"),
    "one dimension": ((da.ones(60), Y0), "dask Array"),
    "constant": ((da.ones((60, 3), chunks=17), Y0), "direction"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_a_value_error_that_names_the_argument(name):
    data, reason = WRONG[name]
    with pytest.raises(ValueError, match=reason):
        LDA().fit(*data)


@pytest.mark.parametrize(
    "reducer",
    [MLDA(weights="correlation"), MDDM(label_kernel=lambda Y: Y @ Y.T)],
    ids=["MLDA", "MDDM"],
)
def test_what_blocks_do_not_offer_is_refused_with_the_reason(reducer):
    for blocks in (in_blocks(X0), sparse_blocks(X0)):
        with pytest.raises(ValueError, match="at once"):
            reducer.fit(blocks, Y0)
    lda = LDA().fit(X0, Y0)
    with pytest.raises(ValueError, match="X has 5 features, but LDA is expecting 8"):
        lda.transform(in_blocks(X0[:, :5]))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        lda.transform(in_blocks(NAN)).compute()
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fitted(MLSI(), sparse_blocks(NAN), Y0, "operator")


def test_dask_is_imported_only_when_it_is_given():
    code = """
import sys
from sklearn.datasets import load_iris
from skml_kalda import LDA
LDA().fit_transform(*load_iris(return_X_y=True))
sys.exit("dask" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_partition_with_its_columns_in_another_order_is_refused():
    X, Y = made()
    frame = pd.DataFrame(X).add_prefix("x")
    parts = [frame[:30], frame[30:].iloc[:, ::-1]]
    mixed = dd.from_map(lambda i: parts[i], [0, 1], meta=frame[:0], enforce_metadata=False)
    lda = LDA().fit(frame, Y)
    with pytest.raises(ValueError, match=r"partition with the columns \['x7'.*X = X.map"):
        lda.transform(mixed).compute()
    same = mixed.map_partitions(lambda part: part[frame.columns], meta=frame[:0])
    np.testing.assert_allclose(lda.transform(same), lda.transform(frame))
