"""The stochastic q-value search as a scikit-learn classifier."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval

from npbench.estimators.network import Constraint, NetworkClassifier
from npbench.numerics import network as nn


class QValueNetwork(NetworkClassifier):
    """Network with one hidden layer that accepts as many positives as possible at a bounded q-value.

    Seeks a saddle point over ``f(x) = v'tanh(W x + c) + b`` and lambda of

        lambda_c / 2 (||W||^2 + ||v||^2) + P_nd(f) + lambda (P_fa(f) - q (1 - P_nd(f))),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Each step takes a random positive
    and a random negative, evaluates f at both, and moves the weights down and lambda up its gradient there.

    Parameters
    ----------
    q : float, default=0.01
        Bound on the q-value, the false-alarm rate over the rate of accepted positives, in ]0, 1[.
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
        Gain of the multiplier, positive: ``nu = tau / n_neg``, at most 0.1. Default: 0.5 / q per epoch.
    max_iter : int, default=100
        Epochs. Each takes max(n_pos, n_neg) steps.
    warm_up : int, default=1
        How many of them, the first, take the logistic loss, with lambda = 1. It pulls at samples far on the wrong side,
        where the other losses are flat: a group of positives that is missed at first would stay so. But where most
        positives are false it pulls at these too, and 0 can be better.
    average : bool, default=True
        Whether the classifier is the average of the networks at the ends of epochs e = 1, 2, ..., weighted by
        ``e^3``, or the last one.
    epsilon : float, optional
        Tolerance on the surrogate constraint, ``|P_fa - q (1 - P_nd)| <= epsilon``, for ``converged_``. Default:
        q (1 - P_nd) / 5.
    tol : float, default=0.2
        Tolerance on ``imbalance_``, in ]0, 1], for ``converged_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights and of the pairs.

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
        sample; with P_fa still too high at the largest multiplier, 10 / q; outside the tolerances.
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
    A step takes O(hidden n_features). Features should be of comparable size, as standardised ones are.

    The constraint binds the *surrogate* rates on the *training* sample. What counts in the end is the order of the
    samples around the operating point: for a decision, q-values are best computed on samples left out.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3), section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), QValueNetwork(q=0.05, gamma_0=0.1, random_state=0)).fit(X, y)
    >>> accepted = model.decision_function(X) > 0
    >>> bool(accepted[y == 0].mean() <= 0.06 * accepted[y == 1].mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "q": [Interval(Real, 0, 1, closed="neither")],
        **NetworkClassifier._parameter_constraints,
    }

    def __init__(
        self,
        *,
        q: float = 0.01,
        hidden: int = 5,
        lambda_c: float = 1e-3,
        loss: Literal["sigmoid", "ramp"] = "sigmoid",
        eta: float = 1.0,
        gamma_0: float | None = None,
        tau: float | None = None,
        max_iter: int = 100,
        warm_up: int = 1,
        average: bool = True,
        epsilon: float | None = None,
        tol: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.q = q
        self.hidden = hidden
        self.lambda_c = lambda_c
        self.loss = loss
        self.eta = eta
        self.gamma_0 = gamma_0
        self.tau = tau
        self.max_iter = max_iter
        self.warm_up = warm_up
        self.average = average
        self.epsilon = epsilon
        self.tol = tol
        self.random_state = random_state

    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        pairs = nn.Pairs(is_positive, random)
        return nn.q_value_pass(X, pairs), pairs.n_pairs

    def _constraint(self, is_positive: np.ndarray) -> Constraint:
        n_negative = int(np.sum(~is_positive))
        n_pairs = max(len(is_positive) - n_negative, n_negative)
        nu = 0.5 / (self.q * n_pairs) if self.tau is None else self.tau / n_negative
        # Rejecting everything costs 1 + lambda q, so that at a minimum P_fa <= (q + 1 / lambda) (1 - P_nd).
        return Constraint(self.q, nu, cost_pos=1.0, cost_neg=1.0, most=10.0 / self.q)

    def _limit(self, p_nd: float) -> float:
        return self.q * (1.0 - p_nd)

    def _pulls(self, multiplier: float) -> tuple[float, float]:
        return 1.0 + multiplier * self.q, multiplier

    def _epsilon(self, limit: float) -> float:
        return 0.2 * limit if self.epsilon is None else self.epsilon
