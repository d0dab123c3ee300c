"""The SVM for the hinge surrogate of the partial AUC, by difference-of-convex programming."""

from typing import Any

import numpy as np

from npbench.estimators.parameters import keyword_parameters
from npbench.estimators.pauc_linear import PartialAUCClassifier, Trained, structural_svm
from npbench.numerics.bundle import Solution
from npbench.numerics.pauc_surrogates import HingeRisk
from npbench_pauc_dc.cccp import MAX_PLANES, descend, scaled


@keyword_parameters
class PAUCDC(PartialAUCClassifier):
    """SVM for the area under the ROC curve over a range of false-positive rates, with the hinge loss in the range only.

    With ``s = Xw``, m positives and n negatives ranked by descending score, looks for a w with a small

        1/2 ||w||^2 + C R,   R = 1/(m k) sum_i sum_{first<j<=last} max(0, 1 - s_i + s_(j))

    with ``first = ceil(n lo)``, ``last = floor(n hi)`` and k = last - first, for ``fpr_range = (lo, hi)``. For lo > 0 R
    is a difference of convex functions. The concave-convex procedure repeatedly minimises a convex bound on it that
    touches it at the last w, starting from the solution of the structural SVM.

    Parameters
    ----------
    tol : float
        Largest gain of one more convex problem, relative to the objective, at which the fit stops; positive.
    max_iter : int
        Largest number of convex problems.

    Attributes
    ----------
    n_iter_ : int
        Number of convex problems solved; for lo = 0 the iterations of the only one.
    converged_ : bool
        Whether one more problem would gain at most ``tol``, by its duality gap, with weights better than w = 0.
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended; "collapsed" if nothing better than w = 0 was found, with the weights of the structural SVM.
    objective_ : float
        Objective at w; C, as at w = 0, if collapsed.
    duality_gap_ : float
        Upper bound on the gain of one more convex problem. The problem is not convex: a better w may exist elsewhere.
    trace_ : list of Step
        Seconds, objective and planes of each convex problem (for lo = 0: of the iterations of the only one).

    References
    ----------
    H. Narasimhan, S. Agarwal (2016), Support vector algorithms for optimizing the partial area under the ROC curve,
    arXiv:1605.04337, section 6.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = PAUCDC(fpr_range=(0.02, 0.05), C=10.0).fit(X, y)
    >>> model.status_, bool((model.decision_function(X)[y == 0] > 0).mean() <= 0.05)
    ('converged', True)
    """

    max_iter: int = 100

    _explanations = PartialAUCClassifier._explanations | {
        "collapsed": "no weights were found that are better than w = 0, which ranks nothing in fpr_range. The weights "
        "returned are those from which the search started. Use a wider fpr_range, other features, a kernel map "
        "(n_components) or a larger C.",
        "stalled": "a convex problem could not be solved to tol. Scale the features to unit variance, or increase tol.",
        "max_iter": "max_iter convex problems did not suffice. Increase max_iter or tol, or decrease C.",
    }

    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Look for weights for features ``Z`` and labels in {-1, +1}."""
        ranks = self._ranks(signs)
        convex = structural_svm(Z, signs, ranks, self.C, tol=self.tol, max_iter=MAX_PLANES, start=start)
        if ranks[0] == 0:  # nothing concave: the problem is convex
            return convex
        risk, first = HingeRisk(signs, *ranks), convex.weights
        if convex.status == "collapsed":
            first = scaled(Z, risk, self.C, first)
        found = descend(Z, risk, self.C, first, tol=self.tol, max_iter=self.max_iter)
        # w = 0 has the objective C
        if found.objective > self.C * (1.0 - self.tol):
            found = found._replace(weights=convex.weights, objective=float(self.C), status="collapsed")
        return found._replace(convex=convex.convex)  # from which a fit for a larger C may start

    def _risk(self, signs: np.ndarray, scores: np.ndarray) -> float:
        return HingeRisk(signs, *self._ranks(signs))(scores)
