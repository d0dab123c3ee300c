"""SVMs for the partial AUC: a ranking by its risk, the bundle method to a gap and on a budget, and the DC procedure."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from npbench.numerics.bundle import minimise
from npbench.numerics.partial_auc import strict
from npbench.numerics.pauc import StructuralRisk, ranks_within
from npbench_greedy_pauc.estimator import GreedyPAUC
from npbench_pauc_dc.estimator import PAUCDC

RANGES = {"head": (0.0, 0.1), "middle": (0.02, 0.05), "full": (0.0, 1.0)}
BUDGET = 10  # iterations


def gaussians(n, d=50, shift=2.2):
    """Return two Gaussians, a tenth of the samples positive."""
    y = np.where(np.arange(n) < n // 10, 1, -1)
    return np.random.default_rng(0).normal(size=(n, d)) + shift * (y > 0)[:, None] / np.sqrt(d), y


def risk_of(y, span):
    """Return the structural risk for a range by name."""
    return StructuralRisk(y, *ranks_within(int(np.sum(y < 0)), *RANGES[span]))


class Oracle:
    params = (10_000, 100_000, 500_000), tuple(RANGES)
    param_names = ("n", "span")

    def setup(self, n, span):
        X, self.y = gaussians(n, d=2)
        self.scores = X.sum(axis=1)
        self.risk = risk_of(self.y, span)
        first, last = ranks_within(int(np.sum(self.y < 0)), *RANGES[span])
        self.area_of = self.scores[self.y > 0], self.scores[self.y < 0], first, last

    def time_risk(self, n, span):
        self.risk(self.scores)

    def peakmem_risk(self, n, span):
        self.risk(self.scores)

    def time_area(self, n, span):
        strict(*self.area_of)


class Bundle:
    params = (10_000, 50_000), tuple(RANGES), (1.0, 100.0)
    param_names = ("n", "span", "C")

    def setup(self, n, span, C):
        self.X, y = gaussians(n)
        self.risk = risk_of(y, span)
        minimise(self.X[:: n // 100], risk_of(y[:: n // 100], "full"), 1.0)  # compiles

    def time_to_a_thousandth(self, n, span, C):
        minimise(self.X, self.risk, C, tol=1e-3)

    def peakmem_to_a_thousandth(self, n, span, C):
        minimise(self.X, self.risk, C, tol=1e-3)

    def track_iterations(self, n, span, C):
        return len(minimise(self.X, self.risk, C, tol=1e-3).trace)

    def track_objective_on_a_budget(self, n, span, C):
        return minimise(self.X, self.risk, C, tol=1e-9, max_iter=BUDGET).objective

    def track_bound_on_a_budget(self, n, span, C):
        return minimise(self.X, self.risk, C, tol=1e-9, max_iter=BUDGET).bound


class DC:
    params = (10_000, 50_000)
    param_names = ("n",)

    def setup(self, n):
        warnings.simplefilter("ignore", ConvergenceWarning)
        self.X, self.y = gaussians(n)
        PAUCDC(fpr_range=RANGES["middle"]).fit(*gaussians(1000))  # compiles

    def time_fit(self, n):
        PAUCDC(fpr_range=RANGES["middle"], C=10.0).fit(self.X, self.y)

    def peakmem_fit(self, n):
        PAUCDC(fpr_range=RANGES["middle"], C=10.0).fit(self.X, self.y)

    def track_objective_on_a_budget(self, n):
        return PAUCDC(fpr_range=RANGES["middle"], C=10.0, max_iter=3).fit(self.X, self.y).objective_


class Greedy:
    params = ("continuous", "few values")
    param_names = ("features",)

    def setup(self, features):
        X, self.y = gaussians(5000, d=10)
        self.X = X if features == "continuous" else (X > 0.8).astype(float)

    def time_fit(self, features):
        GreedyPAUC(fpr_range=RANGES["middle"]).fit(self.X, self.y)

    def track_area(self, features):
        return GreedyPAUC(fpr_range=RANGES["middle"]).fit(self.X, self.y).objective_
