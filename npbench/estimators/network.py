"""Scores by a network with one hidden layer, fitted by stochastic descent under a bound."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from npbench.estimators.binary import DenseClassifier
from npbench.estimators.constraints import ZERO_OR_MORE, StrOptions
from npbench.estimators.descent import Costs, DescentClassifier
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics import network as nn
from npbench.numerics.sgd import LossName


@keyword_parameters
class NetworkClassifier(DenseClassifier, DescentClassifier):
    """A binary classifier with ``f(x) = v'tanh(W x + c) + b``, or ``w'x + b`` if ``hidden`` is 0.

    A subclass says by ``_constraint`` and ``_epochs`` how a bound enters the descent; ``_pulls`` weighs both rates.

    Parameters
    ----------
    hidden : int
        Number of hidden units; 0 for the linear ``f(x) = w'x + b``.
    lambda_c : float
        Weight of the penalty ``1/2 (||W||^2 + ||v||^2)``, the paper's 1 / C; positive. Intercepts are not penalised.
    loss : {"sigmoid", "ramp"}
        Loss of the margin z: ``1 / (1 + exp(eta z))``, or the line from 1 at z = -eta to 0 at z = eta.
    gamma_0 : float, optional
        First step size, below 1 / lambda_c; step t, from 0, has ``gamma_0 / (1 + lambda_c t)``. The default moves an
        average score by 1/16 of the width of the loss if f is linear: 1 / (1 + mean ||x||^2) for the sigmoid, eta = 1.
    warm_up : int
        Number of initial epochs with the logistic loss and lambda = 1. This loss pulls at samples far on the wrong
        side, where the other losses are flat; without it a group of positives missed at first stays missed. Where most
        positives are false it pulls at these too, and 0 can be better.
    average : bool
        Whether to take the average of the networks after epochs e = 1, 2, ..., weighted by ``e^3``, not the last one.
    random_state : int, RandomState or None
        Seed of the first weights and of the order of the samples.

    Attributes
    ----------
    coefs_ : list of array
        Weights W' and v, of shapes (n_features, hidden) and (hidden, 1); w, of shape (n_features, 1), if hidden is 0.
    intercepts_ : list of array
        Intercepts c and b; b if hidden is 0.
    objective_ : float
        ``lambda_c / 2 (||W||^2 + ||v||^2) + P_nd``.
    status_ : {"converged", "inactive", "budget", "flat", "empty", "capped", "max_iter"}
        How the fit ended. "inactive": converged, and the constraint does not bind. "budget": the bound is kept, and the
        epochs ended before a saddle point. "flat": no better than rejecting everything. "empty": no training sample is
        accepted. "capped": P_fa is too high even at the largest multiplier; "max_iter": it still is after all epochs.

    Notes
    -----
    A step takes O(hidden n_features). It changes all weights, so sparse samples would not make it cheaper: only arrays
    are accepted. Features should be of comparable size, as standardised ones are.

    The constraint binds the *surrogate* rates on the *training* sample.
    """

    _first_change: ClassVar[float] = 1.0 / 16.0

    hidden: int = parameter(ZERO_OR_MORE, default=5)
    loss: LossName = parameter(StrOptions({"sigmoid", "ramp"}), default="sigmoid")

    @abstractmethod
    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        """Return a pass over the training sample and its number of steps."""

    def _pulls(self, multiplier: float) -> tuple[float, float]:
        """Return the weights of P_nd and of P_fa in the Lagrangian."""
        return 1.0, multiplier

    @abstractmethod
    def _constraint(self, is_positive: np.ndarray) -> tuple[float, Costs, float]:
        """Return the bound (rho or q), the costs, and the largest multiplier."""

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        is_positive = signs > 0
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        squared_norm = float(np.einsum("ij,ij->", X, X)) / len(X)
        rule = self._rule(*self._constraint(is_positive), self._first_step_size(squared_norm))
        one_pass, steps = self._epochs(X, is_positive, random)
        start = nn.initial(X.shape[1], self.hidden, squared_norm, random)
        network, self.multiplier_, self.trace_ = nn.search(
            start, one_pass, rule, steps, self.max_iter, self.warm_up, self.average
        )
        W, c, v, b = network
        self.coefs_, self.intercepts_ = ([W.T, v[:, None]], [c, b]) if len(v) else ([W.T], [b])
        self.n_iter_ = len(self.trace_)
        fit = nn.assess(network, X, is_positive, rule, self._pulls(self.multiplier_))
        self._set_quality(fit, rule)
        # a q-value of nothing is 0: the constraint would look met
        if not fit.any_accepted:
            self.status_, self.converged_ = "empty", False

    def _scores(self, X: Any) -> np.ndarray:
        outputs = X
        for weights, intercepts in zip(self.coefs_[:-1], self.intercepts_[:-1], strict=True):
            outputs = np.tanh(outputs @ weights + intercepts)
        return np.asarray(outputs @ self.coefs_[-1])[:, 0] + self.intercepts_[-1][0]

    def _squared_weights(self) -> float:
        return sum(float(np.sum(weights**2)) for weights in self.coefs_)
