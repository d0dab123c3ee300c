"""Sequential minimal optimisation for the SVM dual with a box of its own for every sample.

The problem, in signed multipliers x_i (= y_i a_i in the usual notation):

    maximise  D(x) = p'x - 1/2 x'Kx    subject to  sum(x) = 0,  lower <= x <= upper

whose primal is, with f_0 = Kx and h_i(t) = max(lower_i t, upper_i t),

    minimise  P(f_0, b) = 1/2 ||f_0||^2 + sum_i h_i(p_i - f_0(x_i) - b).

With ``g = p - Kx`` the Karush-Kuhn-Tucker conditions read ``g_i <= b`` where x_i < upper_i and ``g_i >= b`` where
x_i > lower_i; the violation is the largest g of the former less the smallest g of the latter. Each step moves the
pair chosen by the second-order rule of Fan, Chen and Lin (2005, WSS 2) to its optimum.

What bounds a step is memory: the rows of two samples and the vectors g, diagonal and bounds, once each. So steps run
on a compact copy of the Gram matrix of the samples that are not settled at a bound (after Joachims 1999), and both
passes are written so that they vectorise: a maximum is kept in each of LANES lanes, and its place is looked up
afterwards. On badly conditioned problems SMO creeps; past a budget :mod:`npbench.numerics.interior` takes over.

All kernels stand in this one file: Numba's cache does not notice a change in another file.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from npbench.numerics import interior
from npbench.numerics.gram import Gram

LANES = 64
# SMO steps per sample before each call of the interior point method, and whether that call takes every sample.
RESCUES = ((50, False), (5, False), (5, False), (5, True), (10, True))
BLOCK = 2000  # samples worked on at a time when the Gram matrix is beyond its budget
FAR = 1e300  # stands for infinity: fastmath forbids the real one
FLOOR = 1e-12  # least curvature of a pair, relative to the largest diagonal entry
SOUND, NOT_FINITE, INFEASIBLE = range(3)
FAST = {"reassoc", "nnan", "nsz", "contract", "arcp"}  # not ninf; NaN is refused at the door


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _partner(g, low, diagonal, row, g_i, d_i, floor, best):
    """Return the j that gains most from the pair (i, j): largest (g_i - g_j)^2 / (K_ii + K_jj - 2 K_ij)."""
    n = g.shape[0]
    best[:] = 0.0
    for start in range(0, n, LANES):
        g_s, low_s, diagonal_s, row_s = (
            g[start : start + LANES],
            low[start : start + LANES],
            diagonal[start : start + LANES],
            row[start : start + LANES],
        )
        for k in range(g_s.shape[0]):
            drop = g_i - g_s[k] - low_s[k]
            drop = drop if drop > 0.0 else 0.0
            curvature = d_i + diagonal_s[k] - 2.0 * row_s[k]
            curvature = curvature if curvature > floor else floor
            gain = drop * drop / curvature
            best[k] = gain if gain > best[k] else best[k]
    lane = np.argmax(best)
    j, most = -1, 0.0
    for t in range(lane, n, LANES):
        drop = g_i - g[t] - low[t]
        if drop > 0.0:
            gain = drop * drop / max(d_i + diagonal[t] - 2.0 * row[t], floor)
            if gain > most:
                j, most = t, gain
    return j


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def _move(g, row_i, row_j, step, up, low, most, least):
    """Set g -= step (K_i - K_j); return the next i, its g and the smallest g that may decrease."""
    n = g.shape[0]
    most[:] = -FAR
    least[:] = FAR
    for start in range(0, n, LANES):
        g_s, up_s, low_s, i_s, j_s = (
            g[start : start + LANES],
            up[start : start + LANES],
            low[start : start + LANES],
            row_i[start : start + LANES],
            row_j[start : start + LANES],
        )
        for k in range(g_s.shape[0]):
            value = g_s[k] - step * (i_s[k] - j_s[k])
            g_s[k] = value
            rising, falling = value + up_s[k], value + low_s[k]
            most[k] = rising if rising > most[k] else most[k]
            least[k] = falling if falling < least[k] else least[k]
    lane = np.argmax(most)
    i, g_i = 0, -FAR
    for t in range(lane, n, LANES):
        if g[t] + up[t] > g_i:
            i, g_i = t, g[t] + up[t]
    return i, g_i, least.min()


@njit(cache=True, nogil=True, error_model="numpy")
def _steps(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Run SMO steps on x and g in place until the violation is at most ``tol``; return their number."""
    up = np.where(x < upper, 0.0, -FAR)  # added to g, it bars those that cannot rise
    low = np.where(x > lower, 0.0, FAR)  # and those that cannot fall
    lanes = np.empty((2, LANES))
    floor = FLOOR * max(diagonal.max(), 1e-300)
    i, g_i, g_low = _move(g, K[0], K[0], 0.0, up, low, lanes[0], lanes[1])
    for iteration in range(max_iter):
        if g_i - g_low <= tol:
            return iteration
        j = _partner(g, low, diagonal, K[i], g_i, diagonal[i], floor, lanes[0])
        if j < 0:
            return iteration
        room_i, room_j = upper[i] - x[i], x[j] - lower[j]
        step = min((g_i - g[j]) / max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], floor), room_i, room_j)
        # A bound that is reached is reached exactly, or rounding would leave a hair of room for ever.
        x[i] = upper[i] if step >= room_i else x[i] + step
        x[j] = lower[j] if step >= room_j else x[j] - step
        up[i], low[i] = (0.0 if x[i] < upper[i] else -FAR), 0.0
        low[j], up[j] = (0.0 if x[j] > lower[j] else FAR), 0.0
        i, g_i, g_low = _move(g, K[i], K[j], step, up, low, lanes[0], lanes[1])
    return max_iter


