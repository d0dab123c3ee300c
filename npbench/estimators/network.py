"""Scores by a network with one hidden layer, fitted by stochastic descent under a bound."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from npbench.estimators.binary import BinaryClassifier
from npbench.numerics import network as nn
from npbench.numerics.network_kernels import RAMP, SIGMOID, Network, Rule
from npbench.numerics.sgd import LEAST_MULTIPLIER, MOST_NU, width

REACHED = ("converged", "inactive")

FIRST_MOVE = 1.0 / 16.0  # how far the first step moves the score of a linear f, in widths of the loss

EXPLANATIONS = {
    "empty": "no training sample has a positive score, so that the constraint says nothing",
    "capped": "the surrogate false-alarm rate is too high even at the largest multiplier",
    "max_iter": "the tolerances were missed",
}

TOO_LARGE = "The features are so large that scores overflow. Scale them to unit variance."


class Constraint(NamedTuple):
    """The parts of the rule of descent that depend on the bound and the classes.

    Parameters
    ----------
    bound : float
        The rho or q.
    nu : float
        Gain of the multiplier.
    cost_pos, cost_neg : float
        The coefficients a_i.
    most : float
        Largest multiplier.
    """

    bound: float
    nu: float
    cost_pos: float
    cost_neg: float
    most: float


class NetworkClassifier(BinaryClassifier):
    """A binary classifier with ``f(x) = v'tanh(W x + c) + b``, or ``w'x + b`` if ``hidden`` is 0.

    A subclass has the parameters below and its bound among its own, with ``_parameter_constraints`` that hold those
    given here, and says how its constraint enters the descent (``_constraint``, ``_epochs``), what it bounds P_fa by
    (``_limit``) and what the two rates weigh in the Lagrangian (``_pulls``).

    Parameters
    ----------
    hidden : int
        Number of hidden units.
    lambda_c : float
        Weight of the penalty ``1/2 (||W||^2 + ||v||^2)``, the paper's 1 / C.
    loss : {"sigmoid", "ramp"}
        Of the margin.
    eta : float
        Slope of the sigmoid, half-width of the ramp.
    gamma_0 : float, optional
        First step size.
    tau : float, optional
        Gain of the multiplier.
    max_iter : int
        Epochs.
    warm_up : int
        How many of them, the first, take the logistic loss.
    average : bool
        Whether to average the networks at the ends of epochs.
    epsilon, tol : float, optional
        Tolerances on the constraint and on ``imbalance_``, for ``converged_``.
    random_state : int, RandomState instance or None
        Seed of the first weights and of the orders of the samples.

    Attributes
    ----------
    coefs_ : list of array
        Weights of each layer, of shapes (n_features, hidden) and (hidden, 1), or (n_features, 1) without hidden units.
    intercepts_ : list of array
        Intercepts of each layer.
    """

    hidden: int
    lambda_c: float
    loss: Literal["sigmoid", "ramp"]
    eta: float
    gamma_0: float | None
    tau: float | None
    max_iter: int
    warm_up: int
    average: bool
    epsilon: float | None
    tol: float
    random_state: int | np.random.RandomState | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hidden": [Interval(Integral, 0, None, closed="left")],
        "lambda_c": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"sigmoid", "ramp"})],
        "eta": [Interval(Real, 0, None, closed="neither")],
        "gamma_0": [None, Interval(Real, 0, None, closed="neither")],
        "tau": [None, Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_up": [Interval(Integral, 0, None, closed="left")],
        "average": ["boolean"],
        "epsilon": [None, Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, 1, closed="right")],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _epochs(self, X: np.ndarray, is_positive: np.ndarray, random: np.random.Generator) -> tuple[nn.Pass, int]:
        """Return a pass over the training sample and its number of steps."""

    @abstractmethod
    def _limit(self, p_nd: float) -> float:
        """Return what P_fa is bounded by."""

    @abstractmethod
    def _pulls(self, multiplier: float) -> tuple[float, float]:
        """Return the weights of P_nd and of P_fa in the Lagrangian."""

    @abstractmethod
    def _constraint(self, is_positive: np.ndarray) -> Constraint:
        """Return the parts of the rule that depend on the bound and the classes."""

    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        """Fit the classifier, from a start drawn by ``random_state``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        NetworkClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            If features are so large that numbers overflow, or ``gamma_0`` is not below 1 / lambda_c.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        is_positive = signs > 0
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        squared_norm = _mean_squared_norm(X)
        rule = self._rule(is_positive, squared_norm)
        one_pass, steps = self._epochs(X, is_positive, random)
        start = nn.initial(X.shape[1], self.hidden, squared_norm, random)
        try:
            network, self.multiplier_, self.trace_ = nn.search(
                start, one_pass, rule, steps, self.max_iter, self.warm_up, self.average
            )
        except FloatingPointError:
            raise ValueError(TOO_LARGE) from None
        self._keep(network)
        self._assess(network, X, is_positive, rule)
        if not self.converged_:
            warnings.warn(self._explanation(rule), ConvergenceWarning, stacklevel=2)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return f(x), larger for more positive samples; its threshold is 0.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        outputs = self._samples(X)
        for weights, intercepts in self._hidden_layers():
            outputs = np.tanh(outputs @ weights + intercepts)
        return np.asarray(outputs @ self.coefs_[-1])[:, 0] + self.intercepts_[-1][0]

    def _hidden_layers(self) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        return zip(self.coefs_[:-1], self.intercepts_[:-1], strict=True)

    def _training_set(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        if issparse(X):
            raise TypeError(
                f"Sparse data was passed for X, but {type(self).__name__} takes arrays: each of its steps changes the "
                "weights of all features. Use X.toarray(), or a linear method."
            )
        return super()._training_set(X, y)

    def _rule(self, is_positive: np.ndarray, squared_norm: float) -> Rule:
        reach = width(self.loss, self.eta)
        gamma_0 = self.gamma_0
        if gamma_0 is None:
            gamma_0 = min(FIRST_MOVE * reach**2 / (1.0 + squared_norm), 0.5 / self.lambda_c)
        elif gamma_0 * self.lambda_c >= 1:
            raise ValueError(
                f"gamma_0={gamma_0:g} is too large a step for lambda_c={self.lambda_c:g}: the first one would turn the "
                "weights round. Choose gamma_0 below 1 / lambda_c, or None."
            )
        constraint = self._constraint(is_positive)
        return Rule(
            loss=RAMP if self.loss == "ramp" else SIGMOID,
            eta=self.eta,
            width=reach,
            bound=constraint.bound,
            lambda_c=self.lambda_c,
            gamma_0=gamma_0,
            nu=min(constraint.nu, MOST_NU),
            cost_pos=constraint.cost_pos,
            cost_neg=constraint.cost_neg,
            least=LEAST_MULTIPLIER,
            most=constraint.most,
        )

    def _keep(self, network: Network) -> None:
        W, c, v, b = network
        self.coefs_, self.intercepts_ = ([W.T, v[:, None]], [c, b]) if len(v) else ([W.T], [b])
        self.n_iter_ = len(self.trace_)

    def _assess(self, network: Network, X: np.ndarray, is_positive: np.ndarray, rule: Rule) -> None:
        fit = nn.assess(network, X, is_positive, rule, *self._pulls(self.multiplier_))
        self.objective_, self.imbalance_ = fit.objective, fit.imbalance
        self.surrogate_rates_ = (fit.p_nd, fit.p_fa)
        limit = self._limit(fit.p_nd)
        epsilon = self._epsilon(limit)
        slack = fit.p_fa <= limit and self.multiplier_ <= 2 * rule.least
        if not fit.any_accepted:
            self.status_ = "empty"
        elif fit.p_fa > limit + epsilon and self.multiplier_ >= 0.5 * rule.most:
            self.status_ = "capped"
        elif fit.imbalance > self.tol or (abs(fit.p_fa - limit) > epsilon and not slack):
            self.status_ = "max_iter"
        else:
            self.status_ = "inactive" if slack else "converged"
        self.converged_ = self.status_ in REACHED

    def _epsilon(self, limit: float) -> float:
        return 0.1 * limit if self.epsilon is None else self.epsilon

    def _explanation(self, rule: Rule) -> str:
        p_nd, p_fa = self.surrogate_rates_
        return (
            f"{type(self).__name__}: {EXPLANATIONS[self.status_]}. After {self.n_iter_} epochs the surrogate "
            f"false-alarm rate is {p_fa:.4g} where {self._limit(p_nd):.4g} was asked for, the multiplier "
            f"{self.multiplier_:.4g}, and the gradient's parts cancel up to {self.imbalance_:.2g} (tol={self.tol:g}). "
            "Scale the features to unit variance if they are not, try more epochs (max_iter), a smaller step "
            f"(gamma_0, here {rule.gamma_0:.3g}), another tau, or a larger lambda_c."
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _mean_squared_norm(X: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        squared_norm = float(np.einsum("ij,ij->", X, X)) / len(X)
    if not np.isfinite(squared_norm):
        raise ValueError(TOO_LARGE)
    return squared_norm
