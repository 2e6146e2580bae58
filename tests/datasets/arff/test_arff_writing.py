"""What save_arff writes is read back as it was, by this package and by liac-arff."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from skml_kalda.datasets import load_arff, save_arff
from skml_kalda.datasets.manifest import BUNDLED
from tests.datasets.arff import liac_oracle

floats = st.floats(allow_infinity=False)
shapes = st.tuples(st.integers(1, 5), st.integers(1, 4))


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@pytest.mark.parametrize("dialect", ["meka", "mulan"])
@pytest.mark.parametrize("sparse", [False, True])
@given(data=shapes.flatmap(lambda s: arrays(float, s, elements=floats)), seed=st.integers(0, 99))
def test_labels_come_back(tmp_path_factory, dialect, sparse, data, seed):
    path = tmp_path_factory.mktemp("saved") / "saved.arff"
    target = np.random.default_rng(seed).integers(0, 2, (len(data), 3))
    save_arff(path, csr_matrix(data) if sparse else data, target, dialect=dialect)
    found = load_arff(path)
    assert found.data.dtype == float
    assert_array_equal(dense(found.data), data)
    assert_array_equal(found.target, target, strict=True)
    assert found.target_names == ["y0", "y1", "y2"]


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@pytest.mark.parametrize("sparse", [False, True])
@given(names=st.lists(words, min_size=4, max_size=4, unique=True), first=st.integers(0, 3))
def test_classes_and_names_come_back(tmp_path_factory, sparse, names, first):
    path = tmp_path_factory.mktemp("saved") / "saved.arff"
    data = np.array([[0.0, 1.5], [0.0, 0.0], [-2.0, np.nan]])
    target = np.array([names[first], names[3 - first], names[first]], dtype=object)
    features = ["class" + name for name in names[:2]]
    given = csr_matrix(data) if sparse else data
    save_arff(path, given, target, feature_names=features, target_names=names)
    found = load_arff(path)
    assert found.target.tolist() == target.tolist()
    assert found.target_names == names
    assert found.feature_names == features
    assert_array_equal(dense(found.data), data)


@given(name=words)
def test_a_label_name_survives_xml_or_is_refused(tmp_path_factory, name):
    path = tmp_path_factory.mktemp("saved") / "saved.arff"
    arguments = {"data": [[0.5]], "target": [[1]], "target_names": [f"y{name}"]}
    if any((ord(char) < 32 and char not in "\t\n\r") or char in "\ufffe\uffff" for char in name):
        with pytest.raises(ValueError, match="a character that XML cannot contain"):
            save_arff(path, **arguments, dialect="mulan")
    else:
        save_arff(path, **arguments, dialect="mulan")
        assert load_arff(path).target_names == arguments["target_names"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_liac_reads_what_is_written(tmp_path, suffix):
    emotions = load_arff(BUNDLED / "emotions.arff.xz")
    path = tmp_path / f"emotions.arff{suffix}"
    save_arff(path, emotions.data, emotions.target)
    data, target = liac_oracle.expected(*liac_oracle.read(path), labels=list(range(6)))
    assert_array_equal(data, emotions.data)
    assert_array_equal(target, emotions.target)


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "old.arff"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        save_arff(path, [[1.0]], [[1]], feature_names=["\ud800"])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_matrix_of_the_caller_is_not_touched(tmp_path):
    given = csr_matrix(([1.0, 2.0, 3.0], [1, 0, 0], [0, 3]), shape=(1, 2))
    save_arff(tmp_path / "r.arff", given, [[1]])
    assert given.indices.tolist() == [1, 0, 0]
    assert_array_equal(load_arff(tmp_path / "r.arff").data.toarray(), [[5, 1]])


def test_a_stale_xml_is_not_taken_for_the_labels_of_a_new_file(tmp_path):
    (tmp_path / "r.xml").write_text("<labels/>")
    with pytest.raises(ValueError, match=r"r\.xml is next to r\.arff"):
        save_arff(tmp_path / "r.arff", [[1.0]], [[1]])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"target": [[2]]}, r"labels in \{0, 1\}"),
        ({"target": [[1], [0]]}, "inconsistent numbers of samples"),
        ({"target": ["a"], "target_names": ["b"]}, "every class of target"),
        ({"data": [1.0]}, "Expected 2D array, got 1D array"),
        ({"feature_names": ["a", "b"]}, "feature_names must contain 1 names"),
        ({"target_names": ["x0"]}, "must not share a name"),
        ({"dialect": "weka"}, "dialect must be"),
        ({"relation": "r: -C 3"}, "relation must not contain the option -C"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, reason):
    arguments = {"data": [[1.0]], "target": [[1]], **arguments}
    with pytest.raises(ValueError, match=reason):
        save_arff(tmp_path / "r.arff", **arguments)
    assert not list(tmp_path.iterdir())
