"""The structural SVM for the partial AUC as a scikit-learn classifier."""

import numpy as np

from npbench.estimators.constraints import StrOptions
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import PartialAUCClassifier
from npbench.numerics.bundle import Method, Risk
from npbench.numerics.pauc_surrogates import StructuralRisk, Surrogate


@keyword_parameters
class PAUCStruct(PartialAUCClassifier):
    """Structural SVM for the area under the ROC curve over a range of false-positive rates (SVMpAUC).

    With ``s = Xw``, m positives and n negatives ranked by descending score, minimises over w

        1/2 ||w||^2 + C R,   R = 1/(m k) sum_i max_{r<=last} [ clip(r - first, 0, k) + sum_{j<=r} (s_(j) - s_i) ]

    with ``first = ceil(n lo)``, ``last = floor(n hi)`` and k = last - first: a convex bound on 1 minus the partial AUC
    over ``fpr_range = (lo, hi)``. For lo = 0 it is the mean hinge loss over pairs of positives and best negatives.

    Parameters
    ----------
    surrogate : {"tight", "naive"}
        "naive" also counts pairs with negatives ranked below the range (equation 11 of the paper); a baseline.
    method : {"level", "plain"}
        Level bundle method, or plain cutting planes as a baseline.

    Attributes
    ----------
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended. "collapsed": the gap met ``tol`` but w = 0 is optimal to within it, as for a weak signal in
        a narrow range, whatever C. The weights are then those with the largest partial AUC on the training sample
        among all that the search tried and those for the full AUC.
    objective_ : float
        Least objective found; C if collapsed, the objective of w = 0 and not of the weights returned.

    References
    ----------
    H. Narasimhan, S. Agarwal (2016), Support vector algorithms for optimizing the partial area under the ROC curve,
    arXiv:1605.04337, equations 14 and 18.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = PAUCStruct(fpr_range=(0.02, 0.05), C=10.0).fit(X, y)
    >>> model.status_, bool((model.decision_function(X)[y == 0] > 0).mean() <= 0.05)
    ('converged', True)
    """

    surrogate: Surrogate = parameter(StrOptions({"tight", "naive"}), default="tight")
    method: Method = parameter(StrOptions({"level", "plain"}), default="level")

    _explanations = PartialAUCClassifier._explanations | {
        "collapsed": "w = 0 is optimal to within tol: this surrogate ranks nothing in fpr_range for this C. The "
        "weights returned are not optimal, but the best in training among those tried and those for the full AUC. Use "
        "the tighter surrogate of pauc_dc, a wider fpr_range or a larger C.",
    }

    def _surrogate(self, signs: np.ndarray, first: int, last: int) -> Risk:
        return StructuralRisk(signs, first, last, self.surrogate)
