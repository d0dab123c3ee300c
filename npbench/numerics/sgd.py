"""The stochastic Neyman-Pearson algorithm for linear scores (Gasso et al. 2011, Algorithm 4).

For f(x) = w'x + b and a margin loss l with class means P_nd and P_fa it seeks a saddle point of

    L(f, lambda) = lambda_c / 2 ||w||^2 + P_nd(f) + lambda (P_fa(f) - rho).

Step t, from 0, takes one sample (x, y), evaluates f(x) once and moves everything by it:

    w <- (1 - gamma_t lambda_c) w - gamma_t a l'(y f(x)) y x                              (11a)
    b <- b - gamma_t a l'(y f(x)) y                                                       (11b)
    lambda <- lambda (1 + nu (l(-f(x)) - rho))              if y = -1                     (12)

with ``gamma_t = gamma_0 / (1 + lambda_c t)``, a = n / n_pos for a positive and lambda n / n_neg for a negative. Two
bounds make it safe on any data. No step moves the score of its own sample by more than the width of the loss,
1 / max |l'|. And lambda stays below 1 / rho, which costs nothing: P_nd + lambda P_fa is 1 where everything is rejected,
so that the minimum for a lambda has ``lambda P_fa <= 1`` and meets the bound from 1 / rho on.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from npbench.numerics.sgd_kernels import Rule, State, class_loss, descend

LossName = Literal["sigmoid", "ramp"]
Sampling = Literal["shuffle", "balanced"]

FIRST_MOVE = 0.3  # how far the first step moves its own score, in widths of the loss
LEAST_MULTIPLIER = 1e-3  # weighs P_fa so little that the constraint is as good as gone
MOST_NU = 0.1  # beyond, (12) settles far above rho: where p log(1 + nu) = nu rho rather than at p = rho
NORMS_SAMPLED = 1000


class Trace(NamedTuple):
    """One pass over the training sample.

    The rates are means over the pass of losses that each sample had before its own step; objective (the penalty and
    P_nd) and multiplier are those at its end.
    """

    iteration: int
    seconds: float
    objective: float
    p_fa: float
    p_nd: float
    multiplier: float


class Pass(NamedTuple):
    """Means over the steps of one pass, each loss taken before its own step; NaN for a class not met."""

    p_nd: float
    p_fa: float


class Fit(NamedTuple):
    """How a classifier does on a sample.

    Parameters
    ----------
    objective : float
        ``lambda_c / 2 ||w||^2 + P_nd``.
    p_nd, p_fa : float
        Class means of the loss.
    imbalance : float
        How far the gradient of L is from zero, by the parts that must cancel: ``||lambda_c w + g_nd + lambda g_fa||``
        over ``lambda_c ||w|| + ||g_nd|| + lambda ||g_fa||``; in [0, 1], and 1 where there is no gradient at all.
    """

    objective: float
    p_nd: float
    p_fa: float
    imbalance: float


def rows_of(X: Any) -> Any:
    """Return an array or a CSR matrix as the kernels take it, without a copy."""
    return (X.data, X.indices, X.indptr) if sparse.issparse(X) else X


def mean_squared_norm(X: Any, random: np.random.Generator) -> float:
    """Return the mean of ``||x||^2`` over rows of X, at most a thousand of them drawn at random."""
    drawn = random.choice(X.shape[0], min(NORMS_SAMPLED, X.shape[0]), replace=False)
    sample = X[np.sort(drawn)]
    with np.errstate(over="ignore"):
        squares = np.square(sample.data if sparse.issparse(sample) else sample, dtype=np.float64)
        return float(squares.sum() / len(drawn))


def width(loss: LossName, eta: float) -> float:
    """Return 1 / max |l'|: the range of scores over which the loss falls from 1 to 0, were it as steep throughout."""
    return 2.0 * eta if loss == "ramp" else 4.0 / eta


def default_gamma_0(loss: LossName, eta: float, squared_norm: float, lambda_c: float) -> float:
    """Return the first step size: a sample of the given ``||x||^2`` moves its score by 0.3 widths of the loss.

    That is 4.8 / (1 + ||x||^2) for the sigmoid with eta = 1. It does not shrink w by more than a half.
    """
    return min(FIRST_MOVE * width(loss, eta) ** 2 / (1.0 + squared_norm), 0.5 / lambda_c)


