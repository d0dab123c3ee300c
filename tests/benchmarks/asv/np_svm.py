"""The NP-SVM: one annealed fit, and the selection of its parameters."""

import functools

import numpy as np

from npbench.data import BinaryData
from npbench.estimators.ramp_selection import select
from npbench.problem import NeymanPearson
from npbench.protocol import CrossValidation
from npbench_np_svm.estimator import NPSVM

from .problems import mixture

RHO = 0.05


class Fit:
    params = (500, 2000)
    param_names = ("n",)

    def setup(self, n):
        self.X, self.y = mixture(n, 20)
        self.classifier = NPSVM(rho=RHO)
        self.classifier.fit(self.X[:100], self.y[:100])  # compiles

    def time_fit(self, n):
        self.classifier.fit(self.X, self.y)

    def peakmem_fit(self, n):
        self.classifier.fit(self.X, self.y)

    def track_objective(self, n):
        return self.classifier.fit(self.X, self.y).objective_

    def track_excess_of_false_alarms(self, n):
        """How far the surrogate rate ends above the bound."""
        return self.classifier.fit(self.X, self.y).surrogate_rates_[1] - RHO


class Selection:
    timeout = 300.0

    def setup(self):
        self.X, self.y = mixture(600, 8)
        self.folds = CrossValidation().split(BinaryData(self.X, self.y, "mixture"), seed=0, repeat=0).folds
        self.search = {"C": np.geomspace(0.01, 100, 10), "gamma": np.geomspace(5e-5, 5e3, 10)}
        NPSVM(rho=RHO).fit(self.X[:100], self.y[:100])  # compiles

    def select(self):
        return select(functools.partial(NPSVM, rho=RHO), self.X, self.y, self.folds, NeymanPearson(RHO), self.search)

    def time_selection(self):
        self.select()

    def track_loss(self):
        return self.select().loss
