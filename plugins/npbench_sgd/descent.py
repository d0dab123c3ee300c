"""The stochastic Neyman-Pearson algorithm for linear scores (Gasso et al. 2011, Algorithm 4).

For f(x) = w'x + b and a margin loss l with class means P_nd and P_fa it seeks a saddle point of

    L(f, lambda) = lambda_c / 2 ||w||^2 + P_nd(f) + lambda (P_fa(f) - rho).

Step t = 0, 1, ... takes one sample (x, y), evaluates f(x) once and updates

    w <- (1 - gamma_t lambda_c) w - gamma_t a l'(y f(x)) y x                              (11a)
    b <- b - gamma_t a l'(y f(x)) y                                                       (11b)
    lambda <- lambda (1 + nu (l(-f(x)) - rho))              if y = -1                     (12)

with ``gamma_t = gamma_0 / (1 + lambda_c t)``, a = n / n_pos for a positive and lambda n / n_neg for a negative.

Two bounds make the algorithm safe on any data:

- No step moves the score of its own sample by more than the width of the loss, 1 / max |l'|.
- lambda stays below 1 / rho. This loses nothing: P_nd + lambda P_fa is 1 where everything is rejected, so the minimum
  for a given lambda has ``lambda P_fa <= 1`` and meets the constraint from 1 / rho on.
"""

from typing import Any

import numpy as np
from scipy import sparse

from npbench.numerics.sgd import Fit, Rule, imbalance
from npbench_sgd.kernels import State, class_loss, descend

NORMS_SAMPLED = 1000
TOO_LARGE = "Scores overflow for features this large: scale them to unit variance, or choose a smaller gamma_0."


def rows_of(X: Any) -> Any:
    """Return an array or a CSR matrix in the form that the kernels take, without a copy.

    All arrays are read-only views: Numba would compile the kernels once more for arrays that can be written.
    """
    return tuple(map(_read_only, (X.data, X.indices, X.indptr))) if sparse.issparse(X) else _read_only(X)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def mean_squared_norm(X: Any, random: np.random.Generator) -> float:
    """Return the mean of ``||x||^2`` over rows of X, at most a thousand of them drawn at random."""
    drawn = random.choice(X.shape[0], min(NORMS_SAMPLED, X.shape[0]), replace=False)
    sample = X[np.sort(drawn)]
    with np.errstate(over="ignore"):
        squares = np.square(sample.data if sparse.issparse(sample) else sample, dtype=np.float64)
        return float(squares.sum() / len(drawn))


class StochasticDescent:
    """State of Algorithm 4, which continues with any further samples.

    With ``averages`` the classifier is the average of the iterates, iterate t weighted by ``t^3``; else the last one.
    """

    def __init__(self, n_features: int, averages: bool) -> None:
        self._v = np.zeros(n_features)
        self._u = np.zeros(n_features if averages else 0)
        self._averages = averages
        self.state = State(1.0, 0.0, 1.0, 0, 0.0, 0.0, 0.0, 0.0)

    def run(self, rows: Any, signed_weight: np.ndarray, order: np.ndarray, rule: Rule) -> tuple[float, float]:
        """Take one step on each of the rows ``order``, of O(non-zeros) each, whatever rho is.

        ``signed_weight`` are the weights of the rows, with a minus sign for negatives: coefficients a, and nu, times
        these. Return (P_nd, P_fa), means of the losses before each step, NaN for an absent class. ValueError if numbers
        overflow; the state is then invalid.
        """
        with np.errstate(all="ignore"):
            self.state, *classes = descend(rows, signed_weight, order, self._v, self._u, self.state, rule)
            finite = np.isfinite(sum(loss for loss, _ in classes) + self.state.b + self.squared_norm)
        if not finite:
            raise ValueError(TOO_LARGE)
        p_nd, p_fa = (loss / weight if weight else np.nan for loss, weight in classes)
        return p_nd, p_fa

    @property
    def squared_norm(self) -> float:
        """``||w||^2`` of the last iterate."""
        return float(self.state.scale**2 * (self._v @ self._v))

    def solution(self) -> tuple[np.ndarray, float, float]:
        """Return w, b and lambda: averages, or the last ones."""
        state = self.state
        if not self._averages:
            return state.scale * self._v, state.b, state.multiplier
        # sum of weighted iterates over the sum of weights
        w = (state.v_sum * self._v + self._u) / state.weight_sum
        return w, state.b_sum / state.weight_sum, state.multiplier_sum / state.weight_sum


def assess(X: Any, signed_weight: np.ndarray, w: np.ndarray, b: float, multiplier: float, rule: Rule) -> Fit:
    """Return the quality of f(x) = w'x + b on a sample with both classes, in one pass over X without a copy.

    ValueError if numbers overflow.
    """
    rows, means, gradients = rows_of(X), [], np.zeros((3, len(w) + 1))
    gradients[0, :-1] = rule.lambda_c * w
    with np.errstate(over="ignore", invalid="ignore"):
        for gradient, members in zip(gradients[1:], (signed_weight > 0, signed_weight < 0), strict=True):
            of_class = rows, np.flatnonzero(members), signed_weight
            mean, gradient[-1] = class_loss(*of_class, w, b, rule.loss, rule.eta, gradient[:-1])
            means.append(mean)
        gradients[2] *= multiplier
        p_nd, p_fa = means
        fit = Fit(0.5 * rule.lambda_c * float(w @ w) + p_nd, p_nd, p_fa, imbalance(list(gradients)))
    if not np.isfinite(fit).all():
        raise ValueError(TOO_LARGE)
    return fit
