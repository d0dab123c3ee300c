"""The SVM along a line of costs: time of a line, breakpoints, and how far off the conditions of optimality are."""

import numpy as np

from npbench.numerics.gram import Kernel
from npbench.numerics.path import CostPath

from .problems import mixture, scale


class Line:
    params = (("linear", "rbf"), (250, 500, 1000))
    param_names = ("kernel", "n")
    total = 2.0

    def setup(self, kernel, n):
        X, self.y = mixture(n, 20)
        self.K = X @ X.T if kernel == "linear" else Kernel("rbf", scale(X)).between(X, X)
        self.path = CostPath.linear(X, self.y) if kernel == "linear" else CostPath(self.K, self.y)
        self.path.line(self.total)  # compiles

    def time_line(self, kernel, n):
        self.path.line(self.total)

    def peakmem_line(self, kernel, n):
        self.path.line(self.total)

    def track_breakpoints(self, kernel, n):
        return len(self.path.line(self.total).costs)

    def track_margins_off_by(self, kernel, n):
        alpha, b, C_pos, C_neg = self.path.line(self.total).at(0.5 * self.total, 0.5 * self.total)
        beyond = self.y * (self.K @ (self.y * alpha) + b) - 1
        caps = np.where(self.y > 0, C_pos, C_neg)
        return max(np.max(-beyond[alpha < caps - 1e-9]), np.max(beyond[alpha > 1e-9]))
