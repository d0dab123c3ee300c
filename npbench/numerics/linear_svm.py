"""The SVM dual of :mod:`npbench.numerics.smo` for a linear kernel and many samples, by an active set.

Samples far from the margin keep x at a bound; each step solves only for the samples nearest to it, in the change of
their x, by further such steps, and by the rounds of :mod:`npbench.numerics.proximal_svm` where few samples are left.

In the primal, a step minimises a lower bound that is exact near the current w. The result is optimal if no fixed sample
changes its side, and kept if it lowers the objective. Far from the optimum, rounds on all samples come first.
"""

from typing import Any

import numpy as np

from npbench.numerics.proximal_svm import Point, Problem, Rounds, gradient, weights
from npbench.numerics.threads import one_blas_thread

LEAST_SAMPLES = 4000  # a smaller problem takes rounds only
NEAR_SHARE = 8  # one in eight samples counts as near the margin
NEAR_PER_FEATURE = 4  # least number of samples near the margin per feature; one may end between its bounds
STEP_RADIUS = 2.0  # a step may succeed if fixed samples are further from b than this many violations
MAX_FAILED_STEPS = 3
SAME_POINT = 1e-9  # largest change of x that rounding explains, relative to its bounds


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def solve(
    X: Any,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    p: np.ndarray | None = None,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place; return Newton steps and violation.

    Parameters are those of :func:`npbench.numerics.smo.solve`, with samples X of shape (n, d) in place of the Gram
    matrix ``XX'``, and Newton steps as steps. The result's g is computed from its x.

    From the solution of a similar problem, one or two steps suffice. Each takes two or three passes over X, bound by
    its bytes, and Newton steps on samples that fit the processor's cache. From zeros, about twenty Newton steps on all
    samples come first. Memory is O(n + d^2) and a copy of a seventh of X, besides X.
    """
    w = weights(X, x)
    p = g - gradient(X, np.zeros(len(g)), w) if p is None else p
    problem, point = Problem(X, p, lower, upper), Point(x, g, w)
    inside = problem.feasible(x, g)
    moved = np.abs(inside - x).sum() > SAME_POINT * (upper - lower).sum()
    x[:] = inside
    # The first step starts at the given weights: the feasible x has others if many samples were at a bound.
    violation = np.inf if moved else point.measure(problem)
    width = min(violation, float(np.ptp(p)))
    return _solve(problem, Rounds(problem, point, tol, width, violation), tol, max_iter)


def _solve(problem: Problem, rounds: Rounds, tol: float, max_iter: int) -> tuple[int, float]:
    """Take steps, and rounds where these fail; return the number of Newton steps and the violation reached."""
    (n, d), point = problem.X.shape, rounds.point
    n_near = max(n // NEAR_SHARE, NEAR_PER_FEATURE * d)
    tries = MAX_FAILED_STEPS if n >= max(LEAST_SAMPLES, 2 * n_near) else 0
    hopeful, n_iter = tries > 0 and bool(point.w.any()), 0
    while rounds.violation > tol and n_iter < max_iter and not rounds.stalled:
        if hopeful:
            # an active-set step on the samples near the margin
            steps, violation = _step(problem, point, n_near, tol, max_iter - n_iter)
            hopeful = violation < 0.5 * rounds.violation
            tries -= not hopeful
            rounds.width = min(rounds.width, violation)
            rounds.note(violation)
        else:
            # a round on all samples; the next step succeeds if fixed samples are far enough from the margin
            steps = rounds.take(max_iter - n_iter)
            hopeful = tries > 0 and STEP_RADIUS * rounds.violation <= _nearest(problem, point, n_near)[2]
        n_iter += steps
    return n_iter, rounds.return_to_best()


def _nearest(problem: Problem, point: Point, n_near: int) -> tuple[float, np.ndarray, float]:
    """Return b, the samples with the smallest ``|g - b|``, and the largest of these distances."""
    b = problem.bias(point.x, point.g)
    distance = np.abs(point.g - b)
    near = np.sort(np.argpartition(distance, n_near)[:n_near])
    return b, near, float(distance[near].max())


def _step(problem: Problem, point: Point, n_near: int, tol: float, max_iter: int) -> tuple[int, float]:
    """Solve for the samples near the margin; move if that is optimal or better. Return Newton steps and violation."""
    b, near, radius = _nearest(problem, point, n_near)
    x = problem.feasible(np.where(point.g > b, problem.upper, problem.lower), point.g)
    w = weights(problem.X, x)

    # solve for the change of x, from the weights of the point
    Z, at, lower, upper = problem.X[near], x[near], problem.lower[near], problem.upper[near]
    change = Point(np.zeros(n_near), point.g[near], point.w - w)
    part = Problem(Z, change.g - gradient(Z, np.zeros(n_near), change.w), lower - at, upper - at)
    steps, violation = _solve(part, Rounds(part, change, tol, radius, np.inf), tol, max_iter)
    if violation > tol:
        return steps, np.inf

    # measure the solution on all samples
    x[near] = np.where(change.x >= upper - at, upper, np.where(change.x <= lower - at, lower, at + change.x))
    x = problem.feasible(x, point.g)  # against rounding
    w += change.w
    g = gradient(problem.X, problem.p, w)
    violation = problem.violation(x, g)
    if violation > tol and problem.primal(w, g, problem.bias(x, g)) > problem.primal(point.w, point.g, b):
        return steps, np.inf
    point.x[:], point.g[:], point.w[:] = x, g, w
    return steps, violation if violation > tol else point.measure(problem)
