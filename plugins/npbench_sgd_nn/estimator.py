"""The stochastic Neyman-Pearson algorithm for a network with one hidden layer, as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from npbench.estimators.network import Constraint, NetworkClassifier
from npbench.numerics import network as nn
from npbench.numerics.sgd import Draws


class StochasticNPNetwork(NetworkClassifier):
    """Network with one hidden layer that minimises misses under a bound on the false-alarm rate, sample by sample.

    Seeks a saddle point over ``f(x) = v'tanh(W x + c) + b`` and lambda of

        lambda_c / 2 (||W||^2 + ||v||^2) + P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Every sample moves the weights down
    the gradient of its own loss, by back-propagation, and every negative moves lambda.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    hidden : int, default=5
        Number of hidden units; 0 for the linear ``f(x) = w'x + b``.
    lambda_c : float, default=1e-3
        Weight of the penalty, the paper's 1 / C; positive. The intercepts c and b are free.
    loss : {"sigmoid", "ramp"}, default="sigmoid"
        ``1 / (1 + exp(eta z))`` of the margin z, or the line from 1 at z = -eta to 0 at z = eta.
    eta : float, default=1.0
        Slope of the sigmoid, half-width of the ramp; positive.
    gamma_0 : float, optional
        First step size, below 1 / lambda_c; step t, from 0, has ``gamma_0 / (1 + lambda_c t)``. Default: what moves the
        score of an average sample by 1/16 of the width of the loss if f is linear, 1 / (1 + mean ||x||^2) for the
        sigmoid with eta = 1.
    tau : float, optional
        Gain of the multiplier, positive: ``nu = tau / n_neg``, at most 0.1, in ``lambda <- lambda (1 + nu (l - rho))``.
        Default: 1 / rho per epoch.
    max_iter : int, default=100
        Epochs. There is no other end: the noise of single samples hides when to stop earlier.
    warm_up : int, default=5
        How many of them, the first, take the logistic loss, with lambda = 1. It pulls at samples far on the wrong side,
        where the other losses are flat: a group of positives that is missed at first would stay so.
    sampling : {"shuffle", "balanced"}, default="shuffle"
        An epoch takes every sample once, in random order; or as many samples, half of them from each class, which is
        faster when one class is small.
    average : bool, default=True
        Whether the classifier is the average of the networks at the ends of epochs e = 1, 2, ..., weighted by
        ``e^3``, or the last one.
    epsilon : float, optional
        Tolerance on the surrogate constraint, ``|P_fa - rho| <= epsilon``, for ``converged_``. Default: rho / 10.
    tol : float, default=0.2
        Tolerance on ``imbalance_``, in ]0, 1], for ``converged_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights and of the orders of the samples.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    coefs_ : list of array
        Weights W' and v, of shapes (n_features, hidden) and (hidden, 1); w, of shape (n_features, 1), if hidden is 0.
    intercepts_ : list of array
        Intercepts c and b; b if hidden is 0.
    n_iter_ : int
        Epochs run.
    multiplier_ : float
        The lambda, averaged as the weights are.
    surrogate_rates_ : (float, float)
        (P_nd, P_fa) of the loss on the training sample.
    objective_ : float
        ``lambda_c / 2 (||W||^2 + ||v||^2) + P_nd``.
    imbalance_ : float
        What is left of the gradient: the norm of the sum of its parts by penalty, positives and negatives, over the
        sum of their norms; 0 at a saddle point, at most 1.
    converged_ : bool
        Whether the constraint is met within epsilon (or does not bind), and ``imbalance_ <= tol``.
    status_ : {"converged", "inactive", "empty", "capped", "max_iter"}
        How it ended: within the tolerances; likewise but with a constraint that does not bind; accepting no training
        sample; with P_fa still too high at the largest multiplier, 1 / rho; outside the tolerances.
    trace_ : list of Trace
        Iteration, seconds, objective, p_fa, p_nd and multiplier of each epoch.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the tolerances are missed; the text says by how much and what to try.

    Notes
    -----
    A step takes O(hidden n_features), whatever rho is. It changes all weights, so that sparse samples would not make
    it cheaper: only arrays are taken. Features should be of comparable size, as standardised ones are.

    The constraint binds the *surrogate* rate on the *training* sample.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "rho": [Interval(Real, 0, 1, closed="neither")],
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
            # Constant scores cost 1 at most: a minimum has lambda P_fa <= 1, and meets the bound from here on.
            most=1.0 / self.rho,
        )

    def _limit(self, p_nd: float) -> float:
        return self.rho

    def _pulls(self, multiplier: float) -> tuple[float, float]:
        return 1.0, multiplier
