"""What must not change a result, tried on random data: hypothesis draws the data and the change.

Results are compared by the inner products of the projected training rows, which no sign and no
rotation among equal eigenvalues changes, relative to the largest of them.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from skml_kalda import (
    AlignmentScaler,
    KernelKaLDA,
    KernelKaLDACV,
    LandmarkFeatures,
    MultiLabelKaLDACV,
)
from tests.classic import MultiLabelKaLDA
from tests.conftest import made
from tests.reducers.test_contracts import REDUCERS
from tests.reducers.test_units import FREE, units

KALDA = {
    "kaLDA": MultiLabelKaLDA(tol=1e-10),
    "kaLDA-shrunk": MultiLabelKaLDA(shrinkage="auto", tol=1e-10),
    "kaLDA-closed": MultiLabelKaLDA(constraint="none", shrinkage="auto"),
    "KernelKaLDA": KernelKaLDA(shrinkage=0.2),
    "KernelKaLDA-linear": KernelKaLDA(kernel="linear", shrinkage=0.2),
}
FEATURES = {
    "AlignmentScaler": AlignmentScaler(),
    "AlignmentScaler-units": AlignmentScaler(with_std=False),
    "LandmarkFeatures": LandmarkFeatures(),
    "LandmarkFeatures-linear": LandmarkFeatures(kernel="linear"),
}
SCALERS = {"AlignmentScaler", "AlignmentScaler-units"}
VOTES = {"shrinkages": (0.1, 0.5), "n_neighbors": (3, 5), "thresholds": 0.5, "cv": 2}
SEARCHES = {
    "kaLDA-CV": MultiLabelKaLDACV(**VOTES),
    "KernelKaLDACV": KernelKaLDACV(kernels="rbf", gammas=(0.5, 2), **VOTES),
}
ALL = REDUCERS | KALDA | FEATURES | SEARCHES
# It visits the rows in an order of its own, and ends in another of many local maxima.
IN_ORDER = {"MLDA-dependence"}
# A weight is a number of repetitions: of more rows, these regularise less, or doubt less.
MORE_IS_LESS_REGULAR = {"MDDM-f", "kaLDA-shrunk", "kaLDA-closed", *SCALERS}
WITHOUT_WEIGHTS = {"LandmarkFeatures", "LandmarkFeatures-linear", *SEARCHES}
# Their kernel is as wide as the median distance.
IN_ANY_UNIT = ["KernelKaLDA", "KernelKaLDACV", "LandmarkFeatures"]
few = settings(max_examples=2)
seeds = st.integers(0, 10_000)


def products(reducer, X, Y, rows=slice(None)):
    """Inner products of the projected rows, about their mean."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # made data may leave a class without rows
        P = clone(reducer).fit(X, Y).transform(X)[rows]
    P = P.toarray() if sparse.issparse(P) else P
    P = P - P.mean(axis=0)
    return P @ P.T


def assert_same(found, expected, tol):
    assert np.abs(found - expected).max() <= tol * np.abs(expected).max()


def every(names=ALL, besides=frozenset()):
    return pytest.mark.parametrize("name", sorted(set(names) - besides))


@every(besides=IN_ORDER | set(SEARCHES))
@few
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(name, seed):
    X, Y = made(40, 6, seed=seed)
    order = np.random.default_rng(seed).permutation(40)
    back = np.argsort(order)
    expected = products(ALL[name], X, Y)
    assert_same(products(ALL[name], X[order], Y[order], back), expected, 1e-6)


@every(SEARCHES)
@few
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter_to_a_search_on_the_same_folds(name, seed):
    X, Y = made(40, 6, seed=seed)
    order = np.random.default_rng(seed).permutation(40)
    back = np.argsort(order)
    folds = list(KFold(2).split(X))
    search, moved = (clone(SEARCHES[name]) for _ in range(2))
    search.set_params(cv=folds)
    moved.set_params(cv=[(back[train], back[test]) for train, test in folds])
    expected = products(search, X, Y)
    assert_same(products(moved, X[order], Y[order], back), expected, 1e-6)


@every(besides=IN_ORDER)
@few
@given(seed=seeds)
def test_the_order_of_labels_does_not_matter(name, seed):
    X, Y = made(40, 6, seed=seed)
    order = np.random.default_rng(seed).permutation(Y.shape[1])
    assert_same(products(ALL[name], X, Y[:, order]), products(ALL[name], X, Y), 1e-6)


@every()
@few
@given(seed=seeds, power=st.integers(0, 6))
def test_an_offset_does_not_matter(name, seed, power):
    X, Y = made(40, 6, seed=seed)
    # Bits that an offset would round away are cut off first.
    X = np.round(X * 2**16) / 2**16
    offset = np.random.default_rng(seed).integers(-9, 9, 6) * 10.0**power
    assert_same(products(ALL[name], X + offset, Y), products(ALL[name], X, Y), 1e-6)


