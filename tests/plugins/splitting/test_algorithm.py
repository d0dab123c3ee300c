"""The splitting method: compared with a conic solver, first-order conditions, and infeasible or unbounded problems."""

import itertools

import cvxpy
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from feature_kinds import KINDS
from npbench import load_dataset
from npbench_splitting.numerics.calibrated import LOSSES
from npbench_splitting.numerics.constraints import Ball, GroupBound
from npbench_splitting.numerics.problem import recession_direction, separating_direction
from npbench_splitting.numerics.splitting import minimise
from splitting_reference import conic

LOGISTIC, MATSUSITA, HINGE = (LOSSES[name] for name in ("logistic", "matsusita", "hinge"))
CONIC_ACCURACY = 1e-6  # relative, and as a share of phi(0)


def sample(n_pos=60, n_neg=50, d=3, shift=0.7, seed=0, intercept=True):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_pos + n_neg, d))
    X[:n_pos] += shift
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return X[:n_pos], X[n_pos:]


@st.composite
def problems(draw):
    """Return samples of both classes, a loss, tau and further constraints."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    d, shift = draw(st.sampled_from([1, 2, 5, 60])), draw(st.sampled_from([0.0, 0.5, 1.0, 4.0]))
    name = draw(st.sampled_from(["normal", "duplicates", "integers", "badly scaled", "zero feature"]))
    X_pos, X_neg = (random.normal(size=(draw(st.integers(2, 30)), d)) + mean for mean in (shift, 0.0))
    X_pos, X_neg = KINDS[name](X_pos, random), KINDS[name](X_neg, random)
    if draw(st.booleans()):
        X_pos, X_neg = (np.column_stack([X, np.ones(len(X))]) for X in (X_pos, X_neg))
    n_neg, d = X_neg.shape
    tau = draw(st.sampled_from([0.9, 0.5, 0.3, 0.1, 0.01, 0.001]))
    bounds, ball = [], None
    if draw(st.booleans()):
        features = slice(None) if draw(st.booleans()) else np.arange(max(1, d - 1))
        ball = Ball(draw(st.sampled_from([0.1, 1.0, 10.0])), features)
    if draw(st.booleans()):
        bounds.append(GroupBound(np.arange(max(1, n_neg // 3)), tau * draw(st.sampled_from([0.5, 1.0, 2.0]))))
    return X_pos, X_neg, draw(st.sampled_from([LOGISTIC, MATSUSITA])), tau, bounds, ball


def excesses(result, X_neg, loss, tau, bounds, ball):
    w = result.w
    of_rows = [(slice(None), tau), *((bound.rows, bound.tau) for bound in bounds)]
    means = [loss.value(-(X_neg[rows] @ w)).mean() - bound for rows, bound in of_rows]
    return np.array(means + ([] if ball is None else [ball.excess(w)]))


@given(problems())
def test_optimum_matches_a_conic_solver(problem):
    X_pos, X_neg, loss, tau, bounds, ball = problem
    result = minimise(*problem[:4], bounds=bounds, ball=ball, max_iter=300)
    status, best, _ = conic(*problem)
    assume(status != "error")
    if status == "infeasible":
        assert result.status == "infeasible"
        return
    assert result.status in {"converged", "unattained"} or status != "optimal"
    if result.status not in {"converged", "unattained"}:
        return
    sizes = np.abs([tau, *(bound.tau for bound in bounds), *([] if ball is None else [ball.radius])])
    # Weights come from an orthonormal basis of the samples, with a rounding error relative to their norm.
    rounding = 1e-15 * np.linalg.norm(X_neg, axis=1).max() * np.linalg.norm(result.w)
    met = 2e-9 * np.where(sizes > 0, sizes, 1.0) + 1e-12 + rounding
    assert np.all(excesses(result, *problem[1:]) <= met)
    assert result.objective == pytest.approx(loss.value(X_pos @ result.w).mean(), rel=1e-12)
    if status == "optimal":
        theirs = 1e-7 * result.multipliers.sum()  # their objective gains this from the excess that they accept
        assert result.objective <= best * (1 + CONIC_ACCURACY) + 2 * CONIC_ACCURACY * loss.at_zero + theirs
        assert best <= result.objective * (1 + 1e-5) + 2 * CONIC_ACCURACY


@given(problems())
def test_multipliers_meet_the_first_order_conditions(problem):
    X_pos, X_neg, loss, _, bounds, ball = problem
    result = minimise(*problem[:4], bounds=bounds, ball=ball, max_iter=60)
    assume(result.status == "converged")
    w, m = result.w, result.multipliers
    # Multipliers may not exist if a single point is feasible; they then grow until rounding stops them.
    assume(m.max(initial=0.0) < 1e9)
    gradient = X_pos.T @ loss.derivative(X_pos @ w) / len(X_pos)
    slopes = -loss.derivative(-(X_neg @ w))
    gradient += m[0] * (X_neg.T @ slopes) / len(X_neg)
    for bound, multiplier in zip(bounds, m[1:], strict=False):
        gradient += multiplier * (X_neg[bound.rows].T @ slopes[bound.rows]) / len(bound.rows)
    if ball is not None:
        counted = np.zeros_like(w)
        counted[ball.features] = w[ball.features]
        gradient += m[-1] * counted / max(np.linalg.norm(counted), 1e-300)
    size = 0.5 * np.sqrt(np.mean(np.sum(X_pos**2, axis=1)))
    assert np.all(m >= 0)
    assert np.linalg.norm(gradient) <= 1.01e-6 * size
    assert np.all(np.abs(m * excesses(result, *problem[1:])) <= 1.01e-6 * loss.at_zero)


@pytest.mark.slow  # thousands of steps; a conic solver gives the optimum above
@pytest.mark.one_in(4)
@pytest.mark.parametrize("step", ["spectral", "frobenius"])
@pytest.mark.parametrize("accelerate", ["nesterov", "none"])
def test_printed_algorithm_has_the_same_optimum(accelerate, step):
    inner = "summable" if (step == "spectral") == (accelerate == "nesterov") else 30
    samples = sample()
    best = minimise(*samples, MATSUSITA, 0.3)
    found = minimise(*samples, MATSUSITA, 0.3, inner=inner, accelerate=accelerate, step=step, max_iter=4000, tol=1e-7)
    assert found.status == "converged"
    assert found.objective == pytest.approx(best.objective, rel=1e-6)
    np.testing.assert_allclose(found.w, best.w, rtol=0, atol=1e-4)


def test_number_of_inner_steps_is_fixed():
    result = minimise(*sample(), LOGISTIC, 0.3, inner=4, accelerate="none", max_iter=20)
    assert [len(gaps) - 1 for gaps in result.gaps] == [4] * 20
    assert all(gaps[0] > gaps[-1] > 0 for gaps in result.gaps)


def test_objective_decreases_with_tau_and_warm_starts_agree():
    samples, w, last = sample(d=5, shift=0.4), None, np.inf
    for tau in np.geomspace(0.02, 0.8, 12):
        cold, warm = minimise(*samples, LOGISTIC, tau), minimise(*samples, LOGISTIC, tau, w0=w)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
        np.testing.assert_allclose(warm.w, cold.w, rtol=0, atol=1e-5 * (1 + np.abs(cold.w).max()))
        assert cold.objective <= last
        w, last = warm.w, cold.objective


def test_newton_iterates_are_feasible_and_lower_the_objective():
    result = minimise(*sample(d=10, n_pos=200), LOGISTIC, 0.2, keep_iterates=True)
    history = result.history
    assert all(later.objective <= earlier.objective for earlier, later in itertools.pairwise(history))
    assert all(step.surrogate_p_fa <= 0.2 * (1 + 1e-9) for step in history)
    assert len(result.iterates) == len(history) == len(result.gaps) + 1
    np.testing.assert_array_equal(result.iterates[-1], result.w)
    assert [step.iteration for step in history] == list(range(len(history)))


def test_history_counts_ties_as_errors():
    X_pos, X_neg = sample()
    result = minimise(X_pos, X_neg, LOGISTIC, 0.3, keep_iterates=True, accelerate="none", max_iter=5)
    for step, w in zip(result.history, result.iterates, strict=True):
        assert (step.p_fa, step.p_nd) == (np.mean(X_neg @ w >= 0), np.mean(X_pos @ w <= 0))
        assert step.objective == pytest.approx(LOGISTIC.value(X_pos @ w).mean(), abs=1e-15)
        assert step.surrogate_p_fa == pytest.approx(LOGISTIC.value(-(X_neg @ w)).mean(), abs=1e-15)
    assert result.history[0].p_fa == result.history[0].p_nd == 1.0  # w = 0
    assert (result.status, len(result.gaps)) == ("max_iter", 5)


@pytest.mark.parametrize("accelerate", ["newton", "none"])
@pytest.mark.parametrize("tau", [-0.1, 0.0, 0.3])
def test_infeasible_tau_is_reported_with_the_least_value(accelerate, tau):
    X_pos, X_neg = sample(intercept=False, shift=0.0)
    result = minimise(X_pos, X_neg, LOGISTIC, tau, accelerate=accelerate)
    w = cvxpy.Variable(3)
    least = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.logistic(X_neg @ w)) / len(X_neg))).solve(solver="CLARABEL")
    assert (result.status, result.failing) == ("infeasible", 0)
    assert result.reachable == pytest.approx(least, rel=1e-5)
    with_intercept = minimise(*sample(), LOGISTIC, -0.1)
    assert with_intercept.status == "infeasible"
    assert 0 <= with_intercept.reachable < 1e-3  # the infimum


@pytest.mark.parametrize("loss", [LOGISTIC, MATSUSITA], ids=lambda loss: loss.name)
@pytest.mark.parametrize("d", [4, 300])
def test_unattained_infimum_is_reported(loss, d):
    result = minimise(*sample(d=d, shift=6.0), loss, 0.1)
    assert result.status == "unattained"
    assert result.objective <= 1e-6 * loss.at_zero
    assert result.excess <= 1e-9


def test_unbounded_hinge_raises():
    with pytest.raises(ValueError, match="unbounded"):
        minimise(*sample(shift=8.0), HINGE, -0.1)
    X_pos, X_neg = sample(shift=0.0)
    X_pos[:, 0], X_neg[:, 0] = 0.0, -1.0 * (np.arange(50) == 0)  # one sample can be separated from all others
    with pytest.raises(ValueError, match="unbounded"):
        minimise(X_pos, X_neg, HINGE, -0.1)
    assert minimise(*sample(shift=8.0), HINGE, -0.1, ball=Ball(3.0, slice(None))).status == "converged"


def test_hinge_meets_the_first_order_conditions():
    """The hinge has no conic form; the conditions are sufficient for a convex problem."""
    X_pos, X_neg = sample()
    result = minimise(X_pos, X_neg, HINGE, -0.2, tol=1e-9)
    pull = X_pos.T @ HINGE.derivative(X_pos @ result.w) / len(X_pos)
    push = -(X_neg.T @ HINGE.derivative(-(X_neg @ result.w))) / len(X_neg)
    assert result.status == "converged"
    assert abs(result.excess) < 1e-9
    np.testing.assert_allclose(pull + result.multipliers[0] * push, 0.0, atol=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([1, 2, 4]), st.booleans())
def test_separating_directions_match_a_linear_programme(seed, n, d, whole):
    random = np.random.default_rng(seed)
    X_pos, X_neg = random.normal(0.7, 1.0, (n, d)), random.normal(-0.3, 1.0, (n + 1, d))
    X_pos, X_neg = (np.round(X) if whole else X for X in (X_pos, X_neg))
    v, strict = cvxpy.Variable(d), [X_pos @ (w := cvxpy.Variable(d)) >= 1, X_neg @ w <= -1]
    separable = cvxpy.Problem(cvxpy.Minimize(0), strict).solve(solver="HIGHS") < np.inf
    found = separating_direction(X_pos, X_neg)
    assert (found is not None) == separable
    if separable:
        assert (X_pos @ found).min() > 0 > (X_neg @ found).max()
    gain = cvxpy.Maximize(cvxpy.sum(X_pos @ v) - cvxpy.sum(X_neg @ v))
    recedes = cvxpy.Problem(gain, [X_pos @ v >= 0, X_neg @ v <= 0, cvxpy.abs(v) <= 1]).solve(solver="HIGHS") > 1e-5
    assert (recession_direction(X_pos, X_neg) is not None) == recedes


def genes(n_pos, n_neg, n_features):
    """Return samples of the paper's generator, half of each class for training."""
    data = load_dataset("negative_binomial", n_pos=n_pos, n_neg=n_neg, n_features=n_features)
    X_pos, X_neg = data.X[data.y > 0], data.X[data.y < 0]
    return X_pos[::2], X_neg[::2], X_neg[1::2]


PAPER = {
    "printed": {"accelerate": "none", "max_iter": 400},
    "nesterov": {"accelerate": "nesterov", "max_iter": 100},
    "newton in a ball": {"ball": Ball(2.0, slice(None))},
}


@pytest.mark.parametrize("size", [(700, 240, 200), pytest.param((3340, 1040, 1000), marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", PAPER)
def test_paper_example_meets_alpha(size, how):
    X_pos, X_neg, unseen = genes(*size)
    result = minimise(X_pos, X_neg, LOGISTIC, 0.1, **PAPER[how])
    assert result.history[-1].surrogate_p_fa == pytest.approx(0.1, abs=1e-6)
    assert np.mean(X_neg @ result.w >= 0) < 0.1
    assert np.mean(unseen @ result.w >= 0) < 0.1
    if how == "printed":
        nine = minimise(X_pos, X_neg, LOGISTIC, 0.1, accelerate="none", inner=9, max_iter=50)
        assert all(gaps[-1] <= 1e-12 for gaps in nine.gaps)


def test_paper_example_has_no_minimiser():
    result = minimise(*genes(700, 240, 200)[:2], LOGISTIC, 0.1)
    assert result.status == "unattained"
    assert abs(result.excess) <= 1e-6
