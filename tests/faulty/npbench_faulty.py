"""A plugin with one sound solver, data set and metric, and many that have one fault each."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from npbench.contracts import Estimate
from npbench.estimators.binary import BinaryClassifier


class Sound(BinaryClassifier):
    """Class means, in at most max_iter steps of which it takes two."""

    _parameter_constraints = {}  # noqa: RUF012

    def __init__(self, *, rho=0.05, shrinkage=0.0, max_iter=10, random_state=None):
        self.rho = rho
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X, y):
        X, signs = self._training_set(X, y)
        self._solve(X, signs)
        self._spoil(X, signs)
        self.n_iter_ = min(2, self.max_iter)
        self.converged_ = self.max_iter >= 2
        if not self.converged_:
            warnings.warn("One step did not suffice: increase max_iter.", ConvergenceWarning, stacklevel=2)
        self._finish(y)
        return self

    def _spoil(self, X, signs):
        """Change the solution, in classes with a fault."""

    def _finish(self, y):
        """Change what fit reports, in classes with a fault."""

    def _solve(self, X, signs):
        negative, positive = (np.asarray(X[signs == sign].mean(axis=0)).ravel() for sign in (-1, 1))
        self.coef_ = (1.0 - self.shrinkage) * (positive - negative)
        scores = np.sort(X @ self.coef_)
        self.intercept_ = -np.quantile((X @ self.coef_)[signs < 0], 1.0 - self.rho, method="higher")
        self.objective_ = float(scores.mean())

    def decision_function(self, X):
        if not hasattr(self, "coef_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("Fit it first.")
        return self._samples(X) @ self.coef_ + self.intercept_


class Positional(Sound):
    def __init__(self, rho=0.05, shrinkage=0.0):
        super().__init__(rho=rho, shrinkage=shrinkage)


class Required(Sound):
    def __init__(self, *, rho):
        super().__init__(rho=rho)


class OtherLabels(Sound):
    def _finish(self, y):
        self.intercept_ += float(np.sum(y == 1)) / len(y)  # counts labels by their name


class NoClasses(Sound):
    def fit(self, X, y):
        super().fit(X, np.where(np.asarray(y) == np.max(y), 1, -1))
        return self


class WrongPredict(Sound):
    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0.5).astype(int)]


class OneClassUnnamed(Sound):
    def fit(self, X, y):
        if len(np.unique(y)) == 1:
            raise ValueError("this will not do at all")
        return super().fit(X, y)


class Terse(Sound):
    def _spoil(self, X, signs):
        if np.sum(signs > 0) < 2:
            raise ValueError("few")


class Indexing(Sound):
    def _spoil(self, X, signs):
        X[10]


class FewGiveNaN(Sound):
    def _spoil(self, X, signs):
        if np.sum(signs > 0) < 2:
            self.intercept_ = np.nan


class Dividing(Sound):
    def _spoil(self, X, signs):
        self.coef_ = self.coef_ / X.std(axis=0) if not sparse.issparse(X) else self.coef_


class TakesNaN(Sound):
    def _training_set(self, X, y):
        return super()._training_set(np.nan_to_num(X, posinf=0.0, neginf=0.0), y)


class ScoresNaN(Sound):
    def _samples(self, X):
        return np.nan_to_num(X, posinf=0.0, neginf=0.0)


class SparseDiffers(Sound):
    def _spoil(self, X, signs):
        self.coef_ = self.coef_ + np.array([1.0, 0.0, 0.0]) * sparse.issparse(X)


class Dense(Sound):
    def _training_set(self, X, y):
        if sparse.issparse(X):
            raise TypeError("Sparse samples are not supported: make them dense.")
        return super()._training_set(X, y)


class Reversed(Sound):
    def decision_function(self, X):
        return -super().decision_function(X)


class Unseeded(Sound):
    def _spoil(self, X, signs):
        self.intercept_ += np.random.default_rng().normal()


class Forgetful(Sound):
    def __getstate__(self):
        return {**super().__getstate__(), "intercept_": 0.0}


class Rounding(Sound):
    def __init__(self, *, rho=0.05, shrinkage=0.0):
        super().__init__(rho=rho, shrinkage=shrinkage)
        self.shrinkage = shrinkage + 0.1


class Boasting(Sound):
    def _finish(self, y):
        self.converged_ = True


class Silent(Sound):
    def fit(self, X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().fit(X, y)


class WarningOnly(Sound):
    def _finish(self, y):
        del self.converged_


class Overcounting(Sound):
    def _finish(self, y):
        self.n_iter_ = self.max_iter + 1


class OrderMinded(Sound):
    def _spoil(self, X, signs):
        self.coef_ = self.coef_ + np.asarray(X[[0]].sum(axis=0)).ravel()
        self.objective_ = float(X[[0]].sum())


class GapBelowZero(Sound):
    def _spoil(self, X, signs):
        self.duality_gap_ = -1.0


class Certified(Sound):
    """The rates of a steep ramp, which follow from the scores."""

    def _spoil(self, X, signs):
        self._claim(X, X @ self.coef_ + self.intercept_, signs)

    def _claim(self, X, scores, signs):
        self._eta = 1e-3 * np.std(scores) or 1.0
        for name, value in self._recomputed(scores, signs).items():
            setattr(self, name, value)

    def _recomputed(self, scores, signs):
        loss = np.clip((1.0 - signs * scores / self._eta) / 2.0, 0.0, 1.0)
        p_nd, p_fa = loss[signs > 0].mean(), loss[signs < 0].mean()
        return {"surrogate_rates_": (p_nd, p_fa), "objective_": p_nd}


class StaleObjective(Certified):
    def _claim(self, X, scores, signs):
        super()._claim(X, scores, signs)
        if abs(X).max() > 1e6:
            self.objective_ += 0.1


class StaleRates(Certified):
    def _claim(self, X, scores, signs):
        super()._claim(X, scores, signs)
        if abs(X).max() > 1e6:
            self.surrogate_rates_ = (self.objective_, 0.9)


class UnprovedRates(StaleRates):
    def _claim(self, X, scores, signs):
        super()._claim(X, scores, signs)
        self.surrogate_rates_ = (0.0, 0.0)

    def _recomputed(self, scores, signs):
        return {"objective_": super()._recomputed(scores, signs)["objective_"]}


class BoundBroken(Certified):
    def _spoil(self, X, signs):
        if abs(X).max() > 1e6:
            self.intercept_ += 3.0 * np.std(X @ self.coef_)
        super()._spoil(X, signs)


class NaNWhenHuge(Certified):
    def decision_function(self, X):
        return super().decision_function(X) * (np.nan if abs(X).max() > 1e6 else 1.0)


class NaNClaimed(Certified):
    def _claim(self, X, scores, signs):
        super()._claim(X, scores, signs)
        self.duality_gap_ = np.nan


class RefusesHuge(NaNWhenHuge):
    def _solve(self, X, signs):
        if abs(X).max() > 1e6:
            raise ValueError("The features are too large: scale them to unit variance.")
        super()._solve(X, signs)


class AdmitsHuge(BoundBroken):
    def fit(self, X, y):
        super().fit(X, y)
        self.converged_ = abs(X).max() <= 1e6
        if not self.converged_:
            warnings.warn("The features are too large: scale them.", ConvergenceWarning, stacklevel=2)
        return self


class StopsEarly(Certified):
    """A worse classifier than the best one, of which every claim is true."""

    def _spoil(self, X, signs):
        if not 1e-6 < np.ptp(X) < 1e6 or abs(X).max() > 1e5:
            self.intercept_ -= np.std(X @ self.coef_)
        super()._spoil(X, signs)


class Bent(Sound):
    def decision_function(self, X):
        return super().decision_function(X) ** 3


class Columns(Sound):
    def decision_function(self, X):
        return super().decision_function(X)[:, None]


def no_search(make, X, y, folds, problem, search, *, n_threads=1):
    raise ArithmeticError("no search today")


def accuracy(y, scores, *, problem, estimator):
    return float(np.mean(np.sign(scores) == y))


def auc(y, scores, *, problem, estimator):
    wins = np.sign(scores[y > 0][:, None] - scores[y < 0])
    return float(0.5 + 0.5 * wins.mean())


def margin(y, scores, *, problem, estimator):
    return float(np.mean(np.clip(y * scores, -9.0, 9.0)))


def infinite_figure(y, scores, *, problem, estimator):
    return np.inf


def text(y, scores, *, problem, estimator):
    return "good"


def outside(y, scores, *, problem, estimator):
    return Estimate(0.5, 0.6, 0.7)


def ratio(y, scores, *, problem, estimator):
    return float(np.divide(np.sum(scores[y > 0] > 0), np.sum(scores[y < 0] > 0)))


def outside_at_ties(y, scores, *, problem, estimator):
    value = auc(y, scores, problem=problem, estimator=estimator)
    return Estimate(value, value + (np.ptp(scores) == 0), value + 1.0)


def first(y, scores, *, problem, estimator):
    return float(scores[0])


def nothing(y, scores, *, problem, estimator):
    return np.nan


class CountsEntries(Sound):
    def _training_set(self, X, y):
        self._n_entries = X.nnz if sparse.issparse(X) else X.size
        return super()._training_set(X, y)

    def _spoil(self, X, signs):
        self.coef_ = self.coef_ + np.array([1.0, 0.0, 0.0]) * (self._n_entries > X.size)


class SortsInPlace(Sound):
    def _training_set(self, X, y):
        if sparse.issparse(X):
            X.sum_duplicates()
        return super()._training_set(X, y)


class CentresInPlace(Sound):
    def _training_set(self, X, y):
        if not sparse.issparse(X) and X.flags.writeable:
            X -= X.mean(axis=0)
        return super()._training_set(X, y)
