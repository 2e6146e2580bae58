"""A sample drawn in parts is a sample of all rows."""

import numpy as np
import pytest
from scipy import sparse

from skml_kalda._core.streams import RandomSample

X, y = np.arange(40.0)[:, None] * [1, 10], np.arange(40)


def drawn(rows, size, seed):
    return RandomSample.of(size, (X[rows], y[rows]), np.random.default_rng(seed))


def test_rows_stay_together_and_in_order():
    sample = drawn(slice(0, 25), 7, 0) + drawn(slice(25, 40), 7, 1)
    rows, labels = sample.columns
    assert len(labels) == 7
    assert (np.diff(labels) > 0).all()
    np.testing.assert_array_equal(rows[:, 0], labels)


def test_fewer_rows_than_asked_for_are_all_there():
    sample = drawn(slice(0, 25), 50, 0) + drawn(slice(25, 40), 50, 1)
    np.testing.assert_array_equal(sample.columns[1], y)


def test_the_way_parts_are_put_together_does_not_matter():
    a, b, c = (drawn(slice(i, j), 6, i) for i, j in ((0, 5), (5, 30), (30, 40)))
    left, right = (a + b) + c, a + (b + c)
    np.testing.assert_array_equal(left.columns[1], right.columns[1])
    np.testing.assert_array_equal(left.keys, right.keys)


@pytest.mark.parametrize("cut", [1, 4, 20, 39])
def test_every_row_is_as_likely_whatever_its_part(cut):
    """5 of 40 rows in 4,000 samples: each comes 500 times, with a deviation of 21."""
    counts = np.zeros(40)
    for seed in range(4000):
        sample = drawn(slice(0, cut), 5, [seed, 0]) + drawn(slice(cut, 40), 5, [seed, 1])
        counts[sample.columns[1]] += 1
    assert np.abs(counts - 500).max() < 4.5 * 21


def test_sparse_rows_stay_sparse():
    thin = sparse.csr_array(X)
    parts = [
        RandomSample.of(8, (thin[:20], y[:20]), np.random.default_rng(0)),
        RandomSample.of(8, (X[20:], y[20:]), np.random.default_rng(1)),
    ]
    rows, labels = (parts[0] + parts[1]).columns
    assert sparse.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), X[labels])
