"""Stochastic NP: one epoch over an array and over a CSR matrix, and where five epochs end."""

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from npbench_sgd.estimator import StochasticNP

from .problems import mixture


class Epoch:
    params = ("dense", "csr")
    param_names = ("storage",)

    def setup(self, storage):
        warnings.simplefilter("ignore", ConvergenceWarning)
        if storage == "dense":
            self.X, self.y = mixture(100_000, 54)
        else:
            X = sp.random_array((50_000, 20_000), density=75 / 20_000, format="csr", rng=np.random.default_rng(0))
            self.X, self.y = X, np.where(X @ np.resize([1.0, -1.0], 20_000) > 0, 1, -1)
        self.classifier = StochasticNP(random_state=0)
        self.classifier.partial_fit(self.X, self.y, classes=[-1, 1])  # compiles

    def time_epoch(self, storage):
        self.classifier.partial_fit(self.X, self.y)

    def peakmem_epoch(self, storage):
        self.classifier.partial_fit(self.X, self.y)

    def track_objective_after_five_epochs(self, storage):
        return StochasticNP(max_iter=5, random_state=0).fit(self.X, self.y).objective_
