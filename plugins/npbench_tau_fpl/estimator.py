"""Learning below a false-positive rate, as a scikit-learn classifier."""

import math
from functools import partial

import numpy as np

from npbench.estimators.constraints import COUNT
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import TopClassifier
from npbench.numerics.bundle import Risk
from npbench.numerics.ranks import largest
from npbench.numerics.thresholds import SAME_RATE


@keyword_parameters
class TauFPL(TopClassifier):
    """Linear classifier with positives above the mean of the negatives of largest score (tau-FPL, TopPush).

    With ``s = Xw``, m positives and n negatives ranked by descending score, minimises over w

        1/2 ||w||^2 + C/m sum_i max(0, 1 + t - s_i)^2,   t = 1/k sum_{j<=k} s_(j)

    with ``k = ceil(rho n)``. At most rho of the negatives score above the k-th largest, which t exceeds. With k = 1 it
    is TopPush: the largest negative takes the place of the mean.

    Parameters
    ----------
    n_top : int, optional
        Number k of negatives; None for ``ceil(rho n)``, 1 for TopPush.

    Attributes
    ----------
    objective_ : float
        Least objective found. If collapsed, since the mean of the positives is a mean of k negatives, that of w = 0, C;
        the weights returned are then those with the best ranking among those tried.

    Notes
    -----
    The authors solve the dual by projected gradients. Here planes below the loss, as for :class:`PAUCStruct`, prove the
    duality gap and are shared along C. The loss is at most that of pairs, ``1/(m k) sum_i sum_{j<=k} max(0, 1 + s_(j) -
    s_i)^2``, by Jensen's inequality. An iteration takes a pass over X. The bound holds on the training sample only: put
    the classifier into :class:`npbench.NPThresholdClassifier` for new samples.

    References
    ----------
    A. Zhang, N. Li, J. Pu, J. Wang, J. Yan, H. Zha (2018), tau-FPL: Tolerance-constrained learning in linear time,
    AAAI, arXiv:1801.04701. N. Li, R. Jin, Z.-H. Zhou (2014), Top rank optimization in linear time, NIPS,
    arXiv:1410.1462.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> model = TauFPL(rho=0.02, C=10.0).fit(X, y)
    >>> model.status_, int(sum(model.predict(X[y == 0])))  # of 250
    ('converged', 5)
    """

    n_top: int | None = parameter(None, COUNT, default=None)

    _explanations = TopClassifier._explanations | {
        "collapsed": "w = 0 is optimal to within tol: the mean of the positives is near a mean of negatives. The "
        "weights returned are not optimal, but the best in training among those tried. Use a larger rho or n_top, "
        "other features, or a kernel map (n_components).",
    }

    def _ranks(self, signs: np.ndarray) -> tuple[int, int]:
        n = int(np.sum(signs < 0))
        return 0, min(n, self.n_top or math.ceil(self.rho * n - SAME_RATE))

    def _surrogate(self, signs: np.ndarray, first: int, last: int) -> Risk:
        return partial(top_risk, signs, last)


def top_risk(signs: np.ndarray, k: int, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss of :class:`TauFPL` at these scores, and a subgradient. O(n_samples)."""
    positive, gradient = signs > 0, np.zeros(len(scores))
    top = largest(scores, np.flatnonzero(signs < 0), k)
    excess = np.maximum(1 + np.mean(scores[top]) - scores[positive], 0)
    gradient[positive] = -2 * excess / len(excess)
    gradient[top] = 2 * np.mean(excess) / k
    return float(np.mean(excess**2)), gradient
