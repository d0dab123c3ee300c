"""Algorithm 4 for linear scores, compared with a transcription of its formulas."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime

from npbench.numerics import losses
from npbench.numerics.losses import loss_and_slope
from npbench.numerics.sgd import Rule, width
from npbench_sgd.descent import StochasticDescent, assess, mean_squared_norm, rows_of
from npbench_sgd.estimator import StochasticNP


def wide(X):
    """Return the same matrix with indices of 64 bits."""
    return sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


LOSS_NAMES = list(losses.LOSSES)
STORAGES = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csr int64": lambda X: wide(sp.csr_array(X)),
}


def sample(n=60, d=7, seed=0):
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.4, 1.0, -1.0)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.6) + 0.4 * y[:, None]
    return np.round(8 * X) / 8, y  # exact in float32


DERIVATIVES = {
    "sigmoid": lambda z, eta: -eta * losses.sigmoid(z, eta) * losses.sigmoid(-z, eta),
    "ramp": lambda z, eta: -0.5 / eta * (abs(z) < eta),
    "atan": lambda z, eta: -eta / (np.pi * (1 + (eta * z) ** 2)),
    "erf": lambda z, eta: -eta / np.sqrt(np.pi) * np.exp(-((eta * z) ** 2)),
}


RULE = Rule(
    0, 1.3, 4 / 1.3, bound=0.1, lambda_c=1e-2, gamma_0=0.2, nu=0.05, cost_pos=2.5, cost_neg=1.7, least=1e-3, most=10.0
)
a_rule = RULE._replace


def transcribed(X, y, order, rule):
    """Algorithm 4 as printed, with w itself; returns the last iterate and the average, each as (w, b, lambda)."""
    name = LOSS_NAMES[rule.loss]
    loss, derivative = losses.LOSSES[name], DERIVATIVES[name]
    w, b, multiplier, iterates = np.zeros(X.shape[1]), 0.0, 1.0, []
    for t, i in enumerate(order):
        gamma = rule.gamma_0 / (1 + rule.lambda_c * t)
        z = y[i] * (w @ X[i] + b)
        a = rule.cost_pos if y[i] > 0 else multiplier * rule.cost_neg
        step = -gamma * a * derivative(z, rule.eta)
        step = min(step, rule.width / (1 + X[i] @ X[i]))
        w = (1 - gamma * rule.lambda_c) * w + step * y[i] * X[i]
        b += step * y[i]
        if y[i] < 0:
            multiplier *= 1 + rule.nu * (loss(z, rule.eta) - rule.bound)
            multiplier = np.clip(multiplier, rule.least, rule.most)
        iterates.append(np.concatenate([w, [b, multiplier]]))
    average = np.average(iterates, axis=0, weights=np.arange(1.0, len(order) + 1) ** 3)
    return iterates[-1], average


@pytest.mark.one_in(8)
@pytest.mark.any_processor
# The last compiles the kernel of "csr" for another type of indices.
@pytest.mark.parametrize("storage", ["dense", "float32", "csr", pytest.param("csr int64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("averages", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss": 1, "eta": 0.8, "width": 1.6},
        {"loss": 2, "width": width("atan", 1.3)},
        {"loss": 3, "width": width("erf", 1.3)},
        {"gamma_0": 50.0},  # steps are cut
        {"gamma_0": 5.0, "lambda_c": 0.15, "nu": 0.1, "most": 1.5},  # w / v falls below the smallest scale
    ],
    ids=["sigmoid", "ramp", "atan", "erf", "cut", "rescaled"],
)
def test_steps_match_the_printed_algorithm(storage, averages, changes):
    X, y = sample()
    rule = a_rule(**changes)
    order = np.random.default_rng(1).integers(0, len(y), 400, dtype=np.int32)
    descent = StochasticDescent(X.shape[1], averages)
    for part in np.split(order, [150]):  # the second run continues the first
        descent.run(rows_of(STORAGES[storage](X)), y, part, rule)
    expected = transcribed(X, y, order, rule)[averages]
    w, b, multiplier = descent.solution()
    np.testing.assert_allclose(np.concatenate([w, [b, multiplier]]), expected, rtol=1e-9, atol=1e-12)
    assert descent.state.t == 400


def test_mean_losses_are_taken_before_each_step():
    X, y = sample()
    order = np.arange(len(y), dtype=np.int32)
    means = StochasticDescent(X.shape[1], False).run(rows_of(X), y, order, a_rule(gamma_0=1e-300, nu=1e-300))
    assert means == pytest.approx((0.5, 0.5))
    positives = np.flatnonzero(y > 0).astype(np.int32)
    only_positives = StochasticDescent(X.shape[1], False).run(rows_of(X), y, positives, a_rule())
    assert np.isnan(only_positives[1])


@pytest.mark.parametrize("eta", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("name", LOSS_NAMES)
def test_kernel_losses_match_the_paper(name, eta):
    kind, loss, derivative = LOSS_NAMES.index(name), losses.LOSSES[name], DERIVATIVES[name]
    z = np.append(np.linspace(-5, 5, 41), [-eta, eta, -800.0, 800.0])
    values, slopes = np.transpose([loss_and_slope(one, kind, eta) for one in z])
    np.testing.assert_allclose(values, loss(z, eta), atol=1e-14)
    np.testing.assert_allclose(slopes, -derivative(z, eta), atol=1e-14)
    assert slopes.max() == pytest.approx(1 / width(name, eta))


def test_overflow_raises():
    descent = StochasticDescent(2, True)
    rule = a_rule(width=1e300, gamma_0=1e250, lambda_c=1e-300)
    with pytest.raises(ValueError, match="overflow"):
        descent.run(rows_of(np.array([[1e100, 0.0]])), np.array([1.0]), np.array([0], np.int32), rule)


@pytest.mark.parametrize("loss", ["sigmoid", "ramp"])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_assessment_matches_its_formulas(loss, storage):
    X, y = sample(200)
    value = getattr(losses, loss)
    w, b, multiplier, lambda_c, eta = np.sin(np.arange(7.0)) / 3, 0.05, 1.7, 0.02, 0.9

    def p_nd(wb, label=1):
        return value(label * (X[y == label] @ wb[:-1] + wb[-1]), eta).mean()

    p_fa = partial(p_nd, label=-1)
    wb = np.append(w, b)
    rule = a_rule(lambda_c=lambda_c, loss=LOSS_NAMES.index(loss), eta=eta)
    fit = assess(STORAGES[storage](X), y, w, b, multiplier, rule)
    assert (fit.p_nd, fit.p_fa) == pytest.approx((p_nd(wb), p_fa(wb)), abs=1e-12)
    assert fit.objective == pytest.approx(0.5 * lambda_c * w @ w + p_nd(wb), abs=1e-12)
    parts = [lambda_c * np.append(w, 0), approx_fprime(wb, p_nd, 1e-7), multiplier * approx_fprime(wb, p_fa, 1e-7)]
    expected = np.linalg.norm(sum(parts)) / sum(map(np.linalg.norm, parts))
    assert fit.imbalance == pytest.approx(expected, abs=1e-5)


def test_imbalance_is_1_without_a_gradient():
    X = np.ones((4, 1))
    rule = a_rule(lambda_c=1e-3, loss=losses.RAMP, eta=1.0)
    fit = assess(X, np.array([1.0, 1.0, -1.0, -1.0]), np.zeros(1), 50.0, 1.0, rule)
    assert fit[:4] == (0.0, 0.0, 1.0, 1.0)


def test_first_step_moves_an_average_sample_by_a_share_of_the_width():
    X, _ = sample(500)
    squared_norm = mean_squared_norm(X, np.random.default_rng(0))
    assert squared_norm == pytest.approx(np.mean(np.sum(X**2, axis=1)))
    assert mean_squared_norm(sp.csr_array(X), np.random.default_rng(0)) == pytest.approx(squared_norm)
    for loss, eta in (("sigmoid", 0.5), ("sigmoid", 3.0), ("ramp", 0.5)):
        gamma = StochasticNP(loss=loss, eta=eta, lambda_c=1e-4)._first_step_size(squared_norm)
        moved = gamma / width(loss, eta) * (1 + squared_norm)
        assert moved == pytest.approx(0.3 * width(loss, eta))
    assert StochasticNP(eta=0.01, lambda_c=10.0)._first_step_size(0.0) * 10.0 == pytest.approx(0.5)
