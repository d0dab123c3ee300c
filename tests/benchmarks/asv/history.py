"""Whole fits through public names only, which every commit since the first has: for measurements of the past."""

import time
import warnings

import numpy as np

import npbench

FITS = {
    "np_svm": {"rho": 0.1},
    "ac_svm": {},
    "uzawa": {"rho": 0.1},
    "sgd": {"rho": 0.1},
    "two_nu_svm": {},
    "svm_path": {},
    "splitting": {"rho": 0.1},
    "pauc_struct": {},
}


class Fit:
    """Seconds of a fit with default parameters; bound as the method is. A method that did not exist yet has none."""

    param_names = ("solver", "n")
    params = (tuple(FITS), (150, 600))
    version = "1"  # what is measured, whatever the code looks like
    repeat = (1, 5, 1.0)
    timeout = 120.0
    timer = time.process_time

    def setup(self, solver, n):
        warnings.simplefilter("ignore")
        random = np.random.default_rng(0)
        self.y = np.where(random.random(n) < 0.3, 1, -1)
        self.X = random.normal(size=(n, 5)) + 0.7 * (self.y > 0)[:, None]
        try:
            self.model = npbench.solver(solver, **FITS[solver])
        except Exception:  # of a type that has moved
            raise NotImplementedError from None  # asv skips it
        self.model.fit(self.X[:60], self.y[:60])  # compiles

    def time_fit(self, solver, n):
        self.model.fit(self.X, self.y)
