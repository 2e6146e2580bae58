"""What each direction adds to the alignment, with the kernels written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skml_kalda import (
    KernelKaLDA,
    KernelKaLDACV,
    MultiLabelKaLDA,
    MultiLabelKaLDACV,
    scatter_form,
)
from tests.conftest import made

PARAMS = [
    {"constraint": "none"},
    {"constraint": "none", "shrinkage": 0.3, "n_components": 2},
    {"constraint": "orthonormal", "shrinkage": 0.3},
    {"constraint": "orthonormal", "n_components": 5},
]


def inner_products_with_the_label_kernel(Z, Y, weights):
    """⟨K_j, K₂⟩ for the kernel K_j of each direction alone."""
    n, rho = len(Y), Y.sum(axis=1)
    if weights == "rows":
        H = np.eye(n) - 1 / n
        label_kernel, root = H @ Y @ Y.T @ H, np.ones(n)
    else:
        root = np.sqrt(rho)
        inverse = np.divide(1, root, where=root > 0, out=np.zeros(n))
        label_kernel = inverse[:, None] * (Y / Y.sum(axis=0) @ Y.T) * inverse
    rows = root[:, None] * Z
    return [np.sum(np.outer(z, z) * label_kernel) for z in rows.T]


def assert_shares(reducer, X, Y, weights="labels"):
    parts = inner_products_with_the_label_kernel(reducer.transform(X), Y, weights)
    shares = reducer.explained_alignment_ratio_
    assert_allclose(shares, np.divide(parts, sum(parts)), rtol=1e-8, atol=1e-12)
    assert shares.sum() == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("weights", ["labels", "rows"])
@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_shares_are_those_of_the_kernel_of_each_direction(params, weights):
    X, Y = made(unlabelled=0.2)
    assert_shares(MultiLabelKaLDA(weights=weights, **params).fit(X, Y), X, Y, weights)


@pytest.mark.parametrize("weights", ["labels", "rows"])
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_shares_of_a_kernel_are_those_of_its_functions(constraint, weights):
    X, Y = made(unlabelled=0.2)
    kalda = KernelKaLDA(constraint=constraint, weights=weights).fit(X, Y)
    assert_shares(kalda, X, Y, weights)


@pytest.mark.parametrize("form", ["moments", "rows", "implicit"])
@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_every_form_of_the_scatter_gives_the_same_shares(constraint, form):
    X, Y = made(n=50, p=30)
    with scatter_form(form):
        kalda = MultiLabelKaLDA(constraint=constraint, shrinkage=0.5, tol=1e-10)
        assert_shares(kalda.fit(sparse.csr_array(X), Y), X, Y)


def test_batches_give_the_same_shares():
    X, Y = made()
    kalda = MultiLabelKaLDA(constraint="none")
    whole = kalda.fit(X, Y).explained_alignment_ratio_
    parts = MultiLabelKaLDA(constraint="none").partial_fit(X[:30], Y[:30])
    assert_allclose(parts.partial_fit(X[30:], Y[30:]).explained_alignment_ratio_, whole)


@pytest.mark.filterwarnings("ignore:MultiLabelKaLDA without regularisation")
def test_shares_of_the_closed_form_are_squared_eigenvalues():
    X, Y = made()
    kalda = MultiLabelKaLDA(constraint="none", shrinkage=None).fit(X, Y)
    squares = kalda.eigenvalues_**2
    assert_allclose(kalda.explained_alignment_ratio_, squares / squares.sum())


def test_a_direction_of_noise_adds_nothing():
    """Two classes apart in one feature: further directions cannot be aligned with them."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.repeat([0, 1], 20)
    X[:, 0] += 10 * y
    kalda = MultiLabelKaLDA(n_components=2, constraint="orthonormal").fit(X, y)
    assert kalda.explained_alignment_ratio_.max() > 0.99


@pytest.mark.parametrize("kind", [MultiLabelKaLDACV, KernelKaLDACV])
def test_the_searches_report_the_shares_of_their_choice(kind):
    X, Y = made()
    search = kind(cv=2, n_neighbors=3, weights="labels").fit(X, Y)
    assert_shares(search, X, Y)
