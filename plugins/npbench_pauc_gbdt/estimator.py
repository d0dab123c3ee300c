"""Boosting of trees for the partial AUC as a scikit-learn classifier."""

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state

from npbench.estimators.constraints import COUNT, POSITIVE, TWO_OR_MORE
from npbench.estimators.fpr_range import FprRangeClassifier, narrowed
from npbench.estimators.parameters import keyword_parameters, parameter
from npbench.numerics.ranks import largest
from npbench_pauc_gbdt.pairs import derivatives

NARROWING_SHARE = 0.6  # of the rounds
LIGHTGBM_ZERO = 1e-35  # smaller values count as 0
LEAST_TOP = 20  # negatives; trees on fewer would only learn those


@keyword_parameters
class PAUCGBDT(FprRangeClassifier):
    """Boosting of trees by the logistic loss of pairs with the top negatives, whose share narrows (LightGBM).

    A round fits a tree to the gradient of

        1/k sum_i sum_{j in T} log(1 + exp(s_j - s_i))

    where i runs through the positives and T has the k negatives that the scores so far rank in the range. This ends at
    1 in the first round and narrows, in equal ratios over 60 % of the rounds, to twice its own end or 20 negatives.

    Parameters
    ----------
    max_iter : int
        Number of rounds; at least 1.
    learning_rate : float
        Factor of each tree; positive.
    max_leaf_nodes : int
        Largest number of leaves of a tree; at least 2.
    min_samples_leaf : int
        Smallest number of samples in a leaf; at least 1.
    random_state : int, RandomState or None, default=None
        Seed of LightGBM, which draws the samples that set its bins.

    Attributes
    ----------
    booster_ : lightgbm.Booster or None
        The trees; None if no feature varies.
    intercept_ : float
        Minus the threshold with the largest TPR - FPR among those with a training FPR in the range.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether trees were grown: False if no feature varies enough.
    status_ : {"max_iter", "constant"}
        How the fit ended.

    Raises
    ------
    ValueError
        In ``fit``: if LightGBM is not installed.

    Notes
    -----
    Complexity: a round of LightGBM, and O(n log n) for the gradient.

    References
    ----------
    G. Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree, NIPS. The loss is ours.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PAUCGBDT(fpr_range=(0.0, 0.1), max_iter=20, random_state=0).fit(X, y)
    >>> model.n_iter_, bool((model.decision_function(X)[y == 0] > 0).mean() <= 0.1)
    (20, True)
    """

    max_iter: int = parameter(COUNT, default=200)
    learning_rate: float = parameter(POSITIVE, default=0.05)
    max_leaf_nodes: int = parameter(TWO_OR_MORE, default=7)
    min_samples_leaf: int = parameter(COUNT, default=20)
    random_state: Any = parameter("random_state", default=None)

    _largest_feature: ClassVar[float] = np.inf  # values are only compared
    _explanations: ClassVar[dict[str, str]] = {
        "constant": "no tree was grown, so all scores are equal. Use other features or a smaller min_samples_leaf."
    }

    def _fit(self, X: Any, signs: np.ndarray) -> None:
        try:
            import lightgbm  # optional
        except ImportError as error:
            raise ValueError("pauc_gbdt needs LightGBM: pip install 'npbench[lightgbm]'.") from error
        positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
        first, last = self._ranks(signs)
        narrowest = min(len(negative), max(2 * last, LEAST_TOP))
        rounds = iter(range(self.max_iter))

        def objective(scores: np.ndarray, _: Any) -> tuple[np.ndarray, np.ndarray]:
            k = narrowed(len(negative), narrowest, next(rounds) / (NARROWING_SHARE * self.max_iter))
            top = largest(scores, negative, k)
            # leave out those above the range
            inside = np.setdiff1d(top, largest(scores, negative, first)) if 0 < first < k else top
            return derivatives(scores, positive, inside)

        params = {
            "objective": objective,
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaf_nodes,
            "min_data_in_leaf": self.min_samples_leaf,
            # few samples are data, too
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            "seed": check_random_state(self.random_state).randint(np.iinfo(np.int32).max),
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        }
        # LightGBM refuses features that are all constant
        ends = [np.ravel(each.toarray() if issparse(each) else each) for each in (X.min(axis=0), X.max(axis=0))]
        varies = np.any((ends[0] < ends[1]) & (np.max(np.abs(ends), axis=0) > LIGHTGBM_ZERO))
        self.booster_ = None
        if varies:
            self.booster_ = lightgbm.train(params, lightgbm.Dataset(_known(X), signs > 0), self.max_iter)
        self.n_iter_, self.intercept_ = self.max_iter, 0.0
        scores = self._scores(X)
        self.converged_ = bool(np.ptp(scores) > 0)
        self.status_ = "max_iter" if self.converged_ else "constant"
        self.intercept_ = -self._threshold(signs, scores)

    def _scores(self, X: Any) -> np.ndarray:
        trees = np.zeros(X.shape[0]) if self.booster_ is None else np.asarray(self.booster_.predict(_known(X)))
        return trees + self.intercept_


def _known(X: Any) -> Any:
    """Return samples of a type that LightGBM knows: its sparse ones are matrices."""
    return csr_matrix(X) if issparse(X) else X
