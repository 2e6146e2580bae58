"""The splitters as scikit-learn and its users call them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    check_cv,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from skml_kalda.datasets import load_dataset
from skml_kalda.framework import iterative_train_test_split
from skml_kalda.model_selection import (
    MultiLabelStratifiedKFold,
    MultiLabelStratifiedShuffleSplit,
    multilabel_train_test_split,
)
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
    return [test.tolist() for _, test in splitter.split(np.zeros(len(y)), y)]


def deviation(splitter, Y):
    found = [Y[test].mean(axis=0) for _, test in splitter.split(Y, Y)]
    return np.abs(np.array(found) - Y.mean(axis=0)).mean()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 5, 10, 203])
def test_folds_are_a_partition_of_equal_sizes(n_splits, shuffle, labels):
    splits = list(MultiLabelStratifiedKFold(n_splits, shuffle=shuffle).split(labels, labels))
    assert len(splits) == n_splits
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(203))
    assert np.ptp([len(test) for _, test in splits]) <= 1
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(203))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, (182, 21)),
        ({"test_size": 0.25}, (152, 51)),
        ({"test_size": 30}, (173, 30)),
        ({"train_size": 0.5}, (101, 102)),
        ({"test_size": 0.2, "train_size": 50}, (50, 41)),
    ],
)
def test_shuffle_splits_have_the_sizes_that_scikit_learn_gives(sizes, expected, labels):
    ours = MultiLabelStratifiedShuffleSplit(3, random_state=0, **sizes)
    for splitter in (ours, ShuffleSplit(3, random_state=0, **sizes)):
        for train, test in splitter.split(labels, labels):
            assert (len(train), len(test)) == expected
            assert not set(train) & set(test)


def test_proportions_of_labels_are_kept_on_real_sets(bundled):
    _, Y = bundled
    for ours, random in [
        (MultiLabelStratifiedKFold(10), KFold(10)),
        (
            MultiLabelStratifiedKFold(10, shuffle=True, random_state=0),
            KFold(10, shuffle=True, random_state=0),
        ),
        (
            MultiLabelStratifiedShuffleSplit(5, test_size=0.3, random_state=0),
            ShuffleSplit(5, test_size=0.3, random_state=0),
        ),
    ]:
        assert deviation(ours, Y) < deviation(random, Y) / 4


def test_class_labels_are_stratified_as_scikit_learn_does():
    classes = np.array(["sea", "sun", "wind"])[
        np.random.default_rng(0).integers(3, size=100) ** 2 // 2
    ]
    for train, test in MultiLabelStratifiedKFold(4).split(classes, classes):
        assert len(train) + len(test) == 100
    counts = [
        [
            sorted(np.unique(classes[test], return_counts=True)[1])
            for _, test in cv.split(classes, classes)
        ]
        for cv in (MultiLabelStratifiedKFold(4), StratifiedKFold(4))
    ]
    assert np.ptp(counts[0], axis=0).max() <= 1
    np.testing.assert_array_equal(np.sum(counts[0], axis=0), np.sum(counts[1], axis=0))


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.ndarray.tolist]
)
def test_every_form_of_y_gives_the_same_splits(form, splitter, labels):
    assert rows_of(splitter, labels) == [
        test.tolist() for _, test in splitter.split(np.zeros(203), form(labels))
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: MultiLabelStratifiedKFold(4, shuffle=True, random_state=seed),
        lambda seed: MultiLabelStratifiedShuffleSplit(4, random_state=seed),
    ],
)
def test_a_seed_gives_its_own_splits(make, labels):
    assert rows_of(make(0), labels) == rows_of(make(0), labels)
    assert rows_of(make(0), labels) != rows_of(make(1), labels)
    assert rows_of(make(None), labels) != rows_of(make(None), labels)


def test_splits_of_one_seed_differ_from_one_another(labels):
    splits = rows_of(SPLITTERS["ShuffleSplit"], labels)
    assert len({tuple(test) for test in splits}) == 4


def test_unshuffled_folds_are_always_the_same(labels):
    folds = rows_of(MultiLabelStratifiedKFold(4), labels)
    assert folds == rows_of(MultiLabelStratifiedKFold(4), labels)


def test_the_global_random_state_is_left_alone(splitter, labels):
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    rows_of(splitter, labels)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_scikit_learn_takes_the_splitters(splitter):
    X, Y = made(n=120)
    assert check_cv(splitter) is splitter
    assert splitter.get_n_splits() == splitter.get_n_splits(X, Y) == 4
    scores = cross_val_score(KNeighborsClassifier(), X, Y, cv=splitter, scoring="f1_macro")
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()
    grid = {"n_neighbors": [1, 5]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=splitter, scoring="f1_macro")
    assert search.fit(X, Y).n_splits_ == 4
    assert clone(search).get_params()["cv"] is not None


def test_the_settings_are_shown():
    assert repr(MultiLabelStratifiedKFold()) == (
        "MultiLabelStratifiedKFold(n_splits=5, random_state=None, shuffle=False)"
    )


def test_groups_are_ignored_with_a_warning(splitter, labels):
    with pytest.warns(UserWarning, match="groups parameter is ignored"):
        next(splitter.split(labels, labels, groups=np.zeros(203)))


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
        splitter.split(np.zeros(203), y)


def test_more_folds_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_splits=6 greater than the number of samples"):
        next(MultiLabelStratifiedKFold(6).split(np.zeros(5), np.eye(5)))


@pytest.mark.parametrize("n_splits", [1, 2.5])
def test_a_number_of_folds_that_makes_no_sense_is_refused(n_splits):
    with pytest.raises(ValueError, match=str(n_splits)):
        MultiLabelStratifiedKFold(n_splits)


def test_a_seed_without_shuffling_is_refused_as_in_scikit_learn():
    with pytest.raises(ValueError, match="shuffle"):
        MultiLabelStratifiedKFold(random_state=0)


@pytest.mark.parametrize("sizes", [{"test_size": 1.5}, {"test_size": 203}, {"train_size": "half"}])
def test_sizes_that_make_no_sense_are_refused(sizes, labels):
    with pytest.raises(ValueError, match=str(next(iter(sizes.values())))):
        next(MultiLabelStratifiedShuffleSplit(**sizes).split(labels, labels))


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


def test_the_last_array_or_another_is_stratified_by():
    Y = load_dataset("scene", return_X_y=True)[1]
    rows = np.arange(len(Y))
    by_last = multilabel_train_test_split(rows, Y, random_state=0)
    by_name = multilabel_train_test_split(rows, stratify=Y, random_state=0)
    np.testing.assert_array_equal(by_last[1], by_name[1])
    chance = ShuffleSplit(1, test_size=0.25, random_state=0)
    off = np.abs(Y[by_last[1]].mean(axis=0) - Y.mean(axis=0)).mean()
    assert off < deviation(chance, Y) / 4


def test_the_framework_split_has_a_seed_that_keeps_the_stratification():
    X, Y = load_dataset("yeast", return_X_y=True)

    def test_part(seed):
        return iterative_train_test_split(X, Y, 0.3, random_state=seed)[3]

    np.testing.assert_array_equal(test_part(0), test_part(0))
    assert (test_part(0) != test_part(1)).any()
    off = np.abs(test_part(0).mean(axis=0) - Y.mean(axis=0)).mean()
    assert off < deviation(ShuffleSplit(5, test_size=0.3, random_state=0), Y) / 4


def test_nothing_to_split_is_refused():
    with pytest.raises(ValueError, match="No arrays"):
        multilabel_train_test_split()


def test_unknown_labels_count_for_nothing(splitter, labels):
    y = np.asarray(labels.todense() if sparse.issparse(labels) else labels, dtype=float)
    y[(np.random.default_rng(0).random(y.shape) < 0.2) & (y == 0)] = np.nan
    for found, expected in zip(
        splitter.split(y, y), splitter.split(y, np.nan_to_num(y)), strict=True
    ):
        np.testing.assert_array_equal(found[1], expected[1])
