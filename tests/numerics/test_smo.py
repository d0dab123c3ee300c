"""The SVM dual against a conic solver, the definition of its primal, and brute force."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import class_samples
from npbench.numerics import interior_point, linear_svm, smo
from npbench.numerics import smo_kernels as kernels
from npbench.numerics.gram import Gram, Kernel

sample = partial(class_samples.shifted, share=0.5)


def mixture(n, seed=0):
    """Return negatives around 0, and two fifths positives around two points on either side."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 2 * n // 5, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + (rng.choice([-1, 1], n) * (y > 0))[:, None], y


def rbf(X, gamma=0.5):
    return np.exp(-gamma * np.sum((X[:, None] - X[None]) ** 2, axis=2))


def linear(X):
    return X @ X.T


def problem(K, y, cost_positive, cost_negative, flat=None):
    """Return (K, p, lower, upper); the box of a flat sample is [-c, 0] in y x, that of the others [0, c]."""
    c = np.where(y > 0, cost_positive, cost_negative)
    flat = np.zeros(len(y), dtype=bool) if flat is None else flat
    upper = np.where(flat != (y > 0), c, 0.0)
    return K, y.astype(float), upper - c, upper


def stacked(X, y, *signs):
    return np.vstack([X] * len(signs)), np.concatenate([sign * y for sign in signs])


def fixed(n):
    """Return an ordinary problem in which every third variable is fixed, half of these away from zero."""
    X, y = sample(n)
    K, p, lower, upper = problem(rbf(X), y, 1, 1)
    lower[::3] = upper[::3] = 0.3 * y[::3] * (np.arange(len(y[::3])) % 2)
    return K, p, lower, upper


def cases():
    X, y = sample(90)
    small, y_small = sample(20, seed=3)
    rare, y_rare = sample(102, share=1 / 51)
    wide, y_wide = sample(30, d=300, shift=0.1)
    twice, y_twice = stacked(X[30:60], y[30:60], 1, 1)
    both, y_both = stacked(X[::3], y[::3], 1, -1)
    flat = np.random.default_rng(1).random(90) < 0.4
    zeros, ones = np.zeros((60, 3)), np.ones((60, 3))
    half = np.where(np.arange(60) < 20, 1.0, -1.0)
    return {
        "ordinary": problem(rbf(X), y, 1, 1),
        "twenty samples": problem(rbf(small), y_small, 1, 1),
        "high costs": problem(rbf(X), y, 1e3, 1e3),
        "imbalanced 1:50": problem(rbf(rare), y_rare, 50, 1),
        "imbalanced 1:50, negatives dear": problem(rbf(rare), y_rare, 1, 50),
        "imbalanced 1:50, linear": problem(linear(rare), y_rare, 1e3, 50),
        "shifted boxes": problem(rbf(X), y, 1, 1, flat),
        "shifted boxes, high costs": problem(rbf(X), y, 1e3, 1e2, flat),
        "shifted boxes, linear": problem(linear(X), y, 1e3, 1e2, flat),
        "cost ratio 1e6": problem(rbf(X), y, 1e3, 1e-3),
        "cost ratio 1e-6": problem(rbf(X), y, 1e-3, 1e3),
        "cost ratio 1e6, high": problem(rbf(X), y, 1e6, 1),
        "cost ratio 1e6, linear": problem(linear(X), y, 1e6, 1),
        "cost ratio 1e6, shifted": problem(rbf(X), y, 1e3, 1e-3, flat),
        "cost ratio 1e-6, shifted": problem(rbf(X), y, 1e-3, 1e3, flat),
        "linear in the plane": problem(linear(X), y, 1, 1),
        "linear in the plane, high costs": problem(linear(X), y, 1e4, 1e4),
        "d >> n, linear": problem(linear(wide), y_wide, 10, 1),
        "d >> n, rbf": problem(rbf(wide, 1 / 300), y_wide, 1e3, 1),
        "duplicates": problem(rbf(twice), y_twice, 100, 10),
        "duplicates with opposite labels": problem(rbf(both), y_both, 1, 1),
        "duplicates with opposite labels, high": problem(rbf(both), y_both, 1e4, 1e3),
        "constant feature": problem(linear(np.column_stack([X, np.ones(90)])), y, 1, 2),
        "identical rows": problem(rbf(ones), half, 1, 2),
        "identical rows, linear": problem(linear(ones), half, 1, 2),
        "K = 0": problem(linear(zeros), half, 3, 1),
        "zero-width boxes": fixed(90),
        "all fixed but two": problem(rbf(X[:80]), y[:80], 1, 1)[:2] + two_free(80, y[:80]),
        "indefinite by rounding": problem(rbf(X, 1e-4), y, 1e3, 1e3),
    }


