"""Bound on the surrogate risk in training that guarantees the type I error in the population."""

from __future__ import annotations

import math


def surrogate_bound(
    alpha: float, n_neg: int, n_features: int, *, delta: float = 0.05, lipschitz: float = 1.0, epsilon: float = 0.0
) -> float:
    """Return the bound on the surrogate risk in training that keeps the type I error below alpha in the population.

    It is ``tau = alpha - gamma / sqrt(n_neg)`` with ``gamma = 4 beta sqrt(2 ln(4 d / delta))``. A classifier that
    minimises phi_pos with phi_neg <= tau has a type I error of at most alpha with probability 1 - 2 delta.

    Parameters
    ----------
    alpha : float
        Bound on the type I error, in ]0, 1[.
    n_neg : int
        Number of training negatives, at least 1.
    n_features : int
        Number of features d, at least 1.
    delta : float, default=0.05
        Half of the probability that the bound fails, in ]0, 1/2[.
    lipschitz : float, default=1.0
        Lipschitz constant beta of the loss phi, positive; not of its derivative. It is 1 for the logistic, the
        Matsusita and the calibrated hinge loss.
    epsilon : float, default=0.0
        Share of alpha that the surrogate type I risk of some classifier reaches (equation 14), in [0, 1[.

    Raises
    ------
    ValueError
        If a parameter is out of range, or there are fewer negatives than the theorem needs (equation 16); the
        message names the number.

    Notes
    -----
    The theorem assumes classifiers with ||w||_1 <= 1, features in [-1, 1] and losses with phi(0) = 1; the optimisation
    problem enforces none of these. For a loss with another phi(0), use phi / phi(0): divide ``lipschitz`` by phi(0),
    and multiply the result by it. With ``fit_intercept=False`` and ``max_norm = 1 / sqrt(d)``,
    :class:`SplittingNP` keeps to ||w||_1 <= 1.

    References
    ----------
    Barlaud, Combettes, Fillatre (2015), hal-01160831, Theorem 2.3; P. Rigollet, X. Tong (2011), Neyman-Pearson
    classification, convexity and stochastic constraints, Journal of Machine Learning Research 12, Theorem 5.

    Examples
    --------
    >>> round(surrogate_bound(0.1, n_neg=10**6, n_features=1000), 4)
    0.081
    """
    for name, value, inside, interval in (
        ("alpha", alpha, 0 < alpha < 1, "]0, 1["),
        ("delta", delta, 0 < delta < 0.5, "]0, 1/2["),
        ("epsilon", epsilon, 0 <= epsilon < 1, "[0, 1["),
        ("lipschitz", lipschitz, 0 < lipschitz < math.inf, "]0, inf["),
        ("n_features", n_features, n_features >= 1, "[1, inf["),
    ):
        if not inside:
            raise ValueError(f"{name} is {value!r}: expected a number in {interval}")
    gamma = 4.0 * lipschitz * math.sqrt(2.0 * math.log(4.0 * n_features / delta))
    needed = math.ceil((4.0 * gamma / (alpha * (1.0 - epsilon))) ** 2)
    tau = alpha - gamma / math.sqrt(max(n_neg, 1))
    if n_neg < needed:
        raise ValueError(
            f"{n_neg} negatives are too few for alpha={alpha:g} with {n_features} features: {needed} are needed. "
            f"The bound alpha - gamma / sqrt(n_neg) would be {tau:.3g}. Use fewer features, a larger alpha or delta, "
            "or a threshold set on held-out negatives, which needs far fewer."
        )
    return tau
