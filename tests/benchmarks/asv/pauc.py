"""Methods for the partial AUC: oracle, bundles, their quadratic program, DC, minibatches, minimax, greedy."""

import numpy as np

from npbench.numerics.bundle import minimise
from npbench.numerics.bundle_kernels import maximise_on_simplex
from npbench.numerics.pauc_metrics import ranks_within
from npbench.numerics.pauc_surrogates import StructuralRisk
from npbench_greedy_pauc.estimator import GreedyPAUC
from npbench_pauc_dc.estimator import PAUCDC
from npbench_pauc_minimax.estimator import PAUCMinimax
from npbench_pauc_sbcd.estimator import PAUCSBCD

from .benchmark import Benchmark, compile_all
from .problems import gaussians

RANGES = {"head": (0.0, 0.1), "middle": (0.02, 0.05), "full": (0.0, 1.0)}


def risk_of(y, span):
    """Return the structural risk for a range by name."""
    return StructuralRisk(y, *ranks_within(int(np.sum(y < 0)), *RANGES[span]))


class Oracle(Benchmark):
    """Bound by memory where the range is narrow: a partition passes over 8 n bytes a few times. The full range is
    sorted, n log n comparisons.
    """

    params = ((10_000, 100_000, 1_000_000), tuple(RANGES))
    param_names = ("n", "span")
    unit = "largest violation of the subgradient inequality"

    def prepare(self, n, span):
        X, y = gaussians(n, d=2)
        return risk_of(y, span), X.T.copy()

    def task(self, problem):
        risk, scores = problem
        return risk(scores[0] + scores[1])

    def quality(self, problem):
        (value, slope), (risk, (one, other)) = self.task(problem), problem
        moves = one, -1e-3 * other
        return max([1e-12, *(value + slope @ move - risk(one + other + move)[0] for move in moves)])


class Bundle(Benchmark):
    """Bound by memory: an iteration reads X twice, 16 n d bytes. Iterations do not grow with n."""

    params = ((10_000, 40_000, 160_000), ("middle", "full"))
    param_names = ("n", "span")
    unit = "relative gap after five iterations"

    def prepare(self, n, span):
        X, y = gaussians(n)
        return X, risk_of(y, span), 30.0

    def task(self, problem):
        return minimise(*problem, tol=1e-3)

    def quality(self, problem):
        found = minimise(*problem, tol=1e-9, max_iter=5)
        return max(found.gap / found.objective, 1e-6)


class Simplex(Benchmark):
    """The quadratic program over n planes, in the cache; bound by flops, n^2 for each of O(n) steps."""

    params = (25, 100, 400)
    unit = "how far from optimal after ten steps"

    def prepare(self, n):
        planes = np.random.default_rng(0).normal(size=(n, 50))
        return planes @ planes.T, np.linspace(0.0, 5.0, n)

    def task(self, problem, max_steps=1_000_000):
        H, p = problem
        x = np.zeros(len(p))
        x[0] = 1.0
        maximise_on_simplex(H, p, 1.0, x, 1e-9, max_steps)
        return x

    def quality(self, problem):
        H, p = problem
        x = self.task(problem, max_steps=10)
        gradient = p - H @ x
        return max(gradient.max() - gradient @ x, 1e-9)


class DC(Benchmark):
    """A bundle method for each convex problem, bound as that one is."""

    params = (10_000, 40_000, 160_000)
    unit = "objective after three convex problems"

    def prepare(self, n):
        return gaussians(n)

    def task(self, problem, **budget):
        return PAUCDC(fpr_range=RANGES["middle"], C=10.0, **budget).fit(*problem)

    def quality(self, problem):
        return self.task(problem, max_iter=3).objective_


class BlockDescent(Benchmark):
    """Bound by minibatches, whose number does not grow with n, and at 10^6 by 36 evaluations of the objective."""

    params = (10_000, 100_000, 1_000_000)
    unit = "objective after ten outer steps"

    def prepare(self, n):
        return gaussians(n, d=20)

    def task(self, problem, **budget):
        return PAUCSBCD(fpr_range=RANGES["middle"], C=10.0, random_state=0, **budget).fit(*problem)

    def quality(self, problem):
        return self.task(problem, max_iter=10).objective_


class Minimax(Benchmark):
    """Bound by memory: an iteration reads X twice, 16 n d bytes, and makes some ten passes over the scores."""

    params = ((10_000, 40_000, 160_000), ("one-way", "two-way"))
    param_names = ("n", "area")
    unit = "objective after ten iterations"

    def prepare(self, n, area):
        return *gaussians(n), (0.0 if area == "one-way" else 0.5, 1.0)

    def task(self, problem, **budget):
        X, y, tpr_range = problem
        return PAUCMinimax(fpr_range=RANGES["head"], tpr_range=tpr_range, C=10.0, **budget).fit(X, y)

    def quality(self, problem):
        return self.task(problem, max_iter=10).objective_


class Greedy(Benchmark):
    """Bound by sorts: for each feature still out, the samples are ranked at each candidate weight."""

    params = ((1000, 4000, 16_000), ("continuous", "few values"))
    param_names = ("n", "features")
    unit = "area that is missed"

    def prepare(self, n, features):
        X, y = gaussians(n, d=5)
        return X if features == "continuous" else (X > 0.8).astype(float), y

    def task(self, problem):
        return GreedyPAUC(fpr_range=RANGES["middle"]).fit(*problem)

    def quality(self, problem):
        return 1.0 - self.task(problem).objective_


def setup_cache():
    compile_all(Oracle, Bundle, Simplex, DC, BlockDescent, Minimax, Greedy)
