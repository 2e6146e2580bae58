"""Batches are all samples; the solve waits for the first use, happens once, and threads may ask."""

import pickle
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.base import clone

from skml_kalda import AlignmentScaler, KernelKaLDA, LandmarkFeatures
from tests.classic import LDA, MultiLabelKaLDA
from tests.conftest import made
from tests.reducers.cases import ALL_AT_ONCE, KALDA, REDUCERS, assert_same

STREAMS = {n: r for n, r in (REDUCERS | KALDA).items() if hasattr(r, "partial_fit")}
OTHERS = {
    "AlignmentScaler": AlignmentScaler(),
    "KernelKaLDA": KernelKaLDA(n_landmarks=12, random_state=0),
    "LandmarkFeatures": LandmarkFeatures(12, random_state=0),
}
KINDS = pytest.mark.parametrize("kind", [LDA(), MultiLabelKaLDA(), OTHERS["KernelKaLDA"]], ids=repr)


def streamed(reducer, X, Y, cuts, **weights):
    reducer = clone(reducer)
    for rows in np.split(np.arange(X.shape[0]), cuts):
        more = {name: each[rows] for name, each in weights.items()}
        reducer.partial_fit(X[rows], Y[rows], **more)
    return reducer


def test_all_stream_but_those_that_need_all_samples_at_once():
    assert set(REDUCERS | KALDA) - set(STREAMS) == ALL_AT_ONCE
    for name in ALL_AT_ONCE:
        with pytest.raises(AttributeError, match="at once"):
            REDUCERS[name].partial_fit(*made())


def test_classes_may_come_late():
    X, Y = made(90, single=True)
    y = np.array(list("dcba"))[Y.argmax(axis=1)]
    order = np.argsort(y, kind="stable")
    stream = streamed(LDA(), X[order], y[order], [1, 3, 40])
    assert_same(stream, LDA().fit(X, y))
    early = LDA().partial_fit(X[order][:2], y[order][:2])
    with pytest.raises(ValueError, match="one class"):
        early.transform(X)


@KINDS
def test_a_stream_goes_on_after_it_was_used_and_pickled(kind):
    X, Y = made(200, 5)
    stream = clone(kind).partial_fit(X[:60], Y[:60])
    early = stream.transform(X)
    copied = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(copied.transform(X), early)
    for each in (stream, copied):
        each.partial_fit(X[60:], Y[60:])
    expected = streamed(kind, X, Y, [60]).transform(X)
    for each in (stream, copied):
        assert not np.allclose(each.transform(X), early)
        np.testing.assert_array_equal(each.transform(X), expected)


@KINDS
def test_a_stream_starts_over_after_fit(kind):
    X, Y = made(200, 5)
    stream = clone(kind).fit(X + 9, Y).partial_fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    expected = streamed(kind, X, Y, [60])
    np.testing.assert_array_equal(stream.transform(X), expected.transform(X))
    again = stream.fit(X, Y)  # and batches do not outlive a fit
    np.testing.assert_array_equal(again.transform(X), clone(kind).fit(X, Y).transform(X))


@pytest.mark.parametrize("name", [*OTHERS, "LDA"])
def test_a_batch_with_other_columns_is_refused_and_forgotten(name):
    X, Y = made(200, 5)
    stream = clone((OTHERS | STREAMS)[name]).partial_fit(X, Y)
    expected = stream.transform(X)
    with pytest.raises(ValueError, match="X has 3 features"):
        stream.partial_fit(X[:, :3], Y)
    if name != "LandmarkFeatures":
        with pytest.raises(ValueError, match=r"y has 3.*4"):
            stream.partial_fit(X, Y[:, :3])
        with pytest.raises(ValueError, match=r"y has one dimension.*4"):
            stream.partial_fit(X, Y.argmax(axis=1))
    np.testing.assert_array_equal(stream.transform(X), expected)


def test_an_error_of_the_solve_comes_at_every_use_until_more_samples_come():
    X, Y = made()
    for _ in range(2):
        stream = LDA().partial_fit(np.ones((20, 8)), Y[:20])
        for _ in range(2):
            with pytest.raises(ValueError, match="direction"):
                stream.transform(X)
    assert_same(
        stream.partial_fit(X, Y),
        LDA().fit(np.vstack([np.ones((20, 8)), X]), np.vstack([Y[:20], Y])),
    )


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="has the lock")
def test_no_import_brings_the_lock_of_the_interpreter_back():
    assert not sys._is_gil_enabled()


@pytest.mark.parametrize("name", ["LDA", "kaLDA", "KernelKaLDA"])
def test_all_threads_see_all_batches(name):
    X, Y = made(200, 5)
    kind = (OTHERS | STREAMS)[name]
    parts = [slice(0, 130), slice(130, 200)]
    wanted = [streamed(kind, X[: rows.stop], Y[: rows.stop], [130][:i]).transform(X)
              for i, rows in enumerate(parts)]  # fmt: skip
    barrier = Barrier(8)

    def ask(stream):
        barrier.wait()
        return stream.eigenvalues_, stream.transform(X)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            stream = clone(kind)
            for rows, expected in zip(parts, wanted, strict=True):
                stream.partial_fit(X[rows], Y[rows])
                for values, found in pool.map(ask, [stream] * 8):
                    np.testing.assert_array_equal(found, expected)
                    np.testing.assert_array_equal(values, stream.eigenvalues_)


def test_a_stream_is_solved_once_on_first_use():
    """A second solve would make a second array."""
    X, Y = made(400, 60)
    barrier = Barrier(8)

    def ask(stream):
        barrier.wait()
        return stream.components_

    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            found = list(pool.map(ask, [LDA().partial_fit(X, Y)] * 8))
            assert all(each is found[0] for each in found)
