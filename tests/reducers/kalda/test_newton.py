"""The maxima against pymanopt, brute force and each other."""

import numpy as np
import pytest
from scipy import linalg

from skml_kalda.reducers.kalda import newton
from skml_kalda.reducers.kalda.newton import Stop, best_of, maximize, reflected
from skml_kalda.reducers.kalda.paper_iteration import paper_iteration
from tests.conftest import standardized
from tests.oracles import eigenbasis, pymanopt_maximum, scatters
from tests.reducers.kalda.test_alignment import J, problem, subspace


@pytest.mark.parametrize(
    ("name", "k"),
    [
        ("yeast", 5),
        ("emotions", 5),
        pytest.param("yeast", 13, marks=pytest.mark.slow),
        pytest.param("yeast", 30, marks=pytest.mark.slow),
        pytest.param("scene", 5, marks=pytest.mark.slow),
    ],
)
def test_optimum_is_that_of_pymanopt_or_better(name, k):
    S_b, S_t = scatters(*standardized(name))
    objective, U = eigenbasis(S_b, S_t)
    start = objective.lda_start(k)
    solution = maximize(objective, start)
    assert solution.converged
    assert solution.value >= pymanopt_maximum(S_b, S_t, U @ start) * (1 - 1e-7)


@pytest.mark.parametrize(
    ("k", "best_known"),
    [
        (5, 0.157447398),
        (13, 0.156504653),
        pytest.param(30, 0.148522592, marks=pytest.mark.slow),
    ],
)
def test_ten_starts_reach_the_best_maximum_known_on_yeast(k, best_known):
    objective, _ = eigenbasis(*scatters(*standardized("yeast")))
    solution = best_of(objective, k, Stop(), 10, np.random.RandomState(0))
    assert solution.value == pytest.approx(best_known, abs=1e-9)


def test_a_reflection_leads_out_of_a_lesser_maximum():
    objective, _ = eigenbasis(*scatters(*standardized("yeast")))
    best = maximize(objective, objective.lda_start(5))
    quietest = int(np.argmin(objective.values))
    mirrored = maximize(objective, reflected(best.point, quietest))
    assert mirrored.value == pytest.approx(best.value, rel=1e-10)
    beside = objective.at(mirrored.point).reflections()[quietest]
    assert best.value * (1 - 1e-3) < beside < best.value


def test_a_second_start_is_a_reflection_of_the_first(monkeypatch):
    objective, *_ = problem(r=12, K=4)
    starts = []

    def noted(objective, start, stop):
        starts.append(start)
        return maximize(objective, start, stop)

    monkeypatch.setattr(newton, "maximize", noted)
    best_of(objective, 3, Stop(), 2, np.random.RandomState(0))
    first = maximize(objective, starts[0]).point
    mirrored = [reflected(first, row) for row in range(12)]
    losses = [objective.at(first).value - objective.value(G) for G in mirrored]
    np.testing.assert_allclose(starts[1], mirrored[int(np.argmin(losses))], atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_many_random_starts_find_nothing_better(k):
    objective, *_ = problem(seed=k)
    found = maximize(objective, objective.lda_start(k)).value
    starts = (subspace(9, k, seed) for seed in range(30))
    best = max(maximize(objective, start).value for start in starts)
    assert found >= best * (1 - 1e-12)


def test_brute_force_on_the_sphere_finds_the_same_plane():
    """Planes in three dimensions, by a grid of normals."""
    objective, values, M = problem(r=3, K=3)
    best = 0.0
    for theta in np.linspace(0, np.pi, 46):
        for phi in np.linspace(0, np.pi, 46):
            normal = np.array(
                [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)]
            )
            best = max(best, J(values, M, linalg.null_space(normal[None, :])))
    found = maximize(objective, objective.lda_start(2)).value
    assert best <= found * (1 + 1e-12)
    assert best == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize("k", [1, 4, 7])
def test_ascent_is_monotone_and_ends_flat(k):
    objective, *_ = problem(r=30, K=6)
    solution = maximize(objective, subspace(30, k))
    assert solution.reason == "gradient"
    assert np.all(np.diff(solution.history) >= -1e-14 * solution.value)
    assert solution.n_iter == len(solution.history) - 1
    assert solution.value == solution.history[-1]
    assert linalg.norm(objective.at(solution.point).gradient) < 1e-7
    np.testing.assert_allclose(solution.point.T @ solution.point, np.eye(k), atol=1e-12)


def test_a_tolerance_below_rounding_still_ends():
    objective, *_ = problem(r=30, K=6)
    solution = maximize(objective, subspace(30, 4), Stop(tol=0))
    assert solution.reason == "rounding"
    assert solution.converged


def test_too_few_iterations_are_reported():
    objective, *_ = problem(r=30, K=6)
    solution = maximize(objective, subspace(30, 4), Stop(max_iter=2))
    assert solution.reason == "max_iter"
    assert not solution.converged
    assert solution.n_iter == 2


def test_one_direction_is_that_of_lda():
    objective, values, M = problem()
    solution = maximize(objective, subspace(9, 1))
    _, vectors = linalg.eigh(M.T @ M, np.diag(values))
    lda = vectors[:, -1] / linalg.norm(vectors[:, -1])
    assert abs(lda @ solution.point[:, 0]) == pytest.approx(1, abs=1e-12)
    assert solution.value == pytest.approx(objective.upper_bound(1), rel=1e-12)


def test_the_paper_climbs_with_its_sign_mended_but_ends_lower():
    objective, *_ = problem(r=30, K=6)
    start = subspace(30, 5)
    paper = paper_iteration(objective, start, Stop(max_iter=200))
    assert paper.history[-1] > paper.history[0]
    assert paper.value < maximize(objective, start).value
    assert paper.n_iter == 200
    assert paper.value == objective.value(paper.point)
    np.testing.assert_allclose(paper.point.T @ paper.point, np.eye(5), atol=1e-12)


def test_a_step_of_the_paper_is_its_formula():
    objective, values, M = problem()
    values, M = objective.values, objective.factor
    G = subspace(9, 2)
    S_b, S_t = M.T @ M, np.diag(values)
    A, C = S_b @ G, S_t @ G
    B, D = G.T @ A, G.T @ C
    square = np.trace(D @ D)
    dJ = 2 * A / np.sqrt(square) - 2 * np.trace(B) / square**1.5 * C @ D
    move = dJ - G @ dJ.T @ G
    moved = G + 0.01 * np.abs(G).sum() / np.abs(move).sum() * move
    expected = moved @ linalg.inv(linalg.sqrtm(moved.T @ moved))
    found = paper_iteration(objective, G, Stop(max_iter=1), tau=0.01).point
    np.testing.assert_allclose(found, expected, atol=1e-13)
