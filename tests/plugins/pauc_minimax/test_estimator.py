"""Instance-wise minimax: its value against all pairs, its gradients against differences, what it trains for."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, root
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from class_samples import shuffled
from npbench.numerics.pauc_metrics import pairwise, positives_within
from npbench_pauc_minimax.estimator import Objective, PAUCMinimax
from npbench_pauc_minimax.minimax import inner_solution
from npbench_pauc_minimax.stochastic import START, minimax_gradient

X, Y = shuffled(shift=1.5)
POSITIVE = Y > 0
# ranks of negatives by descending score, and of positives by ascending score
ONE_WAY, ALL, TWO_WAY, BOTTOM, INNER = RANGES = [
    ((0, 16), (0, 40)),
    ((0, 160), (0, 40)),
    ((0, 16), (0, 20)),
    ((0, 160), (0, 1)),
    ((8, 40), (4, 30)),
]


def written(f, ranks, kappa, a, p, s, t, g):
    """Return the objective as in the docstring at any a, p, s, s' and g, for ranges [0, hi] and [lo, 1]."""

    def upper_mean(h, s, k):
        return h.mean() if k == len(h) else s + np.logaddexp(0, kappa * (h - s)).sum() / kappa / k

    of_pos = (f[POSITIVE] - a) ** 2 - 2 * (1 + g) * f[POSITIVE]
    of_neg = (f[~POSITIVE] - p) ** 2 + 2 * (1 + g) * f[~POSITIVE]
    return 1 - g**2 + upper_mean(of_pos, t, ranks[1][1]) + upper_mean(of_neg, s, ranks[0][1])


def objective(ranks, C=10.0, kappa=20.0, features=X):
    return Objective(features, Y, ranks, C, kappa)


@pytest.mark.parametrize("ranks", RANGES)
@pytest.mark.parametrize("scale", [0.3, 10.0])
def test_sharp_limits_give_the_mean_over_pairs(ranks, scale):
    f = expit(scale * np.random.default_rng(0).normal(size=len(Y)))
    value, slopes = inner_solution(f, POSITIVE, *ranks, 1e12)
    top, bottom = np.sort(f[~POSITIVE])[::-1][slice(*ranks[0])], np.sort(f[POSITIVE])[slice(*ranks[1])]
    pairs = 1 - bottom[:, None] + top
    assert value == pytest.approx(np.mean(pairs**2), abs=1e-8)
    sums = slopes[~POSITIVE].sum(), slopes[POSITIVE].sum()
    np.testing.assert_allclose(sums, [2 * pairs.mean(), -2 * pairs.mean()], rtol=1e-8)


@pytest.mark.parametrize("ranks", [ONE_WAY, ALL, TWO_WAY])
@pytest.mark.parametrize("kappa", [2.0, 20.0])
def test_the_inner_solution_is_stationary_in_the_written_problem(ranks, kappa):
    f = expit(X[:, 0])
    value, slopes = inner_solution(f, POSITIVE, *ranks, kappa)

    def partial(inner):
        return approx_fprime(inner, lambda at: written(f, ranks, kappa, *at), 1e-7)

    a, p = f[POSITIVE].mean(), f[~POSITIVE].mean()
    s, t = np.quantile(f[~POSITIVE] ** 2 + f[~POSITIVE], 0.9), np.quantile(f[POSITIVE] ** 2 - 3 * f[POSITIVE], 0.5)
    found = root(partial, [a, p, s, t, p - a])
    assert found.success or np.abs(partial(found.x)).max() < 1e-5
    assert written(f, ranks, kappa, *found.x) == pytest.approx(value, abs=1e-6)
    of_f = approx_fprime(f, lambda at: written(at, ranks, kappa, *found.x), 1e-7)
    np.testing.assert_allclose(slopes, of_f, atol=1e-4 * np.abs(of_f).max())


