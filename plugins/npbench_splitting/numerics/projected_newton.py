"""Newton's method for a mean loss under constraints: gradient step and projection in a variable metric.

Each iteration is a step of the splitting method, "step against the gradient, then project", in the scalar product of

    M = Hessian of F(w) + sum_j m_j Hessian of g_j(w)   (the Hessian of the Lagrangian)

instead of the identity: a variable metric forward-backward step. The projection has two stages:

1. Onto all half-spaces of the constraints linearised at w. This is a step of sequential quadratic programming, which
   squares the error near a solution. Its multipliers are the next m_j.
2. From there onto the set by outer approximation, with few cuts since the point is near.

All iterates are feasible, and F never increases: if it would, the step is halved before projection, then M enlarged.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from npbench_splitting.numerics.constraints import MeanLosses, Move, Point, Region, RegionAt
from npbench_splitting.numerics.projection import polyhedron_multipliers, project


class Attempt(NamedTuple):
    """A metric to try: M from parabolas above the losses (``secant``) or second derivatives, and its damping."""

    secant: bool
    damping: float


LEAST_DAMPING, MOST_DAMPING = 1e-10, 1e6  # the least keeps M positive definite
UNKNOWN_DECREASE = 1e300
MAX_PREDICTIVE_DAMPING = 1e-6  # with more, the promised decrease underestimates the distance to the minimum
LEAST_CURVATURE_SHARE = 1e-6  # share of each mean loss in M, relative to F
DENSE_ROWS = 2000  # rows of a sparse matrix that are made dense at a time
HALVINGS = 4  # times that a step is halved before the damping is raised
MAX_CUTS = 25  # then a shorter step is tried; near the set, two or three cuts are usual
ARMIJO = 1e-4  # share of the decrease promised by the gradient that a step must achieve
SAME_OBJECTIVE = 1e-14  # relative increase of the objective that rounding explains


def weighted_gram(X: Any, weights: np.ndarray) -> np.ndarray:
    """Return ``X' diag(weights) X`` for nonnegative weights. O(n d^2), in blocks of rows if X is sparse."""
    roots = np.sqrt(weights)[:, np.newaxis]
    if not sparse.issparse(X):
        scaled = roots * X
        return scaled.T @ scaled
    gram = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, X.shape[0], DENSE_ROWS):
        scaled = roots[first : first + DENSE_ROWS] * X[first : first + DENSE_ROWS].toarray()
        gram += scaled.T @ scaled
    return gram


class Metric:
    """Coordinates z in which ``dw' M dw`` is ``dz' dz``, for a semi-definite M plus ``damping`` times its diagonal."""

    def __init__(self, M: np.ndarray, damping: float) -> None:
        # scaled to a unit diagonal, so that the damping does not depend on the units of features
        diagonal = M.diagonal()
        self._scale = np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max() or 1.0))
        scaled = M / self._scale / self._scale[:, np.newaxis]
        scaled.flat[:: len(M) + 1] += damping
        self._factor = np.linalg.cholesky(scaled)

    def of_gradients(self, gradients: np.ndarray) -> np.ndarray:
        """Convert a gradient in w, or rows of them, to gradients in z."""
        scaled = (gradients / self._scale).T
        return solve_triangular(self._factor, scaled, lower=True, check_finite=False).T

    def to_weights(self, z: np.ndarray) -> np.ndarray:
        """Convert a step in z to a step in w."""
        return solve_triangular(self._factor, z, lower=True, trans=1, check_finite=False) / self._scale


class Near:
    """Constraints at a point, with gradients in the coordinates z of a metric, for :func:`project`."""

    def __init__(self, place: RegionAt, metric: Metric, scales: np.ndarray) -> None:
        self.place, self._metric = place, metric
        self.excess = place.excess / scales
        self._scales = scales

    def gradient(self, j: int) -> np.ndarray:
        """Return the gradient of the j-th constraint in z."""
        return self._metric.of_gradients(self.place.gradient(j)) / self._scales[j]


class Cut(NamedTuple):
    """Step z onto the half-spaces, their multipliers, and the expected decrease of the Lagrangian."""

    z: np.ndarray
    multipliers: np.ndarray
    promised: float


def project_onto_cuts(q: np.ndarray, B: np.ndarray, excess: np.ndarray) -> Cut:
    """Return the z of least ``||z + q||`` with ``excess + B z <= 0``, for q and B of shapes (d,) and (n_cuts, d)."""
    multipliers = polyhedron_multipliers(B, excess - B @ q)
    if multipliers is None:  # a rounding error: the point is nearly feasible
        multipliers = np.zeros(len(B))
    z = -q - multipliers @ B
    return Cut(z, multipliers, 0.5 * float(z @ z) + float(multipliers @ np.abs(excess)))


