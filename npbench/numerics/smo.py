"""The SVM dual with a box of its own for every sample, solved by sequential minimal optimisation.

The problem, in signed multipliers x_i (= y_i a_i in the usual notation):

    maximise  D(x) = p'x - 1/2 x'Kx    subject to  sum(x) = 0,  lower <= x <= upper

whose primal is, with f_0 = Kx and h_i(t) = max(lower_i t, upper_i t),

    minimise  P(f_0, b) = 1/2 ||f_0||^2 + sum_i h_i(p_i - f_0(x_i) - b).

With ``g = p - Kx`` the Karush-Kuhn-Tucker conditions read ``g_i <= b`` where x_i < upper_i and ``g_i >= b`` where
x_i > lower_i; the violation is the largest g of the former less the smallest g of the latter. Each step moves the
pair chosen by the second-order rule of Fan, Chen and Lin (2005, WSS 2) to its optimum. After a number of steps, slow on
badly conditioned problems, :mod:`npbench.numerics.interior_point` helps. Kernels: :mod:`npbench.numerics.smo_kernels`.
"""

import numpy as np

from npbench.numerics import interior_point, landmark_svm, linear_svm
from npbench.numerics import smo_kernels as kernels
from npbench.numerics.gram import Gram
from npbench.numerics.threads import one_blas_thread

Array = np.ndarray

