"""Logistic regression with a threshold that keeps a bound on false alarms."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.utils._param_validation import Interval

from npbench.estimators.binary import BinaryClassifier


class Logit(BinaryClassifier):
    """Logistic regression with a Neyman-Pearson threshold.

    Parameters
    ----------
    rho : float, default=0.05
        Bound on the false-alarm rate, in ]0, 1[.
    C : float, default=1.0
        Weight of the losses, above 0.
    left_out : bool, default=True
        Whether the threshold uses leave-one-out scores of the negatives instead of their fitted scores.
    tol : float, default=1e-8
        Newton decrement at convergence, relative to the objective.
    max_iter : int, default=100
        Maximum number of Newton steps.
    """

    _parameter_constraints: ClassVar[dict[str, list]] = {
        "rho": [Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "left_out": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, *, rho: float = 0.05, C: float = 1.0, left_out: bool = True, tol: float = 1e-8, max_iter: int = 100
    ) -> None:
        self.rho = rho
        self.C = C
        self.left_out = left_out
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        A = np.column_stack([X.toarray() if issparse(X) else X, np.ones(len(signs))])
        w = self._newton(A, signs)
        negatives = A[signs < 0]
        scores = negatives @ w
        if self.left_out:
            p = expit(scores)  # derivative of the loss of a negative
            leverage = self.C * np.einsum("ij,ji->i", negatives, np.linalg.solve(self._hessian(A, w), negatives.T))
            scores += p * leverage / (1.0 - p * (1.0 - p) * leverage)
        threshold = np.quantile(scores, 1.0 - self.rho, method="higher")
        self.coef_ = w[:-1]
        self.intercept_ = w[-1] - (threshold + 1e-9 * np.ptp(scores))  # rounding keeps that sample below 0

    def _scores(self, X: Any) -> np.ndarray:
        return X @ self.coef_ + self.intercept_

    def _explanation(self) -> str:
        return f"Newton's method did not reach tol={self.tol} in {self.max_iter} steps: scale the features."

    def _newton(self, A: np.ndarray, signs: np.ndarray) -> np.ndarray:
        w = np.zeros(A.shape[1])
        self.objective_ = self._objective(A, signs, w)
        for n_iter in range(1, self.max_iter + 1):
            gradient = w - self.C * A.T @ (signs * expit(-signs * (A @ w)))
            step = np.linalg.solve(self._hessian(A, w), gradient)
            decrement, length = gradient @ step, 1.0
            self.n_iter_, self.converged_ = n_iter, bool(decrement <= self.tol * self.objective_)
            if self.converged_:
                return w
            while self._objective(A, signs, w - length * step) > self.objective_ - 0.25 * length * decrement:
                length /= 2.0
            w = w - length * step
            self.objective_ = self._objective(A, signs, w)
        return w

    def _objective(self, A: np.ndarray, signs: np.ndarray, w: np.ndarray) -> float:
        return 0.5 * w @ w + self.C * np.logaddexp(0.0, -signs * (A @ w)).sum()

    def _hessian(self, A: np.ndarray, w: np.ndarray) -> np.ndarray:
        p = expit(A @ w)
        return np.eye(A.shape[1]) + self.C * (A.T * (p * (1.0 - p))) @ A