class Draws:
    """The order in which an epoch takes the rows.

    Parameters
    ----------
    is_positive : bool array of shape (n,)
        The classes.
    sampling : {"shuffle", "balanced"}
        Each row once; or n draws, half from each class, in which no row comes twice more often than another of its
        class.
    random : numpy.random.Generator
        Where the orders come from.
    """

    def __init__(self, is_positive: np.ndarray, sampling: Sampling, random: np.random.Generator) -> None:
        self._random = random
        n = len(is_positive)
        kind = np.int32 if n <= np.iinfo(np.int32).max else np.int64
        if sampling == "balanced":
            classes = [np.flatnonzero(is_positive).astype(kind), np.flatnonzero(~is_positive).astype(kind)]
            self._shares = [
                (rows, share) for rows, share in zip(classes, (n // 2, n - n // 2), strict=True) if len(rows)
            ]
        else:
            self._shares = [(np.arange(n, dtype=kind), n)]

    def epoch(self) -> np.ndarray:
        """Return the rows of the next epoch."""
        for rows, _ in self._shares:
            self._random.shuffle(rows)
        if len(self._shares) == 1 and self._shares[0][1] == len(self._shares[0][0]):
            return self._shares[0][0]
        order = np.concatenate([np.resize(rows, share) for rows, share in self._shares])
        self._random.shuffle(order)
        return order


class StochasticDescent:
    """Algorithm 4 on whatever samples come, with the state it goes on from.

    Parameters
    ----------
    n_features : int
        Length of w.
    averages : bool
        Whether the classifier is the average of the iterates, iterate t weighted by ``t^3``; else the last one.
    """

    def __init__(self, n_features: int, averages: bool) -> None:
        self._v = np.zeros(n_features)
        self._u = np.zeros(n_features if averages else 0)
        self._averages = averages
        self._state = State(1.0, 0.0, 1.0, 0, 0.0, 0.0, 0.0, 0.0)

    def run(self, rows: Any, is_positive: np.ndarray, order: np.ndarray, rule: Rule) -> Pass:
        """Take one step on each of the rows ``order``.

        A step costs O(number of non-zeros of its row), for a dense row O(n_features), whatever rho is.

        Raises
        ------
        FloatingPointError
            If numbers overflowed; the state is then of no use.
        """
        with np.errstate(all="ignore"):
            self._state, sum_nd, sum_fa, n_positive = descend(
                rows, is_positive, order, self._v, self._u, self._state, rule
            )
            finite = np.isfinite(sum_nd + sum_fa + self._state.b + self.squared_norm)
        if not finite:
            raise FloatingPointError("The scores overflowed.")
        n_negative = len(order) - n_positive
        return Pass(sum_nd / n_positive if n_positive else np.nan, sum_fa / n_negative if n_negative else np.nan)

    @property
    def squared_norm(self) -> float:
        """``||w||^2`` of the last iterate."""
        return float(self._state.scale**2 * (self._v @ self._v))

    @property
    def multiplier(self) -> float:
        """The last lambda."""
        return self._state.multiplier

    @property
    def t(self) -> int:
        """How many steps were taken."""
        return int(self._state.t)

    def solution(self) -> tuple[np.ndarray, float, float]:
        """Return w, b and lambda: averages, or the last ones."""
        state = self._state
        if not self._averages:
            return state.scale * self._v, state.b, state.multiplier
        w = (state.v_sum * self._v + self._u) / state.weight_sum
        return w, state.b_sum / state.weight_sum, state.multiplier_sum / state.weight_sum


def assess(
    X: Any,
    is_positive: np.ndarray,
    w: np.ndarray,
    b: float,
    multiplier: float,
    lambda_c: float,
    loss: LossName,
    eta: float,
) -> Fit:
    """Return how f(x) = w'x + b does on a sample with both classes, in one pass over X, of which nothing is copied.

    Raises
    ------
    FloatingPointError
        If numbers overflowed.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        p_nd, by_nd = _class_loss(X, np.flatnonzero(is_positive), 1.0, w, b, loss, eta)
        p_fa, by_fa = _class_loss(X, np.flatnonzero(~is_positive), -1.0, w, b, loss, eta)
        parts = [lambda_c * np.append(w, 0.0), by_nd, multiplier * by_fa]
        size = sum(float(np.linalg.norm(part)) for part in parts)
        imbalance = float(np.linalg.norm(np.sum(parts, axis=0))) / size if size else 1.0
        fit = Fit(0.5 * lambda_c * float(w @ w) + p_nd, p_nd, p_fa, imbalance)
    if not np.isfinite(fit).all():
        raise FloatingPointError("The scores overflowed.")
    return fit


def _class_loss(
    X: Any, members: np.ndarray, y: float, w: np.ndarray, b: float, loss: LossName, eta: float
) -> tuple[float, np.ndarray]:
    """Return the mean loss of a class and its gradient by (w, b)."""
    gradient = np.zeros(len(w) + 1)
    mean, gradient[-1] = class_loss(rows_of(X), members, y, w, b, loss == "ramp", eta, gradient[:-1])
    return mean, gradient
