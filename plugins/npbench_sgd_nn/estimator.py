"""The stochastic Neyman-Pearson algorithm for a network with one hidden layer, as a scikit-learn classifier."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from npbench.estimators.constraints import FRACTION, Constraints, StrOptions
from npbench.estimators.docstrings import inherit_docs
from npbench.estimators.network import Constraint, NetworkClassifier
from npbench.numerics import network as nn
from npbench.numerics.sgd import Draws


@inherit_docs
class StochasticNPNetwork(NetworkClassifier):
    """Network with one hidden layer that minimises misses under a bound on the false-alarm rate, sample by sample.

    Seeks a saddle point over ``f(x) = v'tanh(W x + c) + b`` and lambda of

        lambda_c / 2 (||W||^2 + ||v||^2) + P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Each sample moves the weights down
    the gradient of its own loss, by back-propagation, and each negative moves lambda, at most to 1 / rho.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    tau : float, optional
        Gain of the multiplier: ``nu = tau / n_neg``, at most 0.1, in ``lambda <- lambda (1 + nu (l - rho))``; positive.
        Default: 1 / rho per epoch.
    sampling : {"shuffle", "balanced"}, default="shuffle"
        An epoch takes each sample once, in random order; or the same number of samples, half of them from each class,
        which is faster when one class is small.
    epsilon : float, optional
        Tolerance on the surrogate constraint, ``|P_fa - rho| <= epsilon``, for ``converged_``. Default: rho / 10.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3), Algorithm 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), StochasticNPNetwork(rho=0.01, random_state=0)).fit(X, y)
    >>> false_alarms = (model.decision_function(X[y == 0]) >= 0).mean()
    >>> bool(false_alarms <= 0.02)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "rho": [FRACTION],
        "sampling": [StrOptions({"shuffle", "balanced"})],
        **NetworkClassifier._parameter_constraints,
    }

    def __init__(
        self,
        *,
        rho: float = 0.05,
        hidden: int = 5,
        lambda_c: float = 1e-3,
        loss: Literal["sigmoid", "ramp"] = "sigmoid",
        eta: float = 1.0,
        gamma_0: float | None = None,
        tau: float | None = None,
        max_iter: int = 100,
        warm_up: int = 5,
        sampling: Literal["shuffle", "balanced"] = "shuffle",
        average: bool = True,
        epsilon: float | None = None,
        tol: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rho = rho
        self.hidden = hidden
        self.lambda_c = lambda_c
        self.loss = loss
        self.eta = eta
        self.gamma_0 = gamma_0
        self.tau = tau
        self.max_iter = max_iter
        self.warm_up = warm_up
        self.sampling = sampling
        self.average = average
        self.epsilon = epsilon
        self.tol = tol
        self.random_state = random_state

    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        draws = Draws(is_positive, self.sampling, random)
        return nn.neyman_pearson_pass(X, is_positive, draws), len(X)

    def _constraint(self, is_positive: np.ndarray) -> Constraint:
        n, n_positive = len(is_positive), int(np.sum(is_positive))
        balanced = self.sampling == "balanced"
        drawn = n - n // 2 if balanced else n - n_positive  # negatives in an epoch
        return Constraint(
            self.rho,
            nu=1.0 / (self.rho * drawn) if self.tau is None else self.tau / (n - n_positive),
            # Twice the printed 1 and lambda: halves of the draws stand for whole means.
            cost_pos=2.0 if balanced else n / n_positive,
            cost_neg=2.0 if balanced else n / (n - n_positive),
            # Constant scores cost at most 1, so a minimum has lambda P_fa <= 1 and meets the bound from here on.
            most=1.0 / self.rho,
        )

    def _limit(self, p_nd: float) -> float:
        return self.rho

    def _pulls(self, multiplier: float) -> tuple[float, float]:
        return 1.0, multiplier
