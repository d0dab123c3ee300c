import time
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions


def blobs(n=120, spread=1.0):
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.random.default_rng(0).normal(size=(n, 3)) * spread + y[:, None], y


class Centroid(ClassifierMixin, BaseEstimator):
    _parameter_constraints: ClassVar = {
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "mode": [StrOptions({"ok", "fail", "slow"})],
        "rho": [Real],
    }

    def __init__(self, *, shrinkage=0.0, mode="ok", weights=(1.0, 2.0), kernel=np.dot, rho=0.05, random_state=None):
        self.shrinkage = shrinkage
        self.mode = mode
        self.weights = weights
        self.kernel = kernel
        self.rho = rho
        self.random_state = random_state

    def fit(self, X, y):
        if self.mode == "fail":
            raise ArithmeticError("no centroid today")
        if self.mode == "slow":
            time.sleep(30)
        self.classes_ = np.unique(y)
        self.coef_ = (1 - self.shrinkage) * (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))
        self.intercept_ = -np.quantile(X[y < 0] @ self.coef_, 1 - self.rho)
        return self

    def decision_function(self, X):
        return X @ self.coef_ + self.intercept_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
