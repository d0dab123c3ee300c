"""The 2nu-SVM along a line of a grid, and leave-one-out."""

import numpy as np

from npbench.numerics.gram import squared_distances
from npbench.numerics.reduced_hulls import DualNu, ReducedHulls

from .problems import mixture


class Line:
    """``bandwidth`` is in deviations of a feature: narrow leaves all weights free, wide lets the hulls almost meet."""

    params = (0.1, 1.0, 10.0)
    param_names = ("bandwidth",)
    n, nus = 400, np.arange(20, 0, -1) / 20

    def setup(self, bandwidth):
        X, y = mixture(self.n, 2)
        self.K, self.y = np.exp(-0.5 * squared_distances(X) / bandwidth**2), y.astype(float)
        self.task()  # compiles

    def task(self):
        hulls = ReducedHulls(self.K, self.y)
        return [hulls.solve(DualNu(0.5, nu)) for nu in self.nus]

    def time_line(self, bandwidth):
        self.task()

    def peakmem_line(self, bandwidth):
        self.task()


class LeaveOneOut(Line):
    n, nus = 170, np.array([0.9, 0.5, 0.1])

    def task(self):
        hulls = ReducedHulls(self.K, self.y)
        return [hulls.leave_one_out(DualNu(0.5, nu)) for nu in self.nus]

    def track_refits(self, bandwidth):
        return sum(left.n_refits for left in self.task())
