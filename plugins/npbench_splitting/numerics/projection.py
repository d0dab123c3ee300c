"""Projection onto the points where several convex functions are at most zero, by outer approximation.

Haugazeau's method, as in Barlaud, Combettes and Fillatre (2015), equation (33). Two half-spaces contain the set at any
time: that of points which are no nearer to p_0 than the present p_k allows, of which p_k is the projection of p_0, and
the one that a subgradient u of a violated function g cuts off at p_k. The next p is the projection of p_0 onto both.
With a = p_0 - p_k and c the step to the second half-space, ``c = -g(p_k) u / ||u||^2``,

    e    = -c - chi / ||a||^2 a,   chi = -<a, c>     (the part of -c at right angles to a)
    p   <- p_k + c                                   if p_k = p_0, or e = 0 and chi >= 0
    p   <- p_0 + (1 + chi / ||c||^2) c               if chi ||c||^2 >= ||a||^2 ||e||^2
    p   <- p_k - ||c||^2 / ||e||^2 e                 otherwise

where the paper's rho is ``||a||^2 ||e||^2``. If e = 0 and chi < 0, the half-spaces have no point in common, and the set
is empty.

Two half-spaces describe the neighbourhood of one smooth constraint, but hardly an edge where several meet: thousands of
steps may be needed there. If all half-spaces cut off so far are kept, some ten are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
from scipy.optimize import nnls

PARALLEL = 1e-13  # sine of the angle below which rounding decides whether the half-spaces' normals are parallel
UNITS = np.array([1.0, 1e4, 1e8, 1e12])  # of length, in largest violations, that are tried for projecting onto cuts
SHORT = 1e-6  # of a length in a unit, below which it has no digits left in the next


class Place(Protocol):
    """The constraints at a point, as far as projecting needs them."""

    @property
    def excess(self) -> np.ndarray:
        """The values g_j there; the point is in the set where none is positive."""

    def gradient(self, j: int) -> np.ndarray:
        """Return a subgradient of g_j there."""


P = TypeVar("P", bound=Place)
P_co = TypeVar("P_co", bound=Place, covariant=True)


class Constraints(Protocol[P_co]):
    """Convex functions g_j, whose common sublevel set at 0 is projected onto."""

    def at(self, p: np.ndarray) -> P_co:
        """Return the constraints at p."""


@dataclass(frozen=True)
class Projection(Generic[P]):
    """What :func:`project` returns.

    Parameters
    ----------
    point : array of shape (n_features,)
        The last p.
    place : Place
        The constraints there.
    gaps : list of float
        The largest of the g_j at each p_k, that of the point projected first.
    status : {"feasible", "max_iter", "infeasible"}
        Whether the point meets the constraints, and if not, whether ``max_steps`` was too few or the set is empty.
    """

    point: np.ndarray
    place: P
    gaps: list[float]
    status: Literal["feasible", "max_iter", "infeasible"]

    @property
    def steps(self) -> int:
        """Number of cuts."""
        return len(self.gaps) - 1


def project(
    p_0: np.ndarray, constraints: Constraints[P], max_steps: int = 1000, tol: float = 0.0, *, keep_cuts: bool = False
) -> Projection[P]:
    """Project a point onto ``{p : g_j(p) <= 0 for all j}``.

    Parameters
    ----------
    p_0 : array of shape (n_features,)
        The point.
    constraints : Constraints
        The g_j. Of several that are violated, the one with the largest excess is cut with.
    max_steps : int
        Most cuts.
    tol : float
        Excess that is taken to be none. All p_k but the last lie outside the set, and approach it.
    keep_cuts : bool
        Whether each p is the projection of p_0 onto all half-spaces cut off so far, not only onto Haugazeau's two.

    Returns
    -------
    Projection
        No further from p_0 than the set is, at any step. An excess of e leaves the point about sqrt(e) from the
        projection itself.

    Notes
    -----
    A step takes one evaluation of the constraints, one gradient and O(n_features); with k cuts kept, O(k^2 n_features)
    and memory for them.

    References
    ----------
    H. H. Bauschke, P. L. Combettes (2001), A weak-to-strong convergence principle for Fejer-monotone methods in Hilbert
    spaces, Mathematics of Operations Research 26, Corollary 6.10.

    Examples
    --------
    The nearest point of a disc:

    >>> from types import SimpleNamespace
    >>> def disc(p):
    ...     return SimpleNamespace(excess=np.array([p @ p - 1.0]), gradient=lambda j: 2.0 * p)
    >>> project(np.array([3.0, 4.0]), SimpleNamespace(at=disc), tol=1e-12).point.round(6)
    array([0.6, 0.8])
    """
    p, place = p_0, constraints.at(p_0)
    gaps = [float(place.excess.max(initial=-np.inf))]
    cuts = _AllCuts(p_0) if keep_cuts else _TwoCuts(p_0)
    while gaps[-1] > tol:
        if len(gaps) > max_steps:
            return Projection(p, place, gaps, "max_iter")
        u = place.gradient(int(np.argmax(place.excess)))
        length = float(np.linalg.norm(u))
        following = cuts.add(p, u / length, gaps[-1] / length) if length > 0.0 else None
        if following is None or not np.all(np.isfinite(following)):
            return Projection(p, place, gaps, "infeasible")
        p, place = following, constraints.at(following)
        gaps.append(float(place.excess.max()))
    return Projection(p, place, gaps, "feasible")


class _TwoCuts:
    """Haugazeau's half-spaces."""

    def __init__(self, p_0: np.ndarray) -> None:
        self._p_0 = p_0

    def add(self, p: np.ndarray, normal: np.ndarray, distance: float) -> np.ndarray | None:
        """Return the projection of p_0 onto that of p and one at a distance from it, None if they are disjoint."""
        a, c = self._p_0 - p, -distance * normal
        mu, nu, chi = float(a @ a), float(c @ c), -float(a @ c)
        if mu == 0.0:
            return p + c
        e = -c - chi / mu * a
        e -= (a @ e) / mu * a  # again, as the first time leaves rounding of the size of c
        apart = float(e @ e)
        if apart <= PARALLEL**2 * nu:
            return p + c if chi >= 0.0 else None
        if chi * nu >= mu * apart:
            return self._p_0 + (1.0 + chi / nu) * c
        return p - nu / apart * e


