"""J and its derivatives against finite differences; its maxima against pymanopt and brute force."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from benchmarks.speed.reducers import sparse_data
from tests.classic import MultiLabelKaLDA
from tests.conftest import made, standardized
from tests.forms import fitted, objective, second_order
from tests.oracles import pymanopt_maximum, scatters, shrunk


def problem(r=9, K=4, seed=0):
    """A total scatter that dominates the between-class scatter, as real ones do."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(K, r))
    M -= M.mean(axis=0)
    values = np.sort(rng.uniform(0.05, 5, r))[::-1] + np.sum(M**2)
    return objective(values, M), values, M


def orthonormal(r, k, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(r, k)))[0]


def J(S_b, S_t, G):
    D = G.T @ S_t @ G
    return np.trace(G.T @ S_b @ G) / np.sqrt(np.trace(D @ D))


def riemannian_gradient(S_b, S_t, G):
    A, C = S_b @ G, S_t @ G
    D, b = G.T @ C, np.sum(G * A)
    gradient = 2 * A / linalg.norm(D) - 2 * b * C @ D / linalg.norm(D) ** 3
    return gradient - G @ (G.T @ gradient)


def retracted(G):
    U, _, V = linalg.svd(G, full_matrices=False)
    return U @ V


@given(k=st.integers(1, 9), seed=st.integers(0, 50), scale=st.floats(1e-3, 1e3))
def test_value_is_the_definition_whatever_the_basis_or_scale(k, seed, scale):
    found, values, M = problem(seed=seed)
    G, Q = orthonormal(9, k, seed), orthonormal(k, k, seed + 1)
    expected = J(M.T @ M, np.diag(values), G)
    assert found.value(G) == pytest.approx(expected, rel=1e-12)
    assert found.value(scale * G @ Q) == pytest.approx(expected, rel=1e-10)


@given(k=st.integers(1, 6), seed=st.integers(0, 30))
def test_gradient_is_that_of_finite_differences(k, seed):
    found, *_ = problem(seed=seed)
    G = orthonormal(9, k, seed)
    numeric = np.zeros_like(G)
    for i, j in np.ndindex(*G.shape):
        E = np.zeros_like(G)
        E[i, j] = 1e-5
        numeric[i, j] = (found.value(G + E) - found.value(G - E)) / 2e-5
    np.testing.assert_allclose(found.gradient(G), numeric, atol=1e-8)
    assert abs(np.vdot(G, numeric)) < 1e-8  # J does not change with the scale of G
    np.testing.assert_allclose(G.T @ numeric, (G.T @ numeric).T, atol=1e-8)  # nor by rotation


@pytest.mark.parametrize("k", [1, 3, 6])
def test_gradient_and_hessian_pass_the_taylor_test(k):
    """The error of the model falls as t² without, as t³ with the curvature."""
    found, *_ = problem()
    start = orthonormal(9, k)
    G, Z, slope, curvature = second_order(found, start)
    np.testing.assert_allclose(G @ G.T, start @ start.T, atol=1e-12)
    np.testing.assert_allclose(G.T @ Z, 0, atol=1e-12)
    steps = np.logspace(-3, -1.5, 8)
    gain = np.array([found.value(retracted(G + t * Z)) - found.value(G) for t in steps])

    def order(errors):
        return np.polyfit(np.log(steps), np.log(np.abs(errors)), 1)[0]

    assert order(gain - steps * slope) == pytest.approx(2, abs=0.1)
    assert order(gain - steps * slope - steps**2 / 2 * curvature) == pytest.approx(3, abs=0.3)


@given(k=st.integers(1, 3), seed=st.integers(0, 50))
def test_closed_form_attains_the_upper_bound_and_nothing_exceeds_it(k, seed):
    X, Y = made(seed=seed)
    S_b, S_t = scatters(X, Y)
    free = MultiLabelKaLDA(k, constraint="none").fit(X, Y)
    bound = linalg.norm(linalg.eigh(S_b, S_t, eigvals_only=True)[-k:])
    assert free.upper_bound_ == pytest.approx(bound, rel=1e-9)
    assert J(S_b, S_t, free.components_.T) == pytest.approx(bound, rel=1e-9)
    G = np.random.default_rng(seed).normal(size=(8, k))
    assert J(S_b, S_t, G) <= bound * (1 + 1e-12)
    tight = MultiLabelKaLDA(k).fit(X, Y)
    assert tight.upper_bound_ == pytest.approx(bound, rel=1e-9)
    assert tight.objective_ <= tight.upper_bound_ * (1 + 1e-12)
    assert tight.objective_ >= J(S_b, S_t, np.linalg.qr(G)[0]) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("name", "k"),
    [("yeast", 5), ("emotions", 5), pytest.param("yeast", 30, marks=pytest.mark.slow)],
)
def test_optimum_is_that_of_pymanopt_or_better(name, k):
    X, Y = standardized(name)
    S_b, S_t = scatters(X, Y)
    kalda = MultiLabelKaLDA(k).fit(X, Y)
    assert kalda.converged_
    assert J(S_b, S_t, kalda.components_.T) == pytest.approx(kalda.objective_, rel=1e-10)
    start = np.linalg.qr(linalg.eigh(S_b, S_t)[1][:, -k:])[0]
    assert kalda.objective_ >= pymanopt_maximum(S_b, S_t, start) * (1 - 1e-7)


