"""SVM with the ramp loss: convex steps of its DC (difference of convex functions) algorithm.

For f = f_0 + b, margins z_i = y_i f(x_i) and a cost c_i for every sample, the objective is

    L(f) = 1/2 ||f_0||^2 + sum_i c_i ramp(z_i) = J_1(f) - J_2(f),

J_1 with the hinges max(0, eta - z)/(2 eta), J_2 with the hinges max(0, -eta - z)/(2 eta). A step linearises J_2 around
the current f: samples with z_i < -eta are "flat" (beta_i = 1 in the paper), and it solves

    minimise  J_1(f) + sum_i beta_i c_i z_i / (2 eta),

whose dual is the problem of :mod:`npbench.numerics.smo` with p = eta y and, for x_i = y_i a_i,
``-beta_i c_i <= 2 eta a_i <= (1 - beta_i) c_i``. L never increases (Gasso et al. 2011, Algorithm 2; Collobert et
al. 2006). The free samples have z_i = eta, where the paper prints 1.
"""

import numpy as np

from npbench.numerics import smo
from npbench.numerics.gram import Gram
from npbench.numerics.ramp_kernels import ramp_box, ramp_measures, ramp_step
from npbench.numerics.smo_kernels import ends, gradient

MAX_EXTRAPOLATION = 2.0  # largest distance of a starting point, in units of the last change of the costs


