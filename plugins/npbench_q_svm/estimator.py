"""The annealed q-value SVM as a scikit-learn classifier."""

from npbench.estimators.constraints import FRACTION
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.ramp import RampClassifier
from npbench.numerics.multipliers import QValueBound


@keyword_parameters
class QSVM(RampClassifier):
    """Support vector machine that accepts the most positives at a bounded q-value.

    Searches for a saddle point over f = f_0 + b and lambda >= 0 of

        1/2 ||f_0||^2 + (C n_pos + lambda q) P_nd(f) + lambda (P_fa(f) - q),

    where P_nd and P_fa are the class means of the ramp loss, which approaches the 0-1 loss: the nonconvex counterpart
    of ``min P_nd subject to P_fa <= q (1 - P_nd)``. A convex step of the DC algorithm alternates with an update of
    lambda. Rejecting everything meets the constraint too: ``status_`` is then "flat".

    Parameters
    ----------
    q : float
        Bound on the q-value ``P_fa / (1 - P_nd)``, in ]0, 1[.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = QSVM(q=0.02).fit(scale(X), y)
    >>> f = model.decision_function(scale(X))
    >>> bool((f[y == 0] >= 0).mean() <= 0.03 * (f[y == 1] > 0).mean())
    True
    """

    q: float = parameter(FRACTION, default=0.01)

    def constraint(self) -> QValueBound:
        """Return ``P_fa / (1 - P_nd) <= q``."""
        return QValueBound(self.q)
