"""AlignmentScaler against explicit kernels and scikit-learn's StandardScaler."""

import numpy as np
import pytest
from scipy import sparse

from skml_kalda import AlignmentScaler
from tests.conftest import made


def alignments(X, Y):
    """Alignment of each feature with the labels, from explicit kernels of all samples."""
    n, K = Y.shape
    H = np.eye(n) - 1 / n
    labels = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    found = []
    for x in X.T:
        kernel = H @ np.outer(x, x) @ H
        found.append(np.sum(kernel * (labels @ labels.T)) / np.linalg.norm(kernel) / (n * K))
    return np.array(found)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_relevance_is_the_alignment_of_the_kernels_above_chance(form):
    X, Y = made(p=12, unlabelled=0.2)
    X[:, 8:] = np.random.default_rng(1).normal(size=(60, 4)) * (X[:, 8:] > 1)
    expected = np.maximum(alignments(X, Y) - 1 / 60, 0.02 / 60)
    scaler = AlignmentScaler().fit(form(X), Y)
    np.testing.assert_allclose(scaler.relevance_, expected, rtol=1e-9)
    assert (scaler.relevance_ == 0.02 / 60).any()
    assert (scaler.relevance_ > 0.02 / 60).any()


@pytest.mark.parametrize("power", [0.0, 1.0, 3.0])
def test_factors_are_a_power_of_the_relevance_over_the_standard_deviation(power):
    X, Y = made()
    scaler = AlignmentScaler(power=power).fit(X, Y)
    unit = scaler.scale_ * X.std(axis=0)
    np.testing.assert_allclose(np.mean(unit**2), 1)
    expected = (scaler.relevance_ / scaler.relevance_[0]) ** (power / 2)
    np.testing.assert_allclose(unit / unit[0], expected)


def test_without_std_the_units_stay():
    X, Y = made()
    with_units = AlignmentScaler(with_std=False).fit(X, Y)
    np.testing.assert_allclose(
        with_units.scale_ / X.std(axis=0), AlignmentScaler().fit(X, Y).scale_, rtol=1e-12
    )


def test_sparse_x_stays_sparse():
    X, Y = made()
    X *= X > 0.5
    given = sparse.csr_array(X)
    scaled = AlignmentScaler().fit(given, Y).transform(given)
    assert isinstance(scaled, sparse.csr_array)
    np.testing.assert_array_equal(given.toarray(), X)
    dense = AlignmentScaler().fit(X, Y)
    np.testing.assert_allclose(scaled.toarray(), dense.transform(X), rtol=1e-10)
    np.testing.assert_allclose(dense.inverse_transform(scaled).toarray(), X, rtol=1e-10)
    assert dense.inverse_transform(X.astype(object)).dtype == np.float64


@pytest.mark.parametrize("scale", [1e-60, 1e-8, 1e8, 1e60])
def test_relevance_does_not_depend_on_units_or_offsets(scale):
    X, Y = made()
    expected = AlignmentScaler().fit(X, Y).relevance_
    np.testing.assert_allclose(AlignmentScaler().fit(X * scale, Y).relevance_, expected)
    np.testing.assert_allclose(AlignmentScaler().fit(X + 1e6, Y).relevance_, expected, rtol=1e-6)


def test_features_and_labels_that_do_not_vary_do_no_harm():
    X, Y = made()
    X[:, 3] = 0.1
    constant = np.column_stack([Y, np.ones(60), np.zeros(60)]).astype(int)
    scaler = AlignmentScaler().fit(X, constant)
    np.testing.assert_allclose(scaler.scale_, AlignmentScaler().fit(X, Y).scale_)
    assert np.isfinite(scaler.scale_).all()
    assert scaler.relevance_[3] == 0.02 / 60
    # Nothing to be aligned with: features in unit variance.
    nothing = AlignmentScaler().fit(X, np.ones((60, 1), dtype=int))
    np.testing.assert_allclose(nothing.scale_[:3], 1 / X.std(axis=0)[:3])


def test_the_rounding_of_a_constant_is_no_variance_whatever_the_number_of_samples():
    rng = np.random.default_rng(0)
    X = np.full((5000, 2), 0.1)
    X[:, 1] = rng.normal(size=5000)
    scaler = AlignmentScaler(power=0).fit(
        X, rng.integers(2, size=5000), sample_weight=rng.uniform(1, 2, 5000)
    )
    assert scaler.scale_[0] == 1
