"""The structural SVM for the partial AUC as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from npbench.estimators.pauc_linear import PartialAUCClassifier, Trained, structural_svm
from npbench.numerics.bundle import Method, Solution
from npbench.numerics.pauc_surrogates import Surrogate, ranks_within

EXPLANATIONS = {
    "collapsed": "w = 0 is optimal to within tol, so that this surrogate ranks nothing in fpr_range for this C. The "
    "weights kept are no optimum: they are the best in training of those tried and those for the full AUC. Use "
    "pauc_dc, whose surrogate is tighter, a wider fpr_range or, if it is small, a larger C",
    "stalled": "rounding keeps the duality gap above tol. Scale the features to unit variance, or increase tol",
    "max_iter": "max_iter planes did not suffice. Increase max_iter or tol, decrease C, or scale the features",
}


class PAUCStruct(PartialAUCClassifier):
    """Structural SVM for the area under the ROC curve over a range of false-positive rates (SVMpAUC).

    With ``s = Xw``, m positives and n negatives ranked by descending score, minimises over w

        1/2 ||w||^2 + C R,   R = 1/(m k) sum_i max_{r<=last} [ clip(r - first, 0, k) + sum_{j<=r} (s_(j) - s_i) ]

    with ``first = ceil(n lo)``, ``last = floor(n hi)`` and k = last - first: a convex bound on 1 less the partial AUC
    over ``fpr_range = (lo, hi)``. For lo = 0 it is the mean hinge loss over pairs of a positive and one of the best
    negatives. To the scores an intercept is added that makes their sign a classifier with a false-positive rate in
    the range.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.2)
        The range, ``0 <= lo < hi <= 1``; at least one negative must be ranked in it.
    C : float, default=1.0
        Weight of the risk, a mean over pairs; positive.
    n_components : int, optional
        Samples of the kernel map (Nystroem with an RBF kernel) that scores are linear after; None for linear scores.
    gamma : float, optional
        ``exp(-gamma ||x - x'||^2)``, where there is a kernel map; None for ``1 / n_features``.
    surrogate : {"tight", "naive"}, default="tight"
        "naive" counts pairs with negatives ranked below the range too (equation 11 of the paper); to compare with.
    method : {"level", "plain"}, default="level"
        Level bundle method, or plain cutting planes; to compare with.
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
        Less the threshold with the largest TPR - FPR of those whose FPR on the training sample is in ``fpr_range``.
    feature_map_ : sklearn.kernel_approximation.Nystroem or None
        The kernel map.
    n_iter_ : int
        Iterations taken.
    converged_ : bool
        Whether the gap met ``tol`` with weights that rank.
    status_ : {"converged", "collapsed", "stalled", "max_iter"}
        How the fit ended; "collapsed" if the gap met ``tol`` with w = 0 optimal to within it, as it is for a weak
        signal in a narrow range, whatever C. The weights kept then are, of all that the search tried and of those for
        the full AUC, the ones with the largest partial AUC on the training sample.
    objective_ : float
        The least objective found; C if collapsed, which is that of w = 0 and not of the weights kept.
    duality_gap_ : float
        How much smaller it could be at most, proved by a dual solution.
    trace_ : list of Trace
        Seconds, objective and bound of each iteration.
    n_features_in_ : int
        Number of features seen in ``fit``.

    Raises
    ------
    ValueError
        If no negative is ranked in ``fpr_range``.

    Warns
    -----
    ConvergenceWarning
        If the gap stayed above ``tol``, or the optimum is w = 0.

    Notes
    -----
    An iteration takes a product with X, one with its transpose and up to three rankings, O(n log n) each and less for
    a narrow range. Memory is that of X and of some planes of n_features numbers.

    References
    ----------
    H. Narasimhan, S. Agarwal (2016), Support vector algorithms for optimizing the partial area under the ROC curve,
    arXiv:1605.04337, equations 14 and 18.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = PAUCStruct(fpr_range=(0.02, 0.05), C=10.0).fit(X, y)
    >>> model.status_, float(np.mean(model.decision_function(X)[y == 0] > 0)) <= 0.05
    ('converged', True)
    """

    _explanations = EXPLANATIONS
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - the name and form are scikit-learn's
        **PartialAUCClassifier._parameter_constraints,
        "fpr_range": [tuple, list],
        "surrogate": [StrOptions({"tight", "naive"})],
        "method": [StrOptions({"level", "plain"})],
    }

    def __init__(
        self,
        *,
        fpr_range: tuple[float, float] = (0.0, 0.2),
        C: float = 1.0,
        n_components: int | None = None,
        gamma: float | None = None,
        surrogate: Surrogate = "tight",
        method: Method = "level",
        tol: float = 1e-3,
        max_iter: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.fpr_range = fpr_range
        self.C = C
        self.n_components = n_components
        self.gamma = gamma
        self.surrogate = surrogate
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def train(self, Z: Any, signs: np.ndarray, start: Solution | None) -> Trained:
        """Minimise the objective for features ``Z`` and labels in {-1, +1}."""
        return structural_svm(
            Z,
            signs,
            ranks_within(int(np.sum(signs < 0)), *self.fpr_range),
            self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            surrogate=self.surrogate,
            method=self.method,
            start=start,
        )
