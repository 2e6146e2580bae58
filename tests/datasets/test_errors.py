"""A file that cannot be read and a download that failed are different errors."""

import pickle

import pytest

from skml_kalda.datasets import ArffError, DatasetError, FetchError


@pytest.mark.parametrize("kind", [ArffError, FetchError])
def test_both_state_file_line_and_reason_and_survive_pickling(kind):
    error = kind("why", path="a.arff", line=3)
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, DatasetError)
    assert (again.reason, again.path, again.line) == ("why", "a.arff", 3)
    assert str(error) == str(again) == "a.arff, line 3: why"
    assert str(kind("why")) == "why"