@pytest.mark.parametrize(("k", "best_known"), [(5, 0.157447398), (13, 0.156504653)])
def test_ten_starts_reach_the_best_maximum_known_on_yeast(k, best_known):
    kalda = MultiLabelKaLDA(k, n_init=10, random_state=0).fit(*standardized("yeast"))
    assert kalda.objective_ == pytest.approx(best_known, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_many_random_starts_find_nothing_better(k):
    X, Y = made(40, 9, seed=k)
    one = MultiLabelKaLDA(k).fit(X, Y)
    many = MultiLabelKaLDA(k, n_init=30, random_state=0).fit(X, Y)
    assert one.objective_ >= many.objective_ * (1 - 1e-10)
    again = MultiLabelKaLDA(k, n_init=30, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(many.components_, again.components_)


@pytest.mark.parametrize("k", [2, 4, 7])
def test_ascent_is_monotone_and_ends_flat(k):
    X, Y = made(100, 30, 6)
    kalda = MultiLabelKaLDA(k).fit(X, Y)
    history = kalda.objective_history_
    assert np.all(np.diff(history) >= -1e-14 * kalda.objective_)
    assert len(history) == kalda.n_iter_ + 1
    assert history[-1] == kalda.objective_
    assert kalda.converged_
    gradient = riemannian_gradient(*scatters(X, Y), kalda.components_.T)
    assert linalg.norm(gradient) < 1e-6 * kalda.objective_


@pytest.mark.parametrize("form", ["primal", "operator"])
def test_a_tolerance_below_rounding_still_ends_and_too_few_iterations_are_reported(form):
    X, Y = made(100, 12)
    exact = fitted(MultiLabelKaLDA(shrinkage=0.3, tol=1e-12), X, Y, "primal")
    found = fitted(MultiLabelKaLDA(shrinkage=0.3, tol=0), X, Y, form)
    assert found.converged_
    np.testing.assert_allclose(found.components_, exact.components_, atol=1e-6)
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        short = fitted(MultiLabelKaLDA(shrinkage=0.3, tol=1e-12, max_iter=1), X, Y, form)
    assert not short.converged_
    assert short.n_iter_ == 1


def test_more_directions_than_classes_start_from_those_of_least_variance_and_end_better():
    X, Y = made(60, 8)
    S_b, S_t = scatters(X, Y)
    objectives = [MultiLabelKaLDA(k).fit(X, Y).objective_ for k in range(3, 9)]
    assert np.all(np.diff(objectives) < 0)  # peaks at K − 1
    assert objectives[-1] == pytest.approx(np.trace(S_b) / linalg.norm(S_t), rel=1e-10)
    starts = [J(S_b, S_t, orthonormal(8, 5, seed)) for seed in range(50)]
    assert objectives[2] > max(starts)


def test_large_problems_are_solved_to_the_same_digits():
    """So many numbers that steps may be taken in single precision."""
    S_b, S_t = scatters(*standardized("scene"))
    a = 0.5
    kalda = MultiLabelKaLDA(5, shrinkage=a, tol=1e-8).fit(*standardized("scene"))
    S = (1 - a) * shrunk(S_t, 1)
    assert kalda.converged_
    G = kalda.components_.T
    assert J(S_b, S, G) == pytest.approx(kalda.objective_, rel=1e-12)
    assert linalg.norm(riemannian_gradient(S_b, S, G)) < 1e-7 * kalda.objective_


# --- the iteration of the paper


def paper_step(S_b, S_t, G, tau):
    """One step with its sign mended, by its formula, and the polar factor."""
    A, C = S_b @ G, S_t @ G
    B, D = G.T @ A, G.T @ C
    square = np.trace(D @ D)
    dJ = 2 * A / np.sqrt(square) - 2 * np.trace(B) / square**1.5 * C @ D
    move = dJ - G @ dJ.T @ G
    return retracted(G + tau * np.abs(G).sum() / np.abs(move).sum() * move)


def test_the_iteration_of_the_paper_is_its_formula():
    """In the eigenbasis of S_t, whose 1-norms depend on the basis, from orthonormal LDA."""
    X, Y = made(60, 5)
    U = linalg.eigh(scatters(X, Y)[1])[1]
    Z = (X - X.mean(axis=0)) @ U[:, ::-1]  # S_t is diagonal, and descends
    S_b, S_t = scatters(Z, Y)
    with pytest.warns(ConvergenceWarning, match='solver="auto"'):
        paper = MultiLabelKaLDA(2, solver="paper", max_iter=4, tau=0.01).fit(Z, Y)
    # Whatever orthonormal basis of LDA's plane it starts from, J of the start is one.
    start = np.linalg.qr(linalg.eigh(S_b, S_t)[1][:, -2:])[0]
    assert paper.objective_history_[0] == pytest.approx(J(S_b, S_t, start), rel=1e-9)
    assert paper.n_iter_ == 4
    assert len(paper.objective_history_) == 5
    assert paper.objective_ == paper.objective_history_[-1]
    assert paper.objective_ == pytest.approx(J(S_b, S_t, paper.components_.T), rel=1e-9)
    assert not paper.converged_
    starts = [start @ rotation(angle) for angle in np.linspace(0, np.pi, 721)]
    near = min(
        starts,
        key=lambda G: abs(J(S_b, S_t, paper_step(S_b, S_t, G, 0.01)) - paper.objective_history_[1]),
    )
    for expected in paper.objective_history_[1:]:
        near = paper_step(S_b, S_t, near, 0.01)
        assert J(S_b, S_t, near) == pytest.approx(expected, rel=1e-5)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_the_paper_climbs_but_ends_lower():
    X, Y = made(100, 30, 6)
    with pytest.warns(ConvergenceWarning, match="tau"):
        paper = MultiLabelKaLDA(solver="paper", max_iter=200).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = MultiLabelKaLDA().fit(X, Y)
    assert paper.objective_history_[0] < paper.objective_ < best.objective_
    np.testing.assert_allclose(paper.components_ @ paper.components_.T, np.eye(5), atol=1e-12)


# --- from products with sparse X alone


@pytest.mark.parametrize("shrinkage", [None, 0.1])
@pytest.mark.parametrize("shape", [(600, 200), (180, 300)], ids=["tall", "wide"])
def test_products_reach_the_maximum_in_many_dimensions(shrinkage, shape):
    X, Y = sparse_data(*shape, K=6, words=20)
    kalda = MultiLabelKaLDA(shrinkage=shrinkage)
    exact, found = (fitted(kalda, X, Y, form) for form in ("primal", "operator"))
    assert found.converged_
    assert found.objective_ == pytest.approx(exact.objective_, rel=1e-12)
    np.testing.assert_allclose(found.components_, exact.components_, atol=1e-7)


@pytest.mark.parametrize("kind", ["one-hot", "hashed"])
def test_what_converged_from_products_is_the_maximum(kind):
    """Each sample has one of many words, in groups: S_t has eigenvalues of high multiplicity."""
    rng = np.random.default_rng(0)
    p = 300 if kind == "one-hot" else 64
    words = np.column_stack([rng.integers(100, size=2000) + 100 * j for j in range(3)])
    sign = rng.choice([-1, 1], 300) if kind == "hashed" else np.ones(300)
    to = rng.integers(p, size=300) if kind == "hashed" else np.arange(300)
    rows = np.repeat(np.arange(2000), 3)
    entries = sign[words.ravel()], (rows, to[words.ravel()])
    X = sparse.csr_array(sparse.coo_array(entries, shape=(2000, p)))
    topics = rng.normal(size=(300, 6))
    Y = (topics[words].sum(axis=1) + rng.normal(size=(2000, 6)) > 1.5).astype(int)
    for tol in (1e-4, 1e-8):
        kalda = MultiLabelKaLDA(shrinkage=0.1, tol=tol)
        exact, found = (fitted(clone(kalda), X, Y, form) for form in ("primal", "operator"))
        assert found.converged_
        assert found.objective_ == pytest.approx(exact.objective_, rel=tol**2 + 1e-10)
        angles = linalg.subspace_angles(found.components_.T, exact.components_.T)
        assert angles.max() < 30 * tol


def test_products_find_no_more_directions_than_classes_separate():
    X, Y = made(60, 20)
    with pytest.raises(ValueError, match=r"n_components=4 must be <= 3"):
        fitted(MultiLabelKaLDA(n_components=4, shrinkage=0.2), X, Y, "operator")