def newton_moves(
    objective: MeanLosses, region: Region, start: Point, multipliers: np.ndarray, tol: float
) -> Iterator[Move]:
    """Yield the steps of the method from a feasible point, until no step lowers the objective.

    The first metric takes ``multipliers``. A step takes O(n n_features^2 + n_features^3) for the metric; each cut one
    product with X_neg, one with its transpose and O(n_features^2). See Combettes and Vu (2014), Optimization 63.
    """
    point, damping = start, LEAST_DAMPING
    while True:
        # a metric that works is the next iteration's first, with less damping
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
    # where losses are nearly linear, second derivatives give steps that are far too long, however damped
    while damping <= MOST_DAMPING:
        yield Attempt(False, damping)
        damping *= 100.0
    for of_parabolas in (LEAST_DAMPING, 1e-3, 1.0, MOST_DAMPING):
        yield Attempt(True, of_parabolas)


def _step(
    objective: MeanLosses, region: Region, point: Point, multipliers: np.ndarray, attempt: Attempt, tol: float
) -> tuple[Move | None, np.ndarray]:
    """Return the step in one metric, None if it fails, and the multipliers of its cuts."""
    try:
        H = _lagrangian_hessian(objective, region, point, _damped(multipliers, region, point, attempt), attempt.secant)
        metric = Metric(H, attempt.damping)
    except np.linalg.LinAlgError:
        return None, multipliers
    of_objective, of_constraints = map(metric.of_gradients, (point.objective.gradients[0], point.place.gradients))
    cut = project_onto_cuts(of_objective, of_constraints, point.place.excess)
    if attempt.secant or attempt.damping > MAX_PREDICTIVE_DAMPING:
        promised = UNKNOWN_DECREASE
    else:
        promised = _underestimation(multipliers, cut.multipliers) * cut.promised
    cut = cut._replace(promised=promised)
    return _along(objective, region, point, metric, cut, tol), cut.multipliers


def _damped(multipliers: np.ndarray, region: Region, point: Point, attempt: Attempt) -> np.ndarray:
    """Return multipliers for the metric; that of the ball grows with the damping, so that the ball becomes round."""
    damped = multipliers.copy()
    damped[len(region.taus) :] += attempt.damping * float(np.linalg.norm(point.objective.gradients[0]))
    return damped


def _underestimation(assumed: np.ndarray, found: np.ndarray) -> float:
    """Return the factor by which too large multipliers made the promised decrease too small."""
    # a constraint that is no longer active enlarged the metric by an unknown amount
    if np.any(assumed[found == 0.0] > 0.0):
        return UNKNOWN_DECREASE
    present = found > 0.0
    return float(np.max(assumed[present] / found[present], initial=1.0))


def _along(objective: MeanLosses, region: Region, point: Point, metric: Metric, cut: Cut, tol: float) -> Move | None:
    """Take the longest of the full step and its halvings that lowers the objective after projection."""
    direction = metric.to_weights(cut.z)
    # The objective may have to increase to bring a point that is infeasible by rounding back into the set.
    allowed = float(cut.multipliers @ np.maximum(point.place.excess, 0.0)) + SAME_OBJECTIVE * abs(point.value)
    for t in 0.5 ** np.arange(HALVINGS + 1):
        origin = point.w + t * direction

        def at(z: np.ndarray, origin: np.ndarray = origin) -> Near:
            return Near(region.at(origin + metric.to_weights(z)), metric, region.scales)

        near = project(np.zeros_like(origin), at, MAX_CUTS, tol, keep_cuts=True)
        if near.status != "feasible":
            continue
        w = origin + metric.to_weights(near.point)
        after = Point(w, objective.at(w), near.place.place)
        slope = float(point.objective.gradients[0] @ (w - point.w))
        if after.value <= point.value + ARMIJO * min(slope, 0.0) + allowed:
            return Move(after, near.gaps, cut.promised)
    return None


def _lagrangian_hessian(
    objective: MeanLosses, region: Region, point: Point, multipliers: np.ndarray, secant: bool
) -> np.ndarray:
    """Return the Hessian of the Lagrangian, or of parabolas above the losses; of shape (n_features, n_features)."""
    # a share of each mean loss keeps M definite where F has no curvature
    of_objective = point.objective.curvature(np.ones(1), secant)
    of_negatives, diagonal = point.place.curvature(multipliers, secant)
    of_negatives += LEAST_CURVATURE_SHARE * of_objective.sum() * point.place.means.curvature_shares(secant)
    H = weighted_gram(objective.X, of_objective)
    if of_negatives.any():
        H += weighted_gram(region.means.X, of_negatives)
    H.flat[:: len(H) + 1] += diagonal
    return H
