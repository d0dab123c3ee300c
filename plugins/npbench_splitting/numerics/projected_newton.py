"""Newton's method for a mean loss under constraints, with the gradient step and the projection in a metric that moves.

An iteration of the splitting method, "step against the gradient, then project", for the scalar product of the matrix

    M = Hessian of F(w) + sum_j m_j Hessian of g_j(w)   (the Lagrangian's)

in place of the identity: a variable metric forward-backward step. Its projection is again by outer approximation,
in two stages. First onto the half-spaces that the linearised constraints cut off at w, all at once: that is a step of
sequential quadratic programming, whose multipliers are the next m_j, and near a solution it squares the error. Then
the rest of the way onto the set, by cuts that are few as the point is near. So all iterates are feasible, and F
never rises: where it would, the step is halved before it is projected, and then M is made larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from npbench_splitting.numerics.constraints import MeanLosses, Move, Point, Region, RegionAt
from npbench_splitting.numerics.projection import polyhedron_multipliers, project


class Attempt(NamedTuple):
    """A metric to try: M from parabolas above the losses or from second derivatives, and the share of damping."""

    secant: bool
    damping: float


LEAST_DAMPING, MOST_DAMPING = 1e-10, 1e6  # the least gives directions without curvature some
UNKNOWN = 1e300  # as a promise, or a factor of one, of which nothing is known
FAITHFUL = 1e-6  # damping up to which the decrease that a step promises is about what there is to be had
FLOOR = 1e-6  # of the curvature of F: the least of each mean in M, for directions in which F has none
CHUNK = 2000  # rows of a sparse matrix that are dense at a time
HALVINGS = 4  # of a step before the damping is raised
INNER_STEPS = 25  # cuts beyond which a shorter step is tried: near the set, two or three are usual
SUFFICIENT = 1e-4  # share of the decrease promised by the gradient that a step must make
ROUNDING = 1e-14


def weighted_gram(X: Any, weights: np.ndarray) -> np.ndarray:
    """Return ``X' diag(weights) X`` for weights that are not negative. O(n d^2), in blocks where X is sparse."""
    roots = np.sqrt(weights)[:, np.newaxis]
    if not sparse.issparse(X):
        scaled = roots * X
        return scaled.T @ scaled
    gram = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, X.shape[0], CHUNK):
        scaled = roots[first : first + CHUNK] * X[first : first + CHUNK].toarray()
        gram += scaled.T @ scaled
    return gram


class Metric:
    """Coordinates z in which ``dw' M dw`` is ``dz' dz``, for a semi-definite M with a share of its diagonal added.

    Parameters
    ----------
    M : array of shape (n_features, n_features)
    damping : float
        The share, positive.
    """

    def __init__(self, M: np.ndarray, damping: float) -> None:
        diagonal = M.diagonal()
        self._scale = np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max() or 1.0))
        scaled = M / self._scale / self._scale[:, np.newaxis]
        scaled.flat[:: len(M) + 1] += damping
        self._factor = np.linalg.cholesky(scaled)

    def of_gradients(self, gradients: np.ndarray) -> np.ndarray:
        """Return gradients in w, one or in rows, as gradients in z."""
        scaled = (gradients / self._scale).T
        return solve_triangular(self._factor, scaled, lower=True, check_finite=False).T

    def to_weights(self, z: np.ndarray) -> np.ndarray:
        """Return the step in w of a step in z."""
        return solve_triangular(self._factor, z, lower=True, trans=1, check_finite=False) / self._scale


class Near:
    """Constraints around a point in the coordinates of a metric: what :func:`project` is to project onto there."""

    def __init__(self, region: Region, metric: Metric, origin: np.ndarray) -> None:
        self._region, self._metric, self._origin = region, metric, origin

    def at(self, z: np.ndarray) -> NearAt:
        """Return the constraints at ``origin + to_weights(z)``."""
        return NearAt(self._region.at(self._origin + self._metric.to_weights(z)), self._metric, self._region.scales)


