"""Uzawa's nonconvex NP-SVM as a scikit-learn classifier."""

from typing import Any

import numpy as np

from npbench.estimators.constraints import FRACTION
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.multiplier_search import Iterate, SearchResult, SearchState, Status
from npbench.numerics.multipliers import FalseAlarmBound
from npbench.numerics.ramp_svm import RampSVM


@keyword_parameters
class UzawaSVM(RampClassifier):
    """Nonconvex NP-SVM by Uzawa's algorithm: the problem of each multiplier is solved to the end.

    Searches for a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + C n_pos P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= rho``. For each lambda the DC algorithm runs, from no flat samples, until their set
    repeats. A baseline: the annealed search ``np_svm`` seeks the same point and moves lambda after each convex step.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate of the negative class, in ]0, 1[.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = UzawaSVM(rho=0.02).fit(scale(X), y)
    >>> bool((model.decision_function(scale(X)[y == 0]) >= 0).mean() <= 0.03)
    True
    """

    rho: float = parameter(FRACTION, default=0.05)
    max_iter: int = 2000

    def constraint(self) -> FalseAlarmBound:
        """Return ``P_fa <= rho``."""
        return FalseAlarmBound(self.rho)

    @property
    def has_path(self) -> bool:
        """False, since the search anneals: :meth:`path` may not stand for it."""
        return False

    def search(self, svm: RampSVM, **start: Any) -> SearchResult:
        """Alternate minimisations of the Lagrangian with updates of the multiplier until |rate - bound| <= epsilon.

        Each minimisation is the DC algorithm from no flat samples to its end (Algorithm 2); then the multiplier moves
        (Algorithm 1), from ``start`` on if it is given. ``max_iter`` counts convex steps, the unit of cost.
        """
        settings = self.search_settings(svm)
        update, nu = settings.pop("update"), settings.pop("nu")
        search = SearchState(svm, **settings)
        multiplier = search.multiplier(update, nu, start.get("start"))
        while True:
            reached = _minimise(search, multiplier.value)
            if isinstance(reached, str):
                return search.end(reached)
            ended = search.ended(reached.rate, multiplier)
            if ended is None:
                multiplier.update(reached.rate, reached.gradient)
                if multiplier.closed:
                    return search.end("jump")
            elif search.confirms(ended):
                return search.end(ended)


def _minimise(search: SearchState, multiplier: float) -> Iterate | Status:
    """Take convex steps until at most ``svm.unsettled`` flat samples change; return the last, or why it stopped."""
    flat = np.zeros(len(search.svm.y), dtype=bool)
    while (stopped := search.stopped) is None:
        reached = search.step(multiplier, flat)
        before, flat = flat, search.svm.flat()
        if np.count_nonzero(flat != before) <= search.svm.unsettled:
            return reached
    return stopped
