"""Thresholds at order statistics of the negatives' scores."""

import numpy as np
from scipy.stats import norm

from npbench.numerics.thresholds import umbrella

from .benchmark import Benchmark, compile_all

RHO = DELTA = 0.05


class Umbrella(Benchmark):
    """Bound by memory: a copy of the scores is partitioned, some three passes over 8 n bytes; the rank is O(log n)."""

    params = (10_000, 100_000, 1_000_000)
    unit = "how far the true rate is from rho"

    def prepare(self, n):
        return np.random.default_rng(0).normal(size=n)

    def task(self, problem):
        return umbrella(problem, RHO, DELTA)

    def quality(self, problem):
        return abs(RHO - norm.sf(self.task(problem)))


def setup_cache():
    compile_all(Umbrella)
