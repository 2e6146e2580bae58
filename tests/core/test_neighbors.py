"""The search for neighbours against a stable sort of all distances."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors

from skml_kalda._core.neighbors import ExactSearch, GraphSearch, neighbor_counts


def integers(p, rng):
    """Points of a coarse grid: most distances tie, exactly."""
    return rng.integers(0, 3, (300, p)).astype(float), rng.integers(0, 3, (60, p)).astype(float)


def copies(p, rng):
    """Copies of a few points, at all of which rounding errors are the same."""
    points = rng.normal(size=(40, p)) + 3
    return points[rng.integers(40, size=300)], points


def smooth(p, rng):
    return rng.normal(size=(300, p)), rng.normal(size=(60, p))


def sorted_rows(train, rows, k, metric="euclidean"):
    distances = cdist(rows, train, metric)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, indices, axis=1), indices


@pytest.mark.parametrize("k", [1, 5, 299, 300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("p", [2, 40])
@pytest.mark.parametrize("draw", [integers, copies, smooth])
def test_neighbours_are_sorted_by_distance_then_by_row_number(draw, p, form, k):
    train, rows = draw(p, np.random.default_rng(p))
    search = ExactSearch(k).fit(form(train))
    assert (search._kd_tree is not None) == (p == 2 and form is np.asarray)
    distances, indices = search.kneighbors(form(rows))
    expected, expected_indices = sorted_rows(train, rows, k)
    assert_array_equal(indices, expected_indices)
    assert_allclose(distances, expected, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("offset", [0, 100, 1e8])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("p", [3, 40])
def test_ties_of_integers_are_exact_in_single_precision_and_far_from_the_origin(p, form, offset):
    train, rows = integers(p, np.random.default_rng(0))
    expected = sorted_rows(train, rows, 5)
    column = np.arange(p) == 1
    for dtype in [np.float64] if offset == 1e8 else [np.float32, np.float64]:
        search = ExactSearch(5).fit(form((train + offset * column).astype(dtype)))
        found = search.kneighbors(form((rows + offset * column).astype(dtype)))
        assert_array_equal(found[1], expected[1])
        assert_allclose(found[0], expected[0])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("p", [2, 40])
def test_copies_of_a_row_are_found_in_their_order_whatever_is_searched_with_it(p, metric):
    train, rows = copies(p, np.random.default_rng(0))
    train[::2] *= -1
    train[3] = 0  # its cosine distance is one, as scikit-learn's
    search = ExactSearch(3 * len(train) // 4, metric=metric).fit(train)
    together = search.kneighbors(rows)
    one_by_one = [search.kneighbors(row[np.newaxis]) for row in rows]
    assert_array_equal(together[0], np.concatenate([distances for distances, _ in one_by_one]))
    assert_array_equal(together[1], np.concatenate([indices for _, indices in one_by_one]))
    for row, distances, indices in zip(rows, *together, strict=True):
        own = np.flatnonzero((train == row).all(axis=1))[:7]
        assert_array_equal(indices[: len(own)], own)
        assert_array_equal(distances[: len(own)], 0)


def test_precomputed_distances_and_graphs():
    train, rows = integers(3, np.random.default_rng(0))
    search = ExactSearch(4, metric="precomputed").fit(cdist(train, train))
    _, expected = sorted_rows(train, rows, 4)
    assert_array_equal(search.kneighbors(cdist(rows, train), return_distance=False), expected)
    graph = NearestNeighbors(n_neighbors=4).fit(train).kneighbors_graph(mode="distance")
    search = ExactSearch(4, metric="precomputed").fit(graph)
    assert_array_equal(np.sort(search.kneighbors(graph)[1]), np.sort(graph.indices.reshape(-1, 4)))


@pytest.mark.parametrize("n_neighbors", [2, 5, 9])
def test_a_graph_of_scikit_learn_gives_the_same_neighbours(n_neighbors):
    train, rows = smooth(4, np.random.default_rng(0))
    transformer = KNeighborsTransformer(n_neighbors=n_neighbors)
    search = GraphSearch(transformer, 5).fit(train)
    expected = sorted_rows(train, rows, 5)
    found = search.kneighbors(rows)
    assert_allclose(found[0], expected[0])
    assert_array_equal(found[1], expected[1])
    assert_array_equal(search.kneighbors(rows, 3, return_distance=False), expected[1][:, :3])
    assert not hasattr(transformer, "n_features_in_")
    assert transformer.n_neighbors == n_neighbors


class Fixed:
    """Finds the neighbours that it is told."""

    def __init__(self, graph):
        self.graph = graph

    def fit(self, X):
        return self

    def transform(self, X):
        return self.graph


def test_neighbours_of_a_graph_are_put_in_order_and_too_few_are_refused():
    data, indices = [3.0, 1.0, 0.0, 1.0, 2.0, 0.5, 0.5, 9.0], [0, 7, 5, 2, 9, 8, 1, 0]
    graph = sparse.csr_array((data, indices, [0, 4, 8]), shape=(2, 10))
    search = GraphSearch(Fixed(graph), 3).fit(None)
    distances, found = search.kneighbors(None)
    assert_array_equal(found, [[5, 2, 7], [1, 8, 9]])
    assert_array_equal(distances, [[0, 1, 1], [0.5, 0.5, 2]])
    with pytest.raises(ValueError, match="for every sample, at least 5"):
        search.kneighbors(None, 5)
    uneven = sparse.csr_array((data, indices, [0, 5, 8]), shape=(2, 10))
    with pytest.raises(ValueError, match=r"Fixed found 3 to 5 .*same number for every sample"):
        GraphSearch(Fixed(uneven), 3).fit(None).kneighbors(None)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_counts_for_several_k_are_those_of_as_many_classifiers(form):
    X, Y = make_multilabel_classification(120, 12, n_classes=6, random_state=0)
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    counts = neighbor_counts(form(X[:80]), sparse.csr_array(Y[:80]), form(X[80:]), [7, 1, 4])
    for (k, found), expected_k in zip(counts, [1, 4, 7], strict=True):
        model = KNeighborsClassifier(k).fit(X[:80], Y[:80])
        expected = np.column_stack([each[:, 1] for each in model.predict_proba(X[80:])])
        assert k == expected_k
        assert_allclose(found, k * expected)


def test_more_neighbours_than_samples_are_refused():
    with pytest.raises(ValueError, match="n_neighbors=7 must be <= 6, the number of training"):
        ExactSearch(7).fit(np.eye(6)).kneighbors(np.eye(6))