@pytest.mark.parametrize("ranks", RANGES)
@pytest.mark.parametrize("kappa", [2.0, 50.0])
def test_gradient_agrees_with_differences(ranks, kappa):
    problem = objective(ranks, kappa=kappa)
    v = np.random.default_rng(1).normal(size=5)
    steps = 1e-5 * np.eye(5)
    differences = [(problem(v + step)[0] - problem(v - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(problem(v)[1], differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("ranks", [ONE_WAY, ALL, TWO_WAY])
def test_gradient_of_a_minibatch_is_that_of_the_written_problem(ranks):
    problem, kappa = objective(ranks), 20.0
    v = np.random.default_rng(2).normal(size=5)
    inner = np.add(START, [0.1, -0.2, 0, 0.3, 0.1, 0, -0.4])

    def value(state):
        a, p, _, s, _, t, g = state[5:]
        f = expit(X @ (state[:4] / problem.unit) + state[4])
        return written(f, ranks, kappa, a, p, s, t, g) + problem.decay * state[:4] @ state[:4] / 2

    state = np.concatenate([v, inner])
    found = minimax_gradient(problem, np.arange(len(Y)), state) * np.append(np.ones(11), -1)  # ascends in g
    np.testing.assert_allclose(found, approx_fprime(state, value, 1e-7), atol=1e-5)


@pytest.mark.parametrize("settings", [{}, {"tpr_range": (0.5, 1)}, {"kappa": 2.0, "C": 1e4}, {"fpr_range": (0.1, 0.3)}])
def test_each_iteration_lowers_the_objective(settings):
    model = PAUCMinimax(**settings).fit(X, Y)
    start = PAUCMinimax(**settings)
    ranks = start._class_ranks(Y)
    worst = model.C * inner_solution(np.full(len(Y), 0.5), POSITIVE, *ranks, model.kappa)[0]
    values = [worst, *(step.objective for step in model.trace_)]
    assert np.all(np.diff(values) < 0)
    assert model.objective_ == pytest.approx(values[-1], rel=1e-9)
    assert (model.status_, model.n_iter_) == ("converged", len(model.trace_))
    assert model.imbalance_ <= 1e-3


@pytest.mark.parametrize(("scale", "offset"), [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e6)])
def test_imbalance_has_no_unit(scale, offset):
    usual = PAUCMinimax(C=10.0, tol=1e-5).fit(X, Y)
    moved = PAUCMinimax(C=10.0 / scale**2, tol=1e-5).fit(X * scale + offset, Y)
    assert moved.converged_
    scores = usual.decision_function(X), moved.decision_function(X * scale + offset)
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-2 * np.abs(scores[0]).max())


def test_two_way_training_pays_for_the_positives_that_are_hard():
    """Most positives are easy along one direction; the others need another."""
    rng = np.random.default_rng(0)

    def draw(n):
        y = np.repeat([1, -1], n)
        Z = rng.normal(size=(2 * n, 2))
        easy = rng.random(2 * n) < 0.6
        Z[(y > 0) & easy] += [4.0, 0.0]
        Z[(y > 0) & ~easy] += [0.0, 1.5]
        return Z, y

    train, (Z, y) = draw(1000), draw(10_000)
    areas = []
    for tpr_range in ((0.0, 1.0), (0.5, 1.0)):
        scores = PAUCMinimax(fpr_range=(0.0, 0.3), tpr_range=tpr_range, C=10.0).fit(*train).decision_function(Z)
        areas.append(pairwise(*positives_within(y, scores, 0.5, 1.0), 0.0, 0.3).value)
    assert areas[1] > areas[0] + 0.05


def test_training_for_a_range_pays_there():
    rng = np.random.default_rng(4)
    y = np.repeat([1, -1], [500, 4500])
    Z = rng.normal(scale=0.7, size=(5000, 2)) + np.where((y > 0)[:, None], [3.0, 0.0], [0.0, 2.0])
    Z[rng.choice(np.flatnonzero(y < 0), 225, replace=False)] += np.array([3.5, -4.5])
    part, full = (PAUCMinimax(fpr_range=(0.0, hi), C=1.0).fit(Z, y) for hi in (0.1, 1.0))
    areas = [pairwise(y, model.decision_function(Z), 0.0, 0.1).value for model in (part, full)]
    assert areas[0] > areas[1] + 0.03


@pytest.mark.parametrize("tpr_range", [(0.0, 1.0), (0.5, 1.0)])
def test_minibatches_come_near_the_optimum_of_all_samples(tpr_range):
    Z, y = shuffled(400, 1600, shift=1.5)
    settings = {"fpr_range": (0.0, 0.1), "tpr_range": tpr_range, "C": 10.0}
    full = PAUCMinimax(**settings).fit(Z, y)
    some = PAUCMinimax(**settings, batch_size=128, tol=0.1, max_iter=200, random_state=0).fit(Z, y)
    assert some.converged_
    assert full.objective_ < some.objective_ < 1.02 * full.objective_


def test_minibatches_that_gain_nothing_leave_the_start():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = PAUCMinimax(batch_size=50, learning_rate=1e4, max_iter=2, random_state=0).fit(X, Y)
    start = inner_solution(np.full(len(Y), 0.5), POSITIVE, *model._class_ranks(Y), model.kappa)[0]
    assert model.objective_ <= start * (1 + 1e-12)


@pytest.mark.parametrize("C", [1e-8, 1e-3])
def test_steps_of_minibatches_stay_stable_where_the_weights_are_held_by_a_small_cost(C):
    """With a step for the data alone, the weights would overflow, which is an error in tests."""
    some = PAUCMinimax(C=C, batch_size=200, max_iter=500, tol=1e-2, random_state=0).fit(X, Y)
    full = PAUCMinimax(C=C).fit(X, Y)
    assert some.converged_
    np.testing.assert_allclose(some.coef_, full.coef_, atol=0.05 * np.abs(full.coef_).max())


def test_a_range_without_positives_is_refused():
    with pytest.raises(ValueError, match=r"No positive .*tpr_range"):
        PAUCMinimax(tpr_range=(0.501, 0.51)).fit(X, Y)
    with pytest.raises(ValueError, match="tpr_range is"):
        PAUCMinimax(tpr_range=(0.5, 0.2)).fit(X, Y)