class NearAt:
    """The region at a point, with gradients in z."""

    def __init__(self, place: RegionAt, metric: Metric, scales: np.ndarray) -> None:
        self.place, self._metric = place, metric
        self.excess = place.excess / scales
        self._scales = scales

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th constraint in z."""
        return self._metric.of_gradients(self.place.gradient(j)) / self._scales[j]


class Cut(NamedTuple):
    """The step z onto the half-spaces, their multipliers, and the decrease of the Lagrangian that it promises."""

    z: np.ndarray
    multipliers: np.ndarray
    promised: float


def project_onto_cuts(q: np.ndarray, B: np.ndarray, excess: np.ndarray) -> Cut:
    """Return the z of least ``||z + q||`` with ``excess + B z <= 0``.

    Parameters
    ----------
    q : array of shape (n_features,)
    B : array of shape (n_cuts, n_features)
    excess : array of shape (n_cuts,)
        The half-spaces must have a point in common.
    """
    multipliers = polyhedron_multipliers(B, excess - B @ q)
    if multipliers is None:  # only by rounding, at a point that is all but feasible
        multipliers = np.zeros(len(B))
    z = -q - multipliers @ B
    return Cut(z, multipliers, 0.5 * float(z @ z) + float(multipliers @ np.abs(excess)))


def newton_moves(
    objective: MeanLosses, region: Region, start: Point, multipliers: np.ndarray, tol: float
) -> Iterator[Move]:
    """Yield the steps of the method, until none lowers the objective any more.

    Parameters
    ----------
    objective : MeanLosses
        Of one mean, the F.
    region : Region
        The g_j.
    start : Point
        Feasible to ``tol``, as all that follow.
    multipliers : array of shape (n_constraints,)
        For the first metric; not negative.
    tol : float
        Excess, relative to the region's scales, that is taken to be none.

    Notes
    -----
    A step takes O(n n_features^2 + n_features^3) for the metric, and for each cut one product with X_neg, one with its
    transpose and O(n_features^2).

    References
    ----------
    P. L. Combettes, B. C. Vu (2014), Variable metric forward-backward splitting with applications to monotone
    inclusions in duality, Optimization 63.
    """
    point, damping = start, LEAST_DAMPING
    while True:
        for attempt in _attempts(damping):
            move, following = _step(objective, region, point, multipliers, attempt, tol)
            if move is not None:
                break
        else:
            return
        yield move
        point, multipliers = move.point, following
        damping = LEAST_DAMPING if attempt.secant else max(0.1 * attempt.damping, LEAST_DAMPING)


def _attempts(damping: float) -> Iterator[Attempt]:
    """Yield metrics to try in turn.

    Where losses are all but linear, second derivatives promise steps that are far too long, however damped; parabolas
    above the losses then take their place.
    """
    while damping <= MOST_DAMPING:
        yield Attempt(False, damping)
        damping *= 100.0
    for of_parabolas in (LEAST_DAMPING, 1e-3, 1.0, MOST_DAMPING):
        yield Attempt(True, of_parabolas)


def _step(
    objective: MeanLosses, region: Region, point: Point, multipliers: np.ndarray, attempt: Attempt, tol: float
) -> tuple[Move | None, np.ndarray]:
    """Return the step in one metric, if there is one, and the multipliers of its cuts."""
    try:
        H = _lagrangian_hessian(objective, region, point, _damped(multipliers, region, point, attempt), attempt.secant)
        metric = Metric(H, attempt.damping)
    except np.linalg.LinAlgError:
        return None, multipliers
    cut = project_onto_cuts(
        metric.of_gradients(point.objective.gradients[0]),
        metric.of_gradients(point.place.gradients),
        point.place.excess,
    )
    faithful = not attempt.secant and attempt.damping <= FAITHFUL
    cut = cut._replace(promised=_overweight(multipliers, cut.multipliers) * cut.promised if faithful else UNKNOWN)
    return _along(objective, region, point, metric, cut, tol), cut.multipliers


def _damped(multipliers: np.ndarray, region: Region, point: Point, attempt: Attempt) -> np.ndarray:
    """Return multipliers for the metric: those of balls grow with the damping, to a metric in which they are round."""
    damped = multipliers.copy()
    damped[region.of_plain] += attempt.damping * float(np.linalg.norm(point.objective.gradients[0]))
    return damped


def _overweight(assumed: np.ndarray, found: np.ndarray) -> float:
    """Return by how much a metric was too large, and the promise of its step too small, for multipliers too large."""
    if np.any(assumed[found == 0.0] > 0.0):
        return UNKNOWN
    present = found > 0.0
    return float(np.max(assumed[present] / found[present], initial=1.0))


def _along(objective: MeanLosses, region: Region, point: Point, metric: Metric, cut: Cut, tol: float) -> Move | None:
    """Take the longest step, of the whole and its halves, that lowers the objective when projected."""
    direction = metric.to_weights(cut.z)
    # A point outside by rounding may have to rise in order to come in.
    allowed = float(cut.multipliers @ np.maximum(point.place.excess, 0.0)) + ROUNDING * abs(point.value)
    for t in 0.5 ** np.arange(HALVINGS + 1):
        origin = point.w + t * direction
        near = project(np.zeros_like(origin), Near(region, metric, origin), INNER_STEPS, tol, keep_cuts=True)
        if near.status != "feasible":
            continue
        w = origin + metric.to_weights(near.point)
        after = Point(w, objective.at(w), near.place.place)
        slope = float(point.objective.gradients[0] @ (w - point.w))
        if after.value <= point.value + SUFFICIENT * min(slope, 0.0) + allowed:
            return Move(after, near.gaps, cut.promised)
    return None


def _lagrangian_hessian(
    objective: MeanLosses, region: Region, point: Point, multipliers: np.ndarray, secant: bool
) -> np.ndarray:
    of_objective = point.objective.curvature(np.ones(1), secant)
    of_negatives, diagonal = point.place.curvature(multipliers, secant)
    of_negatives += FLOOR * of_objective.sum() * point.place.means.curvature_shares(secant)
    H = weighted_gram(objective.X, of_objective)
    if of_negatives.any():
        H += weighted_gram(region.means.X, of_negatives)
    H.flat[:: len(H) + 1] += diagonal
    return H
