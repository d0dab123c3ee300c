"""Linear classifiers trained by adding planes below a convex risk."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from npbench.estimators.binary import LinearClassifier
from npbench.estimators.constraints import COUNT, POSITIVE
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.bundle import Solution


@keyword_parameters
class PlanesClassifier(LinearClassifier):
    """A linear classifier that minimises ``1/2 ||w||^2 + C R(Xw)`` for a convex risk R to a proved duality gap.

    Parameters
    ----------
    C : float
        Weight of the risk; positive.
    tol : float
        Duality gap at which the fit stops, relative to the objective; positive.
    max_iter : int
        Largest number of iterations, each of which adds a plane.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.
    objective_ : float
        Objective at w.
    duality_gap_ : float
        Upper bound on objective_ minus the optimum, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration.
    """

    _explanations: ClassVar[dict[str, str]] = {
        "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol.",
        "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features.",
    }

    C: float = parameter(POSITIVE, default=1.0)
    tol: float = parameter(POSITIVE, default=1e-3)
    max_iter: int = parameter(COUNT, default=2000)

    @abstractmethod
    def _risk(self, signs: np.ndarray, scores: np.ndarray) -> float:
        """Return the risk R of the scores ``Xw`` of the training sample."""

    def _recomputed(self, scores: np.ndarray, signs: np.ndarray) -> dict[str, Any]:
        risk = self._risk(signs, scores - self.intercept_)
        return {"objective_": 0.5 * float(np.sum(self.coef_**2)) + self.C * risk}

    def _set_result(self, w: np.ndarray, threshold: float, status: str, found: Any) -> None:
        self.coef_, self.intercept_ = w[None, :], np.array([-threshold])
        self.status_, self.converged_ = status, status == "converged"
        self.objective_, self.duality_gap_ = found.objective, found.gap
        self.n_iter_, self.trace_ = len(found.trace), found.trace

    def fit_from(self, X: Any, y: Any, start: Solution | None = None) -> Solution:
        """Fit from the solution for another C, or from 0; return the solution to start the next fit from.

        Planes of ``start`` are reused, unless ``random_state`` makes each fit draw another kernel map.
        """
        return self._run_fit(X, y, start=start)
