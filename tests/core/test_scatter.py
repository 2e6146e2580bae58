"""The statistic against sums written out row by row, and its forms against each other."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skml_kalda._core.labels import indicator, omega_weighted, row_weighted
from skml_kalda._core.scatter import PrimalScatter, RowScatter, centred, moments, scatter_of
from tests.conftest import made

FIELDS = ("weight", "mean", "label_weight", "cross", "gram")


def weighted(Y, sample_weight=None):
    ones = np.ones(len(Y)) if sample_weight is None else sample_weight
    return omega_weighted(indicator(Y).matrix, ones)


def by_definition(X, Y):
    """S_b and S_t of the paper, summed over classes and rows."""
    N = Y.sum()
    m = sum(Y[i].sum() * X[i] for i in range(len(X))) / N
    S_b, S_t = np.zeros((2, X.shape[1], X.shape[1]))
    for k in range(Y.shape[1]):
        members = X[Y[:, k] == 1]
        gap = members.mean(axis=0) - m
        S_b += len(members) * np.outer(gap, gap)
        S_t += sum(np.outer(x - m, x - m) for x in members)
    return m, S_b, S_t


def dense(spectrum):
    basis = spectrum.basis @ np.eye(len(spectrum.values))
    return basis * spectrum.values @ basis.T


def assert_same(a, b, rtol=1e-12):
    for field in FIELDS:
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=rtol, atol=1e-11)


@pytest.mark.parametrize("form", [PrimalScatter, RowScatter])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(60, 8), (12, 30)], ids=["tall", "wide"])
def test_scatters_are_those_of_the_definition(form, store, shape):
    X, Y = made(*shape, unlabelled=0.2)
    scatter = form.of(store(X), *weighted(Y))
    mean, S_b, S_t = by_definition(X, Y)
    np.testing.assert_allclose(scatter.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(scatter.between @ scatter.between.T, S_b, atol=1e-11)
    np.testing.assert_allclose(dense(scatter.spectrum), S_t, atol=1e-10)
    np.testing.assert_allclose(scatter.trace, np.trace(S_t))


@pytest.mark.parametrize("form", [PrimalScatter, RowScatter])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(80, 40), (35, 40)], ids=["tall", "wide"])
def test_spectra_of_units_far_apart_are_pivots(form, store, shape):
    """If each unit is 10^5 times the next, eigenvalues are the pivots of elimination in order."""
    X, Y = made(*shape)
    order = np.random.default_rng(0).permutation(40)
    units = np.empty(40)
    units[order] = 10.0 ** np.linspace(100, -95, 40)
    values, basis = form.of(store(X * units), *weighted(Y)).spectrum
    rank = min(40, shape[0] - 1)
    first = order[:rank]
    S_t = by_definition(X, Y)[2][np.ix_(first, first)]
    pivots = np.diag(np.linalg.cholesky(S_t)) ** 2
    np.testing.assert_allclose(values, pivots * units[first] ** 2, rtol=1e-7)
    np.testing.assert_allclose(np.abs(basis[first, range(rank)]), 1, rtol=1e-7)


@pytest.mark.parametrize("block", [5, 10**6])
def test_the_total_scatter_of_sparse_rows_is_put_together_from_blocks(block, monkeypatch):
    monkeypatch.setattr(centred, "_BLOCK", block)
    X, Y = made(40, 12, unlabelled=0.2)
    X[:, :8] *= np.random.default_rng(1).random((40, 8)) < 0.3
    X[:, 10] += 1e4
    S_t = by_definition(X, Y)[2]
    total = PrimalScatter.of(sparse.csr_array(X), *weighted(Y)).total
    np.testing.assert_allclose(total, S_t, atol=1e-7)


def test_total_is_between_plus_a_positive_within():
    X, Y = made()
    scatter = PrimalScatter.of(X, *weighted(Y))
    within = scatter.total - scatter.between @ scatter.between.T
    assert np.linalg.eigvalsh(within).min() > 0
    assert np.linalg.matrix_rank(scatter.between) == Y.shape[1] - 1


@given(
    n=st.integers(5, 40),
    p=st.integers(1, 12),
    cuts=st.lists(st.integers(1, 39), max_size=4),
    offset=st.sampled_from([0.0, 1e4]),
    seed=st.integers(0, 99),
)
def test_scatters_of_parts_add_up(n, p, cuts, offset, seed):
    X, Y = made(n, p, seed=seed, unlabelled=0.3)
    X = X + offset
    labels, weight = weighted(Y)
    whole = PrimalScatter.of(X, labels, weight)
    edges = [0, *sorted({c for c in cuts if c < n}), n]
    parts = (slice(*pair) for pair in pairwise(edges))
    merged = reduce(add, (PrimalScatter.of(X[i], labels[i], weight[i]) for i in parts))
    assert_same(merged, whole, rtol=1e-9)
    np.testing.assert_allclose(merged.total, whole.total, rtol=1e-9, atol=1e-9)


def test_row_blocks_do_not_show(monkeypatch):
    X, Y = made(500, 5)
    whole = PrimalScatter.of(X, *weighted(Y))
    monkeypatch.setattr(
        moments,
        "row_blocks",
        lambda X, at_least: ((slice(i, i + 7), X[i : i + 7]) for i in range(0, len(X), 7)),
    )
    blocks = PrimalScatter.of(X, *weighted(Y))
    assert_same(whole, blocks)
    np.testing.assert_allclose(blocks.total, whole.total, rtol=1e-10)


@pytest.mark.parametrize("form", [PrimalScatter, RowScatter])
def test_a_large_offset_does_not_spoil_sparse_data(form):
    X, Y = made(20, 30, unlabelled=0.1)
    X[:, :10] *= np.random.default_rng(1).random((20, 10)) < 0.3  # columns with zeros
    X[:, 10:] += 1e6  # columns without
    scatter = form.of(sparse.csr_array(X), *weighted(Y))
    np.testing.assert_allclose(
        dense(scatter.spectrum), by_definition(X, Y)[2], rtol=1e-6, atol=1e-7
    )


def test_float32_is_added_up_in_double_precision():
    X, Y = made(300, 6)
    X = (X + 100).astype(np.float32)
    single, double = (PrimalScatter.of(x, *weighted(Y)) for x in (X, X.astype(np.float64)))
    np.testing.assert_allclose(single.total, double.total, rtol=1e-12)


def test_fewer_rows_than_features_need_no_large_matrix():
    X, Y = made(12, 30)
    assert isinstance(scatter_of(X, *weighted(Y)), RowScatter)
    assert isinstance(scatter_of(X.T[:, :4], *weighted(np.tile(Y, (3, 1))[:30])), PrimalScatter)


def test_the_range_leaves_out_what_does_not_vary():
    X, Y = made(60, 6)
    X = np.hstack([X, X[:, :1] + X[:, 1:2], np.full((60, 1), 3.0)])  # dependent, constant
    spectrum = PrimalScatter.of(X, *weighted(Y)).spectrum
    assert len(spectrum.values) == 6
    assert np.all(np.diff(spectrum.values) <= 0)


def test_columns_can_be_selected_and_put_among_others():
    X, Y = made(K=4)
    scatter = PrimalScatter.of(X, *weighted(Y))
    wide = scatter.widen(6, np.array([1, 2, 4, 5]))
    assert wide.label_weight[[0, 3]].sum() == 0
    assert_same(wide.select(np.array([1, 2, 4, 5])), scatter)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e150])
def test_labels_of_one_sum_have_one_dimension_less(size):
    """The rank of the centred labels, where no label depends on the others otherwise."""
    X, Y = made(40, 5, K=4, unlabelled=0.2)
    one_class = np.eye(4)[np.arange(40) % 4]
    for labels, weigh in [(Y, row_weighted), (Y, omega_weighted), (one_class, row_weighted)]:
        weighted = weigh(sparse.csr_array(labels, dtype=float), np.full(40, size))
        scatter = scatter_of(X, *weighted)
        values = weighted.labels.toarray()[weighted.weight > 0]
        centred_rank = np.linalg.matrix_rank(values - values.mean(axis=0), tol=1e-9)
        assert scatter.label_dimensions == centred_rank


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_all_directions_of_few_rows_in_uneven_units_are_kept(form):
    X, Y = made(20, 30)
    scatter = RowScatter.of(form(X * np.geomspace(1e-2, 1e6, 30)), *weighted(Y))
    assert len(scatter.spectrum.values) == 19
