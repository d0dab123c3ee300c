"""Uzawa's nonconvex NP-SVM as a scikit-learn classifier."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from npbench.estimators.constraints import FRACTION, Constraints
from npbench.estimators.docstrings import inherit_docs
from npbench.estimators.kernel import KernelName
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.annealing import FalseAlarmBound, Found, Update
from npbench.numerics.ramp_svm import RampSVM
from npbench_uzawa.uzawa import uzawa


@inherit_docs
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
    rho : float, default=0.05
        Bound on the false-alarm rate of the negative class, in ]0, 1[.

    References
    ----------
    G. Gasso, A. Pappaioannou, M. Spivak, L. Bottou (2011), Batch and online learning algorithms for nonconvex
    Neyman-Pearson classification, ACM Transactions on Intelligent Systems and Technology 2(3), Algorithms 1 and 2.

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

    _parameter_constraints: ClassVar[Constraints] = {
        **RampClassifier._parameter_constraints,
        "rho": [FRACTION],
    }

    def __init__(
        self,
        *,
        rho: float = 0.05,
        C: float = 1.0,
        kernel: KernelName = "rbf",
        gamma: Literal["scale", "auto"] | float = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        eta: float = 1.0,
        nu: float | None = None,
        epsilon: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 2000,
        update: Update = "secant",
        cache_size: float = 1000,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.rho = rho
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eta = eta
        self.nu = nu
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.update = update
        self.cache_size = cache_size
        self.n_components = n_components
        self.random_state = random_state

    def constraint(self) -> FalseAlarmBound:
        """Return ``P_fa <= rho``."""
        return FalseAlarmBound(self.rho)

    def search(self, svm: RampSVM) -> Found:
        """Minimise the Lagrangian to the end for each update of the multiplier."""
        return uzawa(svm, **self.search_settings(svm))