def two_free(n, y):
    lower, upper = np.zeros(n), np.zeros(n)
    upper[np.argmax(y > 0) + np.arange(2)], lower[np.argmax(y < 0)] = (2.0, 0.5), -1.0
    return lower, upper


CASES = cases()


def solved(K, p, lower, upper, tol=1e-9, x=None, gram=None, **options):
    x = np.zeros(len(p)) if x is None else x.copy()
    g = p - K @ x
    steps, violation = smo.solve(Gram.of(K) if gram is None else gram, lower, upper, x, g, tol, p=p, **options)
    return x, g, steps, violation


def dual(K, p, x):
    return p @ x - 0.5 * x @ K @ x


def primal(K, p, lower, upper, x, b):
    slack = p - K @ x - b
    return 0.5 * x @ K @ x + np.sum(np.maximum(lower * slack, upper * slack))


def rounding(K, x):
    """Return a bound on the rounding error of p - Kx, about a hundred ulps of its largest terms."""
    return 1e-13 * (1 + np.abs(K) @ np.abs(x))


def relative_gap(K, p, lower, upper, x, g):
    value = dual(K, p, x)
    return (primal(K, p, lower, upper, x, kernels.bias(x, g, lower, upper)) - value) / abs(value)


def kkt_violation(g, lower, upper, x):
    return np.max(g[x < upper], initial=-np.inf) - np.min(g[x > lower], initial=np.inf)


def assert_feasible(x, lower, upper, scale=None):
    """Assert that bounds hold exactly, and the sum up to rounding of ``scale``, by default of the multipliers."""
    assert np.all(x >= lower)
    assert np.all(x <= upper)
    assert abs(x.sum()) <= 1e-14 * len(x) * (np.abs(x).max() if scale is None else scale)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_optimum_matches_a_conic_solver(name, qp_maximum):
    K, p, lower, upper = CASES[name]
    x, g, _, violation = solved(K, p, lower, upper)
    assert violation <= 1e-9
    assert_feasible(x, lower, upper)
    error = rounding(K, x)
    assert np.all(np.abs(g - (p - K @ x)) <= error)
    assert kkt_violation(p - K @ x, lower, upper, x) <= 1e-9 + 2 * error.max()
    assert dual(K, p, x) == pytest.approx(qp_maximum(K, p, lower, upper), rel=1e-6)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_newton_steps_in_the_weights_reach_the_optimum(name, qp_maximum):
    K, p, lower, upper = CASES[name]
    values, vectors = np.linalg.eigh(K)
    X = vectors * np.sqrt(np.maximum(values, 0.0))
    x, g = np.zeros(len(p)), p.copy()
    _, violation = linear_svm.solve(X, lower, upper, x, g, 1e-7, p=p)
    # Rounding of g counts multiplied by the ratio of costs where multipliers of the larger cost are free.
    imprecise = name == "cost ratio 1e6, shifted"
    assert violation <= (1e-4 if imprecise else 1e-7)
    assert_feasible(x, lower, upper)
    assert dual(K, p, x) == pytest.approx(qp_maximum(K, p, lower, upper), rel=1e-4 if imprecise else 1e-6)


def test_start_at_the_optimum_takes_no_step():
    K, p, lower, upper = CASES["ordinary"]
    x, _, _, _ = solved(K, p, lower, upper, 1e-9)
    again, _, steps, _ = solved(K, p, lower, upper, 1e-8, x)
    assert steps <= 1  # restoring the sum may move a sample from its bound
    np.testing.assert_allclose(again, x, atol=1e-14)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("costs", [(1e4, 1e4), (1e4, 1e2), (1e2, 1e4)])
