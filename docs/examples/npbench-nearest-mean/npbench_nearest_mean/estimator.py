import numpy as np

from npbench.estimators.binary import BinaryClassifier


class NearestMean(BinaryClassifier):
    def __init__(self, *, rho=0.05, shrinkage=0.0):
        self.rho = rho
        self.shrinkage = shrinkage

    def _fit(self, X, signs):
        negative, positive = (np.asarray(X[signs == sign].mean(axis=0)).ravel() for sign in (-1, 1))
        w = positive - negative
        self.coef_ = np.where(np.abs(w) >= self.shrinkage * np.abs(w).max(), w, 0.0)
        scores = X @ self.coef_
        threshold = np.quantile(scores[signs < 0], 1.0 - self.rho, method="higher")
        self.intercept_ = -(threshold + 1e-9 * np.ptp(scores))  # above that sample, whichever way its score rounds

    def _scores(self, X):
        return X @ self.coef_ + self.intercept_
