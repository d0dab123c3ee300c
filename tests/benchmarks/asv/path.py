"""The SVM along a line of costs."""

import numpy as np

from npbench.numerics.gram import Kernel
from npbench_svm_path.numerics.path import CostPath

from .benchmark import Benchmark, compile_all
from .problems import mixture, scale

TOTAL = 2.0


class Line(Benchmark):
    """O(n) breakpoints, each bound by the memory of a factor of the m free samples and of m rows of K: 8 (m^2 + n m)
    bytes, with n features for m of the rows where the kernel is linear.
    """

    params = ((100, 400, 1600), ("linear", "rbf"))
    param_names = ("n", "kernel")
    unit = "largest error of a margin, midway"

    def prepare(self, n, kernel):
        X, y = mixture(n, 20)
        if kernel == "linear":
            return CostPath.linear(X, y), X @ X.T, y
        K = Kernel("rbf", scale(X)).between(X, X)
        return CostPath(K, y), K, y

    def task(self, problem):
        return problem[0].line(TOTAL)

    def quality(self, problem):
        _, K, y = problem
        alpha, b, C_pos, C_neg = self.task(problem).at(0.5 * TOTAL, 0.5 * TOTAL)
        beyond = y * (K @ (y * alpha) + b) - 1
        caps = np.where(y > 0, C_pos, C_neg)
        return max(np.max(-beyond[alpha < caps - 1e-9]), np.max(beyond[alpha > 1e-9]), 1e-8)


def setup_cache():
    compile_all(Line)