@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_slow_problems_are_certified(costs, gamma, monkeypatch):
    X, y = mixture(400)
    K, p, lower, upper = problem(rbf(X, gamma), y, *costs)
    x, g = np.zeros(400), p.copy()
    kernels.optimise(K, K.diagonal().copy(), lower, upper, x, g, 1e-6, 75 * 400)
    assert relative_gap(K, p, lower, upper, x, g) > 1e-5
    calls, inner = itertools.count(), interior_point.solve
    monkeypatch.setattr(interior_point, "solve", lambda *given: (next(calls), inner(*given))[1])
    x, g, steps, violation = solved(K, p, lower, upper, 1e-6)
    assert violation <= 1e-6
    assert next(calls) >= 1
    assert steps <= 75 * 400
    assert_feasible(x, lower, upper)
    assert relative_gap(K, p, lower, upper, x, g) <= 1e-6


@pytest.mark.parametrize("name", ["ordinary", "high costs", "cost ratio 1e6, shifted", "linear in the plane"])
@pytest.mark.parametrize("max_iter", [0, 1, 7])
@pytest.mark.parametrize("budget", [1 << 30, 8 * 90 * 10])
def test_max_iter_stops_with_the_true_violation(name, max_iter, budget, monkeypatch):
    monkeypatch.setattr(smo, "WORKING_SET_SIZE", 20)
    K, p, lower, upper = CASES[name]
    gram = Gram(np.eye(len(p)), Kernel(lambda X, Z: X @ K @ Z.T), budget)
    x, _, steps, violation = solved(K, p, lower, upper, 1e-9, gram=gram, max_iter=max_iter)
    assert steps <= max_iter
    assert violation > 1e-9
    assert violation == pytest.approx(kkt_violation(p - K @ x, lower, upper, x), rel=1e-9)
    assert_feasible(x, lower, upper)


@pytest.mark.parametrize("name", ["ordinary", "high costs", "cost ratio 1e6, high", "linear in the plane, high costs"])
@pytest.mark.parametrize("budget", [1 << 30, 1 << 12])
def test_tolerance_below_rounding_terminates(name, budget):
    K, p, lower, upper = CASES[name]
    gram = Gram(np.eye(len(p)), Kernel(lambda X, Z: X @ K @ Z.T), budget)
    x, g, steps, violation = solved(K, p, lower, upper, 1e-300, gram=gram, max_iter=200_000)
    assert steps <= 200_000
    error = 10 * rounding(K, x).max()
    assert violation == pytest.approx(kkt_violation(p - K @ x, lower, upper, x), abs=error)
    np.testing.assert_allclose(g, p - K @ x, rtol=0, atol=error)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("n", "kernel", "costs"), [(47, linear, (1e5, 1e6)), (60, rbf, (1e6, 1e6))])
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_best_point_is_returned_if_rounding_prevents_the_tolerance(n, kernel, costs, seed):
    X, y = sample(n, seed=seed)
    K, p, lower, upper = problem(kernel(X), y, *costs)
    x, g, steps, violation = solved(K, p, lower, upper, 1e-10)
    assert steps <= 10_000 * n
    assert_feasible(x, lower, upper)
    np.testing.assert_allclose(g, p - K @ x, rtol=0, atol=1e-7)
    assert violation == pytest.approx(kkt_violation(g, lower, upper, x))
    assert violation <= 1e-7


