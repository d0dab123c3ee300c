"""The SVM for the full AUC as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbench.estimators.pauc_linear import PartialAUCClassifier, Trained, structural_svm
from npbench.numerics.bundle import Solution

EXPLANATIONS = {
    "collapsed": "w = 0 is optimal to within tol, so that all scores are alike: the classes have about the same mean. "
    "Use other features, a kernel map (n_components) or, if it is small, a larger C",
    "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol",
    "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features",
}


class AUCSVM(PartialAUCClassifier):
    """SVM for the area under the whole ROC curve, the ranking SVM over pairs of a positive and a negative.

    With ``s = Xw``, minimises over w

        1/2 ||w||^2 + C/(m n) sum_i sum_j max(0, 1 - s_i + s_j)

    where i runs through the m positives and j through the n negatives. To the scores the intercept is added that makes
    TPR - FPR largest on the training sample.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the mean over pairs; positive.
    n_components : int, optional
        Samples of the kernel map (Nystroem with an RBF kernel) that scores are linear after; None for linear scores.
    gamma : float, optional
        ``exp(-gamma ||x - x'||^2)``, where there is a kernel map; None for ``1 / n_features``.
    tol : float, default=1e-3
        Duality gap at which the fit stops, relative to the objective; positive.
    max_iter : int, default=2000
        Most iterations, one plane each.
    random_state : int, RandomState or None, default=None
        Draws the samples of the kernel map.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; ``classes_[1]`` is the positive class.
    coef_ : array of shape (1, n_features) or (1, n_components)
        The weights w, of the features or of what ``feature_map_`` returns.
    intercept_ : array of shape (1,)
        Less the threshold with the largest TPR - FPR on the training sample.
    feature_map_ : sklearn.kernel_approximation.Nystroem or None
        The kernel map.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether the gap met ``tol`` with weights that rank.
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended; "collapsed" if the gap met ``tol`` with w = 0 optimal to within it: the classes have about
        the same mean.
    objective_ : float
        The objective at w.
    duality_gap_ : float
        How much smaller it could be at most, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Warns
    -----
    ConvergenceWarning
        If the gap stayed above ``tol``, or the optimum is w = 0.

    Notes
    -----
    Joachims has ``1/2 ||w||^2 + C' xi`` with the same xi as the mean over pairs, and his program SVMperf (loss ROCArea)
    counts it in percent: ``C = 100 C'``. An iteration takes a product with X, one with its transpose and up to three
    rankings in O(n log n); pairs are never formed.

    References
    ----------
    T. Joachims (2005), A support vector method for multivariate performance measures, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = AUCSVM(C=1.0).fit(X, y)
    >>> model.status_, model.score(X, y) > 0.97
    ('converged', True)
    """

    fpr_range = (0.0, 1.0)
    _explanations = EXPLANATIONS

    def __init__(
        self,
        *,
        C: float = 1.0,
        n_components: int | None = None,
        gamma: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.n_components = n_components
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Minimise the objective for features ``Z`` and labels in {-1, +1}."""
        ranks = (0, int(np.sum(signs < 0)))
        return structural_svm(Z, signs, ranks, self.C, tol=self.tol, max_iter=self.max_iter, start=start)
