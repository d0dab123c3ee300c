"""The SVM for the full AUC as a scikit-learn classifier."""

from __future__ import annotations

from npbench.estimators.parameters import keyword_parameters
from npbench.estimators.pauc_linear import RankingClassifier


@keyword_parameters
class AUCSVM(RankingClassifier):
    """SVM for the area under the whole ROC curve: the ranking SVM over pairs of a positive and a negative.

    With ``s = Xw``, minimises over w

        1/2 ||w||^2 + C/(m n) sum_i sum_j max(0, 1 - s_i + s_j)

    where i runs through the m positives and j through the n negatives. The intercept then makes TPR - FPR largest on
    the training sample.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Minus the threshold with the largest TPR - FPR on the training sample.

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

    _explanations = RankingClassifier._explanations | {
        "collapsed": "w = 0 is optimal to within tol and all scores are equal: the classes have about the same mean. "
        "Use other features, a kernel map (n_components) or a larger C.",
    }
