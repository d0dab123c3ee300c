"""The stochastic Neyman-Pearson algorithm as a scikit-learn classifier."""

import time
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import validate_data

from npbench.estimators.binary import WeightedClassifier
from npbench.estimators.constraints import FRACTION, StrOptions
from npbench.estimators.descent import DescentClassifier, neyman_pearson_costs
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import FeatureMapClassifier
from npbench.estimators.samples import usable
from npbench.numerics import sgd
from npbench_sgd import descent


@keyword_parameters
class StochasticNP(WeightedClassifier, DescentClassifier, FeatureMapClassifier):
    """Linear classifier that minimises misses under a bound on the false-alarm rate, one sample at a time.

    Scores are linear in the features, or after a kernel map.

    Seeks a saddle point over f(x) = w'x + b and lambda of

        lambda_c / 2 ||w||^2 + P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of a loss that approaches the 0-1 loss. Each sample moves w and b down the
    gradient, and each negative moves lambda up or down by its own false alarm.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    lambda_c : float
        Weight of the squared norm against the *mean* loss of the positives; positive. As in the paper, since a stream
        has no number of samples. The cost C per positive sample of the batch NP-SVM is ``lambda_c = 1 / (C n_pos)``.
    loss : {"sigmoid", "ramp", "atan", "erf"}
        Loss of the margin z: ``1 / (1 + exp(eta z))``, the line from 1 at z = -eta to 0 at z = eta, ``1/2 - atan(eta z)
        / pi``, or ``(1 - erf(eta z)) / 2``.
    gamma_0 : float, optional
        First step size, below 1 / lambda_c; step t, from 0, has ``gamma_0 / (1 + lambda_c t)``. The default moves the
        score of an average sample by 0.3 widths of the loss: 4.8 / (1 + mean ||x||^2) for the sigmoid with eta = 1.
    tau : float, optional
        Gain of the multiplier: ``nu = tau / n_neg``, at most 0.1, in ``lambda <- lambda (1 + nu (l - rho))``; positive.
        Default: 3 / rho per pass.
    warm_up : int
        Number of initial epochs of ``fit`` with lambda = 1; the last epoch always updates lambda. If weights learn
        slowly, lambda would otherwise rise until everything is rejected, where the loss is flat.
    sampling : {"shuffle", "balanced"}
        Samples of an epoch: each one once, in random order, or the same number of draws, half from each class.
    average : bool
        Whether the classifier is the average of the iterates, iterate t weighted by ``t^3``, instead of the last one.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Intercept b, not regularised, moved at the same rate for arrays and for sparse matrices.
    n_iter_ : int
        Number of epochs, or of calls of ``partial_fit``.
    t_ : int
        Number of steps.
    objective_ : float
        ``lambda_c / 2 ||w||^2 + P_nd``.
    status_ : {"converged", "inactive", "budget", "flat", "capped", "max_iter", "partial"}
        How the fit ended. "inactive": converged, and the constraint does not bind. "budget": the bound is kept, and the
        epochs ended before a saddle point. "flat": no better than rejecting everything. "capped": P_fa is too high even
        at the largest multiplier, 1 / rho; "max_iter": it is so after all epochs. "partial": after ``partial_fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = StochasticNP(rho=0.05, lambda_c=1e-3, random_state=0).fit(scale(X), y)
    >>> bool((model.decision_function(scale(X)[y == 0]) >= 0).mean() <= 0.06)
    True
    """

    rho: float = parameter(FRACTION, default=0.05)
    sampling: Literal["shuffle", "balanced"] = parameter(StrOptions({"shuffle", "balanced"}), default="shuffle")
    lambda_c: float = 1e-4
    max_iter: int = 50
    tol: float = 0.1

    _first_change = 0.3
    _dtypes: ClassVar[list[type]] = [np.float64, np.float32]

    def _fit(self, X: Any, signs: np.ndarray, weight: np.ndarray | None = None) -> None:
        X = self._begin(X)
        X, signed = self._weighted(X, signs, weight)
        draws, rule = sgd.Draws(signed > 0, self.sampling, self._random), self._constants(signed)
        start = time.perf_counter()
        self.trace_ = []
        for iteration in range(self.max_iter):
            # hold lambda in the warm-up, but never in the last epoch
            is_held = iteration < min(self.warm_up, self.max_iter - 1)
            current = rule._replace(nu=0.0) if is_held else rule
            p_nd, p_fa = self._descent.run(descent.rows_of(X), signed, draws.epoch(), current)
            objective = 0.5 * self.lambda_c * self._descent.squared_norm + p_nd
            seconds = time.perf_counter() - start
            self.trace_.append(sgd.Trace(iteration, seconds, objective, p_fa, p_nd, self._descent.state.multiplier))
        # measure the classifier, which is an average, on the whole sample
        self._set_weights(self.max_iter)
        fit = descent.assess(X, signed, self.coef_[0], self.intercept_[0], self.multiplier_, rule)
        self._set_quality(fit, rule)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue with one epoch over these samples, which may be of one class.

        The coefficients n / n_pos and n / n_neg, and the n_neg in nu, count all samples given so far, as do the means
        of weights. A kernel map takes its ``n_components`` samples from the first call. ``status_`` is then "partial"
        and ``converged_`` False, as convergence is not checked.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Some training samples.
        y : array of shape (n_samples,)
            Their labels.
        classes : array of shape (2,), optional
            Both labels; needed in the first call.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples, at least 0.
        """
        self._validate_params()
        first = not hasattr(self, "_descent")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=self._dtypes, order="C", reset=first)
        X, is_positive = usable(X), self._known_labels(y, classes)
        weight = None if sample_weight is None else self._weights(sample_weight, X)
        X = self._begin(X) if first else self._mapped(X)
        X, signed = self._weighted(X, np.where(is_positive, 1.0, -1.0), weight)
        order = sgd.Draws(signed > 0, self.sampling, self._random).epoch()
        self._descent.run(descent.rows_of(X), signed, order, self._constants(signed))
        self._set_weights(getattr(self, "n_iter_", 0) + 1)
        self.converged_, self.status_ = False, "partial"
        return self

    def _known_labels(self, y: np.ndarray, classes: Any) -> np.ndarray:
        """Return which samples are positive; later parts may have one class, but no third one."""
        _check_partial_fit_first_call(self, classes)
        if len(self.classes_) != 2:
            raise ValueError(f"Only binary classification is supported: expected 2 classes, got {len(self.classes_)}.")
        if unknown := np.setdiff1d(y, self.classes_).tolist():
            raise ValueError(f"y has labels that are not in classes: {unknown[:5]!r}.")
        return np.asarray(y == self.classes_[1])

    def _begin(self, X: Any) -> Any:
        X = self._fit_map(X)
        # one generator for all epochs, also of partial_fit
        self._random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        squared_norm = descent.mean_squared_norm(X, self._random)
        if not np.isfinite(squared_norm):
            raise ValueError(descent.TOO_LARGE)
        self._gamma_0 = self._first_step_size(squared_norm)
        self._descent = descent.StochasticDescent(X.shape[1], self.average)
        self._counted, self._total = np.zeros(2, int), np.zeros(2)  # numbers and weights of negatives and of positives
        return X

    def _weighted(self, X: Any, signs: np.ndarray, weight: np.ndarray | None) -> tuple[Any, np.ndarray]:
        """Count samples; return those of positive weight, and weights in units of the class mean, times labels."""
        weight = np.ones(len(signs)) if weight is None else weight
        if not weight.all():
            X, signs, weight = X[weight > 0], signs[weight > 0], weight[weight > 0]
        side = (signs > 0).astype(int)
        self._counted += np.bincount(side, minlength=2)
        self._total += np.bincount(side, weight, minlength=2)
        return X, signs * weight / (self._total / np.maximum(self._counted, 1))[side]

    def _constants(self, signed: np.ndarray) -> sgd.Rule:
        (n_neg, n_pos), balanced = self._counted.tolist(), self.sampling == "balanced"
        costs = neyman_pearson_costs(n_pos, n_neg, rho=self.rho, balanced=balanced, tau=self.tau, default_gain=3.0)
        # the largest weight takes the largest step of lambda
        costs = costs._replace(nu=min(costs.nu, sgd.MOST_NU / -float(np.min(signed, initial=-1.0))))
        return self._rule(self.rho, costs, 1.0 / self.rho, self._gamma_0)

    def _set_weights(self, n_iter: int) -> None:
        w, b, self.multiplier_ = self._descent.solution()
        self.coef_, self.intercept_ = w[None, :], np.array([b])
        self.n_iter_, self.t_ = n_iter, self._descent.state.t

    def _limit(self, p_nd: float) -> float:
        return self.rho

    def _squared_weights(self) -> float:
        return float(np.sum(self.coef_**2))
