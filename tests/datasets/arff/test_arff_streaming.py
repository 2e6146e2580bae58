"""Batches of a file are the rows of the file, in memory that does not depend on its length."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skml_kalda import MultiLabelKaLDA
from skml_kalda.datasets import ArffError, iter_arff, load_arff, save_arff
from skml_kalda.datasets.arff import source
from tests.conftest import standardized
from tests.datasets.arff.arff_files import arff_files
from tests.datasets.arff.test_arff_hostile import BROKEN

HEADER = (
    "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute c {u,v}\n@data\n"
)


def dense(array):
    return array.toarray() if sparse.issparse(array) else array


def joined(batches):
    data, labels = zip(*batches, strict=True)
    return tuple(np.concatenate([dense(each) for each in part]) for part in (data, labels))


@given(file=arff_files(), batch_size=st.integers(1, 5))
def test_batches_are_the_rows_of_load_arff(file, batch_size, tmp_path_factory):
    path = tmp_path_factory.mktemp("arff") / "a.arff"
    path.write_bytes(file.text())
    names = [file.names[i] for i in file.labels]
    whole = load_arff(path, labels=names)
    batches = list(iter_arff(path, labels=names, batch_size=batch_size))
    sizes = [len(dense(X)) for X, _ in batches]
    assert sum(sizes) == whole.data.shape[0]
    assert all(size == batch_size for size in sizes[:-1])
    if batches:
        assert {type(X) for X, _ in batches} == {type(whole.data)}
        X, y = joined(batches)
        np.testing.assert_array_equal(X, dense(whole.data))
        np.testing.assert_array_equal(y, whole.target)
        assert y.dtype == whole.target.dtype


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
@pytest.mark.parametrize("row", ["1,{i}.5,v", "0,?,u", "{{1 {i},2 v}}", "{{0 1}}"])
def test_compressed_files_of_many_blocks(suffix, pack, row, tmp_path):
    path = tmp_path / f"a.arff{suffix}"
    rows = "".join(f"% {i}\n{row.format(i=i)}\n" for i in range(5000))
    path.write_bytes(pack.compress((HEADER + rows).encode()))
    whole = load_arff(path, sparse_labels=True)
    X, y = joined(iter_arff(path, batch_size=700))
    np.testing.assert_array_equal(X, dense(whole.data))
    np.testing.assert_array_equal(y, dense(whole.target))
    thin = [y for _, y in iter_arff(path, batch_size=700, sparse_labels=True)]
    assert {type(y) for y in thin} == {sparse.csr_matrix}
    assert [y.shape[0] for y in thin] == [700] * 7 + [100]


def test_options_are_those_of_load_arff(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(HEADER + "1,2,u\n0,1,v\n1,0,u\n")
    (batch,) = iter_arff(path, ignore=["c"])
    np.testing.assert_array_equal(batch[0], [[2], [1], [0]])
    (batch,) = iter_arff(path, labels=["c"])
    assert batch[1].tolist() == ["u", "v", "u"]
    with pytest.raises(ArffError, match="the feature 'c' is nominal"):
        next(iter_arff(path, nominal="error"))


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_give_the_error_of_load_arff(name, tmp_path):
    text, line, _ = BROKEN[name]
    path = tmp_path / "a.arff"
    path.write_text(text)
    with pytest.raises(ArffError) as of_load:
        load_arff(path)
    with pytest.raises(ArffError) as of_iter:
        list(iter_arff(path, batch_size=1))
    assert str(of_iter.value) == str(of_load.value)
    assert of_iter.value.line == line


def test_the_line_of_a_late_error_is_right(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(HEADER + "1,2,u\n" * 20_000 + "1,x,u\n" + "1,2,u\n" * 10)
    batches = iter_arff(path, batch_size=1000)
    assert next(batches)[0].shape == (1000, 2)
    with pytest.raises(ArffError, match="line 20006: 'x' is not a number"):
        list(batches)


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"batch_size": 0}, ValueError, "batch_size == 0, must be >= 1"),
        ({"batch_size": 2.5}, TypeError, "batch_size must be an instance of"),
        ({"nominal": "drop"}, ValueError, "nominal must be"),
        ({"ignore": "c"}, TypeError, "ignore must be a list"),
    ],
)
def test_wrong_options_are_refused_before_the_file_is_opened(options, error, reason, tmp_path):
    with pytest.raises(error, match=reason):
        iter_arff(tmp_path / "nowhere.arff", **options)


def test_a_stream_fits_as_the_whole_file_does(tmp_path):
    X, y = standardized("emotions")
    save_arff(tmp_path / "a.arff.gz", X, y)
    stream = MultiLabelKaLDA(constraint="none")
    for batch in iter_arff(tmp_path / "a.arff.gz", batch_size=100):
        stream.partial_fit(*batch)
    whole = MultiLabelKaLDA(constraint="none").fit(X, y)
    np.testing.assert_allclose(stream.components_, whole.components_, atol=1e-8)


@pytest.mark.parametrize("row", ["1,2.25,v\n", "{0 1,1 2.25}\n"])
def test_memory_does_not_grow_with_the_file(row, tmp_path, monkeypatch):
    # A file of this many blocks or more is read in the largest ones.
    monkeypatch.setattr(source, "_LARGEST_BLOCK", 2**15)

    def peak(n_rows):
        path = tmp_path / "a.arff"
        with path.open("w") as stream:
            stream.write(HEADER)
            for _ in range(n_rows // 10_000):
                stream.write(row * 10_000)
        tracemalloc.start()
        assert sum(X.shape[0] for X, _ in iter_arff(path, batch_size=2000)) == n_rows
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return top

    assert peak(200_000) < 1.05 * peak(100_000)
