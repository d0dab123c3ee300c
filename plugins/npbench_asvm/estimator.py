"""The asymmetric SVM as a scikit-learn classifier."""

import math
from typing import Any, ClassVar

import numpy as np

from npbench.estimators.binary import LinearClassifier
from npbench.estimators.constraints import COUNT, FRACTION, POSITIVE
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.bundle import Solution, minimise
from npbench.numerics.thresholds import SAME_SCORE

SAME_MEAN = 1e-14  # difference of weighted class means that rounding explains, relative to their terms


@keyword_parameters
class AsymmetricSVM(LinearClassifier):
    """Linear classifier with a large margin between the classes and a core that holds most positives.

    With r samples in the rarer class, it minimises over w, rho, gamma and slacks >= 0

        1/2 ||w||^2 - tau rho - mu gamma + 1/r sum_i slack_i
        subject to  w'x_i >= rho - slack_i          for positives,
                    w'x_i <= rho - gamma + slack_i  for negatives,

    and accepts scores above rho - gamma/2, the middle of the margin.

    Parameters
    ----------
    mu : float, default=0.2
        Weight of the margin gamma: at most ``mu r`` negatives score above its lower end, ``rho - gamma``. Positive.
    tau : float, default=0.2
        Weight of the core, from rho on: at most ``(mu + tau) r`` positives are outside. Positive; ``mu + tau <= 1``.
    tol : float, default=1e-6
        Duality gap at which the fit stops, relative to an upper bound on the gap at w = 0; positive.
    max_iter : int, default=2000
        Largest number of iterations, each of which adds a plane.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        ``-(rho - gamma/2)``.
    rho_, gamma_ : float
        Start of the core, and the margin; gamma is negative if the classes overlap by more than mu and tau allow.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the gap met ``tol``, w is better than 0 and the training scores differ.
    status_ : {"converged", "constant", "flat", "stalled", "max_iter"}
        How the fit ended. "constant": the gap met ``tol``, but all training scores are equal. "flat": the gap met
        ``tol``, but w = 0 may be as good; ``coef_`` is then the difference
        ``(mu + tau) mean of positives - mu mean of negatives``, so that the scores still rank.
    objective_ : float
        Least objective found. At the optimum it is ``-1/2 ||w||^2``; w = 0 has 0.
    duality_gap_ : float
        Upper bound on objective_ minus the optimum, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration; both exceed ``objective_`` by the same constant.

    References
    ----------
    S.-H. Wu, K.-P. Lin, C.-M. Chen, M.-S. Chen (2008), Asymmetric support vector machines: low false-positive learning
    under the user tolerance, KDD.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = AsymmetricSVM(mu=0.1, tau=0.1).fit(X, y)
    >>> model.status_, model.gamma_ > 0, round(model.score(X, y), 2)
    ('converged', True, 0.98)
    """

    mu: float = parameter(FRACTION, default=0.2)
    tau: float = parameter(FRACTION, default=0.2)
    tol: float = parameter(POSITIVE, default=1e-6)
    max_iter: int = parameter(COUNT, default=2000)

    _explanations: ClassVar[dict[str, str]] = {
        "flat": "w = 0 is optimal to within tol: the worst samples of the two classes, weighted, are not separated. "
        "The weights returned are the difference of the weighted class means. Increase mu or tau, or do not centre "
        "features.",
        "constant": "all training samples have the same score. Use features that vary.",
        "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol.",
        "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, or scale the features.",
    }

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.mu + self.tau > 1 + 1e-12:
            raise ValueError(
                f"mu={self.mu:g} and tau={self.tau:g} are too large: mu + tau must be at most 1, or the problem is "
                "unbounded."
            )

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        margin = AsymmetricMargin(signs, self.mu, self.tau)
        # The dual's even weights are feasible: no w on the way to the optimum has a risk below -||first||^2.
        start = margin.start()
        first = -(X.T @ start)
        first[np.abs(first) <= SAME_MEAN * (abs(X).T @ np.abs(start))] = 0.0  # else tol would be relative to rounding
        offset = float(first @ first)

        def risk(scores: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = margin(scores)
            return (offset + value, gradient) if offset + value > 0 else (0.0, np.zeros_like(gradient))

        solution = minimise(X, risk, 1.0, tol=self.tol, max_iter=self.max_iter, start=first)
        self._set_status(solution, offset, X @ solution.w)
        w = first if self.status_ == "flat" else solution.w
        low, high = margin.bounds(np.asarray(X @ w))
        self.rho_, self.gamma_ = low, low - high
        self.coef_, self.intercept_ = w[None, :], np.array([-(low + high) / 2])

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        risk, _ = AsymmetricMargin(signs, self.mu, self.tau)(scores - self.intercept_)
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + risk}

    def _set_status(self, solution: Solution, offset: float, scores: np.ndarray) -> None:
        self.objective_, self.duality_gap_ = solution.objective - offset, solution.gap
        # w = 0 has the objective 0: within the gap, it may be as good
        flat = solution.status == "converged" and -self.objective_ <= self.duality_gap_
        constant = solution.status == "converged" and np.ptp(scores) <= SAME_SCORE * np.max(np.abs(scores))
        self.status_ = "flat" if flat else "constant" if constant else solution.status
        self.converged_ = self.status_ == "converged"
        self.n_iter_, self.trace_ = len(solution.trace), solution.trace


