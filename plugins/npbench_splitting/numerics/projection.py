"""Projection onto ``{p : g_j(p) <= 0 for all j}`` for convex g_j, by outer approximation.

Haugazeau's method, as in Barlaud, Combettes and Fillatre (2015), equation (33). Each iteration has two half-spaces that
contain the set: the one with normal p_0 - p_k whose boundary contains p_k, and the one that a subgradient u of a
violated g cuts off at p_k. The next p is the projection of p_0 onto their intersection. With a = p_0 - p_k and c the
step to the second half-space, ``c = -g(p_k) u / ||u||^2``,

    e    = -c - chi / ||a||^2 a,   chi = -<a, c>     (the component of -c orthogonal to a)
    p   <- p_k + c                                   if p_k = p_0, or e = 0 and chi >= 0
    p   <- p_0 + (1 + chi / ||c||^2) c               if chi ||c||^2 >= ||a||^2 ||e||^2
    p   <- p_k - ||c||^2 / ||e||^2 e                 otherwise

where the paper's rho is ``||a||^2 ||e||^2``. If e = 0 and chi < 0, the half-spaces are disjoint, and the set is empty.

Two half-spaces approximate one smooth constraint well, but not an edge where several meet: thousands of steps may be
needed there. With all half-spaces so far kept, about ten usually suffice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.optimize import nnls

PARALLEL_SINE = 1e-13  # normals at a smaller angle count as parallel: rounding decides the sign of the rest
LENGTH_UNITS = np.array([1.0, 1e4, 1e8, 1e12])  # tried in turn by the least distance problem, in largest violations
SMALLEST_REMAINDER = 1e-6  # a smaller 1 / (1 + ||x||^2) has too few digits, and a larger unit is tried


@dataclass(frozen=True)
class Projection:
    """Result of :func:`project`."""

    point: np.ndarray
    place: Any  # constraints at the point
    gaps: list[float]  # largest g_j at each p_k, starting with p_0
    status: Literal["feasible", "max_iter", "infeasible"]  # "infeasible": the set is empty


def project(
    p_0: np.ndarray, at: Callable[[np.ndarray], Any], max_steps: int = 1000, tol: float = 0.0, keep_cuts: bool = False
) -> Projection:
    """Project a point onto ``{p : g_j(p) <= 0 for all j}``, cutting at each step with the g_j of largest excess.

    ``at(p)`` has the array ``excess`` of the g_j, and the method ``gradient(j)``.
    At every step the point is at most as far from p_0 as the set is. An excess of ``tol`` leaves it about sqrt(tol)
    from the projection itself. A step takes one evaluation of the constraints, one gradient and O(n_features). With
    ``keep_cuts``, each p is the projection onto all k half-spaces so far: O(k^2 n_features), and memory for them.
    Convergence: Bauschke and Combettes (2001), Mathematics of Operations Research 26, Corollary 6.10.
    """
    p, place = p_0, at(p_0)
    gaps = [float(place.excess.max(initial=-np.inf))]
    cut = _AllCuts(p_0).add if keep_cuts else partial(_cut_once, p_0)
    while gaps[-1] > tol:
        if len(gaps) > max_steps:
            return Projection(p, place, gaps, "max_iter")
        u = place.gradient(int(np.argmax(place.excess)))
        length = float(np.linalg.norm(u))
        following = cut(p, u / length, gaps[-1] / length) if length > 0.0 else None
        if following is None or not np.all(np.isfinite(following)):
            return Projection(p, place, gaps, "infeasible")
        p, place = following, at(following)
        gaps.append(float(place.excess.max()))
    return Projection(p, place, gaps, "feasible")


def _cut_once(p_0: np.ndarray, p: np.ndarray, normal: np.ndarray, distance: float) -> np.ndarray | None:
    """Project p_0 onto Haugazeau's half-spaces: of p, and one at a distance from p; None if they are disjoint."""
    # the three cases of the module docstring
    a, c = p_0 - p, -distance * normal
    mu, nu, chi = float(a @ a), float(c @ c), -float(a @ c)
    if mu == 0.0:
        return p + c
    e = -c - chi / mu * a
    e -= (a @ e) / mu * a  # orthogonalise twice: the first pass leaves rounding errors of the size of c
    squared_e = float(e @ e)
    if squared_e <= PARALLEL_SINE**2 * nu:
        return p + c if chi >= 0.0 else None
    if chi * nu >= mu * squared_e:
        return p_0 + (1.0 + chi / nu) * c
    return p - nu / squared_e * e


class _AllCuts:
    """All half-spaces so far, by their unit normals and distances from p_0."""

    def __init__(self, p_0: np.ndarray) -> None:
        self._p_0, self._normals, self._distances = p_0, np.empty((0, len(p_0))), np.empty(0)

    def add(self, p: np.ndarray, normal: np.ndarray, distance: float) -> np.ndarray | None:
        """Project p_0 onto all half-spaces and a new one at a distance from p; None if their intersection is empty."""
        self._normals = np.vstack([self._normals, normal])
        # distance of the new half-space from p_0
        self._distances = np.append(self._distances, normal @ (self._p_0 - p) + distance)
        if not np.all(np.isfinite(self._distances)):
            return None
        weights = polyhedron_multipliers(self._normals, self._distances)
        return None if weights is None else self._p_0 - weights @ self._normals


def polyhedron_multipliers(normals: np.ndarray, distances: np.ndarray) -> np.ndarray | None:
    """Return the m >= 0 for which ``-m @ normals`` is the shortest x with ``normals @ x <= -distances``, or None.

    ``normals`` has the shape (n_cuts, n_features), any lengths. A least distance problem, solved by nonnegative least
    squares (Lawson and Hanson 1974, chapter 23) after a QR factorisation to n_cuts coordinates. O(n_cuts^2 n_features).
    """
    if np.max(distances, initial=0.0) <= 0.0:
        return np.zeros(len(distances))
    lengths = np.linalg.norm(normals, axis=1)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    triangle = np.asarray(np.linalg.qr((normals / lengths[:, np.newaxis]).T, mode="r"))
    # the residual of this nonnegative least squares problem is parallel to (x, 1)
    target = np.append(np.zeros(len(triangle)), 1.0)
    for unit in float(np.max(distances / lengths)) * LENGTH_UNITS:
        scaled = distances / lengths / unit
        try:
            weights = nnls(np.vstack([-triangle, scaled]), target, maxiter=100 * len(scaled))[0]
        except RuntimeError:  # cycling, for cuts that are parallel up to rounding
            return None
        remainder = 1.0 - float(weights @ scaled)  # equals 1 / (1 + ||x||^2), with x in this unit
        if remainder > SMALLEST_REMAINDER:
            return np.asarray(unit * weights / remainder / lengths)
    return None
