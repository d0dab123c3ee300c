"""The SVM dual of :mod:`npbench.numerics.smo` for many samples with up to a few thousand features in single precision.

As in :mod:`npbench.numerics.proximal_svm`, rounds of the proximal point method solve a problem whose hinge is rounded
over a width, by Newton steps in the weights. What differs saves passes over features and Hessians, most of the time:

- a step on all samples fixes x for those far from the margin, as in :mod:`npbench.numerics.linear_svm`, and takes
  Newton steps for the others, in an array of their own;
- it ends in a line search on all samples, which needs no pass: scores are linear along a line;
- a round of a warm start begins with a narrow width, at which few samples enter a Hessian.

Features are multiplied in single precision by BLAS, in blocks of rows whose sums are added in double precision. Where
rounding then prevents the tolerance, or Newton's method fails as it does at large costs, whose Hessians have condition
numbers beyond single precision, all products are taken in double precision. All arrays are of the library and on the
device of the features: NumPy's, or others with the functions of the array API standard, as on a GPU.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from npbench.numerics.devices import array_namespace, beside, device, is_numpy_namespace, to_numpy
from npbench.numerics.newton_steps import divide, line_search
from npbench.numerics.threads import one_blas_thread

Array = Any  # of any library with the functions of the array API standard

ROW_BLOCK = 8192  # rows whose products are summed in single precision
ROW_BLOCK_ELSEWHERE = 1 << 17  # of other libraries: on a GPU each call costs 10 microseconds, and sums are parallel
WARM_WIDTH = 0.02  # first width of a warm start, in units of the range of p
SHRINKAGE = 0.2  # factor by which the width falls after a round
NEAR_SHARES = (32, 8, 2, 1)  # one in eight samples counts as near the margin; more after a failed step
NEAR_PER_FEATURE = 4  # least number of samples near the margin per feature
RESIDUAL_SHARE = 0.1  # error of X(w - X'x) that ends Newton's method, relative to the larger of width and tolerance
MAX_NEWTON_STEPS = 30  # in a round
MAX_ROUNDS = 12  # in a step
MAX_FAILED_STEPS = 3  # after more steps without a smaller violation the search stops: rounding prevents one
WIDENING = 10.0  # factor by which the width grows where Newton's method fails
MAX_WIDENINGS = 2  # more in single precision do not help: rounding makes Newton's method fail
GOOD_LENGTH = 0.5  # a shorter step makes the next one take more samples
SLOW = 0.9  # share of the least violation so far; a step that leaves more makes the next one take more samples, too
TARGET = 0.8  # share of the tolerance that rounding, and the error of w, leave for a solution
LEAST_WIDTH = 1.0  # in units of the tolerance
MAX_BALANCE_STEPS = 100
ROUNDING = 5e-13  # of a sum, relative to its terms


class Features:
    """Products with samples X of shape (n, d), from BLAS in the precision of X, or in double precision if ``exact``.

    Blocks of rows are multiplied by ``n_threads`` threads, on whose number the result does not depend.
    """

    def __init__(self, X: Array, exact: bool = False, n_threads: int = 1) -> None:
        self.X, self.exact, self.n_threads = X, exact, n_threads
        self.xp, self.device = array_namespace(X), device(X)

    @cached_property
    def squared_norms(self) -> Array:
        """Squared norms of the samples, of shape (n,)."""
        return self._joined(lambda block, _: self.xp.sum(block * block, axis=1))

    def scores(self, w: Array) -> Array:
        """Return Xw."""
        w = self._typed(w)
        return self._joined(lambda block, _: block @ w)

    def weights(self, x: Array) -> Array:
        """Return X'x, or x'X for rows of x."""
        x = self._typed(x)
        zeros = self.xp.zeros(self.X.shape[1], dtype=self.xp.float64, device=self.device)
        return sum(self._map(lambda block, rows: x[..., rows] @ block), zeros)

    def product(self, x: np.ndarray) -> np.ndarray:
        """Return XX'x, from sums in double precision, for NumPy's arrays."""
        exact = Features(self.X, True, self.n_threads)
        return to_numpy(exact.scores(exact.weights(beside(x, self.X))))

    def divide(self, v: Array, index: Array, c: Array) -> Array:
        """Return ``H^-1 v`` for ``H = I + sum_i c_i (x_i - m)(x_i - m)'`` over some samples, with mean m weighted by c.

        O(d k min(d, k)) for k samples; for k < d, the small matrix of their products is used.
        """
        xp, k, d = self.xp, index.shape[0], v.shape[0]
        if k == 0:
            return v
        dtype = xp.float64 if k < d else self.X.dtype
        some = xp.astype(xp.take(self.X, index, axis=0), dtype, copy=False)
        some -= xp.astype(c / xp.sum(c), dtype) @ some
        some *= xp.astype(xp.sqrt(c), dtype)[:, None]
        H = xp.eye(min(k, d), dtype=xp.float64, device=self.device)
        if k < d:
            return v - some.T @ divide(H + some @ some.T, some @ v)
        blocks = Features(some, self.exact, self.n_threads)
        return divide(sum(blocks._map(lambda block, _: block.T @ block), H), v)

    def _typed(self, values: Array) -> Array:
        return values if self.exact else self.xp.astype(values, self.X.dtype, copy=False)

    def _joined(self, product: Callable[[Array, slice], Array]) -> Array:
        return self.xp.astype(self.xp.concat(list(self._map(product))), self.xp.float64)

    def _map(self, product: Callable[[Array, slice], Array]) -> Iterable[Array]:
        """Return a product with each block of rows."""
        n = self.X.shape[0]
        is_numpy = is_numpy_namespace(self.xp)
        size = ROW_BLOCK if is_numpy else ROW_BLOCK_ELSEWHERE

        def work(start: int) -> Array:
            rows = slice(start, min(start + size, n))
            block = self.X[rows, :]
            # OpenBLAS raises the flag now and then for finite samples, from lanes that it does not use
            with np.errstate(invalid="ignore"):
                return product(self.xp.astype(block, self.xp.float64) if self.exact else block, rows)

        starts = range(0, n, size)
        if self.n_threads == 1 or len(starts) == 1 or not is_numpy:
            return map(work, starts)
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(work, starts))


def floats(*values: Array) -> list[float]:
    """Return arrays of one value each as floats, from one transfer: a GPU is waited for once."""
    return to_numpy(array_namespace(*values).stack(values)).tolist()


class _Rounded:
    """The problem of one round for some samples: ``x = clip(anchor + slopes (p - Xw - b), lower, upper)``, b from w."""

    def __init__(self, lower: Array, upper: Array, reach: Array, anchor: Array, rest: float, pull: Array) -> None:
        # reach is the most that x may change; the x of the other samples sum to rest, and their weights are pull
        self.lower, self.upper, self.reach, self.anchor, self.rest, self.pull = lower, upper, reach, anchor, rest, pull
        self.b, self.width = 0.0, 1.0
        self.xp = array_namespace(lower)

    def respond(self, g: Array) -> Array:
        """Return x for ``g = p - Xw``, with the b for which all x sum to 0."""
        xp, slopes, moves = self.xp, self.reach / self.width, self.reach > 0.0
        # outside of this interval of b, all x are at their bounds
        divisors = xp.where(moves, slopes, 1.0)
        most, least, span = floats(
            xp.max(xp.where(moves, g + (self.anchor - self.lower) / divisors, -np.inf)),
            xp.min(xp.where(moves, g - (self.upper - self.anchor) / divisors, np.inf)),
            xp.sum(self.upper - self.lower),
        )
        if most == -np.inf:
            return self.anchor
        allowed, before = ROUNDING * span, np.inf
        b = min(max(self.b, least), most)
        for _ in range(MAX_BALANCE_STEPS):
            self.b, raw = b, self.anchor + slopes * (g - b)
            x = xp.minimum(xp.maximum(raw, self.lower), self.upper)
            total, slope = floats(xp.sum(x), xp.sum(xp.where(raw == x, slopes, 0.0)))
            excess = total + self.rest
            if abs(excess) <= allowed:
                break
            least, most = (b, most) if excess > 0.0 else (least, b)
            # Newton's step, or bisection if it leaves the interval or the last one did not halve the excess
            b = b + excess / slope if slope > 0.0 else np.inf
            if not least < b < most or abs(excess) > 0.5 * before:
                b = 0.5 * (least + most)
            before = abs(excess)
            if b in (least, most):
                break
        return x

    def search(self, w: Array, g: Array, direction: Array, change: Array, slope: float) -> tuple[float, Array]:
        """Return the length of a step along ``direction``, whose scores are ``change``, and x at its end."""
        x = self.anchor

        def slope_at(length: float) -> float:
            nonlocal x
            x = self.respond(g - length * change)
            return float(direction @ (w + length * direction - self.pull) - change @ x)

        return line_search(slope_at, slope), x

    def newton(self, X: Features, w: Array, g: Array, error: float) -> tuple[int, bool, Array]:
        """Take Newton steps until ``||w - X'x|| <= error``, changing w and g; return steps, success and x."""
        x = self.respond(g)
        for step in range(MAX_NEWTON_STEPS):
            residual = w - self.pull - X.weights(x)
            if float(residual @ residual) ** 0.5 <= error:
                return step, True, x
            free = self.xp.nonzero((self.lower < x) & (x < self.upper))[0]
            direction = -X.divide(residual, free, self.xp.take(self.reach, free) / self.width)
            change = X.scores(direction)
            length, x = self.search(w, g, direction, change, float(direction @ residual))
            w += length * direction
            g -= length * change
        return MAX_NEWTON_STEPS, False, x

    def violation(self, x: Array, g: Array) -> float:
        """Return the violation of the optimality conditions by x and g = p - Xw."""
        xp = self.xp
        return float(xp.max(xp.where(x < self.upper, g, -np.inf)) - xp.min(xp.where(x > self.lower, g, np.inf)))


