"""Problems of benchmarks/random_problems.py: forms against dense samples, classifiers literally."""

import pytest

from benchmarks.random_problems import METHODS, solve


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_nothing_differs_silently(method):
    """Each has other samples, labels, weights, parameters and another form."""
    for i in range(30):
        _, form, outcome, off = solve(METHODS.index(method) + i * len(METHODS))
        assert outcome != "silent", f"problem {i} in the form {form}: {off}"