class AsymmetricMargin:
    """Weighted mean of the worst negatives minus the mean of the worst positives: a convex function of the scores.

    With r samples in the rarer class, k = (mu + tau) r and h = mu r,

        R(s) = 1/r [ sum of the h largest scores of negatives - sum of the k smallest scores of positives ],

    where the sample at rank floor(k) + 1 counts by the remaining fraction. It is the least value over rho and gamma of
    ``-tau rho - mu gamma + 1/r sum_i slack_i``, with slacks of positives below rho and of negatives above rho - gamma.
    """

    def __init__(self, signs: np.ndarray, mu: float, tau: float) -> None:
        self._positives, self._negatives = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
        self._r = min(len(self._positives), len(self._negatives))
        self._k, self._h = (mu + tau) * self._r, mu * self._r

    def __call__(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the risk and a subgradient, in O(n)."""
        # the weights of the worst samples are the subgradient, as the risk is their linear function
        gradient = np.zeros(len(scores))
        gradient[self._positives] = -_largest(-scores[self._positives], self._k) / self._r
        gradient[self._negatives] = _largest(scores[self._negatives], self._h) / self._r
        return float(gradient @ scores), gradient

    def start(self) -> np.ndarray:
        """Return sample weights with the class sums of every subgradient, spread evenly over each class."""
        weights = np.empty(len(self._positives) + len(self._negatives))
        weights[self._positives] = -self._k / (self._r * len(self._positives))
        weights[self._negatives] = self._h / (self._r * len(self._negatives))
        return weights

    def bounds(self, scores: np.ndarray) -> tuple[float, float]:
        """Return rho and rho - gamma: few positives score below the first, few negatives above the second."""
        low = np.sort(scores[self._positives])[_last(self._k)]
        high = np.sort(scores[self._negatives])[::-1][_last(self._h)]
        return float(low), float(high)


def _last(count: float) -> int:
    """Return the index of the last sample within a fractional count, up to rounding."""
    return max(math.ceil(count * (1 - 1e-12)) - 1, 0)


def _largest(scores: np.ndarray, count: float) -> np.ndarray:
    """Return weights in [0, 1] that sum to ``count``, on the largest scores."""
    # whole weight for all samples within the count, the remaining fraction for the last
    last = _last(count)
    order = np.argpartition(-scores, last)
    weights = np.zeros(len(scores))
    weights[order[:last]] = 1.0
    weights[order[last]] = count - last
    return weights