@pytest.mark.parametrize("name", FREE)
@few
@given(seed=seeds, decades=st.integers(0, 8))
def test_units_do_not_matter_without_a_ridge(name, seed, decades):
    X, Y = made(40, 6, seed=seed)
    factors = units(6, decades, seed)
    assert_same(products(FREE[name], X * factors, Y), products(FREE[name], X, Y), 1e-6)


@few
@given(seed=seeds, decades=st.integers(0, 8))
def test_units_do_not_matter_to_a_scaler_that_divides_by_the_spread(seed, decades):
    X, Y = made(40, 6, seed=seed)
    scaler = FEATURES["AlignmentScaler"]
    factors = units(6, decades, seed)
    assert_same(products(scaler, X * factors, Y), products(scaler, X, Y), 1e-6)


@every(IN_ANY_UNIT)
@few
@given(seed=seeds, power=st.integers(-100, 100))
def test_one_unit_of_all_features_does_not_matter_to_kernels_of_the_median_width(name, seed, power):
    X, Y = made(40, 6, seed=seed)
    assert_same(products(ALL[name], X * 10.0**power, Y), products(ALL[name], X, Y), 1e-6)


@every()
@few
@given(seed=seeds)
def test_duplicate_entries_of_sparse_data_are_summed(name, seed):
    rng = np.random.default_rng(seed)
    X, Y = made(40, 6, seed=seed)
    X = np.where(rng.random(X.shape) < 0.6, X, 0)
    expected = products(ALL[name], sparse.csr_array(X), Y)
    doubled = with_duplicates(X, rng)
    before = doubled.data.copy(), doubled.indices.copy(), doubled.indptr.copy()
    assert_same(products(ALL[name], doubled, Y), expected, 1e-6)
    after = doubled.data, doubled.indices, doubled.indptr
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def with_duplicates(X, rng):
    """CSR of X in which every entry is stored as two that add up to it, in random order."""
    part = rng.integers(1, 8, X.shape) / 8
    rows, columns, values = [], [], []
    for i, row in enumerate(X):
        (stored,) = row.nonzero()
        both = np.concatenate([stored, stored])
        share = np.concatenate([part[i, stored], 1 - part[i, stored]])
        order = rng.permutation(len(both))
        rows.append(len(both))
        columns.append(both[order])
        values.append((row[both] * share)[order])
    pointers = np.concatenate([[0], np.cumsum(rows)])
    parts = np.concatenate(values), np.concatenate(columns), pointers
    return sparse.csr_array(parts, shape=X.shape)


@every()
@few
@given(seed=seeds)
def test_single_precision_gives_the_same_to_its_digits(name, seed):
    X, Y = made(40, 6, seed=seed)
    X = X.astype(np.float32)
    expected = products(ALL[name], X.astype(np.float64), Y)
    assert_same(products(ALL[name], X, Y), expected, 1e-4)


# Its output, like its input, is far from the origin, where single precision has few digits.
@every(besides=SCALERS)
def test_single_precision_far_from_the_origin_gives_what_its_values_are(name):
    X, Y = made(40, 6)
    X = (100 * X + 1e8).astype(np.float32)
    expected = products(ALL[name], X.astype(np.float64), Y)
    for form in (np.asarray, sparse.csr_array):
        assert_same(products(ALL[name], form(X), Y), expected, 1e-4)


@every()
@few
@given(seed=seeds)
def test_the_layout_in_memory_does_not_matter(name, seed):
    X, Y = made(40, 6, seed=seed)
    expected = products(ALL[name], X, Y)
    spread = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    for layout in (np.asfortranarray(X), spread, X[::-1][::-1]):
        layout.flags.writeable = False
        assert_same(products(ALL[name], layout, np.asfortranarray(Y)), expected, 1e-8)


@every()
def test_fits_at_the_same_time_do_not_disturb_each_other(name):
    data = [made(40, 6, seed=seed) for seed in range(4)]
    expected = [products(ALL[name], X, Y) for X, Y in data]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: products(ALL[name], *each), data))
    for a, b in zip(found, expected, strict=True):
        assert_same(a, b, 1e-8)


@every(besides=MORE_IS_LESS_REGULAR | WITHOUT_WEIGHTS)
@few
@given(seed=seeds, power=st.integers(-200, 200))
def test_the_size_of_weights_does_not_matter(name, seed, power):
    X, Y = made(40, 6, seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, 40).astype(float)
    first, second = (
        clone(ALL[name]).fit(X, Y, sample_weight=w).transform(X)
        for w in (weight, weight * 10.0**power)
    )
    assert_same(second @ second.T, first @ first.T, 1e-6)
