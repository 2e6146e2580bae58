"""The reader gives what liac-arff gives, on real files and on files that hypothesis makes."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from skml_kalda.datasets import ArffError, load_arff
from skml_kalda.datasets.arff import read
from skml_kalda.datasets.manifest import BUNDLED
from tests.datasets.arff import liac_oracle
from tests.datasets.arff.arff_files import arff_files

SETTINGS = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize(("name", "n_labels"), [("emotions", 6), ("yeast", 14), ("scene", 6)])
def test_bundled_sets_equal_liac_cell_by_cell(name, n_labels):
    path = BUNDLED / f"{name}.arff.xz"
    attributes, rows = liac_oracle.read(path)
    labels = list(range(len(attributes) - n_labels, len(attributes)))
    data, target = liac_oracle.expected(attributes, rows, labels)
    found = load_arff(path)
    assert_array_equal(found.data, data, strict=True)
    assert_array_equal(found.target, target, strict=True)
    names = [attribute for attribute, _ in attributes]
    assert found.feature_names + found.target_names == names


@pytest.fixture(scope="module", params=[8, 2**16])
def block_size(request):
    """Read in blocks of a few bytes too, so that they end anywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "_BLOCK", request.param)
        yield request.param


@given(file=arff_files())
@SETTINGS
def test_made_files_equal_liac_cell_by_cell(tmp_path_factory, block_size, file):
    folder = tmp_path_factory.mktemp("made")
    ours, theirs = folder / "ours.arff", folder / "theirs.arff"
    ours.write_bytes(file.text)
    theirs.write_bytes(file.for_liac)
    attributes, rows = liac_oracle.read(theirs)
    data, target = liac_oracle.expected(attributes, rows, file.labels)
    found = load_arff(ours, labels=[file.names[i] for i in file.labels])
    assert issparse(found.data) == file.is_sparse
    assert_array_equal(found.data.toarray() if issparse(found.data) else found.data, data)
    assert_array_equal(found.target, target, strict=True)
    assert found.feature_names == file.feature_names
    assert found.target_names == [file.names[i] for i in file.labels]


decimals = st.from_regex(r"\A-?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})\Z")
scientific = st.from_regex(r"\A[+-]?[0-9]{1,3}(\.[0-9]{1,18})?[eE][+-]?[0-9]{1,3}\Z")
sixteen_digits = st.sampled_from(["99999999.99999999", "90071992.54740993", "-90071993.00000001"])
numbers = decimals | scientific | sixteen_digits | st.floats(allow_nan=False).map(repr)


def write_numbers(path, texts):
    header = "".join(f"@attribute a{i} numeric\n" for i in range(len(texts)))
    path.write_text(
        f"@relation 'r: -C 1'\n@attribute y {{0,1}}\n{header}@data\n1,{','.join(texts)}"
    )
    return path


@given(st.lists(numbers, min_size=1))
@settings(SETTINGS, max_examples=100)
def test_numbers_are_those_of_float_to_the_bit(tmp_path_factory, texts):
    path = write_numbers(tmp_path_factory.mktemp("made") / "a.arff", texts)
    assert load_arff(path).data.tobytes() == np.array([float(text) for text in texts]).tobytes()


@pytest.mark.parametrize("text", ["-", ".", "-.", "1-2", "1..2", "1_0", "", "0x1", "1e", "٣"])
def test_what_is_no_number_is_an_error(tmp_path, text):
    with pytest.raises(ArffError, match="line 7: "):
        load_arff(write_numbers(tmp_path / "a.arff", ["1", text, "2"]))