# SMO steps per sample before each call of the interior point method, and whether that call includes settled samples.
INTERIOR_POINT_CALLS = ((50, False), (5, False), (5, False), (5, True), (10, True))
STEPS_PER_SAMPLE = 50  # in a round; then g is recomputed, since its rounding errors accumulate
MAX_STALLED_SMO_ROUNDS = 20  # after more rounds without a smaller violation the search stops: rounding prevents one
WORKING_SET_SIZE = 2000  # samples, when the Gram matrix exceeds its budget


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def solve(
    gram: Gram,
    lower: Array,
    upper: Array,
    x: Array,
    g: Array,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    spent: int = 0,
    p: Array | None = None,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place; return steps and violation.

    A step costs O(m) for m unsettled samples. If 50 steps per sample do not suffice, the interior point method is
    called, first on the unsettled samples, then on all, and SMO continues from there. If the Gram matrix exceeds its
    budget, SMO works on blocks of samples (Joachims 1999), without that method. ValueError unless all input is finite.

    The bounds have ``sum(lower) <= 0 <= sum(upper)``. Equal bounds fix a variable. The start is any x with
    ``g = p - Kx``: zeros and a copy of p are a cold one. The violation, in units of g, exceeds ``tol`` only if
    ``max_iter`` or rounding stops the method. ``spent`` steps, taken before, count towards the first interior point
    call. When convergence is slow, g is recomputed from p. Without it, ``g + Kx`` stands for p, with the rounding
    errors of a start x far from the box: these can prevent the tolerance.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(lower.sum() + upper.sum() + x.sum() + g.sum()):
            raise ValueError("the bounds, x and g must be finite: some values are NaN or infinite.")
    if gram.features is not None:
        return landmark_svm.solve(gram.features, lower, upper, x, g, tol, max_iter, p)
    if gram.has_few_features:
        return linear_svm.solve(gram.X, lower, upper, x, g, tol, max_iter, p)
    if gram.whole is None:
        return _solve_in_blocks(gram, lower, upper, x, g, tol, max_iter)
    K, diagonal = gram.whole, gram.whole.diagonal().copy()
    kernels.fit_into_box(K, lower, upper, x, g)
    n_iter = 0
    for steps_per_sample, whole in INTERIOR_POINT_CALLS:
        # SMO first; the interior point method where that is slow
        budget = min(max(steps_per_sample * len(x) - spent, 0), max_iter - n_iter)
        spent = 0
        steps, violation = kernels.optimise(K, diagonal, lower, upper, x, g, tol, budget)
        n_iter += steps
        if violation <= tol or n_iter >= max_iter:
            return n_iter, violation
        _interior_step(K, lower, upper, x, g, whole)
    p = g + K @ x if p is None else p
    steps, violation = _finish(K, diagonal, lower, upper, p, x, g, tol, max_iter - n_iter)
    return n_iter + steps, violation


def _finish(
    K: Array, diagonal: Array, lower: Array, upper: Array, p: Array, x: Array, g: Array, tol: float, max_iter: int
) -> tuple[int, float]:
    """Take SMO steps until convergence or a stall; recompute g after each round."""
    g[:] = p - K @ x
    best, least = x.copy(), np.inf
    n_iter = stalled_rounds = 0
    while True:
        budget = min(STEPS_PER_SAMPLE * len(x), max_iter - n_iter)
        steps, _ = kernels.optimise(K, diagonal, lower, upper, x, g, tol, budget)
        n_iter += steps
        g[:] = p - K @ x
        high, low = kernels.ends(x, g, lower, upper)
        stalled_rounds += 1
        if high - low < least:
            best, least, stalled_rounds = x.copy(), high - low, 0
        if least <= tol or n_iter >= max_iter or stalled_rounds >= MAX_STALLED_SMO_ROUNDS:
            x[:] = best
            g[:] = p - K @ x
            return n_iter, least


def _interior_step(K: Array, lower: Array, upper: Array, x: Array, g: Array, whole: bool) -> None:
    """Replace x, or only its unsettled part, by the result of the interior point method."""
    # variables with equal bounds, and those that their gradient holds at a bound, stay
    keep = np.arange(len(x)) if whole else kernels.unsettled(x, g, lower, upper, *kernels.ends(x, g, lower, upper))
    keep = keep[lower[keep] < upper[keep]]
    block = K if len(keep) == len(x) else K[np.ix_(keep, keep)]
    answer = interior_point.solve(block, g[keep] + block @ x[keep], lower[keep], upper[keep], x[keep])
    change = np.zeros_like(x)
    change[keep] = answer - x[keep]
    x += change
    g -= K @ change
    kernels.fit_into_box(K, lower, upper, x, g)


def _solve_in_blocks(
    gram: Gram, lower: Array, upper: Array, x: Array, g: Array, tol: float, max_iter: int
) -> tuple[int, float]:
    """Maximise D in blocks of the samples that violate the conditions most (Joachims 1999)."""
    _move_to(gram, kernels.feasible(lower, upper, x, g), x, g)
    n_iter = 0
    while True:
        high, low = kernels.ends(x, g, lower, upper)
        if high - low <= tol or n_iter >= max_iter:
            return n_iter, high - low
        # half of the block from each side of the largest violation
        rising = np.where(x < upper, g, -np.inf)
        falling = np.where(x > lower, g, np.inf)
        half = min(WORKING_SET_SIZE // 2, len(x) // 2)
        keep = np.union1d(np.argpartition(rising, -half)[-half:], np.argpartition(falling, half - 1)[:half])
        block = np.ascontiguousarray(gram.rows(keep)[:, keep])
        part, g_part = x[keep], g[keep]
        steps, _ = kernels.optimise(
            block, block.diagonal().copy(), lower[keep], upper[keep], part, g_part, 0.5 * tol, max_iter - n_iter
        )
        n_iter += max(steps, 1)
        target = x.copy()
        target[keep] = part
        _move_to(gram, target, x, g)


def _move_to(gram: Gram, target: Array, x: Array, g: Array) -> None:
    """Set x to ``target`` in place, and update g."""
    _subtract_rows(gram, g, target - x)
    x[:] = target


def gradient(gram: Gram, p: Array, x: Array) -> Array:
    """Return ``p - Kx``, from the rows of K with x_i != 0, or from weights."""
    if gram.features is not None:
        return p - gram.features.product(x)
    if gram.kernel.name == "linear":
        return linear_svm.gradient(gram.X, p, linear_svm.weights(gram.X, x))
    if gram.whole is not None:
        return np.asarray(kernels.gradient(gram.whole, p, x))
    g = p.astype(float)
    _subtract_rows(gram, g, x)
    return g


def _subtract_rows(gram: Gram, g: Array, x: Array) -> None:
    """Set ``g -= Kx`` in blocks of the rows with x_i != 0."""
    support = np.flatnonzero(x)
    for start in range(0, len(support), WORKING_SET_SIZE):
        some = support[start : start + WORKING_SET_SIZE]
        g -= x[some] @ gram.rows(some)
