"""Theorems 1 and 2 of the paper, with kernels written out."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skml_kalda._core.labels import indicator, omega_weighted
from skml_kalda._core.scatter import PrimalScatter
from tests.classic import MultiLabelKaLDA
from tests.conftest import made, standardized


def kernel_alignment(K1, K2):
    return np.sum(K1 * K2) / np.sqrt(np.sum(K1 * K1) * np.sum(K2 * K2))


def data_kernel(X, rho):
    X = (X - rho @ X / rho.sum()) * np.sqrt(rho)[:, None]
    return X @ X.T


def label_kernel(Y):
    rho = np.maximum(Y.sum(axis=1), 1)
    normalized = Y / np.sqrt(Y.sum(axis=0)) / np.sqrt(rho)[:, None]
    return normalized @ normalized.T


def scatter_alignment(X, Y):
    """c · Tr S_b / √Tr S_t², with c from the label kernel."""
    scatter = PrimalScatter.of(X, *omega_weighted(indicator(Y).matrix, np.ones(len(Y))))
    c = 1 / np.sqrt(np.sum(label_kernel(Y) ** 2))
    return c * np.sum(scatter.between**2) / np.sqrt(np.sum(scatter.total**2))


def check_theorem(X, Y, **params):
    rho = Y.sum(axis=1).astype(float)
    K2 = label_kernel(Y)
    without = kernel_alignment(data_kernel(X, rho), K2)
    assert scatter_alignment(X, Y) == pytest.approx(without, rel=1e-10)
    kalda = MultiLabelKaLDA(**params).fit(X, Y)
    with_G = kernel_alignment(data_kernel(kalda.transform(X), rho), K2)
    assert kalda.alignment_ == pytest.approx(with_G, rel=1e-8)
    assert kalda.alignment_ > without  # fewer, better features


SINGLE = [made(single=True, seed=s) for s in range(3)]
MULTI = [made(seed=s, unlabelled=0.2) for s in range(3)]
PARAMS = [{}, {"constraint": "none"}, {"n_components": 2}, {"shrinkage": 0.3}]


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("data", SINGLE, ids=range(3))
def test_theorem_1_alignment_of_single_label_data(data, params):
    X, Y = data
    n_k = Y.sum(axis=0)
    np.testing.assert_allclose(label_kernel(Y), Y / n_k @ Y.T)  # the paper's YYᵀ
    check_theorem(X, Y, **params)


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("data", MULTI, ids=range(3))
def test_theorem_2_alignment_of_multi_label_data(data, params):
    check_theorem(*data, **params)


def test_theorem_2_on_the_bundled_sets(bundled):
    X, Y = bundled
    rows = np.random.default_rng(0).permutation(len(X))[:500]
    check_theorem(X[rows], np.asarray(Y)[rows])


@pytest.mark.parametrize("name", ["emotions", "yeast", "scene"])
def test_theorem_1_on_the_bundled_sets(name):
    X, Y = standardized(name)
    Y = np.asarray(Y)
    rows = np.flatnonzero(Y.any(axis=1))[:500]
    first = Y[rows].argmax(axis=1)
    classes, codes = np.unique(first, return_inverse=True)
    check_theorem(X[rows], np.eye(len(classes), dtype=int)[codes])


@pytest.mark.parametrize("data", SINGLE, ids=range(3))
@pytest.mark.parametrize("constraint", ["orthonormal", "none"])
def test_single_label_kalda_is_the_multi_label_one(data, constraint):
    """Theorem 2 contains Theorem 1: class labels and their indicators give the same."""
    X, Y = data
    kalda = MultiLabelKaLDA(constraint=constraint)
    labels = kalda.fit(X, Y.argmax(axis=1)).components_
    np.testing.assert_array_equal(kalda.fit(X, Y).components_, labels)


@pytest.mark.parametrize("data", SINGLE, ids=range(3))
def test_single_label_scatters_are_those_of_lda(data):
    X, Y = data
    scatter = PrimalScatter.of(X, *omega_weighted(indicator(Y).matrix, np.ones(len(Y))))
    lda = LinearDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(X, Y.argmax(axis=1))
    within = scatter.total - scatter.between @ scatter.between.T
    np.testing.assert_allclose(within / len(X), lda.covariance_, atol=1e-12)
    np.testing.assert_allclose(scatter.mean, X.mean(axis=0), atol=1e-12)


def test_multi_label_scatters_are_those_of_lda_on_copies():
    """Every row repeated once for each of its labels, as single-label data."""
    X, Y = made(unlabelled=0.2)
    rows, labels = np.nonzero(Y)
    kalda = MultiLabelKaLDA(constraint="none").fit(X, Y)
    copies = LinearDiscriminantAnalysis(solver="eigen").fit(X[rows], labels)
    ours, theirs = kalda.components_.T, copies.scalings_[:, : len(kalda.components_)]
    cosines = np.linalg.svd(np.linalg.qr(ours)[0].T @ np.linalg.qr(theirs)[0], compute_uv=False)
    np.testing.assert_allclose(cosines, 1, atol=1e-10)
    np.testing.assert_allclose(kalda.mean_, X[rows].mean(axis=0), atol=1e-12)
