"""Methods for the top of the negatives: the quantile of Pat&Mat-NP, and fits of tau-FPL and Pat&Mat-NP by planes."""

import numpy as np

from npbench_pat_mat_np.estimator import PatMatNP, quantile
from npbench_tau_fpl.estimator import TauFPL

from .benchmark import Benchmark, compile_all
from .problems import gaussians

RHO = 0.05
FITS = {"tau_fpl": TauFPL, "pat_mat_np": PatMatNP}


class Quantile(Benchmark):
    """Newton's method on the threshold of Pat&Mat-NP. Bound by memory: some ten passes over 8 n bytes."""

    params = ((10_000, 100_000, 1_000_000), (0.1, 10.0))
    param_names = ("n", "beta")
    unit = "relative error of the mean loss"

    def prepare(self, n, beta):
        return np.random.default_rng(0).normal(size=n), beta

    def task(self, problem):
        scores, beta = problem
        return quantile(scores, RHO, beta)

    def quality(self, problem):
        scores, beta = problem
        loss = np.mean(np.maximum(1.0 + beta * (scores - self.task(problem)[0]), 0.0) ** 2)
        return max(abs(loss / RHO - 1.0), 1e-9)


class Top(Benchmark):
    """Bound by memory: an iteration reads X twice, 16 n d bytes, and selects or sums scores. Iterations do not grow."""

    params = ((10_000, 40_000, 160_000), tuple(FITS))
    param_names = ("n", "method")
    unit = "relative gap after five iterations"

    def prepare(self, n, method):
        return FITS[method], *gaussians(n)

    def task(self, problem, **budget):
        estimator, X, y = problem
        return estimator(rho=RHO, C=30.0, **budget).fit(X, y)

    def quality(self, problem):
        model = self.task(problem, tol=1e-9, max_iter=5)
        return max(model.duality_gap_ / model.objective_, 1e-6)


def setup_cache():
    compile_all(Quantile, Top)
