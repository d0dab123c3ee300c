"""The SVM for the full AUC as a scikit-learn classifier."""

from npbench.estimators.parameters import keyword_parameters
from npbench.estimators.pauc_linear import RankingClassifier


@keyword_parameters
class AUCSVM(RankingClassifier):
    """SVM for the area under the whole ROC curve: the ranking SVM over pairs of a positive and a negative.

    With ``s = Xw``, minimises over w

        1/2 ||w||^2 + C/(m n) sum_i sum_j max(0, 1 - s_i + s_j)

    for the m positives i and the n negatives j. The intercept then makes TPR - FPR largest on the training sample.

    Attributes
    ----------
    intercept_ : array of shape (1,)
        Minus the threshold with the largest TPR - FPR on the training sample.

    References
    ----------
    T. Joachims (2005), A support vector method for multivariate performance measures, ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = AUCSVM(C=1.0).fit(X, y)
    >>> model.status_, model.score(X, y) > 0.97
    ('converged', True)
    """

    _explanations = RankingClassifier._explanations | {
        "collapsed": "w = 0 is optimal to within tol and all scores are equal: the classes have about the same mean. "
        "Use other features, a kernel map (n_components) or a larger C.",
    }
