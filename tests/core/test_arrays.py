"""Data that are mapped from a file: read once, in blocks, never copied whole."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone

from skml_kalda import MDDM
from skml_kalda._core import arrays
from skml_kalda._core.scatter import moments
from tests.classic import LDA, MLDA, OPLS, MultiLabelKaLDA
from tests.conftest import made
from tests.reducers.test_contracts import REDUCERS

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, ">f8"])


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 64)  # numbers
    original = arrays.row_blocks
    monkeypatch.setattr(moments, "row_blocks", lambda X, at_least: original(X))


def mapped(path, array):
    file = np.memmap(path, array.dtype, "w+", shape=array.shape)
    file[:] = array
    file.flush()
    return np.memmap(path, array.dtype, "r", shape=array.shape)


def counts(n=300, p=8, dtype=np.float64):
    X, Y = made(n, p)
    return np.round(10 * np.abs(X)).clip(0, 200).astype(dtype), Y


@DTYPES
def test_mapped_data_give_the_same_as_data_in_memory(tmp_path, dtype, small_blocks):
    X, Y = counts(dtype=dtype)
    X_file, Y_file = mapped(tmp_path / "X", X), mapped(tmp_path / "Y", Y.astype(np.uint8))
    weight = mapped(tmp_path / "w", np.linspace(0.5, 2, 300).astype(np.float32))
    lda = LDA().fit(X_file, Y_file, sample_weight=weight)
    whole = LDA().fit(np.asarray(X, dtype=np.float64), Y, sample_weight=np.asarray(weight))
    atol = 1e-5 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(lda.components_, whole.components_, atol=atol)
    np.testing.assert_allclose(lda.transform(X_file), whole.transform(X), atol=100 * atol)
    assert lda.transform(X_file).dtype == (np.float32 if dtype is np.float32 else np.float64)


@DTYPES
def test_fit_and_transform_read_each_row_once(tmp_path, dtype, monkeypatch):
    """The rows are in the file only while their own block is worked on."""
    X, Y = counts(dtype=dtype)
    expected = OPLS().fit(X, Y)
    projected = expected.transform(X)
    file = np.memmap(tmp_path / "X", dtype, "w+", shape=X.shape)
    nothing = 99 if file.dtype.kind in "iu" else np.nan
    file[:] = nothing
    check = arrays.assert_all_finite
    served = []

    def appear(block, **kwargs):  # the first to look at a block
        start = (block.ctypes.data - file.ctypes.data) // file.strides[0]
        block[:] = X[start : start + len(block)]
        served.append((start, len(block)))
        check(block, **kwargs)

    original = arrays.row_blocks

    def vanish(X, at_least=1):
        for rows, block in original(X):
            yield rows, block
            block[:] = nothing

    monkeypatch.setattr(arrays, "BLOCK", 200)
    monkeypatch.setattr(arrays, "assert_all_finite", appear)
    monkeypatch.setattr(arrays, "row_blocks", vanish)
    monkeypatch.setattr(moments, "row_blocks", vanish)
    reducer = OPLS().fit(file, Y)
    assert served == [(i, 25) for i in range(0, 300, 25)]
    np.testing.assert_allclose(reducer.components_, expected.components_, atol=1e-6)
    np.testing.assert_allclose(reducer.transform(file), projected, rtol=1e-4, atol=1e-4)
    assert len(served) == 24


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_no_whole_copy_is_made(tmp_path, dtype, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 2**16)
    rng = np.random.default_rng(0)
    X = mapped(tmp_path / "X", rng.integers(0, 9, (100_000, 20)).astype(dtype))
    Y = mapped(tmp_path / "Y", np.eye(4, dtype=np.int8)[rng.integers(4, size=100_000)])
    lda = LDA()

    def peak(task):
        tracemalloc.start()
        task()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    # The labels as sparse rows, twice, and weights: some numbers for each row, not 20.
    assert peak(lambda: lda.fit(X, Y)) < 0.75 * 100_000 * 20 * 8
    assert peak(lambda: lda.transform(X)) < 100_000 * 3 * 8 + 20 * 2**16


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(300, 8), (20, 40)], ids=["tall", "wide"])
def test_a_number_that_is_none_is_found_in_any_block(bad, shape, small_blocks):
    X, Y = made(*shape)
    lda = LDA().fit(X, Y)
    X[-3, 5] = bad
    for call in (lambda: LDA().fit(X, Y), lambda: lda.transform(X)):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            call()


def test_weights_that_need_all_rows_are_checked_before():
    X, Y = made()
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MLDA(weights="fuzzy").fit(X, Y)


def test_a_label_other_than_0_and_1_is_found_in_any_block():
    Y = np.zeros((2**19 + 60, 2), dtype=np.int8)
    Y[-1, 1] = 2
    with pytest.raises(ValueError, match="contains 2"):
        LDA().fit(np.zeros((len(Y), 1)), Y)


STREAMING = [name for name, reducer in REDUCERS.items() if hasattr(reducer, "partial_fit")]


def test_all_stream_but_those_that_need_all_rows_at_once():
    rest = set(REDUCERS) - set(STREAMING)
    assert rest == {"MDDM-kernel", "MLDA-correlation", "MLDA-fuzzy", "MLDA-dependence"}
    with pytest.raises(AttributeError, match="need all rows at once"):
        MLDA(weights="fuzzy").partial_fit  # noqa: B018
    with pytest.raises(AttributeError, match="needs all rows at once"):
        MDDM(label_kernel=np.eye(3)).partial_fit  # noqa: B018


@pytest.mark.parametrize("name", STREAMING)
def test_sparse_batches_give_the_same_as_all_at_once(name):
    X, Y = made(90)
    X = sparse.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.5))
    stream = clone(REDUCERS[name])
    for rows in np.split(np.arange(90), [20, 55]):
        stream.partial_fit(X[rows], Y[rows])
    whole = clone(REDUCERS[name]).fit(X, Y)
    np.testing.assert_allclose(stream.components_, whole.components_, atol=1e-8)


def test_a_stream_too_wide_for_its_moments_is_refused():
    X = sparse.csr_array(([1.0], ([3], [5])), shape=(10, 2_000_000))
    kalda = MultiLabelKaLDA()
    with pytest.raises(
        MemoryError, match=r"96000 GB are needed .* reduce the number of features first"
    ):
        kalda.partial_fit(X, np.arange(10) % 2)
    assert "_state" not in vars(kalda)


@pytest.mark.parametrize(("at_most", "rows"), [(np.inf, 2), (2**16, 1), (10, 1)])
def test_batches_fit_into_the_working_memory(at_most, rows):
    with config_context(working_memory=1):  # MB
        found = list(arrays.batches(5, 2**16, at_most))
    assert found == [slice(i, min(i + rows, 5)) for i in range(0, 5, rows)]
