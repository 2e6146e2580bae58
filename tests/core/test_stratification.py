"""Iterative stratification against a greedy loop over single rows."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from skml_kalda._core.stratification import (
    _alike_together,
    _counts,
    stratified_parts,
    stratified_split,
)


def drawn(n=300, K=12, seed=0, unlabelled=0.2):
    """Correlated labels from rare to frequent, and rows without any."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, K))
    Y = latent > np.linspace(2.5, 0.3, K)
    Y[rng.random(n) < unlabelled] = False
    return sparse.csr_array(Y.astype(float))


def greedy(rows, n_label, shares, given, room):
    """Row by row to the part that lacks most, then to that with most room, then to the first."""
    counts = [0] * len(shares)
    for _ in range(rows):
        best = max(
            (part for part in range(len(shares)) if counts[part] < room[part]),
            key=lambda j: (
                shares[j] * n_label - given[j] - counts[j],
                room[j] - counts[j],
                -j,
            ),
        )
        counts[best] += 1
    return counts


@pytest.mark.parametrize("seed", range(60))
def test_all_rows_of_a_label_at_once_are_placed_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    cuts = np.sort(rng.choice(np.arange(1, 64), size=k - 1, replace=False))
    exact = [Fraction(1, k)] * k
    if seed % 2:  # powers of two: the same in floats
        exact = [Fraction(int(share), 64) for share in np.diff([0, *cuts, 64])]
    given = rng.integers(0, 9, size=k)
    room = rng.integers(0, 15, size=k)
    rows = int(rng.integers(0, room.sum() + 1))
    n_label = rows + int(given.sum())
    wanted = n_label * np.array([float(share) for share in exact])
    counts = _counts(rows, wanted, given, room, np.arange(k))
    assert counts.tolist() == greedy(rows, n_label, exact, given.tolist(), room.tolist())


@pytest.mark.parametrize("rng", [None, 0, 1])
@pytest.mark.parametrize("sizes", [(60,) * 5, (75, 225), (100, 50, 150), (300,), (299, 1)])
def test_parts_have_their_sizes(sizes, rng):
    sizes = np.array(sizes)
    rng = rng if rng is None else np.random.RandomState(rng)
    parts = stratified_parts(drawn(), sizes / 300, sizes, rng)
    np.testing.assert_array_equal(np.bincount(parts, minlength=len(sizes)), sizes)


def deviation(Y, parts):
    shares = [Y[parts == part].mean(axis=0) for part in np.unique(parts)]
    return np.abs(np.array(shares) - Y.mean(axis=0)).mean()


@pytest.mark.parametrize("rng", [None, 0, 1, 2])
@pytest.mark.parametrize("shares", [(0.1,) * 10, (0.2, 0.8)])
def test_labels_are_spread_far_more_evenly_than_by_chance(shares, rng):
    Y, sizes = drawn(2000), (2000 * np.array(shares)).round().astype(int)
    parts = stratified_parts(
        Y, np.array(shares), sizes, rng if rng is None else np.random.RandomState(rng)
    )
    chance = np.random.default_rng(rng).permutation(parts)
    assert deviation(Y, parts) < deviation(Y, chance) / 4


def test_rows_with_the_same_labels_are_spread_too():
    """So pairs of labels are balanced, which the labels alone do not ask for."""
    Y = sparse.csr_array(np.tile([[1, 1], [1, 0], [0, 1], [0, 0]], (25, 1)).astype(float))
    parts = stratified_parts(Y, np.full(5, 0.2), np.full(5, 20), np.random.RandomState(0))
    both = Y.toarray().all(axis=1)
    np.testing.assert_array_equal(np.bincount(parts[both]), [5] * 5)


@pytest.mark.parametrize("seed", range(5))
def test_rows_without_labels_are_spread_evenly(seed):
    Y = drawn(seed=seed, unlabelled=0).toarray()
    Y[:, -1] = np.arange(300) % 5 < 4
    Y = sparse.csr_array(Y)
    unlabelled = np.diff(Y.indptr) == 0
    assert unlabelled.sum() > 10
    parts = stratified_parts(Y, np.full(5, 0.2), np.full(5, 60), np.random.RandomState(seed))
    assert np.ptp(np.bincount(parts[unlabelled])) <= 1


def test_even_if_most_rows_have_none_they_are_spread_more_evenly_than_by_chance():
    Y = drawn(2000, unlabelled=0.5)
    unlabelled = np.diff(Y.indptr) == 0
    assert unlabelled.mean() > 0.5
    ranges = {"ours": [], "chance": []}
    for seed in range(10):
        rng = np.random.RandomState(seed)
        parts = stratified_parts(Y, np.full(5, 0.2), np.full(5, 400), rng)
        ranges["ours"].append(np.ptp(np.bincount(parts[unlabelled])))
        ranges["chance"].append(np.ptp(np.bincount(rng.permutation(parts)[unlabelled])))
    assert np.mean(ranges["ours"]) < np.mean(ranges["chance"]) / 2


@pytest.mark.parametrize("rng", [None, 0])
def test_classes_that_exclude_one_another_are_split_as_evenly_as_can_be(rng):
    classes = np.random.default_rng(3).integers(0, 7, size=200) ** 2 // 9
    Y = sparse.csr_array(np.eye(5)[classes])
    rng = rng if rng is None else np.random.RandomState(rng)
    parts = stratified_parts(Y, np.full(4, 0.25), np.full(4, 50), rng)
    counts = np.array([np.bincount(classes[parts == part], minlength=5) for part in range(4)])
    assert np.ptp(counts, axis=0).max() <= 1


def test_a_rare_label_goes_to_as_many_parts_as_it_has_rows():
    Y = drawn().toarray()
    Y[:, 0] = 0
    Y[[10, 20, 30], 0] = 1
    parts = stratified_parts(sparse.csr_array(Y), np.full(5, 0.2), np.full(5, 60))
    assert len(set(parts[[10, 20, 30]])) == 3


def test_a_seed_gives_its_own_parts():
    def parts(seed):
        rng = np.random.RandomState(seed)
        return stratified_parts(drawn(), np.full(5, 0.2), np.full(5, 60), rng).tolist()

    assert parts(0) == parts(0)
    assert parts(0) != parts(1)


def test_a_split_leaves_out_what_is_asked_for_neither_part():
    train, test = stratified_split(drawn(), 100, 50, np.random.RandomState(0))
    assert (len(train), len(test)) == (100, 50)
    assert not set(train) & set(test)


def test_the_labels_are_left_as_they_are():
    Y = drawn()
    for array in (Y.data, Y.indices, Y.indptr):
        array.flags.writeable = False
    stratified_parts(Y, np.full(5, 0.2), np.full(5, 60), np.random.RandomState(0))


@pytest.mark.parametrize("Y", [np.zeros((6, 3)), np.zeros((6, 0))])
def test_no_labels_at_all(Y):
    parts = stratified_parts(sparse.csr_array(Y), np.full(3, 1 / 3), np.full(3, 2))
    np.testing.assert_array_equal(np.bincount(parts), [2, 2, 2])


def test_rows_are_ordered_by_their_first_five_labels():
    Y = drawn(K=9)
    ordered = Y[_alike_together(Y)].toarray() > 0
    firsts = [np.flatnonzero(row)[:5].tolist() for row in ordered]
    assert firsts == sorted(firsts)


def test_labels_of_one_row_each_are_shared_out():
    parts = stratified_parts(sparse.eye_array(4, format="csr"), np.full(2, 0.5), np.array([2, 2]))
    assert sorted(parts) == [0, 0, 1, 1]
