"""Stochastic NP: an epoch over an array, over a CSR matrix and on a network, and where five epochs end."""

import numpy as np
import scipy.sparse as sp

from npbench_sgd.estimator import StochasticNP
from npbench_sgd_nn.estimator import StochasticNPNetwork

from .benchmark import Benchmark, compile_all
from .problems import excess, gaussians, mixture

RHO = 0.05


def assessed(model):
    """Return the objective, and in units of rho by how much the bound is exceeded."""
    return model.objective_ + excess(model.surrogate_rates_[1], RHO)


class Dense(Benchmark):
    """Bound by memory: a step reads the 8 d bytes of its row, which no step before has brought near."""

    params = (25_000, 100_000, 400_000)
    unit = "objective and excess after five epochs"

    def prepare(self, n):
        X, y = gaussians(n, 54)
        return X, y, StochasticNP(rho=RHO, random_state=0).partial_fit(X, y, classes=[-1, 1])

    def task(self, problem):
        X, y, model = problem
        model.partial_fit(X, y)

    def quality(self, problem):
        X, y, _ = problem
        return assessed(StochasticNP(rho=RHO, max_iter=5, random_state=0).fit(X, y))


class Csr(Dense):
    """Bound by memory: a step reads 12 bytes for each non-zero of its row, and as many entries of w, here and there."""

    params = (12_500, 50_000, 200_000)
    d, per_row = 20_000, 50

    def prepare(self, n):
        random = np.random.default_rng(0)
        columns = np.sort(random.integers(0, self.d, (n, self.per_row), dtype=np.int32), axis=1)
        indptr = np.arange(0, columns.size + 1, self.per_row, dtype=np.int32)
        X = sp.csr_array((random.normal(size=columns.size), columns.ravel(), indptr), shape=(n, self.d))
        X.sum_duplicates()
        y = np.where(X @ np.resize([1.0, -1.0], self.d) > 0, 1, -1)
        return X, y, StochasticNP(rho=RHO, random_state=0).partial_fit(X, y, classes=[-1, 1])


class Network(Benchmark):
    """Bound by flops: 4 h d and h hyperbolic tangents in each step, on weights that stay in the cache."""

    params = (1250, 5000, 20_000)
    unit = "objective and excess after twenty epochs"

    def prepare(self, n):
        return mixture(n, 20)

    def task(self, problem):
        return StochasticNPNetwork(rho=RHO, hidden=10, max_iter=20, random_state=0).fit(*problem)

    def quality(self, problem):
        return assessed(self.task(problem))


def setup_cache():
    compile_all(Dense, Csr, Network)
