"""The system of a Newton step against finite differences of J."""

import numpy as np
import pytest
from scipy import linalg

from skml_kalda._core.eigenproblem import polar, tangent
from skml_kalda.reducers.kalda import newton, newton_system
from skml_kalda.reducers.kalda.newton import Stop, maximize
from skml_kalda.reducers.kalda.newton_system import NewtonSystem
from tests.conftest import standardized
from tests.oracles import eigenbasis, scatters
from tests.reducers.kalda.test_alignment import problem, subspace


def tangents(system, n, seed=0):
    """Random tangent W."""
    rng = np.random.default_rng(seed)
    shape = system.gradient.shape
    return [system.product(rng.normal(size=shape)) for _ in range(n)]


def near_maximum(objective, k):
    """A point at which both terms of the preconditioner count."""
    return objective.at(maximize(objective, objective.lda_start(k), Stop(max_iter=3)).point)


def slope_of_error(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("k", [1, 3, 6])
def test_gradient_and_curvature_pass_the_taylor_test(k):
    """The error of the model falls as t² without, as t³ with the curvature."""
    objective, *_ = problem()
    point = objective.at(subspace(9, k))
    system = NewtonSystem(point)
    (W,) = tangents(system, 1)
    Z, steps = system.lift(W), np.logspace(-3, -1.5, 8)
    Z, W = Z / linalg.norm(Z), W / linalg.norm(Z)
    slope, curvature = np.vdot(system.gradient, W), -np.vdot(W, system.product(W))
    gain = np.array([objective.value(polar(point.G + t * Z)) - point.value for t in steps])
    assert slope_of_error(np.abs(gain - steps * slope), steps) == pytest.approx(2, abs=0.1)
    second = np.abs(gain - steps * slope - steps**2 / 2 * curvature)
    assert slope_of_error(second, steps) == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_matrix_is_that_of_finite_differences(k):
    """On the Grassmannian: (I − GGᵀ) D∇J[Z] − Z Gᵀ∇J."""
    objective, *_ = problem()
    point = objective.at(subspace(9, k))
    system, G = NewtonSystem(point), point.G
    for W, other in zip(tangents(system, 4), tangents(system, 4, seed=1), strict=True):
        Z = system.lift(W)
        change = (objective.gradient(G + 1e-5 * Z) - objective.gradient(G - 1e-5 * Z)) / 2e-5
        hessian = tangent(G, change) - Z @ (G.T @ objective.gradient(G))
        expected = -np.vdot(system.lift(other), hessian)
        assert np.vdot(other, system.product(W)) == pytest.approx(expected, rel=1e-6)


def test_matrix_and_preconditioner_are_symmetric_on_the_tangent_space():
    objective, *_ = problem()
    system = NewtonSystem(near_maximum(objective, 3))
    A, B = tangents(system, 2)
    for product in (system.product, system.precondition):
        assert np.vdot(A, product(B)) == pytest.approx(np.vdot(B, product(A)), rel=1e-10)
        np.testing.assert_allclose(system.point.G.T @ system.lift(product(A)), 0, atol=1e-12)
        # Nothing is lost by lifting a tangent W, so it was tangent before.
        flat = np.sqrt(system.point.objective.values)[:, None] * system.lift(product(A))
        assert np.linalg.matrix_rank(np.hstack([flat, product(A)]), 1e-10) == 3
    assert np.vdot(A, system.precondition(A)) > 0


def products(objective, k, stop):
    """Maximise, and count the products with the matrix."""
    count, product = [], NewtonSystem.product
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NewtonSystem, "product", lambda *a: count.append(1) or product(*a))
        solution = maximize(objective, objective.lda_start(k), stop)
    assert solution.converged
    return len(count), solution.value


def shrunk_yeast():
    S_b, S_t = scatters(*standardized("yeast"))
    return eigenbasis(S_b, S_t / 2 + np.eye(len(S_t)) * np.trace(S_t) / len(S_t) / 2)[0]


def test_the_multiplier_in_the_preconditioner_saves_half_of_the_products(monkeypatch):
    objective = shrunk_yeast()
    few, value = products(objective, 13, Stop(1e-8))
    monkeypatch.setattr(newton_system, "_FAR", 0.0)
    many, other = products(objective, 13, Stop(1e-8))
    assert value == pytest.approx(other, rel=1e-12)
    assert few < many / 2


def test_single_precision_finds_the_maximum_of_double_precision(monkeypatch):
    objective = shrunk_yeast()
    _, value = products(objective, 13, Stop(1e-8))
    monkeypatch.setattr(newton_system, "_MANY", 0)
    assert NewtonSystem(objective.at(objective.lda_start(13))).gradient.dtype == np.float32
    _, single = products(objective, 13, Stop(1e-8))
    assert single == pytest.approx(value, rel=1e-13)


def test_steep_systems_stay_in_double_precision(monkeypatch):
    monkeypatch.setattr(newton_system, "_MANY", 0)
    objective, values, _ = problem()
    values = values.copy()
    values[-1] *= 1e-9
    steep = type(objective)(values, objective.factor)
    assert NewtonSystem(steep.at(steep.lda_start(3))).gradient.dtype == np.float64


def test_a_direction_beyond_reach_is_not_complete():
    objective, *_ = problem(r=30, K=6)
    point = near_maximum(objective, 4)
    W, Z, complete = newton._newton_direction(point, 0.0, np.inf)
    assert complete
    length = linalg.norm(W)
    short, _, complete = newton._newton_direction(point, 0.0, 0.5 * length)
    assert not complete
    assert 0.5 * length < linalg.norm(short)
    _, again, complete = newton._newton_direction(point, 0.0, 1.1 * length)
    assert complete
    np.testing.assert_array_equal(again, Z)
