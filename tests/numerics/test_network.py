"""Steps of the stochastic search for networks: against finite differences, plain loops and definitions."""

import numpy as np
import pytest

from npbench.numerics import losses
from npbench.numerics import network as nn
from npbench.numerics.losses import LOGISTIC, RAMP, SIGMOID, loss_and_slope
from npbench.numerics.network_kernels import Network, np_pass, q_pass
from npbench.numerics.sgd import Draws, Rule

LOSSES = {"sigmoid": losses.sigmoid, "ramp": losses.ramp}
KINDS = {"sigmoid": SIGMOID, "ramp": RAMP}


# Its bounds on steps and lambda are inactive.
RULE = Rule(
    SIGMOID, 1.3, 1e9, bound=0.1, lambda_c=0.02, gamma_0=0.3, nu=0.05, cost_pos=1.7, cost_neg=2.3, least=1e-9, most=1e9
)
rule = RULE._replace


def start(d=4, hidden=3, seed=0):
    """Return a network with all parameters away from zero."""
    random = np.random.default_rng(seed)
    shape = (max(hidden, 1), d)
    c = random.normal(size=hidden) if hidden else np.zeros(1)
    return Network(random.normal(size=shape), c, random.normal(size=hidden), random.normal(size=1))


def copy(network):
    return Network(*(part.copy() for part in network))


def flat(network):
    return np.concatenate([part.ravel() for part in network])


def shaped(theta, like):
    ends = np.cumsum([part.size for part in like])[:-1]
    return Network(*(piece.reshape(part.shape) for piece, part in zip(np.split(theta, ends), like, strict=True)))


def f(network, x):
    W, c, v, b = network
    return v @ np.tanh(W @ x + c) + b[0] if len(v) else W[0] @ x + b[0]


def differences(function, network, h=1e-6):
    """Return the gradient of a function of the parameters by central differences; that of an unused c is 0."""
    theta = flat(network)
    steps = h * np.eye(len(theta))
    rises = [function(shaped(theta + s, network)) - function(shaped(theta - s, network)) for s in steps]
    return np.array(rises) / (2 * h)


def decayed(network):
    """Return the penalised parameters, with zeros for intercepts."""
    W, c, v, b = network
    return np.concatenate([W.ravel(), 0 * c, v, 0 * b])


