"""Weights of classes against a grid, a linear program, a threshold, and the rates that they promise."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import log_softmax
from scipy.stats import binomtest

from npbench.numerics.class_weights import least_weights, lowered_weights
from npbench.numerics.thresholds import RULES, umbrella

BOUNDS = {0: 0.05, 2: 0.1}


def scored(n, seed, n_classes=3, shift=2.5):
    """Log-probabilities of n normal samples, ``shift`` apart in an axis for each class, and their classes."""
    random = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = random.normal(size=(n, n_classes)) + shift * np.eye(n_classes)[codes]
    return log_softmax(shift * X, axis=1), codes


def counted(log_p, codes, log_c):
    wrong = np.argmax(log_p + log_c, axis=1) != codes
    return np.array([np.mean(wrong[codes == k]) for k in range(log_p.shape[1])])


def hard(codes):
    shares = np.eye(np.max(codes) + 1)[codes]
    return shares / shares.sum(axis=0)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(5))
def test_no_smaller_weight_keeps_the_rates(seed):
    log_p, codes = scored(60, seed)
    floor = np.array([-4.0, 0.0, -4.0])
    found = least_weights(log_p, hard(codes), BOUNDS, floor)
    assert all(counted(log_p, codes, found)[k] <= rate for k, rate in BOUNDS.items())
    assert np.all(found[[0, 2]] > -4)
    for first, last in product(np.linspace(-4, 4, 41), repeat=2):
        rates = counted(log_p, codes, np.array([first, 0, last]))
        if all(rates[k] <= rate for k, rate in BOUNDS.items()):
            assert first > found[0] - 1e-6
            assert last > found[2] - 1e-6
            assert rates[1] >= counted(log_p, codes, found)[1]


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_as_shares_solve_the_linear_program(seed):
    log_p, _ = scored(300, seed)
    n, n_classes = log_p.shape
    p, w = np.exp(log_p), np.array([0.0, 1.0, 0.0])
    shares = p / p.sum(axis=0)
    with np.errstate(divide="ignore"):
        floor = np.log(w / p.mean(axis=0))
    log_c = least_weights(log_p, shares, BOUNDS, floor)
    chosen = np.eye(n_classes)[np.argmax(log_p + log_c, axis=1)]
    rates = 1 - np.sum(chosen * shares, axis=0)
    # of all randomized classifiers, with probability q[i, k] for class k, the least error of the second class
    kept = np.zeros((len(BOUNDS), n, n_classes))
    for row, k in enumerate(BOUNDS):
        kept[row, :, k] = -shares[:, k]
    program = linprog(
        -(shares * w).ravel(),
        A_ub=kept.reshape(len(BOUNDS), -1),
        b_ub=[rate - 1 for rate in BOUNDS.values()],
        A_eq=np.kron(np.eye(n), np.ones(n_classes)),
        b_eq=np.ones(n),
    )
    multipliers = np.exp(log_c) * p.mean(axis=0) - w
    gap = sum(multipliers[k] * np.max(shares[:, k]) for k in BOUNDS)
    assert all(rates[k] <= rate + 1e-9 for k, rate in BOUNDS.items())
    assert program.fun + 1 - 1e-9 <= rates @ w <= program.fun + 1 + gap
    assert rates @ w < 1


def test_bounds_that_cannot_be_kept_together_are_found():
    log_p, codes = scored(300, 0, shift=0.0)
    assert least_weights(log_p, hard(codes), {0: 0.1, 1: 0.1}, np.zeros(3)) is None
    assert least_weights(log_p, hard(codes), {0: 0.1}, np.zeros(3)) is not None
    # two classes race for samples with the same probabilities
    tied = np.log(np.tile([[0.4, 0.4, 0.2]], (300, 1)))
    assert least_weights(tied, hard(codes), {0: 0.5, 1: 0.5}, np.zeros(3)) is None


@pytest.mark.parametrize("n", [59, 300])
def test_one_bound_of_two_classes_is_the_umbrella_threshold(n):
    log_p, codes = scored(2 * n, n, n_classes=2)
    odds = log_p[:, 1] - log_p[:, 0]
    allowed = RULES["umbrella"].accepted(n, 0.05, 0.05)
    floor = np.array([-np.inf, 0.0])
    found = lowered_weights(log_p, codes, {0: allowed}, np.zeros(2), floor)
    assert found[0] - found[1] == pytest.approx(umbrella(odds[codes == 0], 0.05, 0.05), abs=1e-8)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rule", ["umbrella", "average"])
@pytest.mark.parametrize("n", [60, 200])
def test_held_out_samples_promise_each_bound(rule, n):
    """Samples are points of a grid, so that the true error rates are sums; some points tie."""
    random = np.random.default_rng(n)
    points, means = np.indices((8, 8)).reshape(2, -1).T, np.array([[1, 1], [1, 5], [5, 1], [5, 5]])
    log_p = -np.sum((points[:, None] - means) ** 2, axis=2) / 2
    shares = np.exp(log_p.T) / np.exp(log_p.T).sum(axis=1, keepdims=True)
    bounds = {0: 0.4, 1: 0.4, 3: 0.3}
    allowed = {k: RULES[rule].accepted(n, rate, 0.05 / 3) for k, rate in bounds.items()}
    codes, rates, draws = np.repeat([0, 1, 3], n), [], 500
    for _ in range(draws):
        kinds = np.concatenate([random.choice(64, n, p=shares[k]) for k in bounds])
        log_c = lowered_weights(log_p[kinds], codes, allowed, np.zeros(4), np.full(4, -np.inf))
        won = np.argmax(log_p + log_c, axis=1) if log_c is not None else None
        rates.append([np.sum(shares[k][won != k]) if log_c is not None else 0.0 for k in bounds])
    rates, limits = np.array(rates), np.array(list(bounds.values()))
    assert np.mean(np.any(rates > 0, axis=1)) > 0.9  # most draws have weights
    if rule == "umbrella":
        assert all(
            binomtest(int(above), draws, 0.05 / 3, "greater").pvalue > 0.001 for above in (rates > limits).sum(0)
        )
        assert binomtest(int((rates > limits).any(axis=1).sum()), draws, 0.05, "greater").pvalue > 0.001
    else:
        assert np.all(rates.mean(axis=0) <= limits + 4 * rates.std(axis=0) / np.sqrt(draws))
        assert np.any(rates > limits)


def test_weights_stop_at_their_floor_or_are_refused():
    log_p, codes = scored(90, 1)
    floor = np.array([0.5, -np.inf, 0.25])
    start = np.array([1.0, 0.0, 1.5])
    np.testing.assert_allclose(lowered_weights(log_p, codes, {0: 29, 2: 29}, start, floor), [0.5, 0.0, 0.25], atol=2e-9)
    # errors between two classes with bounds remain at every scale
    assert lowered_weights(np.zeros((90, 3)), codes, {0: 3, 2: 3}, start, floor) is None
