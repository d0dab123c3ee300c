"""Kernel machines with the ramp loss under a bound on their surrogate rates."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from npbench.estimators.kernel import KernelClassifier
from npbench.numerics.annealing import EXPLANATIONS, MULTIPLIERS, REACHED, Found, RateBound, Update
from npbench.numerics.ramp_svm import RampSVM

POSITIVE = Interval(Real, 0, None, closed="neither")


class RampClassifier(KernelClassifier):
    """A search for ``min 1/2 ||f_0||^2 + C n_pos P_nd`` under a :class:`RateBound`; a subclass says how it searches.

    Parameters
    ----------
    C, eta, nu, epsilon, tol, max_iter, update
        As in the subclasses, beside those of :class:`KernelClassifier`.

    Attributes
    ----------
    n_iter_, converged_, status_, multiplier_, surrogate_rates_, objective_, duality_gap_, trace_
        As in the subclasses, beside those of :class:`KernelClassifier`.
    """

    C: float
    eta: float
    nu: float | None
    epsilon: float | None
    tol: float
    max_iter: int
    update: Update

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        **KernelClassifier._parameter_constraints,
        "C": [POSITIVE],
        "eta": [POSITIVE],
        "nu": [None, POSITIVE],
        "epsilon": [None, POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "update": [StrOptions(set(MULTIPLIERS))],
    }

    @abstractmethod
    def constraint(self) -> RateBound:
        """Return the bound that the problem puts on the surrogate rates."""

    @abstractmethod
    def search(self, svm: RampSVM) -> Found:
        """Look for the multiplier on a training sample."""

    def search_settings(self, svm: RampSVM) -> dict[str, Any]:
        """Return what every search is told, with defaults filled in; C as the weight of the mean loss."""
        constraint = self.constraint()
        return {
            "constraint": constraint,
            "C": self.C * int(svm.positive.sum()),
            "nu": 1.0 / constraint.bound if self.nu is None else self.nu,
            "epsilon": constraint.bound / 20.0 if self.epsilon is None else self.epsilon,
            "max_iter": self.max_iter,
            "update": self.update,
        }

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Training samples; for a precomputed kernel the Gram matrix, of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Two labels; the larger one is the positive class.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._validate_params()
        X, signs = self._training_set(X, y)
        found = self.search(RampSVM(self._gram(X), signs, self.eta, self.tol))
        self._keep(X, signs, found)
        if not self.converged_:
            warnings.warn(self._explanation(found), ConvergenceWarning, stacklevel=2)
        return self

    def _keep(self, X: Any, signs: np.ndarray, found: Found) -> None:
        best = found.best
        self._keep_expansion(X, signs, best.x, best.b)
        self.n_iter_, self.trace_ = len(found.trace), found.trace
        self.status_ = "imprecise" if found.status in REACHED and best.violation > self.tol else found.status
        self.converged_ = self.status_ in REACHED
        self.multiplier_, self.objective_, self.duality_gap_ = best.multiplier, best.objective, best.duality_gap
        self.surrogate_rates_ = (best.p_nd, best.p_fa)

    def _explanation(self, found: Found) -> str:
        best, constraint = found.best, self.constraint()
        kept = (
            f"The classifier kept has surrogate rates P_fa={best.p_fa:.4g} and P_nd={best.p_nd:.4g} (bound: "
            f"{constraint.bound:g}) at multiplier {best.multiplier:.4g}."
        )
        if self.status_ == "imprecise":
            return (
                f"{type(self).__name__}: the last convex step left a violation of {best.violation:.1e}, above "
                f"tol={self.tol:g}. {kept} Scale the features to unit variance, or allow a larger tol."
            )
        advice = "Try a larger C, another gamma, or a larger epsilon or max_iter."
        return f"{type(self).__name__}: {EXPLANATIONS[found.status]}. {kept} {advice}"
