"""The Gram matrix and the SMO solver on it."""

import numpy as np
from scipy.spatial.distance import cdist

from npbench.numerics import smo, smo_kernels
from npbench.numerics.gram import Gram, Kernel

from .benchmark import Benchmark, compile_all
from .problems import box, mixture, scale


class RBFGram(Benchmark):
    """Bound by memory and the exponential: 8 n^2 bytes are written by BLAS, and read and written once more."""

    params = (250, 1000, 4000)
    unit = "largest error"

    def prepare(self, n):
        X, _ = mixture(n, 20)
        return X, Kernel("rbf", scale(X))

    def task(self, problem):
        return Gram(*problem)

    def quality(self, problem):
        X, kernel = problem
        exact = np.exp(-kernel.gamma * cdist(X[:100], X, "sqeuclidean"))
        return max(np.abs(self.task(problem).rows(np.arange(100)) - exact).max(), 1e-12)


class Ordinary(Benchmark):
    """Bound by the memory of two rows of K, 16 n bytes, in each step; the number of steps grows like n."""

    params = (250, 1000, 4000)
    unit = "relative duality gap after 2 n steps"
    d, C, weight, tol, steps = 20, 1.0, 10.0, 1e-3, 2

    def prepare(self, n):
        X, y = mixture(n, self.d)
        return Gram(X, Kernel("rbf", scale(X))), y.astype(float), *box(y, self.C, self.weight)

    def task(self, problem, max_iter=10_000_000):
        gram, p, lower, upper = problem
        x, g = np.zeros_like(p), p.copy()
        smo.solve(gram, lower, upper, x, g, self.tol, max_iter)
        return x, g

    def quality(self, problem):
        gram, p, lower, upper = problem
        x, g = self.task(problem, max_iter=self.steps * gram.n)
        b = smo_kernels.bias(x, g, lower, upper)
        return max(smo_kernels.gap(x, g, lower, upper, b) / (0.5 * float(x @ (p + g))), 1e-9)


class HighCost(Ordinary):
    """High costs in two dimensions: the steps of SMO are small, and the interior point method takes over.

    Bound by flops: some n^3 / 3 for each factor, n the samples that are not settled.
    """

    params = (200, 800, 2400)
    unit = "relative duality gap after 100 n steps"
    d, C, weight, tol, steps = 2, 100.0, 100.0, 1e-5, 100


def setup_cache():
    compile_all(RBFGram, Ordinary, HighCost)
