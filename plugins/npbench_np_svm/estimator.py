"""The annealed nonconvex NP-SVM as a scikit-learn classifier."""

from typing import Any

import numpy as np

from npbench.estimators.constraints import FRACTION, ZERO_OR_MORE
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.multiplier_search import SearchResult
from npbench.numerics.multipliers import FalseAlarmBound
from npbench.numerics.ramp_svm import RampSVM


@keyword_parameters
class NPSVM(RampClassifier):
    """Support vector machine that minimises misses under a bound on the false-alarm rate.

    Searches for a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + C n_pos P_nd(f) + lambda (P_fa(f) - rho),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= rho``. A convex step of the DC algorithm alternates with an update of lambda.

    Parameters
    ----------
    rho : float
        Bound on the false-alarm rate of the negative class, in ]0, 1[.
    init_seed : int, optional
        Seed of the paper's random first beta, which makes each sample flat with probability 1/2 in the first step.
        By default no sample is flat, and the first step is the ordinary asymmetric SVM.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = NPSVM(rho=0.02).fit(scale(X), y)
    >>> bool((model.decision_function(scale(X)[y == 0]) >= 0).mean() <= 0.03)
    True
    """

    rho: float = parameter(FRACTION, default=0.05)
    init_seed: int | None = parameter(None, ZERO_OR_MORE, default=None)

    def constraint(self) -> FalseAlarmBound:
        """Return ``P_fa <= rho``."""
        return FalseAlarmBound(self.rho)

    @property
    def has_path(self) -> bool:
        """True if the search is the default one, to a tolerance that single precision reaches."""
        return super().has_path and self.init_seed is None

    def search(self, svm: RampSVM, **start: Any) -> SearchResult:
        """Alternate one convex step with one update of the multiplier."""
        if self.init_seed is not None:
            start["flat"] = np.random.default_rng(self.init_seed).random(len(svm.y)) < 0.5
        return super().search(svm, **start)
