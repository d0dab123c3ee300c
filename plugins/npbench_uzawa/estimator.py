"""Uzawa's nonconvex NP-SVM as a scikit-learn classifier."""

from __future__ import annotations

from npbench.estimators.constraints import FRACTION
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.multiplier_search import SearchResult
from npbench.numerics.multipliers import FalseAlarmBound
from npbench.numerics.ramp_svm import RampSVM
from npbench_uzawa.uzawa import uzawa


@keyword_parameters
class UzawaSVM(RampClassifier):
    """Nonconvex NP-SVM by Uzawa's algorithm: the problem of each multiplier is solved to the end.

    Searches a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + C n_pos P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= rho``. For each lambda the DC algorithm runs, starting with no flat samples,
    until the set of flat samples repeats. It serves as a baseline: the annealed search ``np_svm`` looks for the same
    point and moves lambda after each convex step.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate of the negative class, in ]0, 1[.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), UzawaSVM(rho=0.02)).fit(X, y)
    >>> false_alarms = (model.decision_function(X[y == 0]) >= 0).mean()
    >>> bool(false_alarms <= 0.03)
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

    def search(self, svm: RampSVM) -> SearchResult:
        """Minimise the Lagrangian to the end for each update of the multiplier."""
        return uzawa(svm, **self.search_settings(svm))