class RampSVM:
    """Current point of the DC algorithm, for labels y in {-1, +1} and a ramp of half-width eta.

    ``x``, ``b`` and ``z`` are the signed multipliers, with f_0 = sum_i x_i k(x_i, .), the intercept and the margins
    y_i f(x_i). ``p_nd``, ``p_fa`` and ``squared_norm`` are the class means of the ramp loss and ``||f_0||^2 = x'Kx``.
    ``violation`` and ``duality_gap`` belong to the last convex step; ``n_steps`` counts the SMO steps of all. A search
    may end while a step changes ``unsettled`` flat samples or fewer. ``weight`` multiplies the costs of samples and
    makes the rates weighted means.
    """

    def __init__(
        self, gram: Gram, y: np.ndarray, eta: float, tol: float, unsettled: int = 0, weight: np.ndarray | None = None
    ) -> None:
        self.gram, self.eta, self.tol, self.unsettled = gram, eta, tol, unsettled
        self.weight = np.ones(len(y)) if weight is None else weight
        self.y = y.astype(float)
        self.positive = y > 0
        self.x, self.z, self.b = np.zeros(len(y)), np.zeros(len(y)), 0.0
        self._g = eta * self.y  # updated by each SMO step, so that its rounding errors add up
        self._flat, self._slack = np.zeros(len(y), dtype=bool), tol
        self._diagonal = None if gram.whole is None else gram.diagonal()
        self.p_nd = self.p_fa = 0.5
        self.squared_norm, self.violation, self.duality_gap, self.n_steps = 0.0, np.inf, np.inf, 0
        self._box: tuple[np.ndarray, np.ndarray] | None = None  # of the last step
        self._solved: list[tuple[tuple[float, float], np.ndarray, np.ndarray]] = []  # the last two: costs, x, g

    @property
    def f_0(self) -> np.ndarray:
        """Values of f without the intercept on the sample, ``Kx``."""
        return self.eta * self.y - self._g

    def step(self, cost_positive: float, cost_negative: float, flat: np.ndarray, tol_factor: float = 1.0) -> None:
        """Solve the convex problem from the current point, for a cost c_i of each class.

        ``flat`` marks the samples with beta_i = 1; a ``tol_factor`` above 1 serves points that are not kept.
        """
        self._flat, self._slack = flat, tol_factor * self.tol
        costs = float(cost_positive), float(cost_negative)
        box = ramp_box(self.y, self.weight, *costs, flat, self.eta)
        # start near the solution, from the last two or from the last
        if not self._extrapolate(costs):
            self._carry(*box)
        self._box = box
        # pair updates in one call, if the Gram matrix is there
        K, budget, spent = self.gram.whole, smo.INTERIOR_POINT_CALLS[0][0] * len(self.x), 0
        if K is not None:
            point = self.x, self._g, self.z
            spent, self.violation, measures = ramp_step(
                K, self._diagonal, self.y, self.weight, *costs, flat, self.eta, *point, self._slack, budget
            )
            self.n_steps += spent
        if K is None or self.violation > self._slack:  # the Gram matrix does not fit, or SMO converges slowly
            lower, upper = box
            p = self.eta * self.y
            steps, self.violation = smo.solve(self.gram, lower, upper, self.x, self._g, self._slack, spent=spent, p=p)
            self.n_steps += steps
            measures = ramp_measures(self.y, self.weight, self.eta, self.x, self._g, self.z, lower, upper)
        self.b, self.p_nd, self.p_fa, self.squared_norm, self.duality_gap = measures
        self._solved = [*self._solved[-1:], (costs, self.x.copy(), self._g.copy())]

    def recompute(self, x: np.ndarray, cost_positive: float, cost_negative: float, flat: np.ndarray) -> None:
        """Move to ``x``, a result of the step with these arguments, and measure it by newly computed values of f."""
        self.x, self._g = x.copy(), smo.gradient(self.gram, self.eta * self.y, x)
        self._solved.clear()
        self._flat, self._slack = flat, self.tol
        costs = float(cost_positive), float(cost_negative)
        self._box = lower, upper = ramp_box(self.y, self.weight, *costs, flat, self.eta)
        high, low = ends(self.x, self._g, lower, upper)
        self.violation = high - low
        measures = ramp_measures(self.y, self.weight, self.eta, self.x, self._g, self.z, lower, upper)
        self.b, self.p_nd, self.p_fa, self.squared_norm, self.duality_gap = measures

    def start_from(self, x: np.ndarray, b: float) -> np.ndarray:
        """Move to x, of any costs, with the intercept b; return which samples are flat there."""
        self.x, self._g = x, smo.gradient(self.gram, self.eta * self.y, x)
        self.b, self.z = b, self.eta - self.y * (self._g - b)
        return self.flat()

    def _extrapolate(self, costs: tuple[float, float]) -> bool:
        """Extrapolate the last two solutions, if they allow it: between breakpoints x and g are affine in the cost."""
        if len(self._solved) < 2:
            return False
        (before, x_before, g_before), (now, x, g) = self._solved
        if before[0] != now[0] or now[0] != costs[0] or before[1] == now[1]:
            return False
        share = (costs[1] - now[1]) / (now[1] - before[1])
        if abs(share) > MAX_EXTRAPOLATION:
            return False
        self.x, self._g = x + share * (x - x_before), g + share * (g - g_before)
        return True

    def _carry(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Move samples at a bound of the last box to the same bound of the new one: each would take a pair update."""
        whole = self.gram.whole  # without it, linear_svm.solve starts at the weights of the last solution
        if self._box is None or whole is None:
            return
        last_lower, last_upper = self._box
        x = np.where(self.x >= last_upper, upper, np.where(self.x <= last_lower, lower, self.x))
        self._g, self.x = gradient(whole, self._g, x - self.x), x

    def upper_rates(self) -> tuple[float, float]:
        """Return upper bounds of (P_nd, P_fa), convex in f and exact at a settled point."""
        # the ramp is linear on the flat samples of the last step and the hinge on the others
        loss = (np.maximum(self.eta - self.z, 0.0) + np.where(self._flat, self.eta + self.z, 0.0)) / (2.0 * self.eta)
        p_nd, p_fa = (np.average(loss[rows], weights=self.weight[rows]) for rows in (self.positive, ~self.positive))
        return float(p_nd), float(p_fa)

    @property
    def class_weights(self) -> tuple[float, float]:
        """Sums of the weights of positives and of negatives: their numbers, if all weights are 1."""
        return float(self.weight[self.positive].sum()), float(self.weight[~self.positive].sum())

    def flat(self) -> np.ndarray:
        """Return which samples have a margin below -eta.

        A sample that was not flat in the last step must be below by more than the tolerance. Margins of exactly -eta
        are common (the duplicate of a free sample in the other class; a whole class where f_0 = 0). Rounding must not
        decide about these, and samples within the tolerance must not change back and forth forever.
        """
        return self.z < -self.eta - np.where(self._flat, 0.0, 2.0 * self._slack)
