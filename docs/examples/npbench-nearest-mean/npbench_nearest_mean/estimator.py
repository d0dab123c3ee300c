import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class NearestMean(ClassifierMixin, BaseEstimator):
    def __init__(self, *, rho=0.05, shrinkage=0.0):
        self.rho, self.shrinkage = rho, shrinkage

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        negatives, positives = (X[y == label] for label in self.classes_)
        gap = positives.mean(axis=0) - negatives.mean(axis=0)
        self.coef_ = np.sign(gap) * np.maximum(np.abs(gap) - self.shrinkage, 0.0)
        self.intercept_ = -np.quantile(negatives @ self.coef_, 1.0 - self.rho, method="higher")
        return self

    def decision_function(self, X):
        return X @ self.coef_ + self.intercept_
