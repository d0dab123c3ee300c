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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

PARALLEL = 1e-13  # sine of the angle below which rounding decides whether the half-spaces' normals are parallel


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


def project(p_0: np.ndarray, constraints: Constraints[P], max_steps: int = 1000, tol: float = 0.0) -> Projection[P]:
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

    Returns
    -------
    Projection
        No further from p_0 than the set is, at any step. An excess of e leaves the point about sqrt(e) from the
        projection itself.

    Notes
    -----
    A step takes one evaluation of the constraints, one gradient and O(n_features).

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
    while gaps[-1] > tol:
        if len(gaps) > max_steps:
            return Projection(p, place, gaps, "max_iter")
        worst = int(np.argmax(place.excess))
        u = place.gradient(worst)
        squared = float(u @ u)
        following = _next(p_0, p, -gaps[-1] / squared * u) if squared > 0.0 else None
        if following is None or not np.all(np.isfinite(following)):
            return Projection(p, place, gaps, "infeasible")
        p, place = following, constraints.at(following)
        gaps.append(float(place.excess.max()))
    return Projection(p, place, gaps, "feasible")


def _next(p_0: np.ndarray, p: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """Return the projection of p_0 onto both half-spaces, None if they are disjoint."""
    a = p_0 - p
    mu, nu, chi = float(a @ a), float(c @ c), -float(a @ c)
    if mu == 0.0:
        return p + c
    e = -c - chi / mu * a
    e -= (a @ e) / mu * a  # again, as the first time leaves rounding of the size of c
    apart = float(e @ e)
    if apart <= PARALLEL**2 * nu:
        return p + c if chi >= 0.0 else None
    if chi * nu >= mu * apart:
        return p_0 + (1.0 + chi / nu) * c
    return p - nu / apart * e
