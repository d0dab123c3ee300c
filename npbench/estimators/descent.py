"""Classifiers fitted by stochastic descent with a multiplier for a bound on the false-alarm rate."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from npbench.estimators.binary import BinaryClassifier
from npbench.estimators.constraints import COUNT, POSITIVE, SHARE, ZERO_OR_MORE, StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.losses import LOSSES
from npbench.numerics.multipliers import REACHED
from npbench.numerics.sgd import LEAST_MULTIPLIER, MOST_NU, Fit, LossName, Rule, width

NEAR_CAP = 0.5  # share of the largest multiplier from which the search counts as capped
OF_NOTHING = 0.999  # objective from which a classifier is no better than rejecting everything, at a cost of 1
NEAR_FLOOR = 2.0  # multiple of the smallest multiplier up to which the constraint counts as inactive
EXPLANATIONS = {
    "empty": "no training sample has a positive score, so the constraint is void",
    "capped": "the surrogate false-alarm rate is too high even at the largest multiplier",
    "flat": "no better than rejecting everything, where the loss has slope 0",
    "max_iter": "the surrogate false-alarm rate is too high after max_iter epochs",
}


class Costs(NamedTuple):
    """Gain of the multiplier, and coefficients a_i of the losses of positives and negatives."""

    nu: float
    cost_pos: float
    cost_neg: float


def neyman_pearson_costs(
    n_pos: int, n_neg: int, *, rho: float, balanced: bool, tau: float | None, default_gain: float
) -> Costs:
    """Return the costs of Algorithm 4; without ``tau`` the updates of an epoch gain ``default_gain / rho`` in total."""
    n = n_pos + n_neg
    drawn = max(n - n // 2 if balanced else n_neg, 1)  # negatives in an epoch
    nu = default_gain / (rho * drawn) if tau is None else tau / max(n_neg, 1)
    # Balanced: twice the printed 1 and lambda, as halves of the draws stand for whole means.
    return Costs(nu, 2.0 if balanced else n / max(n_pos, 1), 2.0 if balanced else n / max(n_neg, 1))


@keyword_parameters
class DescentClassifier(BinaryClassifier):
    """A classifier fitted sample by sample under a bound on the surrogate false-alarm rate (Gasso et al. 2011).

    A subclass describes lambda_c, loss, gamma_0, tau, warm_up and average. Its bound on P_fa is ``_limit``.

    Parameters
    ----------
    eta : float
        Half-width of the ramp, slope of the other losses; positive.
    max_iter : int
        Number of epochs. There is no earlier stop: the noise of single samples hides when to stop.
    tol : float
        Largest ``imbalance_`` of a saddle point, in ]0, 1].
    epsilon : float, optional
        Tolerance on the surrogate constraint: ``P_fa <= rho + epsilon`` for ``converged_``, ``|P_fa - rho| <= epsilon``
        for a saddle point. Default: rho / 10.
    random_state : int, RandomState or None
        Seed of the order of the samples.

    Attributes
    ----------
    n_iter_ : int
        Number of epochs.
    multiplier_ : float
        Multiplier lambda, averaged as the weights are.
    surrogate_rates_ : (float, float)
        (P_nd, P_fa) of the loss on the training sample.
    imbalance_ : float
        Relative size of the gradient: the norm of the sum of its parts over the sum of their norms. It is 0 at a saddle
        point, and at most 1. The parts belong to the penalty, the positives and the negatives.
    converged_ : bool
        Whether the classifier keeps the bound within epsilon and is better than rejecting everything. Epochs are a
        budget, and no certificate shows what further epochs would gain: ``status_`` says whether a saddle point was
        found as well, that is ``imbalance_ <= tol`` and P_fa within epsilon of a bound that binds.
    trace_ : list of Trace
        Iteration, seconds, objective, p_fa, p_nd and multiplier of each epoch.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3).
    """

    _missed_bound = frozenset({"capped", "max_iter", "empty"})
    _relative_epsilon: ClassVar[float] = 0.1
    _first_change: ClassVar[float]  # of an average score by the first step, in widths of the loss

    lambda_c: float = parameter(POSITIVE, default=1e-3)
    loss: LossName = parameter(StrOptions(set(LOSSES)), default="sigmoid")
    eta: float = parameter(POSITIVE, default=1.0)
    gamma_0: float | None = parameter(None, POSITIVE, default=None)
    tau: float | None = parameter(None, POSITIVE, default=None)
    warm_up: int = parameter(ZERO_OR_MORE, default=1)
    max_iter: int = parameter(COUNT, default=100)
    average: bool = parameter("boolean", default=True)
    epsilon: float | None = parameter(None, POSITIVE, default=None)
    tol: float = parameter(SHARE, default=0.2)
    random_state: int | np.random.RandomState | None = parameter("random_state", default=None)

    def _first_step_size(self, squared_norm: float) -> float:
        """Return ``gamma_0``, or the default for a mean ``||x||^2``; raise a ValueError if it is too large."""
        if self.gamma_0 is None:
            change = self._first_change * width(self.loss, self.eta) ** 2
            return min(change / (1.0 + squared_norm), 0.5 / self.lambda_c)  # shrinks the weights by half at most
        if self.gamma_0 * self.lambda_c >= 1:
            raise ValueError(
                f"gamma_0={self.gamma_0:g} is too large for lambda_c={self.lambda_c:g}, the first step would reverse "
                "the weights: choose gamma_0 below 1 / lambda_c, or None."
            )
        return self.gamma_0

    def _rule(self, bound: float, costs: Costs, most: float, gamma_0: float) -> Rule:
        """Return the constants of the kernels, given the largest multiplier."""
        return Rule(
            loss=list(LOSSES).index(self.loss),
            eta=self.eta,
            width=width(self.loss, self.eta),
            bound=bound,
            lambda_c=self.lambda_c,
            gamma_0=gamma_0,
            nu=min(costs.nu, MOST_NU),
            cost_pos=costs.cost_pos,
            cost_neg=costs.cost_neg,
            least=LEAST_MULTIPLIER,
            most=most,
        )

    @abstractmethod
    def _limit(self, p_nd: float) -> float:
        """Return the bound on P_fa."""

    def _set_quality(self, fit: Fit, rule: Rule) -> None:
        """Store the quality of a fit by this rule and its status."""
        limit = self._limit(fit.p_nd)
        epsilon = self._relative_epsilon * limit if self.epsilon is None else self.epsilon
        self._gamma_0 = rule.gamma_0  # for the explanation
        self.objective_, self.imbalance_ = fit.objective, fit.imbalance
        self.surrogate_rates_ = (fit.p_nd, fit.p_fa)
        # a constraint that holds at the smallest multiplier does not bind
        slack = fit.p_fa <= limit and self.multiplier_ <= NEAR_FLOOR * LEAST_MULTIPLIER
        if fit.p_fa > limit + epsilon:
            self.status_ = "capped" if self.multiplier_ >= NEAR_CAP * rule.most else "max_iter"
        elif fit.objective >= OF_NOTHING:
            self.status_ = "flat"
        elif fit.imbalance > self.tol or (fit.p_fa < limit - epsilon and not slack):
            self.status_ = "budget"
        else:
            self.status_ = "inactive" if slack else "converged"
        self.converged_ = self.status_ in (*REACHED, "budget")

    def _explanation(self) -> str:
        p_nd, p_fa = self.surrogate_rates_
        return (
            f"{EXPLANATIONS[self.status_]}. After {self.n_iter_} epochs the surrogate false-alarm rate is {p_fa:.4g} "
            f"(bound: {self._limit(p_nd):.4g}), the multiplier {self.multiplier_:.4g}, and the parts of the gradient "
            f"cancel up to {self.imbalance_:.2g} (tol={self.tol:g}). Scale the features to unit variance, or try more "
            f"epochs (max_iter), another step (gamma_0, here {self._gamma_0:.3g}), another tau, or a larger lambda_c."
        )

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        loss = LOSSES[self.loss](signs * scores, self.eta)
        p_nd, p_fa = float(loss[signs > 0].mean()), float(loss[signs < 0].mean())
        objective = 0.5 * self.lambda_c * self._squared_weights() + p_nd
        return {"surrogate_rates_": (p_nd, p_fa), "objective_": objective}

    @abstractmethod
    def _squared_weights(self) -> float:
        """Return the squared norm of all weights of the fitted classifier."""
