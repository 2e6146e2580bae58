"""Iterative stratification against a greedy loop over single rows, and as users call it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedGroupKFold

from skml_kalda.model_selection import (
    MultiLabelStratifiedKFold,
    MultiLabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
from skml_kalda.model_selection.splits import _counts
from tests.conftest import made

SPLITTERS = {
    "KFold": MultiLabelStratifiedKFold(4),
    "shuffled KFold": MultiLabelStratifiedKFold(4, shuffle=True, random_state=0),
    "ShuffleSplit": MultiLabelStratifiedShuffleSplit(4, test_size=0.25, random_state=0),
}


@pytest.fixture(params=SPLITTERS)
def splitter(request):
    return SPLITTERS[request.param]


@pytest.fixture
def labels():
    return made(n=203, K=5, unlabelled=0.1)[1]


def rows_of(splitter, y):
    return [test.tolist() for _, test in splitter.split(np.zeros(203), y)]


def deviation(splitter, Y, groups=None):
    found = [Y[test].mean(axis=0) for _, test in splitter.split(Y, Y, groups)]
    return np.abs(np.array(found) - Y.mean(axis=0)).mean()


def drawn(unlabelled=0.2):
    """Correlated labels from rare to frequent, and rows without any."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(300, 1)) + rng.normal(size=(300, 12))
    return (latent > np.linspace(2.5, 0.3, 12)) & (rng.random((300, 1)) >= unlabelled)


def greedy(rows, n_label, shares, given, room):
    """Row by row to the part that lacks most, then to that with most room, then to the first."""
    counts = [0] * len(shares)
    for _ in range(rows):
        free = (part for part in range(len(shares)) if counts[part] < room[part])
        lack = [shares[j] * n_label - given[j] - counts[j] for j in range(len(shares))]
        counts[max(free, key=lambda j: (lack[j], room[j] - counts[j], -j))] += 1
    return counts


@pytest.mark.parametrize("seed", range(30))
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


@pytest.fixture(params=[{}, {"shuffle": True, "random_state": 0}], ids=["in order", "shuffled"])
def parts_of(request):
    """Return the fold of each row."""

    def parts(Y, n_splits):
        found = np.empty(len(Y), dtype=int)
        folds = MultiLabelStratifiedKFold(n_splits, **request.param)
        for fold, (_, test) in enumerate(folds.split(Y, Y)):
            found[test] = fold
        return found

    return parts


def test_rows_with_the_same_labels_are_spread_too(parts_of):
    """So pairs of labels are balanced, which the labels alone do not ask for."""
    Y = np.tile([[1, 1], [1, 0], [0, 1], [0, 0]], (25, 1))
    assert np.bincount(parts_of(Y, 5)[Y.all(axis=1)]).tolist() == [5] * 5


def test_rows_without_labels_are_spread_evenly(parts_of):
    Y = drawn(unlabelled=0)
    Y[:, -1] = np.arange(300) % 5 < 4
    unlabelled = ~Y.any(axis=1)
    assert unlabelled.sum() > 10
    assert np.ptp(np.bincount(parts_of(Y, 5)[unlabelled])) <= 1


def test_classes_that_exclude_one_another_are_split_as_evenly_as_can_be(parts_of):
    classes = np.random.default_rng(3).integers(0, 7, size=200) ** 2 // 9
    parts = parts_of(classes, 4)
    counts = np.array([np.bincount(classes[parts == part], minlength=5) for part in range(4)])
    assert np.ptp(counts, axis=0).max() <= 1


@pytest.mark.parametrize("Y", [np.zeros((6, 3)), np.zeros((6, 0)), np.eye(6)])
def test_no_labels_or_labels_of_one_row_each(Y, parts_of):
    assert np.bincount(parts_of(Y, 3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 5, 10, 203])
def test_folds_are_a_partition_of_equal_sizes(n_splits, shuffle, labels):
    splits = list(MultiLabelStratifiedKFold(n_splits, shuffle=shuffle).split(labels, labels))
    assert len(splits) == n_splits
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(203))
    assert np.ptp([len(test) for _, test in splits]) <= 1
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(203))


OF_SIZES = [{}, {"test_size": 0.25}, {"test_size": 30}, {"train_size": 0.5}]


@pytest.mark.parametrize("sizes", [*OF_SIZES, {"test_size": 0.2, "train_size": 50}])
def test_shuffle_splits_have_the_sizes_that_scikit_learn_gives(sizes, labels):
    ours = MultiLabelStratifiedShuffleSplit(3, random_state=0, **sizes).split(labels, labels)
    theirs = ShuffleSplit(3, random_state=0, **sizes).split(labels)
    for (train, test), expected in zip(ours, theirs, strict=True):
        assert [len(train), len(test)] == [len(part) for part in expected]
        assert not set(train) & set(test)


