"""The NP-SVM: one annealed fit, the same by Uzawa's method, and the selection of its parameters."""

import functools

import numpy as np

from npbench.data import BinaryData
from npbench.estimators.ramp_selection import select
from npbench.evaluation.protocols import CrossValidation
from npbench.problem import NeymanPearson
from npbench_np_svm.estimator import NPSVM
from npbench_uzawa.estimator import UzawaSVM

from .benchmark import Benchmark, compile_all
from .problems import excess, mixture

RHO = 0.05


class Annealed(Benchmark):
    """Bound as SMO is, by rows of K; the convex steps after the first start from the solution before."""

    params = (250, 1000, 4000)
    unit = "surrogate P_nd and excess of P_fa after eight convex steps"
    estimator = NPSVM

    def prepare(self, n):
        return mixture(n, 20)

    def task(self, problem, **budget):
        return self.estimator(rho=RHO, **budget).fit(*problem)

    def quality(self, problem):
        p_nd, p_fa = self.task(problem, max_iter=8).surrogate_rates_
        return p_nd + excess(p_fa, RHO)


class Uzawa(Annealed):
    """As the annealed fit, with each multiplier's minimisation run to its end."""

    estimator = UzawaSVM


class Selection(Benchmark):
    """A hundred pairs of parameters on ten folds; bound as fits are, each started from its neighbour's solution."""

    params = (100, 300, 900)
    unit = "loss on left-out samples"

    def prepare(self, n):
        X, y = mixture(n, 8)
        return X, y, CrossValidation().split(BinaryData(X, y, "mixture"), seed=0, repeat=0).folds

    def task(self, problem):
        search = {"C": np.geomspace(0.01, 100, 10), "gamma": np.geomspace(5e-5, 5e3, 10)}
        return select(functools.partial(NPSVM, rho=RHO), *problem, NeymanPearson(RHO), search)

    def quality(self, problem):
        return self.task(problem).loss


class Landmarks(Annealed):
    """As the annealed fit, with landmarks: bound by passes over their features, and by products of these."""

    params = (16_000, 64_000, 256_000)
    estimator = functools.partial(NPSVM, n_components=300, random_state=0)


class ManyLandmarks(Landmarks):
    """The same with as many landmarks as by default, whose features of 256,000 samples take 1 GB; bound as above."""

    estimator = functools.partial(NPSVM, n_components=1000, random_state=0)


class Rungs(Benchmark):
    """A search by successive halving, all candidates on few samples and two on all: bound by the last fits."""

    params = (6_000, 24_000, 96_000)
    unit = "loss on left-out samples"

    def prepare(self, n):
        X, y = mixture(n, 8)
        return X, y, CrossValidation(folds=2).split(BinaryData(X, y, "mixture"), seed=0, repeat=0).folds

    def task(self, problem):
        search = {"C": np.geomspace(0.01, 100, 5).tolist(), "gamma": np.geomspace(5e-3, 5, 4).tolist()}
        rungs = select.with_limit(0)
        make = functools.partial(NPSVM, rho=RHO, random_state=0)
        return rungs(make, *problem, NeymanPearson(RHO), search)

    def quality(self, problem):
        return self.task(problem).loss


def setup_cache():
    compile_all(Annealed, Uzawa, Selection, Landmarks, ManyLandmarks, Rungs)
