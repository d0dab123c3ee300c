"""The Gram matrix and the SMO solver."""

from npbench.numerics import smo
from npbench.numerics.gram import Gram, Kernel

from .problems import box, mixture, scale


class RBFGram:
    params = (1000, 4000)
    param_names = ("n",)

    def setup(self, n):
        self.X, _ = mixture(n, 20)
        self.kernel = Kernel("rbf", scale(self.X))

    def time_whole(self, n):
        Gram(self.X, self.kernel)

    def peakmem_whole(self, n):
        Gram(self.X, self.kernel)


class Solve:
    """A subclass sets the problem; every solve starts cold."""

    tol, weight = 1e-3, 10.0

    def prepare(self, n, d, C):
        X, y = mixture(n, d)
        self.gram = Gram(X, Kernel("rbf", scale(X)))
        self.p = y.astype(float)
        self.lower, self.upper = box(y, C, self.weight)
        self.solve(1e-1)  # compiles

    def solve(self, tol):
        x, g = 0.0 * self.p, self.p.copy()
        smo.solve(self.gram, self.lower, self.upper, x, g, tol)
        return x, g

    def certificate(self):
        """Return the dual objective and the duality gap relative to it."""
        x, g = self.solve(self.tol)
        objective = 0.5 * float(x @ (self.p + g))
        b = smo.bias(x, g, self.lower, self.upper)
        return objective, smo.duality_gap(x, g, self.lower, self.upper, b) / objective


class Ordinary(Solve):
    params = (500, 2000, 4600)
    param_names = ("n",)

    def setup(self, n):
        self.prepare(n, 20, C=1.0)

    def time_solve(self, n):
        self.solve(self.tol)

    def track_objective(self, n):
        return self.certificate()[0]

    def track_gap(self, n):
        return self.certificate()[1]


class HighCost(Solve):
    """Two dimensions and high costs: the steps of SMO are small, and the interior point method takes over."""

    tol, weight, timeout = 1e-5, 100.0, 300.0

    def setup(self):
        self.prepare(4600, 2, C=100.0)

    def time_solve(self):
        self.solve(self.tol)

    def peakmem_solve(self):
        self.solve(self.tol)

    def track_gap(self):
        return self.certificate()[1]
