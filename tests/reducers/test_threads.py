"""Fitted reducers are used from many threads at once."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import skml_kalda
from tests.classic import LDA, MultiLabelKaLDA
from tests.conftest import made

N_THREADS = 8


@pytest.mark.parametrize("reducer", [LDA, MultiLabelKaLDA])
def test_all_threads_see_all_batches(reducer):
    X, Y = made(80)
    first, second = slice(0, 50), slice(50, 80)
    wanted = [reducer().fit(X[first], Y[first]), reducer().fit(X, Y)]
    wanted = [fitted.components_ for fitted in wanted]
    barrier = Barrier(N_THREADS)

    def ask(stream):
        barrier.wait()
        return stream.components_, stream.transform(X), stream.eigenvalues_

    with ThreadPoolExecutor(N_THREADS) as pool:
        for _ in range(40):
            stream = reducer()
            for rows, components in zip((first, second), wanted, strict=True):
                stream.partial_fit(X[rows], Y[rows])
                answers = list(pool.map(ask, [stream] * N_THREADS))
                for found, projected, _ in answers:
                    np.testing.assert_allclose(found, components, rtol=1e-6, atol=1e-8)
                    np.testing.assert_array_equal(projected, answers[0][1])


def test_the_results_of_a_stream_are_computed_once(monkeypatch):
    X, Y = made()
    stream = LDA().partial_fit(X, Y)
    solved = []
    original = skml_kalda.LDA._directions
    monkeypatch.setattr(
        skml_kalda.LDA, "_directions", lambda *args: solved.append(1) or original(*args)
    )
    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(lambda _: stream.transform(X), range(N_THREADS)))
    assert len(solved) == 1


def test_a_stream_goes_on_after_pickling():
    X, Y = made()
    stream = LDA().partial_fit(X[:30], Y[:30])
    expected = stream.transform(X)
    copied = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(copied.transform(X), expected)
    copied.partial_fit(X[30:], Y[30:])
    whole = LDA().fit(X, Y)
    np.testing.assert_allclose(copied.components_, whole.components_, rtol=1e-8, atol=1e-10)