class _AllCuts:
    """Every half-space so far, by its unit normal and its distance from p_0."""

    def __init__(self, p_0: np.ndarray) -> None:
        self._p_0, self._normals, self._distances = p_0, np.empty((0, len(p_0))), np.empty(0)

    def add(self, p: np.ndarray, normal: np.ndarray, distance: float) -> np.ndarray | None:
        """Return the projection of p_0 onto all, with one at a distance from p, None if they are disjoint."""
        self._normals = np.vstack([self._normals, normal])
        self._distances = np.append(self._distances, normal @ (self._p_0 - p) + distance)
        if not np.all(np.isfinite(self._distances)):
            return None
        weights = polyhedron_multipliers(self._normals, self._distances)
        return None if weights is None else self._p_0 - weights @ self._normals


def polyhedron_multipliers(normals: np.ndarray, distances: np.ndarray) -> np.ndarray | None:
    """Return the m >= 0 for which ``-m @ normals`` is the shortest x with ``normals @ x <= -distances``.

    Parameters
    ----------
    normals : array of shape (n_cuts, n_features)
        Rows, of any length but zero.
    distances : array of shape (n_cuts,)
        How much each half-space is violated at 0.

    Returns
    -------
    array of shape (n_cuts,), or None where no x is in all half-spaces

    Notes
    -----
    A least distance problem by way of non-negative least squares (Lawson and Hanson 1974, chapter 23), after a QR
    factorisation that leaves as many coordinates as there are cuts. O(n_cuts^2 n_features).
    """
    if np.max(distances, initial=0.0) <= 0.0:
        return np.zeros(len(distances))
    lengths = np.linalg.norm(normals, axis=1)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    triangle = np.asarray(np.linalg.qr((normals / lengths[:, np.newaxis]).T, mode="r"))
    target = np.append(np.zeros(len(triangle)), 1.0)
    for unit in float(np.max(distances / lengths)) * UNITS:
        scaled = distances / lengths / unit
        try:
            weights = nnls(np.vstack([-triangle, scaled]), target, maxiter=100 * len(scaled))[0]
        except RuntimeError:  # it cycles where cuts are parallel but for rounding
            return None
        left = 1.0 - float(weights @ scaled)  # is 1 / (1 + ||x||^2), x in this unit
        if left > SHORT:
            return np.asarray(unit * weights / left / lengths)
    return None