@pytest.mark.parametrize("place", ["lower", "upper", "x", "g"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_infinite_input_raises(place, value):
    arrays = {"lower": -np.ones(4), "upper": np.ones(4), "x": np.zeros(4), "g": np.ones(4)}
    arrays[place][2] = value
    with pytest.raises(ValueError, match="must be finite"):
        smo.solve(Gram.of(np.eye(4)), **arrays)


@st.composite
def points(draw):
    """Return a feasible point with integer bounds and gradients, so that sums are exact."""
    n = draw(st.integers(1, 8))
    numbers = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    rooms = st.lists(st.sampled_from([0, 0, 1, 3]), min_size=n, max_size=n)
    x = np.array(draw(numbers), float)
    x[-1] -= x.sum()
    g, down, up = (np.array(draw(part), float) for part in (numbers, rooms, rooms))
    return x, g, x - down, x + up


@given(points())
def test_bias_is_the_middle_of_the_minimisers(point):
    x, g, lower, upper = point

    def value(b):
        return np.sum(np.maximum(lower * (g - b), upper * (g - b)))

    breakpoints = np.unique(g)
    values = [value(b) for b in breakpoints]  # a convex, piecewise linear function has its minimum at one of them
    minimisers = breakpoints[values == np.min(values)]
    unbounded_below, unbounded_above = upper.sum() == 0, lower.sum() == 0
    if unbounded_below and unbounded_above:
        expected = 0.0
    elif unbounded_below or unbounded_above:
        expected = minimisers[-1] if unbounded_below else minimisers[0]
    else:
        expected = 0.5 * (minimisers[0] + minimisers[-1])
    b = kernels.bias(x, g, lower, upper)
    assert b == expected
    assert value(b) <= min(value(other) for other in np.linspace(-4, 4, 81)) + 1e-12


@given(st.integers(0, 10**6), st.floats(-20, 20))
def test_weak_duality_at_any_feasible_point(seed, b):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    root = rng.normal(size=(int(rng.integers(1, n + 1)), n)) * 10.0 ** rng.integers(-3, 3)
    K, p, x = root.T @ root, rng.normal(size=n), rng.normal(size=n)
    x -= x.mean()
    lower, upper = x - rng.exponential(size=n), x + rng.exponential(size=n)
    gap = kernels.gap(x, p - K @ x, lower, upper, b)
    exact = primal(K, p, lower, upper, x, b) - dual(K, p, x)
    assert gap >= 0
    assert gap == pytest.approx(exact, abs=1e-9 * (1 + abs(b) + np.abs(K).max()) * n**2)


@given(st.integers(0, 10**6))
def test_any_start_is_moved_exactly_into_the_box(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    inside = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    inside -= inside.mean()
    room = rng.exponential(size=(2, n)) * (rng.random((2, n)) < 0.5) + 1e-9
    lower, upper = inside - room[0], inside + room[1]
    start = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    x = kernels.feasible(lower, upper, start, rng.normal(size=n))
    assert_feasible(x, lower, upper, scale=np.abs([start, lower, upper]).max())


@pytest.mark.any_processor
@given(st.integers(0, 10**6))
def test_random_boxes_are_solved_to_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X = np.round(rng.normal(size=(n, 2)), int(rng.integers(0, 3)))  # rounded: many duplicates
    K = rbf(X, 10.0 ** rng.uniform(-2, 2)) if rng.random() < 0.5 else linear(X)
    y = np.where(rng.random(n) < rng.uniform(0.05, 0.95), 1.0, -1.0)
    _, p, lower, upper = problem(K, y, *10.0 ** rng.uniform(-3, 3, 2), rng.random(n) < rng.choice([0, 0.4]))
    x, g, _, violation = solved(K, p, lower, upper, 1e-7, rng.normal(size=n))
    assert violation <= 1e-7
    assert_feasible(x, lower, upper, scale=max(1, -lower.min(), upper.max()))
    gap = primal(K, p, lower, upper, x, kernels.bias(x, g, lower, upper)) - dual(K, p, x)
    assert gap <= 2e-7 * np.sum(upper - lower)


@pytest.mark.parametrize("block", [4, 30, 2000])
@pytest.mark.parametrize(
    "name", ["ordinary", "shifted boxes", "cost ratio 1e6", "duplicates", "zero-width boxes", "imbalanced 1:50"]
)
def test_blocks_reach_the_optimum_of_the_whole_matrix(name, block, monkeypatch):
    K, p, lower, upper = CASES[name]
    monkeypatch.setattr(smo, "WORKING_SET_SIZE", block)
    gram = Gram(np.eye(len(p)), Kernel(lambda X, Z: X @ K @ Z.T), budget=8 * len(p) * 10)
    assert gram.whole is None
    x, g, _, violation = solved(K, p, lower, upper, 1e-7, gram=gram)
    assert violation <= 1e-7
    assert_feasible(x, lower, upper)
    np.testing.assert_allclose(g, p - K @ x, atol=1e-11 * (1 + np.abs(x).sum()))
    assert dual(K, p, x) == pytest.approx(dual(K, p, solved(K, p, lower, upper, 1e-9)[0]), rel=1e-6)
