"""Stochastic Neyman-Pearson and q-value search for networks with one hidden layer (Gasso et al. 2011, 3.3 and 4).

For ``f(x) = v'tanh(W x + c) + b`` and a margin loss l with class means P_nd and P_fa, both seek a saddle point of

    lambda_c / 2 (||W||^2 + ||v||^2) + P_nd + lambda (P_fa - rho)                         Neyman-Pearson
    lambda_c / 2 (||W||^2 + ||v||^2) + P_nd + lambda (P_fa - q (1 - P_nd))                q-value, (13) over C

in all parameters and lambda. A step takes one sample, or one positive and one negative, evaluates f once, moves the
parameters against their gradient by back-propagation, and updates lambda:

    lambda <- lambda (1 + nu (l(-f(x)) - rho))                              x negative    (12)
    lambda <- lambda (1 + nu (l(-f(x_neg)) - q (1 - l(f(x_pos)))))                        section 4

The step size is ``gamma_t = gamma_0 / (1 + lambda_c t)``. No step moves the score of its own sample by much more than
the width of the loss, 1 / max |l'|, and lambda has bounds, so that high costs and long rows do not saturate all units.
"""

import time
from collections.abc import Callable

import numpy as np

from npbench.numerics.losses import LOGISTIC, RAMP, ramp, sigmoid
from npbench.numerics.network_kernels import Network, np_pass, q_pass
from npbench.numerics.sgd import Draws, Fit, Rule, Trace, imbalance

TOO_LARGE = "Scores overflow for features this large: scale the features to unit variance."

# from the network, lambda, the number of the step and the rule to the next lambda, P_nd and P_fa
Pass = Callable[[Network, float, int, Rule], tuple[float, float, float]]


def initial(n_features: int, hidden: int, squared_norm: float, random: np.random.Generator) -> Network:
    """Return an initial network.

    W is normal with variance 1 / ``squared_norm``, so that the inputs of the units have variance 1, as by the fan-in
    on standardised features. v is normal with variance 1 / hidden. Intercepts are 0, and so is a linear f.
    """
    if hidden == 0:
        return Network(np.zeros((1, n_features)), np.zeros(1), np.empty(0), np.zeros(1))
    W = random.normal(scale=1.0 / np.sqrt(max(squared_norm, 1e-300)), size=(hidden, n_features))
    v = random.normal(scale=1.0 / np.sqrt(hidden), size=hidden)
    return Network(W, np.zeros(hidden), v, np.zeros(1))


def scores(network: Network, X: np.ndarray) -> np.ndarray:
    """Return f(x) for the rows of X; O(n_samples n_features hidden)."""
    W, c, v, b = network
    outputs = X @ W.T + c
    return np.tanh(outputs) @ v + b[0] if len(v) else outputs[:, 0] + b[0]


def squared_weights(network: Network) -> float:
    """Return ``||W||^2 + ||v||^2``."""
    return float(np.sum(np.square(network.W)) + network.v @ network.v)