def sample(n=40, d=4, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, random.random(n) < 0.4, np.sum(X**2, axis=1)


@pytest.mark.parametrize("kind", ["sigmoid", "ramp"])
def test_losses_match_their_formulas_and_slopes(kind):
    for z in (-2000.0, -1.3, -1.1, -0.2, 0.0, 0.7, 1.3, 4.0, 2000.0):
        for eta in (0.5, 1.3):
            loss, slope = loss_and_slope(z, KINDS[kind], eta)
            assert loss == pytest.approx(LOSSES[kind](np.array(z), eta), abs=1e-15)
            expected = eta * loss * (1 - loss) if kind == "sigmoid" else (abs(z) < eta) / (2 * eta)
            assert slope == pytest.approx(expected, abs=1e-15)


def test_first_epochs_descend_the_logistic_loss():
    for z in (-700.0, -1.1, 0.0, 0.7, 700.0):
        loss, slope = loss_and_slope(z, LOGISTIC, 1.3)
        difference = np.logaddexp(0.0, -1.3 * (z + 1e-6)) - np.logaddexp(0.0, -1.3 * (z - 1e-6))
        assert slope == pytest.approx(-difference / 2e-6, abs=1e-6)
        assert loss == pytest.approx(losses.sigmoid(np.array(z), 1.3))


@pytest.mark.parametrize("hidden", [0, 1, 5])
@pytest.mark.parametrize("kind", ["sigmoid", "ramp"])
@pytest.mark.parametrize("positive", [True, False])
def test_step_follows_finite_differences_of_its_loss(positive, kind, hidden):
    X, _, squared_norms = sample()
    network, settings = start(hidden=hidden), rule(loss=KINDS[kind], eta=4.0 if kind == "ramp" else 0.8)
    multiplier, t, y = 1.9, 17, 1.0 if positive else -1.0
    gamma = 0.3 / (1 + 0.02 * t)
    cost = 1.7 if positive else 1.9 * 2.3
    loss = LOSSES[kind]
    slope = differences(lambda w: float(loss(y * f(w, X[3]), settings.eta)), network)
    expected = flat(network) - gamma * (0.02 * decayed(network) + cost * slope)
    value = float(loss(y * f(network, X[3]), settings.eta))
    assert 0 < value < 1
    moved = copy(network)
    row, label = np.array([3], np.int32), np.full(40, positive)
    after, nd, fa = np_pass(moved, X, squared_norms, label, row, multiplier, t, settings)
    np.testing.assert_allclose(flat(moved), expected, atol=1e-8)
    assert (nd, fa) == pytest.approx((value, 0) if positive else (0, value))
    assert after == pytest.approx(multiplier if positive else multiplier * (1 + 0.05 * (value - 0.1)))


@pytest.mark.parametrize("hidden", [0, 1, 5])
def test_pair_steps_follow_finite_differences_of_the_lagrangian(hidden):
    X, _, squared_norms = sample()
    network, settings, multiplier, q = start(hidden=hidden), rule(cost_pos=1.0, cost_neg=1.0), 1.9, 0.1
    moved, rows = copy(network), np.array([[3, 8], [5, 2], [3, 1]])
    rates = []
    for t, (i, j) in enumerate(rows, start=17):

        def lagrangian(w, i=i, j=j, multiplier=multiplier):
            p_nd, p_fa = (float(losses.sigmoid(z, settings.eta)) for z in (f(w, X[i]), -f(w, X[j])))
            return p_nd + multiplier * (p_fa - q * (1 - p_nd))

        miss, alarm = losses.sigmoid(np.array([f(network, X[i]), -f(network, X[j])]), settings.eta)
        slope = 0.02 * decayed(network) + differences(lagrangian, network)
        network = shaped(flat(network) - 0.3 / (1 + 0.02 * t) * slope, network)
        multiplier *= 1 + 0.05 * (alarm - q * (1 - miss))
        rates.append((miss, alarm))
    after, nd, fa = q_pass(moved, X, squared_norms, *rows.T.copy(), 1.9, 17, settings)
    np.testing.assert_allclose(flat(moved), flat(network), atol=2e-8)
    assert (nd, fa) == pytest.approx(np.sum(rates, axis=0))
    assert after == pytest.approx(multiplier)


@pytest.mark.any_processor
def test_pass_matches_a_simple_loop():
    X, is_positive, squared_norms = sample()
    order = np.random.default_rng(0).permutation(40).astype(np.int32)
    network, settings, multiplier = start(), rule(bound=0.2), 0.8
    W, c, v, b = copy(network)
    for t, i in enumerate(order):
        y, units = (1.0 if is_positive[i] else -1.0), np.tanh(W @ X[i] + c)
        loss = float(losses.sigmoid(y * (v @ units + b[0]), 1.3))
        gamma = 0.3 / (1 + 0.02 * (t + 5))
        step = y * gamma * (1.7 if y > 0 else multiplier * 2.3) * 1.3 * loss * (1 - loss)
        slopes = v * (1 - units**2)
        W = (1 - gamma * 0.02) * W + step * np.outer(slopes, X[i])
        c = c + step * slopes
        v, b = (1 - gamma * 0.02) * v + step * units, b + step
        if y < 0:
            multiplier *= 1 + 0.05 * (loss - 0.2)
    after, _, _ = np_pass(network, X, squared_norms, is_positive, order, 0.8, 5, settings)
    np.testing.assert_allclose(flat(network), flat(Network(W, c, v, b)), rtol=1e-10)
    assert after == pytest.approx(multiplier, rel=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("cost", [1.0, 1e6])
def test_steps_move_scores_by_at_most_the_width(cost, scale):
    X = scale * sample()[0]
    for i in range(40):
        network = start(hidden=0, seed=i)
        before = nn.scores(network, X)[i]
        settings = rule(width=3.0, lambda_c=1e-12, cost_neg=cost)
        np_pass(network, X, np.sum(X**2, axis=1), np.zeros(40, bool), np.array([i], np.int32), 1.0, 0, settings)
        assert abs(nn.scores(network, X)[i] - before) <= 3.0 * (1 + 1e-9)


def test_multiplier_stays_within_its_bounds():
    X, is_positive, squared_norms = sample()
    order = np.tile(np.arange(40, dtype=np.int32), 5)
    settings = rule(gamma_0=1e-12, nu=0.5, least=0.3, most=2.0)
    for bound, end in ((1e-9, 2.0), (1 - 1e-9, 0.3)):
        args = (X, squared_norms, is_positive, order, 1.0, 0, settings._replace(bound=bound))
        assert np_pass(start(), *args)[0] == end


@pytest.mark.parametrize("hidden", [0, 3])
@pytest.mark.parametrize("kind", ["sigmoid", "ramp"])
def test_imbalance_matches_finite_differences(kind, hidden):
    X, is_positive, _ = sample()
    network, settings = start(hidden=hidden), rule(loss=KINDS[kind], eta=3.0)

    def rate(w, rows, sign):
        return float(np.mean(LOSSES[kind](sign * np.array([f(w, x) for x in X[rows]]), 3.0)))

    parts = [
        0.02 * decayed(network),
        1.5 * differences(lambda w: rate(w, is_positive, 1), network),
        2.5 * differences(lambda w: rate(w, ~is_positive, -1), network),
    ]
    fit = nn.assess(network, X, is_positive, settings, (1.5, 2.5))
    norms = [np.linalg.norm(part) for part in parts]
    assert fit.imbalance == pytest.approx(np.linalg.norm(sum(parts)) / sum(norms), rel=1e-5)
    assert (fit.p_nd, fit.p_fa) == pytest.approx((rate(network, is_positive, 1), rate(network, ~is_positive, -1)))
    assert fit.objective == pytest.approx(0.01 * np.sum(decayed(network) ** 2) + fit.p_nd)


@pytest.mark.parametrize("averages", [True, False])
def test_average_weights_epochs_by_their_cubes(averages):
    seen = []

    def one_pass(network, multiplier, t, _):
        for part in network:
            np.add(part, t + 1.0, out=part)
        seen.append((flat(network), multiplier + t))
        return multiplier + t, 0.2, 0.3

    network, multiplier, trace = nn.search(start(), one_pass, rule(lambda_c=0.1), 7, 4, 0, averages)
    weights = np.arange(1.0, 5) ** 3 if averages else [0, 0, 0, 1]
    np.testing.assert_allclose(flat(network), np.average([theta for theta, _ in seen], axis=0, weights=weights))
    assert multiplier == pytest.approx(np.average([value for _, value in seen], weights=weights))
    assert [entry.iteration for entry in trace] == [0, 1, 2, 3]
    assert trace[-1].objective == pytest.approx(0.05 * np.sum(decayed(shaped(seen[-1][0], start())) ** 2) + 0.2)


def test_warm_up_keeps_lambda_and_counts_its_steps():
    seen = []

    def one_pass(network, multiplier, t, current):
        seen.append((current.loss, current.nu, t))
        return multiplier, 0.5, 0.5

    nn.search(start(), one_pass, rule(), 10, 4, 2, True)
    assert seen == [(LOGISTIC, 0.0, 0), (LOGISTIC, 0.0, 10), (SIGMOID, 0.05, 20), (SIGMOID, 0.05, 30)]


def test_overflow_raises():
    def one_pass(network, multiplier, *_):
        network.W[:] = np.inf
        return multiplier, 0.5, 0.5

    with pytest.raises(ValueError, match="overflow"):
        nn.search(start(), one_pass, rule(), 1, 2, 0, True)


def test_rates_of_a_pass_are_means_over_its_samples():
    X, is_positive, _ = sample()
    draws = Draws(is_positive, "shuffle", np.random.default_rng(0))
    still = rule(gamma_0=1e-15)
    _, p_nd, p_fa = nn.neyman_pearson_pass(X, is_positive, draws)(start(), 1.0, 0, still)
    values = losses.sigmoid(np.where(is_positive, 1, -1) * nn.scores(start(), X), 1.3)
    assert (p_nd, p_fa) == pytest.approx((values[is_positive].mean(), values[~is_positive].mean()))


@pytest.mark.parametrize(("n_positive", "n_negative"), [(7, 100), (100, 7), (30, 30), (1, 50)])
def test_pairs_take_the_rows_of_a_class_equally_often(n_positive, n_negative):
    is_positive = np.random.default_rng(0).permutation(np.arange(n_positive + n_negative) < n_positive)
    random = np.random.default_rng(1)
    for _ in range(2):
        positives, negatives = nn.pairs(is_positive, random)
        assert len(positives) == len(negatives) == max(n_positive, n_negative)
        for drawn, rows in ((positives, is_positive), (negatives, ~is_positive)):
            counts = np.bincount(drawn, minlength=len(rows))
            assert np.all(counts[~rows] == 0)
            assert np.ptp(counts[rows]) <= 1


def test_initial_units_have_inputs_of_variance_one():
    X = 1e5 * np.random.default_rng(0).normal(size=(500, 30))
    network = nn.initial(30, 200, float(np.mean(np.sum(X**2, axis=1))), np.random.default_rng(1))
    assert np.var(X @ network.W.T) == pytest.approx(1.0, rel=0.1)
    assert np.var(network.v) == pytest.approx(1 / 200, rel=0.3)
    assert not network.c.any()
    assert not network.b.any()


@pytest.mark.parametrize("n_positive", [0, 3, 40, 97])
def test_shuffled_epochs_take_each_row_and_balanced_ones_half_of_each_class(n_positive):
    is_positive = np.random.default_rng(0).permutation(97) < n_positive
    shuffled = Draws(is_positive, "shuffle", np.random.default_rng(1))
    first, second = shuffled.epoch().copy(), shuffled.epoch()
    np.testing.assert_array_equal(np.sort(first), np.arange(97))
    assert not np.array_equal(first, second)
    order = Draws(is_positive, "balanced", np.random.default_rng(1)).epoch()
    drawn = np.bincount(order, minlength=97)
    for members, share in ((is_positive, 48), (~is_positive, 49)):
        if members.any():
            assert drawn[members].sum() == share
            assert np.ptp(drawn[members]) <= 1
