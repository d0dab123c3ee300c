"""The stochastic q-value search as a scikit-learn classifier."""

import numpy as np

from npbench.estimators.constraints import FRACTION
from npbench.estimators.descent import Costs
from npbench.estimators.network import NetworkClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics import network as nn


@keyword_parameters
class QValueNetwork(NetworkClassifier):
    """Network with one hidden layer that accepts the most positives at a bounded q-value.

    Seeks a saddle point over ``f(x) = v'tanh(W x + c) + b`` and lambda of

        lambda_c / 2 (||W||^2 + ||v||^2) + P_nd(f) + lambda (P_fa(f) - q (1 - P_nd(f))),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Each step takes a random positive
    and a random negative, evaluates f at both, and moves the weights down and lambda up its gradient there. An epoch
    takes max(n_pos, n_neg) steps; lambda is at most 10 / q. For a decision, compute q-values on held-out samples.

    Parameters
    ----------
    q : float
        Bound on the q-value, the false-alarm rate over the rate of accepted positives, in ]0, 1[.
    tau : float, optional
        Gain of the multiplier: ``nu = tau / n_neg``, at most 0.1; positive. Default: 0.5 / q per epoch.
    epsilon : float, optional
        Surrogate tolerance for ``converged_``: ``|P_fa - q (1 - P_nd)| <= epsilon``. Default: q (1 - P_nd) / 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = QValueNetwork(q=0.05, gamma_0=0.1, random_state=0).fit(scale(X), y)
    >>> accepted = model.decision_function(scale(X)) > 0
    >>> bool(accepted[y == 0].mean() <= 0.06 * accepted[y == 1].mean())
    True
    """

    _relative_epsilon = 0.2

    q: float = parameter(FRACTION, default=0.01)

    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        n_positive = int(np.sum(is_positive))
        return nn.q_value_pass(X, is_positive, random), max(n_positive, len(X) - n_positive)

    def _constraint(self, is_positive: np.ndarray) -> tuple[float, Costs, float]:
        n_negative = int(np.sum(~is_positive))
        n_pairs = max(len(is_positive) - n_negative, n_negative)
        nu = 0.5 / (self.q * n_pairs) if self.tau is None else self.tau / n_negative
        # Rejecting everything costs 1 + lambda q, so a minimum has P_fa <= (q + 1 / lambda) (1 - P_nd).
        return self.q, Costs(nu, 1.0, 1.0), 10.0 / self.q

    def _limit(self, p_nd: float) -> float:
        return self.q * (1.0 - p_nd)

    def _pulls(self, multiplier: float) -> tuple[float, float]:
        return 1.0 + multiplier * self.q, multiplier