def test_proportions_of_labels_are_kept_on_real_sets(bundled):
    _, Y = bundled
    folds = (MultiLabelStratifiedKFold, KFold)
    for (ours, random), n_splits, options in [
        (folds, 10, {}),
        (folds, 10, {"shuffle": True, "random_state": 0}),
        (
            (MultiLabelStratifiedShuffleSplit, ShuffleSplit),
            5,
            {"test_size": 0.3, "random_state": 0},
        ),
    ]:
        expected = deviation(random(n_splits, **options), Y)
        assert deviation(ours(n_splits, **options), Y) < expected / 4


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.ndarray.tolist]
)
def test_every_form_of_y_gives_the_same_splits(form, splitter, labels):
    assert rows_of(splitter, form(labels)) == rows_of(splitter, labels)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None.*labels to stratify by"),
        (np.full((203, 2), 2), "indicator matrix of 0 and 1 only, but it contains 2"),
        (np.zeros((203, 2, 2)), "3 dimensions"),
        (np.zeros((202, 2)), r"inconsistent numbers of samples: \[203, 202\]"),
        (np.linspace(0, 1, 203), "continuous"),
    ],
)
def test_wrong_labels_are_named(y, message, splitter):
    with pytest.raises(ValueError, match=message):
        splitter.split(np.zeros(203), *([] if y is None else [y]))


def test_any_number_of_arrays_is_split_alike():
    X, Y = made(n=100)
    names = [f"row {i}" for i in range(100)]
    frame = pd.DataFrame(X)
    parts = multilabel_train_test_split(names, frame, sparse.csr_array(X), Y, random_state=0)
    assert len(parts) == 8
    rows = [int(name.split()[1]) for name in parts[1]]
    assert len(rows) == 25
    pd.testing.assert_frame_equal(parts[3], frame.iloc[rows])
    np.testing.assert_array_equal(parts[5].toarray(), X[rows])
    np.testing.assert_array_equal(parts[7], Y[rows])
    assert len(parts[0]) == len(parts[6]) == 75
    with pytest.raises(ValueError, match="No arrays"):
        multilabel_train_test_split()


def test_unknown_labels_count_for_nothing(splitter, labels):
    unknown = (np.random.default_rng(0).random(labels.shape) < 0.2) & (labels == 0)
    assert rows_of(splitter, np.where(unknown, np.nan, labels)) == rows_of(splitter, labels)


def grouped(seed):
    """One class per sample that depends on the group; a few groups are large."""
    rng = np.random.default_rng(seed)
    groups = (rng.random(600) ** 2 * 60).astype(int)
    return (rng.random(600) * 4 + groups % 4 * 0.7).astype(int) % 4, groups


def test_groups_are_never_divided(splitter):
    y, groups = grouped(0)
    names = np.array([f"author {group}" for group in groups])
    splits = list(splitter.split(y, np.eye(4)[y], names))
    assert all(not {*groups[train]} & {*groups[test]} for train, test in splits)
    assert all(80 < len(test) < 220 for _, test in splits)
    if isinstance(splitter, KFold):
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(600))


def test_labels_of_groups_are_balanced_as_by_scikit_learn_for_classes():
    def spread(splitter, seed):
        y, groups = grouped(seed)
        counts = [np.bincount(y[test], minlength=4) for _, test in splitter.split(y, y, groups)]
        return np.std(counts / np.bincount(y), axis=0).mean()

    ours, theirs, blind = (
        np.mean([spread(splitter, seed) for seed in range(10)])
        for splitter in (MultiLabelStratifiedKFold(5), StratifiedGroupKFold(5), GroupKFold(5))
    )
    assert ours <= theirs < blind / 2


def test_groups_of_one_sample_are_balanced_like_samples():
    Y = drawn()
    groups = np.random.default_rng(0).permutation(300)
    assert deviation(MultiLabelStratifiedKFold(5), Y, groups) < deviation(KFold(5), Y) / 4


def test_too_few_groups_are_refused_and_two_are_split():
    y = np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match="groups has 1 different groups"):
        list(MultiLabelStratifiedKFold(2).split(y, y, np.zeros(4)))
    (train, test) = next(MultiLabelStratifiedShuffleSplit(1).split(y, y, [0, 0, 1, 1]))
    assert len(train) == len(test) == 2
