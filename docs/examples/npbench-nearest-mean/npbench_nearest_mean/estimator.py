import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class NearestMean(ClassifierMixin, BaseEstimator):
    def __init__(self, *, rho=0.05, shrinkage=0.0):
        self.rho = rho
        self.shrinkage = shrinkage

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        negatives, positives = (X[y == label] for label in self.classes_)
        gap = positives.mean(axis=0) - negatives.mean(axis=0)
        self.coef_ = np.sign(gap) * np.maximum(np.abs(gap) - self.shrinkage, 0.0)
        self.intercept_ = -np.quantile(negatives @ self.coef_, 1.0 - self.rho, method="higher")
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False) @ self.coef_ + self.intercept_

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
