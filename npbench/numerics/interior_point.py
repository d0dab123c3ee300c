"""Primal-dual interior point method for the SVM dual, for problems on which SMO converges slowly.

It solves the problem of :mod:`npbench.numerics.smo` with K replaced by a pivoted Cholesky factor ``L'L`` of low rank
r (Fine and Scheinberg 2001): smooth kernels in few dimensions and linear kernels have r far below n. With Mehrotra's
predictor and corrector, iterations cost O(n r^2) each. Their number (20 to 40) hardly depends on the costs, while SMO
needs millions of steps for high costs. If r is not small, K + D is factored.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from npbench.numerics.threads import one_blas_thread

Array = np.ndarray
Solve = Callable[[Array], Array]

MAX_ITERATIONS = 100
STEP_TO_BOUNDARY = 0.995  # longest step, as a share of the way to the nearest bound
START_DISTANCE = 1e-4  # least distance of a starting variable from its bounds, relative to their difference


def pivoted_cholesky(K: Array, tol: float, max_rank: int) -> Array | None:
    """Return L of shape (rank, n) with ``max |K - L'L| <= tol * max diag(K)``, or None above rank ``max_rank``.

    O(n rank^2) operations; rank rows of K are read (Harbrecht, Peters and Schneider 2012).
    """
    n = len(K)
    residual = K.diagonal().copy()
    enough = tol * residual.max()
    L = np.empty((min(max_rank, n), n))
    for k in range(len(L)):
        # eliminate the sample with the largest remaining diagonal
        pivot = int(np.argmax(residual))
        if residual[pivot] <= enough:
            return L[:k]
        L[k] = (K[pivot] - L[:k, pivot] @ L[:k]) / np.sqrt(residual[pivot])
        residual -= L[k] ** 2
    return L if residual.max() <= enough else None


def _solver(K: Array, L: Array | None, D: Array) -> Solve:
    """Return the solver of ``(K + diag(D)) z = r``; if L has K = L'L, by the Sherman-Morrison-Woodbury formula."""
    if L is None:
        shifted = K.copy()
        shifted.flat[:: len(K) + 1] += D
        whole = cho_factor(shifted, overwrite_a=True, check_finite=False)
        return lambda r: cho_solve(whole, r, check_finite=False)
    scaled = L / np.sqrt(D)
    inner = cho_factor(np.eye(len(L)) + scaled @ scaled.T, overwrite_a=True, check_finite=False)

    def once(r: Array) -> Array:
        return (r - cho_solve(inner, L @ (r / D), check_finite=False) @ L) / D

    def refined(r: Array) -> Array:
        z = once(r)  # loses digits where D is small; one refinement step restores them
        return z + once(r - D * z - (L @ z) @ L)

    return refined


@one_blas_thread()  # for n = 4600 and r = 300, two threads took three times as long
def solve(K: Array, p: Array, lower: Array, upper: Array, x: Array, tol: float = 1e-10) -> Array:
    """Return the x that maximises ``p'x - x'Kx/2`` subject to ``lower <= x <= upper`` and an unchanged sum.

    Starts at a feasible x; needs ``lower < upper``. ``tol`` is the relative duality gap; if rounding prevents it, the
    best iterate is returned, to be certified. O(n r^2) per iteration for numerical rank r below n/3, else O(n^3).
    """
    # a factor of low rank makes an iteration cheap; else K + D is factored
    L = pivoted_cholesky(K, 1e-14, max_rank=len(p) // 3)
    total, width = x.sum(), upper - lower
    x = np.clip(x, lower + START_DISTANCE * width, upper - START_DISTANCE * width)
    # multipliers of the bounds that balance g - b, moved away from 0
    g = p - K @ x
    b = float(np.median(g))
    w, v = np.maximum(b - g, 0.0), np.maximum(g - b, 0.0)  # multipliers of the lower and upper bounds
    away = max(float(np.mean(w + v)), 1e-8)
    w, v = w + away, v + away
    best, least = x, np.inf
    for _ in range(MAX_ITERATIONS):
        # errors of the current iterate; keep the best
        s, t = x - lower, upper - x
        gap = s @ w + t @ v
        residual, missing = p - K @ x - b + w - v, total - x.sum()
        error = (gap + np.abs(residual) @ width) / max(abs(p @ x), 1e-300)
        if error < least:
            best, least = x, error
        if not tol < error <= 100 * least or min(s.min(), t.min()) <= 0:  # converged, or rounding dominates
            break

        # predictor step
        try:
            newton = _newton(_solver(K, L, w / s + v / t), s, t, w, v, residual, missing)
        except np.linalg.LinAlgError:
            break
        dx, _, dw, dv = newton(-s * w, -t * v)
        step = _longest((s, dx), (t, -dx), (w, dw), (v, dv))

        # corrector step
        predicted = (s + step * dx) @ (w + step * dw) + (t - step * dx) @ (v + step * dv)
        centre = (predicted / gap) ** 3 * gap / (2 * len(p))
        dx, db, dw, dv = newton(centre - s * w - dx * dw, centre - t * v + dx * dv)
        step = STEP_TO_BOUNDARY * _longest((s, dx), (t, -dx), (w, dw), (v, dv))
        x, b, w, v = x + step * dx, b + step * db, w + step * dw, v + step * dv
    return np.clip(best, lower, upper)


def _newton(
    solve_shifted: Solve, s: Array, t: Array, w: Array, v: Array, residual: Array, missing: float
) -> Callable[[Array, Array], tuple[Array, float, Array, Array]]:
    """Return the map from the target changes of ``s w`` and ``t v`` to the Newton direction (dx, db, dw, dv)."""
    ones = solve_shifted(np.ones(len(s)))

    def direction(r_s: Array, r_t: Array) -> tuple[Array, float, Array, Array]:
        free = solve_shifted(residual + r_s / s - r_t / t)
        db = (free.sum() - missing) / ones.sum()
        dx = free - db * ones
        return dx, db, (r_s - w * dx) / s, (r_t + v * dx) / t

    return direction


def _longest(*pairs: tuple[Array, Array]) -> float:
    """Return the longest step in [0, 1] along which all variables stay nonnegative."""
    longest = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            longest = min(longest, float(np.min(-value[falling] / change[falling])))
    return longest
