"""Outer-approximation splitting: a fit by each method, and one projection."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.numerics.calibrated import LOGISTIC
from npbench.numerics.constraints import GroupBound, Region
from npbench.numerics.projection import project
from npbench_splitting.estimator import SplittingNP

from .problems import mixture

RHO = 0.3


class Fit:
    params = (500, 2000), ("newton", "nesterov")
    param_names = ("n", "accelerate")

    def setup(self, n, accelerate):
        warnings.simplefilter("ignore", ConvergenceWarning)
        self.X, self.y = mixture(n, 50)
        self.classifier = SplittingNP(rho=RHO, max_norm=2.0, accelerate=accelerate, max_iter=200)

    def time_fit(self, n, accelerate):
        self.classifier.fit(self.X, self.y)

    def peakmem_fit(self, n, accelerate):
        self.classifier.fit(self.X, self.y)

    def track_objective(self, n, accelerate):
        return self.classifier.fit(self.X, self.y).objective_

    def track_iterations(self, n, accelerate):
        return self.classifier.fit(self.X, self.y).n_iter_


class Projection:
    params = (300, 1000)
    param_names = ("d",)

    def setup(self, d):
        X, y = mixture(1000, d)
        X_neg = np.ascontiguousarray(X[y < 0])
        self.region = Region(X_neg, LOGISTIC, [GroupBound(np.arange(len(X_neg)), RHO)])
        self.point = np.zeros(d)

    def time_nine_cuts(self, d):
        project(self.point, self.region, 9)

    def track_gap_after_nine_cuts(self, d):
        return project(self.point, self.region, 9).gaps[-1]
