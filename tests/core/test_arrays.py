"""Data mapped from a file: the same results, in blocks, never copied whole; threads of BLAS."""

import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skml_kalda import MLDA as AnyMLDA
from skml_kalda._core.arrays import one_thread
from tests.classic import LDA
from tests.conftest import made


def mapped(path, array):
    file = np.memmap(path, array.dtype, "w+", shape=array.shape)
    file[:] = array
    file.flush()
    return np.memmap(path, array.dtype, "r", shape=array.shape)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, ">f8"])
@pytest.mark.parametrize("shape", [(300, 8), (2_200, 1_000)], ids=["one block", "several"])
def test_mapped_data_give_the_same_as_data_in_memory(tmp_path, shape, dtype):
    if shape[0] > 300 and dtype != np.uint8:
        pytest.skip("large enough once")
    X, Y = made(*shape)
    X = np.round(10 * np.abs(X)).clip(0, 200).astype(dtype)
    X_file, Y_file = mapped(tmp_path / "X", X), mapped(tmp_path / "Y", Y.astype(np.uint8))
    weight = mapped(tmp_path / "w", np.linspace(0.5, 2, len(X)).astype(np.float32))
    lda = LDA(ridge=0.1).fit(X_file, Y_file, sample_weight=weight)
    whole = LDA(ridge=0.1).fit(np.asarray(X, dtype=np.float64), Y, sample_weight=np.array(weight))
    atol = 1e-5 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(lda.components_, whole.components_, atol=atol)
    np.testing.assert_allclose(lda.transform(X_file), whole.transform(X), atol=100 * atol)
    assert lda.transform(X_file).dtype == (np.float32 if dtype is np.float32 else np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_no_whole_copy_is_made(tmp_path, dtype):
    rng = np.random.default_rng(0)
    n, p = 400_000, 20
    X = mapped(tmp_path / "X", rng.integers(0, 9, (n, p)).astype(dtype))
    Y = mapped(tmp_path / "Y", np.eye(20, dtype=np.int8)[rng.integers(20, size=n)])
    lda = LDA(3)

    def peak(task):
        tracemalloc.start()
        task()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    # The labels as sparse samples, twice, and weights: some numbers for each sample, and blocks.
    assert peak(lambda: lda.fit(X, Y)) < 0.95 * n * p * 8
    assert peak(lambda: lda.transform(X)) < n * 3 * 8 + 2.5 * 2**21 * 8


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(2_200, 1_000), (40, 60_000)], ids=["tall", "wide"])
def test_nan_and_infinity_are_found_in_any_block(bad, shape):
    X, Y = np.ones(shape), np.arange(shape[0]) % 3
    X[:, 0] += Y
    lda = LDA().fit(X[:, :2], Y)
    X[-3, 1] = bad
    kinds = [LDA(), AnyMLDA(weights="fuzzy")] if shape[0] < 100 else [LDA()]
    for call in [*(lambda kind=kind: kind.fit(X, Y) for kind in kinds),
                 lambda: lda.transform(X[:, :2])]:  # fmt: skip
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            call()


def test_small_arrays_are_multiplied_in_one_thread():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2):
        with one_thread():
            assert threads() == {1}
        with one_thread(1e9):
            assert threads() == {2}
