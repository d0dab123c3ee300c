"""The stochastic Neyman-Pearson algorithm for a network with one hidden layer, as a scikit-learn classifier."""

from typing import Literal

import numpy as np

from npbench.estimators.constraints import FRACTION, StrOptions
from npbench.estimators.descent import Costs, neyman_pearson_costs
from npbench.estimators.network import NetworkClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics import network as nn
from npbench.numerics.sgd import Draws


@keyword_parameters
class StochasticNPNetwork(NetworkClassifier):
    """Network with one hidden layer that minimises misses under a bound on the false-alarm rate, sample by sample.

    Seeks a saddle point over ``f(x) = v'tanh(W x + c) + b`` and lambda of

        lambda_c / 2 (||W||^2 + ||v||^2) + P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Each sample moves the weights down
    the gradient of its own loss, by back-propagation, and each negative moves lambda, at most to 1 / rho.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    tau : float, optional
        Gain of the multiplier: ``nu = tau / n_neg``, at most 0.1, in ``lambda <- lambda (1 + nu (l - rho))``; positive.
        Default: 1 / rho per epoch.
    sampling : {"shuffle", "balanced"}
        An epoch takes each sample once, in random order; or as many, half from each class: faster if one is small.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = StochasticNPNetwork(rho=0.01, random_state=0).fit(scale(X), y)
    >>> bool((model.decision_function(scale(X)[y == 0]) >= 0).mean() <= 0.02)
    True
    """

    rho: float = parameter(FRACTION, default=0.05)
    sampling: Literal["shuffle", "balanced"] = parameter(StrOptions({"shuffle", "balanced"}), default="shuffle")
    warm_up: int = 5

    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        draws = Draws(is_positive, self.sampling, random)
        return nn.neyman_pearson_pass(X, is_positive, draws), len(X)

    def _constraint(self, is_positive: np.ndarray) -> tuple[float, Costs, float]:
        n_pos = int(np.sum(is_positive))
        n_neg, balanced = len(is_positive) - n_pos, self.sampling == "balanced"
        costs = neyman_pearson_costs(n_pos, n_neg, rho=self.rho, balanced=balanced, tau=self.tau, default_gain=1.0)
        # Constant scores cost at most 1, so a minimum has lambda P_fa <= 1 and meets the bound from 1 / rho on.
        return self.rho, costs, 1.0 / self.rho

    def _limit(self, p_nd: float) -> float:
        return self.rho
