"""The SVM dual of :mod:`npbench.numerics.smo` for many samples with up to some thousand features in single precision.

As in :mod:`npbench.numerics.proximal_svm`, rounds of the proximal point method solve a problem whose hinge is rounded
over a width, by Newton steps in the weights of the features. They differ in what they save, since a pass over the
features and a Hessian take nearly all of the time:

- a step on all samples fixes x for those far from the margin, as in :mod:`npbench.numerics.linear_svm`, and takes
  Newton steps for the others, in an array of their own;
- it ends in a line search on all samples, which needs no pass: scores are linear along a line;
- a round of a warm start begins with a narrow width, at which few samples enter a Hessian.

Features are multiplied in single precision by BLAS, in blocks of rows whose sums are added in double precision. Where
rounding then prevents the tolerance, the products are taken in double precision. All but the blocks is an expression of
whole arrays, which any library with NumPy's functions can evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from npbench.numerics.proximal_svm import divide, line_search
from npbench.numerics.threads import one_blas_thread

ROW_BLOCK = 4096  # rows whose products are summed in single precision
WARM_WIDTH = 0.05  # first width of a warm start, in units of the range of p
SHRINKAGE = 0.1  # factor by which the width falls after a round
NEAR_SHARES = (32, 8, 2, 1)  # one in eight samples counts as near the margin; more after a failed step
NEAR_PER_FEATURE = 4  # least number of samples near the margin per feature
RESIDUAL_SHARE = 0.1  # error of X(w - X'x) that ends Newton's method, relative to the larger of width and tolerance
MAX_NEWTON_STEPS = 30  # in a round
MAX_ROUNDS = 12  # in a step
MAX_FAILED_STEPS = 3  # more steps without a smaller violation are stopped: rounding prevents one
WIDENING = 10.0  # factor by which the width grows where Newton's method fails
GOOD_LENGTH = 0.5  # of a step that need not be taken with more samples
TARGET = 0.8  # share of the tolerance that rounding, and the error of w, leave for a solution
LEAST_WIDTH = 0.25  # in units of the tolerance
MAX_BALANCE_STEPS = 100
ROUNDING = 1e-14  # of a sum, relative to its terms


class Features:
    """Products with samples X of shape (n, d), from BLAS in the precision of X, or in double precision if ``exact``."""

    def __init__(self, X: np.ndarray, exact: bool = False) -> None:
        self.X, self.exact = X, exact

    def largest_norm(self) -> float:
        """Return the largest norm of a sample, positive."""
        squares = [float((block * block).sum(axis=1).max()) for _, block in self._blocks()]
        return max(float(np.sqrt(max(squares))), float(np.finfo(float).tiny))

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(self.X), ROW_BLOCK):
            rows = slice(start, start + ROW_BLOCK)
            yield rows, self.X[rows].astype(float) if self.exact else self.X[rows]

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return Xw."""
        w = w if self.exact else w.astype(self.X.dtype)
        return np.concatenate([block @ w for _, block in self._blocks()]).astype(float)

    def weights(self, x: np.ndarray) -> np.ndarray:
        """Return X'x."""
        total, x = np.zeros(self.X.shape[1]), x if self.exact else x.astype(self.X.dtype)
        for rows, block in self._blocks():
            total += x[rows] @ block
        return total

    def divide(self, v: np.ndarray, index: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return ``H^-1 v`` for ``H = I + sum_i c_i (x_i - m)(x_i - m)'`` over some samples, with mean m weighted by c.

        O(d k min(d, k)) for k samples: fewer than features give the small matrix of their products.
        """
        if len(index) == 0:
            return v
        few = len(index) < len(v)
        some = self.X[index].astype(float if few else self.X.dtype)
        some -= (c / c.sum()).astype(some.dtype) @ some
        some *= np.sqrt(c).astype(some.dtype)[:, None]
        if few:
            return v - some.T @ divide(np.eye(len(some)) + some @ some.T, some @ v)
        H = np.eye(len(v))
        for start in range(0, len(some), ROW_BLOCK):
            block = some[start : start + ROW_BLOCK]
            H += block.T @ block
        return divide(H, v)


class _Rounded:
    """The problem of one round for some of the samples, at given x of the others.

    For w and the b that follows from it, ``x = clip(anchor + slopes (p - Xw - b), lower, upper)``, as in
    :mod:`npbench.numerics.proximal_svm`. ``reach`` is the most that x may change; the x of the other samples sum to
    ``rest``, and their weights are ``pull``.
    """

    def __init__(
        self, lower: np.ndarray, upper: np.ndarray, reach: np.ndarray, anchor: np.ndarray, rest: float, pull: np.ndarray
    ) -> None:
        self.lower, self.upper, self.reach, self.anchor, self.rest, self.pull = lower, upper, reach, anchor, rest, pull
        self.b, self.width = 0.0, 1.0

    def respond(self, g: np.ndarray) -> np.ndarray:
        """Return x for ``g = p - Xw``, with the b for which all x sum to 0."""
        slopes, moves = self.reach / self.width, self.reach > 0.0
        if not moves.any():
            return self.anchor
        # outside of this interval of b, all x are at their bounds
        most = float((g + (self.anchor - self.lower) / np.where(moves, slopes, 1.0))[moves].max())
        least = float((g - (self.upper - self.anchor) / np.where(moves, slopes, 1.0))[moves].min())
        allowed, before = ROUNDING * float((self.upper - self.lower).sum()), np.inf
        b = min(max(self.b, least), most)
        for _ in range(MAX_BALANCE_STEPS):
            self.b, raw = b, self.anchor + slopes * (g - b)
            x = np.minimum(np.maximum(raw, self.lower), self.upper)
            excess = float(x.sum()) + self.rest
            if abs(excess) <= allowed:
                break
            least, most = (b, most) if excess > 0.0 else (least, b)
            # Newton's step, or bisection if it leaves the interval or the last one did not halve the excess
            slope = float(slopes[raw == x].sum())
            b = b + excess / slope if slope > 0.0 else np.inf
            if not least < b < most or abs(excess) > 0.5 * before:
                b = 0.5 * (least + most)
            before = abs(excess)
            if b in (least, most):
                break
        return x

    def search(
        self, w: np.ndarray, g: np.ndarray, direction: np.ndarray, change: np.ndarray, slope: float
    ) -> tuple[float, np.ndarray]:
        """Return the length of a step along ``direction``, whose scores are ``change``, and x at its end."""
        x = self.anchor

        def slope_at(length: float) -> float:
            nonlocal x
            x = self.respond(g - length * change)
            return float(direction @ (w + length * direction - self.pull) - change @ x)

        return line_search(slope_at, slope), x

    def newton(self, X: Features, w: np.ndarray, g: np.ndarray, error: float) -> tuple[int, bool, np.ndarray]:
        """Take Newton steps until ``||w - X'x|| <= error``, changing w and g; return steps, success and x."""
        x = self.respond(g)
        for step in range(MAX_NEWTON_STEPS):
            residual = w - self.pull - X.weights(x)
            if np.linalg.norm(residual) <= error:
                return step, True, x
            free = np.flatnonzero((self.lower < x) & (x < self.upper))
            direction = -X.divide(residual, free, self.reach[free] / self.width)
            change = X.scores(direction)
            length, x = self.search(w, g, direction, change, float(direction @ residual))
            w += length * direction
            g -= length * change
        return MAX_NEWTON_STEPS, False, x

    def violation(self, x: np.ndarray, g: np.ndarray) -> float:
        """Return the violation of the optimality conditions by x and g = p - Xw."""
        return float(np.where(x < self.upper, g, -np.inf).max() - np.where(x > self.lower, g, np.inf).min())


class _Descent:
    """Steps from a point: x, and w with g = p - Xw, changed in place. ``error`` is that of w for a tolerance of 1."""

    def __init__(
        self, rounded: _Rounded, x: np.ndarray, g: np.ndarray, w: np.ndarray, tol: float, error: float
    ) -> None:
        self.whole, self.x, self.g, self.w, self.tol, self.error = rounded, x, g, w, tol, error
        self.violation = np.inf
        self._shares = list(NEAR_SHARES) if w.any() else [1]

    def run(self, X: Features, max_iter: int) -> int:
        """Take steps until the violation is small, or no step lowers it; return the number of Newton steps."""
        steps, failed = 0, 0
        while self.violation > self.tol and failed < MAX_FAILED_STEPS and steps < max_iter:
            before = self.violation
            steps += self._step(X)
            failed = failed + 1 if self.violation > 0.9 * before and len(self._shares) == 1 else 0
        return max(steps, 1)

    def _step(self, X: Features) -> int:
        """Solve for the samples near the margin, then search the line to that solution on all samples."""
        whole, x = self.whole, self.whole.respond(self.g)
        near, some, part = self._near(X, x)
        w, g = self.w.copy(), self.g[near]
        taken, x[near] = self._rounds(part, some, w, g)
        direction = w - self.w
        change = self.g - g if some is X else X.scores(direction)
        violation = whole.violation(x, self.g - change)
        whole.anchor = np.minimum(np.maximum(self.x, whole.lower), whole.upper)
        whole.anchor[near] = x[near]
        length = 1.0
        if violation > max(self.tol, 0.5 * self.violation if some is X else 0.0):
            slope = float(direction @ self.w - change @ whole.respond(self.g))
            length = whole.search(self.w, self.g, direction, change, slope)[0] if slope < 0.0 else 0.0
        self.w += length * direction
        self.g -= length * change
        self.x[:] = x if length == 1.0 else whole.respond(self.g)
        self.violation = whole.violation(self.x, self.g)
        if length < GOOD_LENGTH and len(self._shares) > 1:
            self._shares.pop(0)
        return taken

    def _near(self, X: Features, x: np.ndarray) -> tuple[np.ndarray, Features, _Rounded]:
        """Return the samples near the margin, their features, and their problem for the x of the others."""
        whole, n = self.whole, len(x)
        n_near = max(n // self._shares[0], NEAR_PER_FEATURE * len(self.w))
        if n_near >= n:
            near, some, rest, pull = np.arange(n), X, 0.0, np.zeros_like(self.w)
        else:
            distance = np.abs(self.g - whole.b)
            near = np.flatnonzero(distance <= np.sort(distance)[n_near])
            fixed = x.copy()
            fixed[near] = 0.0
            some, rest, pull = Features(X.X[near], X.exact), float(fixed.sum()), X.weights(fixed)
        part = _Rounded(whole.lower[near], whole.upper[near], whole.reach[near], whole.anchor[near], rest, pull)
        part.b = whole.b
        return near, some, part

    def _rounds(self, part: _Rounded, X: Features, w: np.ndarray, g: np.ndarray) -> tuple[int, np.ndarray]:
        """Solve a part of the problem, changing w and g; return the number of Newton steps, and x."""
        part.width, steps = self.whole.width, 0
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
            elif not exact:
                # from the w reached, Newton's method solves the problem of a larger width
                part.width *= WIDENING
                self.whole.width, largest = max(self.whole.width, part.width), part.width
            else:
                part.width = max(SHRINKAGE * part.width, LEAST_WIDTH * self.tol)
                largest = min(part.width, largest)
        return steps, x


@one_blas_thread()  # the last digit of the result must not depend on the number of threads
def solve(
    X: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    p: np.ndarray | None = None,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place; return Newton steps and violation.

    Parameters are those of :func:`npbench.numerics.linear_svm.solve`. The start x may be far from the box: its
    weights X'x count, and they may be those of a part of the samples. The result's g is that of its x within
    ``tol / 10``, and the violation that of this g.
    """
    features = Features(X)
    w = features.weights(x)
    p = g + features.scores(w) if p is None else p
    g[:] = p - features.scores(w)
    # with a sum of 0, no sample can move by more than the bounds of the others allow
    reach = np.minimum(upper - lower, min(float(upper.sum()), -float(lower.sum())))
    rounded = _Rounded(lower, upper, reach, np.minimum(np.maximum(x, lower), upper), 0.0, np.zeros_like(w))
    spread = float(p.max() - p.min()) or 1.0
    rounded.width = max(WARM_WIDTH * spread if w.any() else spread, tol)
    norm = features.largest_norm()
    descent = _Descent(rounded, x, g, w, TARGET * tol, 1.0 / norm)
    steps = descent.run(features, max_iter)
    rounding = np.finfo(X.dtype).eps * norm * (np.linalg.norm(w) + norm * np.linalg.norm(x))
    if max(descent.violation, rounding / RESIDUAL_SHARE) > tol and steps < max_iter:
        features.exact, descent.violation = True, np.inf
        g[:] = p - features.scores(w)
        steps += descent.run(features, max_iter - steps)
    return steps, descent.violation