class _Descent:
    """Steps from a point: x, and w with g = p - Xw. ``error`` is that of w for a tolerance of 1."""

    def __init__(self, rounded: _Rounded, x: Array, g: Array, w: Array, tol: float, error: float) -> None:
        self.whole, self.x, self.g, self.w, self.tol, self.error = rounded, x, g, w, tol, error
        self.violation = np.inf
        self._shares = list(NEAR_SHARES) if bool(rounded.xp.any(w != 0.0)) else [1]

    def run(self, X: Features, max_iter: int) -> int:
        """Take steps until the violation is small, or no step lowers it; return the number of Newton steps."""
        steps, failed, least = 0, 0, np.inf
        while self.violation > self.tol and failed < MAX_FAILED_STEPS and steps < max_iter:
            taken, exact = self._step(X)
            steps += taken
            if not (exact or X.exact):
                break
            failed = 0 if self.violation < SLOW * least or len(self._shares) > 1 else failed + 1
            if SLOW * least <= self.violation < np.inf and len(self._shares) > 1:
                self._shares.pop(0)
            least = min(least, self.violation)
        return max(steps, 1)

    def _step(self, X: Features) -> tuple[int, bool]:
        """Solve for the samples near the margin, then search the line to that solution on all samples."""
        whole, x = self.whole, self.whole.respond(self.g)
        near, some, part = self._near(X, x)
        xp = whole.xp
        w, g = xp.asarray(self.w, copy=True), self.g[near]
        taken, exact, x[near] = self._rounds(part, some, w, g)
        direction = w - self.w
        change = self.g - g if some is X else X.scores(direction)
        violation = whole.violation(x, self.g - change)
        whole.anchor = xp.minimum(xp.maximum(self.x, whole.lower), whole.upper)
        whole.anchor[near] = x[near]
        length = 1.0
        if violation > max(self.tol, 0.5 * self.violation if some is X else 0.0):
            slope = float(direction @ self.w - change @ whole.respond(self.g))
            length = whole.search(self.w, self.g, direction, change, slope)[0] if slope < 0.0 else 0.0
        self.w += length * direction
        self.g -= length * change
        self.x = x if length == 1.0 else whole.respond(self.g)
        # unknown between two points: there w is not X'x, which the violation by g does not show
        self.violation = whole.violation(self.x, self.g) if exact and length == 1.0 else np.inf
        if (length < GOOD_LENGTH or not exact) and len(self._shares) > 1:
            self._shares.pop(0)
        return taken, exact

    def _near(self, X: Features, x: Array) -> tuple[Array, Features, _Rounded]:
        """Return which samples are near the margin, their features, and their problem for the x of the others."""
        whole, xp, n = self.whole, self.whole.xp, x.shape[0]
        n_near = max(n // self._shares[0], NEAR_PER_FEATURE * self.w.shape[0])
        if n_near >= n:
            near, some, rest, pull = xp.ones_like(x, dtype=xp.bool), X, 0.0, xp.zeros_like(self.w)
        else:
            distance = xp.abs(self.g - whole.b)
            near = distance <= xp.sort(distance)[n_near]
            fixed = xp.where(near, 0.0, x)
            some = Features(xp.take(X.X, xp.nonzero(near)[0], axis=0), X.exact, X.n_threads)
            rest, pull = float(xp.sum(fixed)), X.weights(fixed)
        part = _Rounded(whole.lower[near], whole.upper[near], whole.reach[near], whole.anchor[near], rest, pull)
        part.b = whole.b
        return near, some, part

    def _rounds(self, part: _Rounded, X: Features, w: Array, g: Array) -> tuple[int, bool, Array]:
        """Solve a part of the problem, changing w and g; return the number of Newton steps, success and x."""
        part.width, steps, widenings = self.whole.width, 0, 0
        largest = min(part.width, self.violation)
        for _ in range(MAX_ROUNDS):
            largest = max(largest, self.tol)
            taken, exact, x = part.newton(X, w, g, RESIDUAL_SHARE * self.error * largest)
            steps += taken
            part.anchor = x
            solved = exact and part.violation(x, g) <= 0.5 * self.tol
            if solved and largest == self.tol:
                break
            if solved:
                largest = self.tol
            elif exact:
                part.width = max(SHRINKAGE * part.width, LEAST_WIDTH * self.tol)
                largest = min(part.width, largest)
            elif X.exact or widenings < MAX_WIDENINGS:
                # from the w reached, Newton's method solves the problem of a larger width
                part.width *= WIDENING
                widenings += 1
                self.whole.width, largest = max(self.whole.width, part.width), part.width
            else:
                break
        return steps, exact, x


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def solve(
    features: Features,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    p: np.ndarray | None = None,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place; return Newton steps and violation.

    Other parameters are those of :func:`npbench.numerics.linear_svm.solve`, NumPy's arrays whatever the features are.
    The start x may be far from the box: its weights X'x count, and they may be those of a part of the samples. The
    result's g is that of its x within ``tol / 10``, and the violation that of this g.
    """
    xp, X = features.xp, features.X
    low, high, start, target = (beside(values, X) for values in (lower, upper, x, g if p is None else p))
    w = features.weights(start)
    target = target + features.scores(w) if p is None else target
    # with a sum of 0, no sample can move by more than the bounds of the others allow
    reach = xp.minimum(high - low, xp.minimum(xp.sum(high), -xp.sum(low)))
    rounded = _Rounded(low, high, reach, xp.minimum(xp.maximum(start, low), high), 0.0, xp.zeros_like(w))
    spread = float(xp.max(target) - xp.min(target)) or 1.0
    rounded.width = max(WARM_WIDTH * spread if bool(xp.any(w != 0.0)) else spread, tol)
    norm = max(float(xp.max(features.squared_norms)) ** 0.5, float(np.finfo(float).tiny))  # of the largest sample
    descent = _Descent(rounded, start, target - features.scores(w), w, TARGET * tol, 1.0 / norm)
    steps = descent.run(features, max_iter)
    sizes = float(descent.w @ descent.w) ** 0.5, float(descent.x @ descent.x) ** 0.5
    rounding = xp.finfo(X.dtype).eps * norm * (sizes[0] + norm * sizes[1])
    if max(descent.violation, rounding / RESIDUAL_SHARE) > tol and steps < max_iter:
        exact = Features(X, True, features.n_threads)
        descent.g, descent.violation = target - exact.scores(descent.w), np.inf
        steps += descent.run(exact, max_iter - steps)
        if descent.violation > tol:
            descent.g = target - exact.scores(exact.weights(descent.x))
            descent.violation = rounded.violation(descent.x, descent.g)
    x[:], g[:] = to_numpy(descent.x), to_numpy(descent.g)
    return steps, descent.violation
