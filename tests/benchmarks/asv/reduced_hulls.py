"""The 2nu-SVM along a line of a grid, and leave-one-out."""

import numpy as np

from npbench.numerics.gram import squared_distances
from npbench_two_nu_svm.reduced_hulls import DualNu, ReducedHulls

from .benchmark import Benchmark, compile_all
from .problems import mixture

BANDWIDTHS = (0.1, 3.0)  # in deviations of a feature: narrow leaves all weights free, wide lets hulls almost meet


class Line(Benchmark):
    """Bound by memory: a pair step reads two rows of K, 16 n bytes, a Newton step those of m free weights."""

    params = ((75, 300, 1200), BANDWIDTHS)
    param_names = ("n", "bandwidth")
    unit = "largest relative gap, if above the tolerance"
    nus = np.arange(5, 0, -1) / 5

    def prepare(self, n, bandwidth):
        X, y = mixture(n, 2)
        return np.exp(-0.5 * squared_distances(X) / bandwidth**2), y.astype(float)

    def task(self, problem):
        hulls = ReducedHulls(*problem)
        return [hulls.solve(DualNu(0.5, nu)) for nu in self.nus]

    def quality(self, problem):
        return max([1e-6, *(found.gap / found.objective for found in self.task(problem) if not found.meet)])


class LeaveOneOut(Line):
    """Bound as a full solution is, one to five times; then by O(n) for each sample that has weight."""

    params = ((50, 150, 450), BANDWIDTHS)
    unit = "refitted samples"
    nus = np.array([0.9, 0.5, 0.1])

    def task(self, problem):
        hulls = ReducedHulls(*problem)
        return [hulls.leave_one_out(DualNu(0.5, nu)) for nu in self.nus]

    def quality(self, problem):
        return sum(left.n_refits for left in self.task(problem))


def setup_cache():
    compile_all(Line, LeaveOneOut)
