"""Linear classifiers trained by adding planes below a convex risk."""

from __future__ import annotations

from typing import Any

from npbench.estimators.constraints import COUNT, POSITIVE
from npbench.estimators.linear import LinearClassifier
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

    C: float = parameter(POSITIVE, default=1.0)
    tol: float = parameter(POSITIVE, default=1e-3)
    max_iter: int = parameter(COUNT, default=2000)

    def fit_from(self, X: Any, y: Any, start: Solution | None = None) -> Solution:
        """Fit the classifier, starting from the solution for another C.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.
        start : Solution, optional
            Result of a fit to the same samples with the same parameters except C. Its planes are reused, unless
            ``random_state`` makes each fit draw another kernel map.

        Returns
        -------
        Solution
            Solution of the convex problem, to start the next fit from.
        """
        solution: Solution = self._run_fit(X, y, start=start)
        return solution
