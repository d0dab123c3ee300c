"""Projection by outer approximation: compared with a conic solver, degenerate cases, and the cost of a step."""

from types import SimpleNamespace

import cvxpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

from npbench_splitting.numerics.calibrated import LOSSES
from npbench_splitting.numerics.constraints import Ball, GroupBound, Region
from npbench_splitting.numerics.projection import polyhedron_multipliers, project


class Functions:
    """Constraints given by pairs of a function and its gradient."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def at(self, p):
        excess = np.array([function(p) for function, _ in self.pairs])
        return SimpleNamespace(excess=excess, gradient=lambda j: self.pairs[j][1](p))


def line(normal, bound):
    normal = np.asarray(normal, dtype=float)
    return (lambda p: normal @ p - bound), (lambda p: normal)


def conic_projection(point, X_neg, bounds, ball):
    p = cvxpy.Variable(len(point))
    met = [cvxpy.sum(cvxpy.logistic(X_neg[c.rows] @ p)) / len(c.rows) <= c.tau for c in bounds]
    if ball is not None:
        met.append(cvxpy.norm(p[ball.features]) <= ball.radius)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(p - point)), met)
    try:
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12, max_iter=200)
    except cvxpy.SolverError:
        return "error", None
    return problem.status, p.value


@st.composite
def regions(draw):
    """Return negatives, constraints that w = 0 or large intercepts can meet, and a point."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 20)), draw(st.sampled_from([1, 2, 5, 30]))
    X_neg = np.column_stack([random.normal(size=(n, d)), np.ones(n)])
    if draw(st.booleans()):
        X_neg = X_neg[random.integers(0, max(1, n // 3), n)]
    bounds = [GroupBound(np.arange(n), draw(st.sampled_from([0.05, 0.3, 0.69])))]
    if draw(st.booleans()):
        bounds.append(GroupBound(np.arange(1 + n // 3), draw(st.sampled_from([0.05, 0.3]))))
    ball = Ball(draw(st.floats(4, 20)), np.arange(d)) if draw(st.booleans()) else None
    return X_neg, bounds, ball, draw(st.sampled_from([0.0, 1.0, 30.0])) * random.normal(size=d + 1)


@given(regions())
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_projection_matches_a_conic_solver(case):
    X_neg, bounds, ball, point = case
    status, expected = conic_projection(point, X_neg, bounds, ball)
    if status != "optimal":
        return
    region = Region(X_neg, LOSSES["logistic"], bounds, ball)
    # Rounding prevents a smaller excess at distant corners. One in 500 takes more than 300 steps, of 31 coordinates.
    found = project(point, region.at, 1000, 1e-9, keep_cuts=True)
    assert found.status == "feasible"
    assert region.at(found.point).excess.max() <= 1e-9
    distance = np.linalg.norm(point - expected)
    assert np.linalg.norm(point - found.point) == pytest.approx(distance, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(found.point, expected, rtol=0, atol=1e-4 * (1 + distance))


@given(regions())
def test_haugazeau_steps_approach_from_outside(case):
    X_neg, bounds, ball, point = case
    region = Region(X_neg, LOSSES["logistic"], bounds, ball)
    exact = project(point, region.at, 300, 1e-9, keep_cuts=True)
    # The projection onto an outer approximation is at most as far away as the set.
    distances = [np.linalg.norm(project(point, region.at, steps).point - point) for steps in range(12)]
    if exact.status == "feasible":
        assert np.all(np.diff(distances) >= -1e-9 * (1 + distances[-1]))
        assert distances[-1] <= np.linalg.norm(exact.point - point) * (1 + 1e-6) + 1e-6
    if len(region.scales) == 1:
        two = project(point, region.at, 1000, 1e-10)
        assert two.status == "feasible"
        np.testing.assert_allclose(two.point, exact.point, rtol=0, atol=1e-3 * (1 + distances[-1]))


@pytest.mark.parametrize("size", [1e-150, 1e-8, 1.0, 1e8, 1e150])
def test_parallel_cuts_at_any_scale(size):
    """The second cut is parallel to the first: either behind it (rho = 0 <= chi) or disjoint from it."""
    behind = Functions(line([1.0, 0.0], 0.0), line([2.0, 0.0], -2 * size))
    found = project(np.array([3.0, 1.0]) * size, behind.at, tol=1e-12 * size)
    np.testing.assert_allclose(found.point, [-size, size], rtol=1e-12)
    disjoint = Functions(line([1.0, 0.0], -size), line([-1.0, 0.0], -size))
    for keep_cuts in (False, True):
        assert project(np.array([3.0, 1.0]) * size, disjoint.at, keep_cuts=keep_cuts).status == "infeasible"


def test_feasible_points_and_minima_above_the_level_end_at_once():
    inside = np.array([-1.0, 0.0])
    found = project(inside, Functions(line([1.0, 0.0], 0.0)).at)
    assert found.point is inside
    assert found.gaps == [-1.0]
    bowl = (lambda p: p @ p + 1.0), (lambda p: 2.0 * p)
    assert project(np.zeros(2), Functions(bowl).at).status == "infeasible"


def test_too_few_steps_are_reported():
    disc = (lambda p: p @ p - 1.0), (lambda p: 2.0 * p)
    found = project(np.array([30.0, 40.0]), Functions(disc).at, max_steps=2)
    assert (found.status, len(found.gaps)) == ("max_iter", 3)
    assert found.gaps[0] > found.gaps[1] > found.gaps[2] > 0


class Counted(LinearOperator):
    """A matrix that counts its products."""

    def __init__(self, X):
        self.X, self.forward, self.backward = X, 0, 0
        super().__init__(float, X.shape)

    def _matvec(self, v):
        self.forward += 1
        return self.X @ v

    def _rmatvec(self, v):
        self.backward += 1
        return self.X.T @ v


@pytest.mark.parametrize("groups", [0, 2])
def test_step_takes_one_product_with_negatives_and_one_with_their_transpose(groups):
    random = np.random.default_rng(0)
    X_neg = Counted(random.normal(1.0, 1.0, (40, 6)))
    bounds = [GroupBound(np.arange(40), 0.1)]
    bounds += [GroupBound(np.arange(20 * j, 20 * j + 20), 0.09) for j in range(groups)]
    found = project(np.ones(6), Region(X_neg, LOSSES["logistic"], bounds).at, max_steps=7)
    assert len(found.gaps) > 4
    assert (X_neg.forward, X_neg.backward) == (len(found.gaps), len(found.gaps) - 1)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 8))
def test_polyhedron_multipliers_meet_the_kkt_conditions(seed, n_cuts, d):
    random = np.random.default_rng(seed)
    normals = random.normal(size=(n_cuts, d)) * 10.0 ** random.integers(-6, 6, (n_cuts, 1))
    inside = random.normal(size=d)
    distances = -(normals @ inside) - random.exponential(size=n_cuts) * (random.random(n_cuts) < 0.5)
    multipliers = polyhedron_multipliers(normals, distances)
    x = -multipliers @ normals
    lengths = np.linalg.norm(normals, axis=1)
    slack = (normals @ x + distances) / lengths
    assert np.all(multipliers >= 0)
    assert slack.max() <= 1e-9
    assert np.abs(multipliers * lengths * slack).max() <= 1e-8
