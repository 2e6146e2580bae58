"""Processes of a Dask cluster give what one process gives, also when one of them dies."""

import logging
import os
import signal
import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from scipy import sparse
from sklearn.base import clone

from tests.classic import LDA, OPLS, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import fitted


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        silence_logs=logging.CRITICAL,
        dashboard_address=":0",  # any free port: there may be other clusters on this machine
        scheduler_kwargs={"dashboard": False},
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2)  # one may be on its way back
        yield client


def in_blocks(*arrays):
    return [da.from_array(array, chunks=(30, -1)) for array in arrays]


def same(a, b):
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8, rtol=0)
    np.testing.assert_allclose(a.mean_, b.mean_, atol=1e-8, rtol=0)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    return True


def test_data_kept_on_the_workers_give_the_same(client):
    X, Y = made(200, 12)
    expected = LDA().fit(X, Y)
    rows, labels = client.persist(in_blocks(X, Y))
    frame = client.persist(dd.from_pandas(pd.DataFrame(X), npartitions=3))
    assert same(LDA().fit(rows, labels), expected)
    assert same(LDA().fit(rows, Y), expected)
    assert same(LDA().fit(frame, Y), expected)  # samples are counted first
    np.testing.assert_allclose(expected.transform(rows), expected.transform(X), atol=1e-8)


def test_two_processes_give_the_same_as_one(client):
    X, Y = made(200, 12)
    rows, labels = in_blocks(X, Y)
    # Inside the test: sent as they are, without this module and all that it imports.
    pids = rows.map_blocks(lambda block: np.full((len(block), 1), os.getpid()), dtype=int)
    assert len(np.unique(pids.compute())) == 2
    for reducer in (MultiLabelKaLDA(tol=1e-12), OPLS()):
        expected = type(reducer)(**reducer.get_params()).fit(X, Y)
        assert same(reducer.fit(rows, labels), expected)
        np.testing.assert_allclose(reducer.transform(rows), expected.transform(X), atol=1e-8)
        assert same(reducer.fit(rows.map_blocks(sparse.csr_array), sparse.csr_array(Y)), expected)


@pytest.mark.parametrize(
    "reducer",
    [
        RLDA(ridge=0.1, tol=1e-10),
        pytest.param(MultiLabelKaLDA(shrinkage=0.2, tol=1e-10), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_products_on_two_processes_give_the_same_as_one(client, reducer):
    X, Y = made(120, 12)
    X[np.abs(X) < 0.5] = 0
    rows, labels = in_blocks(X, Y)
    found = fitted(reducer, rows.map_blocks(sparse.csr_array), labels, "operator")
    assert same(found, clone(reducer).fit(X, Y))


def test_what_is_wrong_with_a_block_reaches_the_user(client):
    X, Y = made(100, 4)
    X[80, 2] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        LDA().fit(*in_blocks(X, Y))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.slow
def test_a_worker_killed_during_fit_does_not_change_the_result(client, tmp_path):
    X, Y = made(200, 12)
    mark, victim = tmp_path / "killed", X[60, 0]

    def kill_once(block):
        """Kill the process that is the first to come to the block of sample 60."""
        if block[0, 0] != victim or mark.exists():
            return block
        mark.write_text(str(os.getpid()))
        return os.kill(os.getpid(), signal.SIGKILL)

    before = client.run(os.getpid).values()
    (rows,) = in_blocks(X)
    deadly = rows.map_blocks(kill_once, meta=np.empty((0, 0)))
    found = MultiLabelKaLDA(tol=1e-12).fit(deadly, Y)
    assert int(mark.read_text()) in before
    assert same(found, MultiLabelKaLDA(tol=1e-12).fit(X, Y))
