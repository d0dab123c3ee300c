"""Classification at a surrogate of the Neyman-Pearson quantile, as a scikit-learn classifier."""

from functools import partial
from typing import Any

import numpy as np

from npbench.estimators.constraints import POSITIVE
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.estimators.pauc_linear import TopClassifier, Trained
from npbench.numerics.bundle import Risk, Solution, minimise

MAX_NEWTON_STEPS = 100  # they converge quadratically, in about ten


@keyword_parameters
class PatMatNP(TopClassifier):
    """Linear classifier with positives above a convex surrogate of the Neyman-Pearson quantile (Pat&Mat-NP).

    With ``s = Xw``, m positives, n negatives and ``l(z) = max(0, 1 + z)^2``, minimises over w

        1/2 ||w||^2 + C/m sum_i l(t - s_i),   where t solves   1/n sum_j l(beta (s_j - t)) = rho.

    t is convex in w, and so is the problem. Since l is at least the 0-1 loss, at most rho of the training negatives
    score above t, mostly far fewer: the threshold of the classifier is the quantile itself.

    Parameters
    ----------
    beta : float
        Scale of the negatives' loss; positive. A larger one brings t closer to the quantile.

    Notes
    -----
    The authors take gradient steps. Here planes below the loss, as for :class:`PAUCStruct`, prove the duality gap and
    are shared along C. An iteration takes a pass over X. A bound on new samples needs a threshold set on held-out
    negatives: :class:`npbench.NPThresholdClassifier`.

    References
    ----------
    L. Adam, V. Macha, V. Smidl, T. Pevny (2020), General framework for binary classification on top samples,
    arXiv:2002.10923, section 3.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> model = PatMatNP(rho=0.05, C=10.0).fit(X, y)
    >>> model.status_, int(sum(model.predict(X[y == 0])))  # of 250
    ('converged', 12)
    """

    beta: float = parameter(POSITIVE, default=1.0)

    _explanations = TopClassifier._explanations | {
        "collapsed": "w = 0 is optimal to within tol, and all scores are equal. Use a larger C, rho or beta, or other "
        "features.",
    }

    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Find weights for features ``Z`` and labels in {-1, +1}; ``start`` is the result for another C."""
        risk = self._surrogate(signs, *self._ranks(signs))
        found = minimise(Z, risk, self.C, tol=self.tol, max_iter=self.max_iter, start=start)
        at_zero, _ = risk(np.zeros(len(signs)))
        is_zero = found.status == "converged" and self.C * at_zero - found.objective <= found.gap
        status = "collapsed" if is_zero else str(found.status)
        return Trained(found.w, found.objective, found.gap, status, found.trace, found)

    def _surrogate(self, signs: np.ndarray, first: int, last: int) -> Risk:
        return partial(quantile_risk, signs, self.rho, self.beta)


def quantile_risk(signs: np.ndarray, rho: float, beta: float, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the loss of :class:`PatMatNP` at these scores, and its gradient. O(n_samples)."""
    positive, gradient = signs > 0, np.zeros(len(scores))
    t, of_negatives = quantile(scores[~positive], rho, beta)
    excess = np.maximum(1 + t - scores[positive], 0)
    gradient[positive] = -2 * excess / len(excess)
    gradient[~positive] = 2 * np.mean(excess) * of_negatives
    return float(np.mean(excess**2)), gradient


def quantile(scores: np.ndarray, rho: float, beta: float) -> tuple[float, np.ndarray]:
    """Return the t with ``mean(max(0, 1 + beta (s - t))^2) = rho``, and its gradient with respect to the scores."""
    largest = np.max(scores)
    u = beta * (scores - largest)
    # the root of a convex, falling function: Newton's steps rise to it from where a mean, or one score, has rho alone
    low = max(float(np.mean(u)) + 1 - np.sqrt(rho), 1 - np.sqrt(rho * len(u)))
    for _ in range(MAX_NEWTON_STEPS):
        excess = np.maximum(1 + u - low, 0)
        step = (excess @ excess - rho * len(u)) / (2 * np.sum(excess))
        if low + step <= low:
            break
        low += step
    return float(largest + low / beta), excess / np.sum(excess)