@njit(cache=True, nogil=True, error_model="numpy")
def _ends(x, g, lower, upper):
    """Return the largest g of the samples that may rise and the smallest g of those that may fall."""
    high, low = -FAR, FAR
    for i in range(x.shape[0]):
        if x[i] < upper[i] and g[i] > high:
            high = g[i]
        if x[i] > lower[i] and g[i] < low:
            low = g[i]
    return high, low


@njit(cache=True, nogil=True, error_model="numpy")
def _unsettled(x, g, lower, upper, high, low):
    """Return the samples that are not held at a bound by their gradient."""
    keep = np.empty(x.shape[0], np.int64)
    count = 0
    for i in range(x.shape[0]):
        at_upper, at_lower = x[i] >= upper[i], x[i] <= lower[i]
        if not ((at_upper and (at_lower or g[i] > high)) or (at_lower and g[i] < low)):
            keep[count] = i
            count += 1
    return keep[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def _compact_steps(K, diagonal, lower, upper, x, g, tol, max_iter, keep):
    """Run :func:`_steps` on the samples ``keep`` alone, then bring g up to date."""
    m = keep.shape[0]
    block = np.empty((m, m))
    for r in range(m):
        row = K[keep[r]]
        for c in range(m):
            block[r, c] = row[keep[c]]
    before, x_keep = x[keep], x[keep]
    done = _steps(block, diagonal[keep], lower[keep], upper[keep], x_keep, g[keep], tol, max_iter)
    for r in range(m):
        if x_keep[r] != before[r]:
            x[keep[r]] = x_keep[r]
            _subtract(g, K[keep[r]], x_keep[r] - before[r])
    return done


@njit(cache=True, nogil=True, fastmath=FAST)
def _subtract(g, row, step):
    for k in range(g.shape[0]):
        g[k] -= step * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _optimise(K, diagonal, lower, upper, x, g, tol, max_iter):
    """Take SMO steps, on the unsettled samples alone once they are few; return (steps, violation)."""
    n = x.shape[0]
    done = 0
    while True:
        high, low = _ends(x, g, lower, upper)
        if high - low <= tol or done >= max_iter:
            return done, high - low
        keep = _unsettled(x, g, lower, upper, high, low)
        if 2 * keep.shape[0] <= n:
            budget = min(max(1000, 10 * keep.shape[0]), max_iter - done)
            done += max(_compact_steps(K, diagonal, lower, upper, x, g, tol, budget, keep), 1)
        else:
            budget = min(max(n // 2, 100), max_iter - done)
            done += max(_steps(K, diagonal, lower, upper, x, g, tol, budget), 1)


@njit(cache=True, nogil=True, error_model="numpy")
def _fault(lower, upper, x, g):
    total, least, most, ordered = 0.0, 0.0, 0.0, True
    for i in range(x.shape[0]):
        total += x[i] + g[i]
        least += lower[i]
        most += upper[i]
        ordered &= lower[i] <= upper[i]
    if not np.isfinite(total + least + most):
        return NOT_FINITE
    slack = 1e-9 * (most - least)
    return SOUND if ordered and least <= slack and most >= -slack else INFEASIBLE


@njit(cache=True, nogil=True, error_model="numpy")
def _feasible(lower, upper, x, g):
    """Return x clipped into the box, with sum(x) = 0 restored where that costs least."""
    x = np.minimum(np.maximum(x, lower), upper)
    total = x.sum()
    if total != 0.0:
        # Falling costs g (so smallest first), rising earns it (so largest first).
        for i in np.argsort(g if total > 0.0 else -g):
            room = x[i] - lower[i] if total > 0.0 else x[i] - upper[i]
            if abs(room) >= abs(total):
                x[i] -= total
                break
            x[i] -= room
            total -= room
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def _fit_into_box(K, lower, upper, x, g):
    """Make x feasible, keeping g = p - Kx."""
    feasible = _feasible(lower, upper, x, g)
    for i in range(x.shape[0]):
        if x[i] != feasible[i]:
            _subtract(g, K[i], feasible[i] - x[i])
            x[i] = feasible[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _bias(x, g, lower, upper):
    high, low = _ends(x, g, lower, upper)
    if high == -FAR or low == FAR:  # nothing may rise, or nothing may fall: b has one finite end, or none
        return low if low < FAR else (high if high > -FAR else 0.0)
    first, last = min(high, low), max(high, low)
    inside = np.empty(x.shape[0], np.int64)
    count = 0
    slope, scale = 0.0, 0.0  # slope of sum_i h_i(g_i - b) just below b = first
    for i in range(x.shape[0]):
        slope -= upper[i] if g[i] >= first else lower[i]
        scale += upper[i] - lower[i]
        if first <= g[i] <= last:
            inside[count] = i
            count += 1
    inside = inside[:count][np.argsort(g[inside[:count]])]
    for r in range(count):
        i = inside[r]
        slope += upper[i] - lower[i]
        if slope > 1e-12 * scale:
            return g[i]
        if slope >= -1e-12 * scale and r + 1 < count:  # flat up to the next sample: the middle
            following = g[inside[r + 1]]
            if following > g[i]:
                return 0.5 * (g[i] + following)
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(x, g, lower, upper, b):
    gap = 0.0
    for i in range(x.shape[0]):
        slack = g[i] - b
        gap += max((upper[i] - x[i]) * slack, (lower[i] - x[i]) * slack)
    return gap


def solve(
    gram: Gram,
    lower: np.ndarray,
    upper: np.ndarray,
    x: np.ndarray,
    g: np.ndarray,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
) -> tuple[int, float]:
    """Maximise D over the box, starting from and changing x and g in place.

    Parameters
    ----------
    gram : Gram
        Of n samples, symmetric positive semi-definite.
    lower, upper : arrays of shape (n,)
        Bounds, ``lower <= upper``, with ``sum(lower) <= 0 <= sum(upper)``. Equal bounds fix a variable.
    x : array of shape (n,)
        Where to start; it need not be feasible for these bounds. Zeros are a cold start.
    g : array of shape (n,)
        ``p - K x`` for that x; for a cold start, a copy of p.
    tol : float
        Largest violation of the optimality conditions, in units of g; positive.
    max_iter : int
        Most steps to take.

    Returns
    -------
    n_iter : int
        SMO steps taken.
    violation : float
        The violation reached; larger than ``tol`` only if ``max_iter`` or rounding stopped the method.

    Raises
    ------
    ValueError
        If the box holds no point with sum 0, or an input is not finite.

    Notes
    -----
    A step costs O(m) for m unsettled samples. When 50 steps per sample have not sufficed, the interior point method
    is called, first on the unsettled samples, then on all, and SMO finishes from its answer. A Gram matrix beyond its
    budget is worked through in blocks of samples (Joachims 1999), without the interior point method.
    """
    _check(lower, upper, x, g)
    if gram.whole is None:
        return _solve_in_blocks(gram, lower, upper, x, g, tol, max_iter)
    K, diagonal = gram.whole, gram.whole.diagonal().copy()
    _fit_into_box(K, lower, upper, x, g)
    n_iter = 0
    for patience, whole in RESCUES:
        budget = min(patience * len(x), max_iter - n_iter)
        steps, violation = _optimise(K, diagonal, lower, upper, x, g, tol, budget)
        n_iter += steps
        if violation <= tol or n_iter >= max_iter:
            return n_iter, violation
        _interior_step(K, lower, upper, x, g, whole)
    steps, violation = _optimise(K, diagonal, lower, upper, x, g, tol, max_iter - n_iter)
    return n_iter + steps, violation


def _check(lower: np.ndarray, upper: np.ndarray, x: np.ndarray, g: np.ndarray) -> None:
    fault = _fault(lower, upper, x, g)
    if fault == NOT_FINITE:
        raise ValueError("the bounds, x and g must be finite: a NaN or infinity was passed in.")
    if fault == INFEASIBLE:
        raise ValueError("the box is infeasible: it needs lower <= upper and sum(lower) <= 0 <= sum(upper).")


def _interior_step(
    K: np.ndarray, lower: np.ndarray, upper: np.ndarray, x: np.ndarray, g: np.ndarray, whole: bool
) -> None:
    """Replace x, or its unsettled part alone, by the answer of the interior point method."""
    keep = np.arange(len(x)) if whole else _unsettled(x, g, lower, upper, *_ends(x, g, lower, upper))
    keep = keep[lower[keep] < upper[keep]]
    block = K if len(keep) == len(x) else K[np.ix_(keep, keep)]
    answer = interior.solve(block, g[keep] + block @ x[keep], lower[keep], upper[keep], x[keep])
    change = np.zeros_like(x)
    change[keep] = answer - x[keep]
    x += change
    g -= K @ change
    _fit_into_box(K, lower, upper, x, g)


def _solve_in_blocks(
    gram: Gram, lower: np.ndarray, upper: np.ndarray, x: np.ndarray, g: np.ndarray, tol: float, max_iter: int
) -> tuple[int, float]:
    _move_to(gram, _feasible(lower, upper, x, g), x, g)
    n_iter = 0
    while True:
        high, low = _ends(x, g, lower, upper)
        if high - low <= tol or n_iter >= max_iter:
            return n_iter, high - low
        rising = np.where(x < upper, g, -np.inf)
        falling = np.where(x > lower, g, np.inf)
        half = min(BLOCK // 2, len(x) // 2)
        keep = np.union1d(np.argpartition(rising, -half)[-half:], np.argpartition(falling, half - 1)[:half])
        block = np.ascontiguousarray(gram.rows(keep)[:, keep])
        part, g_part = x[keep], g[keep]
        steps, _ = _optimise(
            block, block.diagonal().copy(), lower[keep], upper[keep], part, g_part, 0.5 * tol, max_iter - n_iter
        )
        n_iter += max(steps, 1)
        target = x.copy()
        target[keep] = part
        _move_to(gram, target, x, g)


def _move_to(gram: Gram, target: np.ndarray, x: np.ndarray, g: np.ndarray) -> None:
    changed = np.flatnonzero(target != x)
    for start in range(0, len(changed), BLOCK):
        some = changed[start : start + BLOCK]
        g -= (target[some] - x[some]) @ gram.rows(some)
    x[changed] = target[changed]


def bias(x: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the b that minimises ``sum_i max(lower_i (g_i - b), upper_i (g_i - b))``, exactly.

    Where an interval of b is optimal its middle is returned (its finite end if it has only one), and 0 where every
    b is. O(n), and a sort of the few g inside the violation of the optimality conditions.
    """
    return float(_bias(x, g, lower, upper))


def duality_gap(x: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray, b: float) -> float:
    """Return P - D at feasible x and at b: ``sum_i max((upper_i - x_i)(g_i - b), (lower_i - x_i)(g_i - b))``. O(n)."""
    return float(_gap(x, g, lower, upper, b))