def pairs(is_positive: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the positives and the negatives of an epoch of pairs, both in random order.

    Each row of the larger class occurs once; the occurrences of two rows of the smaller one differ by at most one.
    """
    classes = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    n = max(map(len, classes))
    cycles = [[random.permutation(rows) for _ in range(-(-n // len(rows)))] for rows in classes]
    positives, negatives = (np.concatenate(each)[:n] for each in cycles)
    return positives, negatives


def neyman_pearson_pass(X: np.ndarray, is_positive: np.ndarray, draws: Draws) -> Pass:
    """Return a pass of Algorithm 4, which changes the network in place; the rates are means over the pass."""
    squared_norms = np.einsum("ij,ij->i", X, X)

    def one_pass(network: Network, multiplier: float, t: int, rule: Rule) -> tuple[float, float, float]:
        order = draws.epoch()
        n_positive = max(int(np.count_nonzero(is_positive[order])), 1)
        multiplier, nd, fa = np_pass(network, X, squared_norms, is_positive, order, multiplier, t, rule)
        return multiplier, nd / n_positive, fa / max(len(order) - n_positive, 1)

    return one_pass


def q_value_pass(X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> Pass:
    """Return a pass of the q-value search, which changes the network in place; the rates are means over the pass."""
    squared_norms = np.einsum("ij,ij->i", X, X)

    def one_pass(network: Network, multiplier: float, t: int, rule: Rule) -> tuple[float, float, float]:
        positives, negatives = pairs(is_positive, random)
        multiplier, nd, fa = q_pass(network, X, squared_norms, positives, negatives, multiplier, t, rule)
        return multiplier, nd / len(positives), fa / len(positives)

    return one_pass


def search(
    network: Network, one_pass: Pass, rule: Rule, steps: int, n_epochs: int, warm_up: int, averages: bool
) -> tuple[Network, float, list[Trace]]:
    """Run epochs from a network, which is changed in place, and lambda = 1; return network, lambda and trace.

    The first ``warm_up`` epochs take the logistic loss and keep lambda: samples far on the wrong side, where the other
    losses are flat, have a gradient there. With ``averages``, network and lambda are averages over the ends of the
    epochs e = 1, 2, ... with weights ``e^3``, which smooth the noise of single samples. ValueError if numbers overflow.
    """
    start, multiplier, weight, trace = time.perf_counter(), 1.0, 0.0, []
    # running averages of W, c, v, b and lambda
    average = (*map(np.zeros_like, network), np.zeros(1))
    for epoch in range(n_epochs):
        # take a pass
        with np.errstate(all="ignore"):
            current = rule._replace(loss=LOGISTIC, nu=0.0) if epoch < warm_up else rule
            multiplier, p_nd, p_fa = one_pass(network, multiplier, epoch * steps, current)
            objective = 0.5 * rule.lambda_c * squared_weights(network) + p_nd
        if not np.isfinite(objective + p_fa):
            raise ValueError(TOO_LARGE)
        trace.append(Trace(epoch, time.perf_counter() - start, objective, p_fa, p_nd, multiplier))

        # move the averages towards the network after the pass
        weight += (epoch + 1.0) ** 3
        for mean, latest in zip(average, (*network, multiplier), strict=True):
            mean += (latest - mean) * ((epoch + 1.0) ** 3 / weight)  # noqa: PLW2901 - in place
    if averages:
        *parameters, multipliers = average
        return Network(*parameters), float(multipliers[0]), trace
    return network, multiplier, trace


def assess(network: Network, X: np.ndarray, is_positive: np.ndarray, rule: Rule, pulls: tuple[float, float]) -> Fit:
    """Return the quality of a network on a sample with both classes.

    ``pulls`` are the weights of P_nd and P_fa in the Lagrangian: 1 and lambda, or 1 + lambda q and lambda.
    """
    f = scores(network, X)
    signs = np.where(is_positive, 1.0, -1.0)
    if rule.loss == RAMP:
        values, slopes = ramp(signs * f, rule.eta), np.where(np.abs(f) < rule.eta, -0.5 / rule.eta * signs, 0.0)
    else:
        values = sigmoid(signs * f, rule.eta)
        slopes = -rule.eta * signs * values * (1.0 - values)
    W, c, v, b = network
    terms = [rule.lambda_c * np.concatenate([W.ravel(), np.zeros_like(c), v, np.zeros_like(b)])]
    for rows, pull in zip((is_positive, ~is_positive), pulls, strict=True):
        terms.append(gradient(network, X[rows], pull / np.sum(rows) * slopes[rows]))
    p_nd, p_fa = float(values[is_positive].mean()), float(values[~is_positive].mean())
    objective = 0.5 * rule.lambda_c * squared_weights(network) + p_nd
    return Fit(objective, p_nd, p_fa, imbalance(terms), any_accepted=bool(np.any(f > 0)))


def gradient(network: Network, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the gradient of ``sum_i weights_i f(x_i)`` with respect to W, c, v and b, concatenated."""
    W, c, v, _ = network
    if not len(v):
        return np.concatenate([weights @ X, np.zeros(1), [weights.sum()]])
    units = np.tanh(X @ W.T + c)
    slopes = weights[:, None] * v * (1.0 - units**2)
    return np.concatenate([(slopes.T @ X).ravel(), slopes.sum(axis=0), weights @ units, [weights.sum()]])
