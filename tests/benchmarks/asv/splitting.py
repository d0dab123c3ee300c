"""Outer-approximation splitting: a fit by each method, and one projection."""

from typing import ClassVar

import numpy as np

from npbench_splitting.numerics.calibrated import LOGISTIC
from npbench_splitting.numerics.constraints import Ball, GroupBound, Region
from npbench_splitting.numerics.projection import project
from npbench_splitting.numerics.splitting import minimise

from .benchmark import Benchmark, compile_all
from .problems import excess, gaussians, mixture

TAU, RADIUS = 0.3, 2.0


class Fit(Benchmark):
    """Bound by memory in the printed algorithm, 16 n d bytes for each projection's step; by flops, n d^2 for the
    Hessian of each step, in Newton's method.
    """

    params = ((500, 2000, 8000), ("newton", "nesterov"))
    param_names = ("n", "accelerate")
    unit = "objective and excesses on a budget"
    budget: ClassVar = {"newton": 3, "nesterov": 30}

    def prepare(self, n, accelerate):
        X, y = gaussians(n)
        X[:, 0] = 1.0  # the intercept
        return np.ascontiguousarray(X[y > 0]), np.ascontiguousarray(X[y < 0]), accelerate

    def task(self, problem, max_iter=50):
        X_pos, X_neg, accelerate = problem
        options = {"accelerate": accelerate, "max_iter": max_iter}
        return minimise(X_pos, X_neg, LOGISTIC, TAU, ball=Ball(RADIUS, slice(None)), **options)

    def quality(self, problem):
        found = self.task(problem, self.budget[problem[-1]])
        rate, norm = found.excess + TAU, float(np.linalg.norm(found.w))
        return found.objective + excess(rate, TAU) + excess(norm, RADIUS)


class Projection(Benchmark):
    """Bound by memory: a step of Haugazeau's reads the negatives twice, 16 n d bytes; n is their number, d = n / 2."""

    params = (250, 1000, 4000)
    unit = "excess after nine cuts"

    def prepare(self, n):
        X_neg, _ = mixture(n, n // 2)
        return np.zeros(n // 2), Region(X_neg, LOGISTIC, [GroupBound(np.arange(n), TAU)]).at

    def task(self, problem):
        return project(*problem, 9)

    def quality(self, problem):
        return max(self.task(problem).gaps[-1], 1e-12)


def setup_cache():
    compile_all(Fit, Projection)
